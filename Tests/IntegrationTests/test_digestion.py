"""A browser knows what the answer to its request says only some time after it has come (spidr-wire §12.1), and drops what overtakes it.

The parties here need 0.4 s, which is more than browsers need, and the gateway gives them 1.5 s: a busy machine changes nothing."""
import asyncio

import pytest

from party import L5
from situations import connected, held, two_held_calls


def times(answer: str, session: str) -> tuple[str, ...]:
    return ("--set", f"registration.answer_time={answer}", "--set", f"registration.session_time={session}")


@pytest.fixture
def slow_clients(own_gateway, party):
    """Makes parties that digest, at a gateway that gives them so much time."""

    async def make(*names: str, answer: str = "1500ms", session: str = "1500ms", options: tuple[str, ...] = ()):
        base = own_gateway(*times(answer, session), *options).http
        parties = [await party(name, base=base, dialect=L5) for name in names]
        for each in parties:
            each.digestion = 0.4
        return parties

    return make


async def test_nothing_overtakes_the_answer_that_names_a_session(slow_clients):
    alice, bob = await slow_clients("alice", "bob")
    outgoing = await alice.dial("bob", supported=["earlymedia"])
    incoming = await bob.incoming()
    (await incoming.answer()).succeeded()
    await outgoing.answered()
    (await outgoing.end()).succeeded()
    await incoming.over()
    cancelled = await alice.dial("bob")
    await alice.expect("ringing", cancelled.session)
    (await cancelled.end()).succeeded()
    await alice.expect("callEnd", cancelled.session)
    await asyncio.sleep(0.5)
    assert alice.too_early == bob.too_early == []


async def test_nothing_overtakes_the_answer_to_an_operation(slow_clients):
    alice, bob = await slow_clients("alice", "bob")
    outgoing, incoming = await connected(alice, bob)
    await held(outgoing, incoming)
    await held(incoming, outgoing)
    await outgoing.unhold()
    await incoming.unhold()
    # Nobody is there: the transfer fails at once.
    (await outgoing.transfer("erin")).succeeded()
    await alice.expect("sessionFail", outgoing.session)
    (await incoming.end()).succeeded()
    await outgoing.over()
    assert alice.too_early == bob.too_early == []


async def test_nothing_overtakes_the_answer_to_a_join_or_a_hold_within_the_conference(slow_clients):
    alice, bob, carol = await slow_clients("alice", "bob", "carol")
    to_bob, _, to_carol, _ = await two_held_calls(alice, bob, carol)
    joined = await alice.join(to_bob, to_carol)
    await joined.answered()
    for old in (to_bob, to_carol):
        await old.over()
    await joined.hold()
    await joined.unhold()
    (await joined.end()).succeeded()
    assert alice.too_early == bob.too_early == carol.too_early == []


async def test_a_consultative_transfer_is_told_in_time(slow_clients):
    alice, bob, carol = await slow_clients("alice", "bob", "carol")
    to_bob, at_bob, to_carol, _ = await two_held_calls(alice, bob, carol)
    (await to_bob.transfer(to_carol)).succeeded()
    await to_bob.over()
    (await at_bob.end()).succeeded()
    assert alice.too_early == bob.too_early == carol.too_early == []


async def test_the_first_request_about_a_new_session_ends_the_wait(slow_clients):
    """5.x audits at once: it knows the session then."""
    alice, bob = await slow_clients("alice", "bob", session="2s")
    alice.digestion = 0
    for audits in (False, True):
        loop = asyncio.get_running_loop()
        started = loop.time()
        outgoing = await alice.dial("bob")
        await bob.incoming()
        if audits:
            (await outgoing.audit()).succeeded()
            await alice.expect("ringing", outgoing.session, timeout=1.5)
        else:
            await alice.expect("ringing", outgoing.session)
            assert loop.time() - started >= 1.9
        (await outgoing.end()).succeeded()
        await alice.expect("callEnd", outgoing.session)


async def test_without_time_to_digest_clients_would_miss_what_happens(slow_clients):
    """The other tests can fail: a gateway that notifies at once is too early for these clients."""
    alice, bob = await slow_clients("alice", "bob", answer="0s", session="0s")
    outgoing = await alice.dial("bob")
    await alice.expect("ringing", outgoing.session)
    assert alice.too_early == [f"ringing({outgoing.session})"]
    (await outgoing.end()).succeeded()


async def test_the_socket_outlives_the_answer_to_its_own_log_out(slow_clients):
    alice, bob = await slow_clients("alice", "bob", options=("--set", "registration.close_delay=2s"))
    loop = asyncio.get_running_loop()
    (await alice.unregister()).succeeded()
    answered = loop.time()
    assert await alice.closed() == 1000
    assert loop.time() - answered >= 1.5
    # Whoever closes by itself does not wait.
    (await bob.unregister()).succeeded()
    await asyncio.wait_for(bob.close_channel(), 1.5)

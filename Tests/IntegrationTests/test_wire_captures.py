"""Behaviour on the wire is what it was: scenarios in both dialects, held against captures of an earlier revision
(fixtures/wire)."""
import difflib
import os
from contextlib import AsyncExitStack

import pytest

from captures import RecordedParty, written
from party import FCS, L5
from peers.gateway import REPOSITORY, Gateway
from situations import connected, held, resumed, two_held_calls

FOLDER = REPOSITORY / "fixtures/wire"
IS_RECORDING = "ORBWEAVER_RECORD_WIRE" in os.environ
"""Whether the captures are written anew, by the binary of `ORBWEAVER_BINARY`."""


@pytest.fixture(scope="module")
def own():
    """With one address for media, whatever the machine has."""
    gateway = Gateway("--set", "media.bind=127.0.0.1", logs_events=not IS_RECORDING).start()
    yield gateway
    gateway.stop()
    gateway.discard()


async def call(alice, bob, carol):
    at_alice, at_bob = await connected(
        alice, bob, supported=["earlymedia"], customParameters=[{"name": "X-GPS", "value": "1,2"}]
    )
    (await at_alice.end("enough")).succeeded()
    await at_bob.over()


async def ring_and_end_by_the_callee(alice, bob, carol):
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    (await at_bob.ring()).succeeded()
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await bob.expect("callCancel", at_bob.session)
    (await at_bob.end()).succeeded()
    await at_alice.over()


async def hold(alice, bob, carol):
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    await resumed(at_alice, at_bob)
    (await at_bob.end()).succeeded()
    await at_alice.over()


async def double_hold(alice, bob, carol):
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    await at_bob.hold()
    await at_alice.until(lambda: at_alice.remotely_held, "remotely held")
    await at_alice.unhold()
    await at_bob.unhold()
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def blind_transfer(alice, bob, carol):
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await at_alice.over()
    await at_bob.until(lambda: at_bob.remote[1] == "carol@dev.local", "shown the target")
    await carol.expect("callCancel", at_carol.session)
    await settled(at_bob)
    (await at_carol.end()).succeeded()
    await at_bob.over()


async def refused_transfer(alice, bob, carol):
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.reject()).succeeded()
    await at_alice.until(lambda: at_alice.failure, "told that it failed")
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def consultative_transfer(alice, bob, carol):
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    (await to_bob.transfer(to_carol)).succeeded()
    await to_bob.over()
    await to_carol.over()
    await at_bob.until(lambda: at_bob.remote[1] == "carol@dev.local", "shown the target")
    await at_carol.until(lambda: at_carol.remote[1] == "bob@dev.local", "shown the transferred party")
    await settled(at_bob, at_carol)
    (await at_carol.end()).succeeded()
    await at_bob.over()


async def join(alice, bob, carol):
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    joined = await alice.join(to_bob, to_carol)
    await joined.answered()
    for old in (to_bob, to_carol):
        await old.over()
    for other in (at_bob, at_carol):
        await other.until(lambda: other.remote[1].startswith("conference@"), "shown the conference")
    await settled(at_bob, at_carol)
    for other in (at_bob, at_carol):
        (await other.end()).succeeded()
    await joined.over()


async def reject(alice, bob, carol):
    at_alice = await alice.dial("bob")
    (await (await bob.incoming()).reject()).succeeded()
    await at_alice.over()


async def cancel(alice, bob, carol):
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def forward(alice, bob, carol):
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    (await at_bob.forward("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await at_alice.answered()
    await carol.expect("callCancel", at_carol.session)
    (await at_alice.end()).succeeded()
    await at_carol.over()


async def nobody_there(alice, bob, carol):
    for name in ("nobody", "dave"):
        at_alice = await alice.dial(name)
        await at_alice.over()


async def slow_start(alice, bob, carol):
    at_alice = await alice.dial("bob", slow=True)
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    await at_alice.until(lambda: at_alice.is_answered, "answered")
    await bob.expect("callCancel", at_bob.session)
    await bob.expect("respondCallUpdate", at_bob.session)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def settled(*calls):
    """Their answers to the latest offers have been sent."""
    for each in calls:
        own = each.party
        sent = lambda: [
            about
            for about, exchange in own.asked
            if about == each.session and "respondCallUpdate" in str(exchange["body"])
        ]
        offers = lambda: [
            news for news in own.heard if news.session == each.session and news.event == "startCallUpdate"
        ]
        await each.until(lambda: len(sent()) >= len(offers()), "settled")


SCENARIOS = [
    call, ring_and_end_by_the_callee, hold, double_hold, blind_transfer, refused_transfer, consultative_transfer, join,
    reject, cancel,
    forward, nobody_there, slow_start,
]  # fmt: skip


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
async def test_what_is_said_is_what_was_said_before(own, contract, scenario, dialect):
    async with AsyncExitStack() as stack:
        parties = []
        for name in ("alice", "bob", "carol"):
            party = RecordedParty(own.http, name, dialect=dialect, contract=None if IS_RECORDING else contract)
            parties.append(await stack.enter_async_context(party))
            await party.register()
        await scenario(*parties)
        for party in parties:  # the channel closes after everything that was on its way
            await party.unregister()
            await party.closed(30)
            party.check()
    came = written(parties)
    file = FOLDER / f"{scenario.__name__}.{dialect}.json"
    if IS_RECORDING:
        FOLDER.mkdir(exist_ok=True)
        file.write_text(came)
    was = file.read_text()
    difference = difflib.unified_diff(was.splitlines(), came.splitlines(), "before", "now", lineterm="")
    assert came == was, "\n".join(difference)

"""Callers without an account (spidr-wire §7): on the pages of others, to one account that wants to be called."""
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from party import Guest, Party, hear_now
from peers.gateway import Gateway

OFFERED = ("--set", "anonymous.mode=open")
"""What makes a gateway take calls of guests."""


@pytest.fixture
def open_gateway(own_gateway) -> Gateway:
    return own_gateway(*OFFERED)


@pytest_asyncio.fixture
async def here(open_gateway, contract) -> AsyncIterator[Callable]:
    """`await here(Guest, "alice")` or `await here(Party, "alice")`, registered."""
    async with AsyncExitStack() as stack:

        async def make(kind: type, name: str, **options):
            client = await stack.enter_async_context(kind(open_gateway.http, name, contract=contract, **options))
            await client.register()
            return client

        yield make


@pytest.mark.parametrize(("resource", "wrapper"), [("callMe", "callMeRequest"), ("callme", "callMeRequest"), ("callMe", "callControlRequest")])
async def test_a_guest_calls_talks_and_leaves(here, resource, wrapper):
    alice, guest = await here(Party, "alice", sounds=True), await here(Guest, "alice", sounds=True)
    at_guest = await guest.dial("alice")
    guest.resource, guest.wrapper = resource, wrapper  # FCS writes some paths and wrappers in its own way
    at_alice = await alice.incoming()
    assert at_alice.remote[1]
    (await at_alice.answer()).succeeded()
    await at_guest.answered()
    await hear_now({at_guest: {"alice"}, at_alice: {"erin"}})
    (await at_guest.audit()).succeeded()
    await at_guest.hold()
    assert at_alice.state == "REMOTELY_HELD"
    await at_guest.unhold()
    (await at_guest.end("done")).succeeded()
    assert (await at_alice.over()).text == "done"
    (await guest.unregister()).succeeded()


async def test_what_concerns_a_guest_is_told_to_that_guest_alone(here):
    alice = await here(Party, "alice")
    first, second = await here(Guest, "alice"), await here(Guest, "alice")
    at_first = await first.dial("alice")
    at_alice = await alice.incoming()
    (await at_alice.reject()).succeeded()
    assert (await at_first.over()).code == 603
    await second.heard_exactly()
    await alice.heard_exactly(("call", at_alice), ("callCancel", at_alice))


async def test_a_guest_reaches_only_the_account_it_came_for(here):
    bob, guest = await here(Party, "bob"), await here(Guest, "alice")
    answer = await guest.start("bob@dev.local", await guest.new_media().offer({"audio": "sendrecv"}))
    assert answer.status == 403 and answer.wrapper in ("callMeResponse", "authorizationResponse"), answer.text
    await bob.heard_exactly()


async def test_a_guest_cannot_touch_the_calls_of_others(here):
    alice, bob, guest = await here(Party, "alice"), await here(Party, "bob"), await here(Guest, "alice")
    at_bob = await bob.dial("alice")
    at_alice = await alice.incoming()
    for session in (at_alice.session, at_bob.session):
        for answer in (await guest.operate(session, "audit"), await guest.end(session)):
            assert (answer.status, answer.body["statusCode"]) == (404, 42), answer.text
    (await at_alice.answer()).succeeded()
    await at_bob.answered()


async def test_the_call_of_a_guest_that_goes_ends(here):
    alice, guest = await here(Party, "alice"), await here(Guest, "alice")
    at_guest = await guest.dial("alice")
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await at_guest.answered()
    (await guest.unregister()).succeeded()
    assert (await at_alice.over()).by == "callEnd"


async def test_guests_are_not_taken_unless_it_is_said(gateway, contract):
    async with Guest(gateway.http, "alice", contract=contract) as guest:
        answer = await guest.request("POST", "/subscription", {"subscribeRequest": {"expires": 60, "service": ["callMe"]}})
        assert answer.status == 403 and answer.body["statusCode"] == 35, answer.text

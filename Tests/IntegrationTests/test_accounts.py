"""What becomes of the clients of an account that is removed, and how many subscriptions a gateway takes."""
import asyncio

import aiohttp
import pytest

from durability import configured
from peers import sdp
from peers.gateway import orbweaver
from peers.spidr import SpidrPeer
from situations import connected

USERS = ["alice", "bob"]
WISHES = {"subscribeRequest": {"service": ["call"]}}


async def test_everything_of_a_removed_user_ends(own_gateway, tmp_path, party):
    options = configured(tmp_path, USERS)
    own = own_gateway.configured(*options)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    companion = await party("bob", base=own.http, alone=False)
    at_alice, _ = await connected(alice, bob)
    removed = await asyncio.to_thread(orbweaver, "user", "remove", "bob@dev.local", *options)
    assert removed.returncode == 0, removed.stderr
    for device in (bob, companion):
        await device.expect("gone")
        assert await device.closed() == 1000
        device.subscription = None
    await at_alice.over()
    answer = await bob.request("POST", "/subscription", WISHES)
    answer.refused(403, 4, "subscribeResponse", "auth.wrong_password")
    session = await alice.call("bob", sdp.offer())
    assert (await alice.expect("callEnd", session)).reason[0] == 404


@pytest.mark.parametrize("runs", [True, False], ids=["while_it_runs", "while_it_is_down"])
async def test_an_account_that_is_made_again_starts_with_nothing(own_gateway, tmp_path, peer, runs):
    """Sooner than the gateway looks at the accounts, which is every two seconds."""
    options = configured(tmp_path, USERS)
    own = own_gateway.configured(*options)
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    carol = await peer("alice", base=own.http, alone=False)
    if not runs:
        await asyncio.to_thread(own.stop)
        for each in (alice, bob, carol):
            await each.closed()
    for command in ("remove", "add"):
        done = await asyncio.to_thread(
            orbweaver, "user", command, "bob@dev.local", *options, ORBWEAVER_PASSWORD="new-1")  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    again = SpidrPeer(own.http, "bob", password="new-1")
    async with again:
        if runs:
            await again.register(alone=False)
            await bob.expect("gone")
            assert await bob.closed() == 1000
        else:
            await asyncio.to_thread(own.start)
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await bob.open_channel()
            await again.register(alone=False)
        bob.subscription = None
        (await again.extend()).succeeded()
        # Other accounts have what they had.
        (await alice.extend()).succeeded()
        if not runs:
            await alice.open_channel()
        session = await alice.call("bob", sdp.offer())
        await again.expect("call")
        (await alice.end(session)).succeeded()
        await again.expect("callEnd")
    assert not [each for each in bob.heard if each.event == "call"], "it has heard of the other's call"


async def test_a_gateway_takes_so_many_subscriptions_and_says_when_to_come_back(own_gateway, tmp_path, peer):
    options = configured(tmp_path, USERS, registration={"domain": "dev.local", "max_subscriptions": 2})
    own = own_gateway.configured(*options)
    await peer("alice", base=own.http)
    bob = await peer("bob", base=own.http)
    answer = await bob.request("POST", "/subscription", WISHES)
    answer.refused(503, 503, "subscribeResponse", "service.unavailable")
    assert answer.headers["retry-after"] == "5" and answer.body["retryAfter"] == 5000
    (await bob.extend()).succeeded()
    (await bob.unregister()).succeeded()
    granted = (await bob.request("POST", "/subscription", WISHES)).succeeded()
    bob.subscription = granted["subscription"]


async def test_a_device_extends_by_the_name_that_it_gave_itself(peer):
    alice = await peer("alice", correlator="tablet 7")
    wishes = {"subscribeRequest": {"service": ["call"], "expires": 1800}}
    extended = (await alice.request("PUT", "/subscription/clientCorrelator/tablet%207", wishes)).succeeded()
    assert (extended["subscription"], extended["subscriptionParams"]["expires"]) == (alice.subscription, 1800)
    answer = await alice.request("PUT", "/subscription/clientCorrelator/phone", wishes)
    answer.refused(404, 39, "subscribeResponse", "subscription.not_found")

"""A disk that is full, or becomes read-only: what was promised stays, and nothing is promised that cannot be kept."""
import asyncio
from collections.abc import Iterator

import pytest

from disks import DISKS, FAILING, WORKING, BoundedFiles, FullDisk, ReadOnlyDisk, SmallDisk, is_refused, says
from durability import configured
from peers import sdp
from peers.spidr import SpidrPeer
from situations import connected

USERS = ["alice", "bob"]


@pytest.fixture(params=DISKS)
def disk(request, tmp_path) -> Iterator[SmallDisk | FullDisk | BoundedFiles | ReadOnlyDisk]:
    disk = DISKS[request.param](tmp_path)
    yield disk
    disk.discard()


async def test_on_a_full_disk_requests_are_refused_and_nothing_promised_is_lost(own_gateway, tmp_path, party, disk):
    own = own_gateway.configured(*configured(tmp_path, USERS), logs_events=False, variables=disk.variables)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    with disk.fails(own):
        # The first one is tried, the others are refused at once.
        for _ in range(3):
            is_refused(await alice.extend(), "subscribeResponse")
        is_refused(await at_alice.send_custom_headers(X_Number="1"), "callControlResponse")
        await says(own, FAILING)
        await says(own, disk.says)
        # What needs no disk goes on: the state of a call, the channel, the readiness of the process.
        (await alice.state(at_alice.session)).succeeded()
        await bob.lose_channel()
        await bob.open_channel()
        await bob.heard_exactly()
    await says(own, WORKING)
    (await at_alice.send_custom_headers(X_Number="2")).succeeded()
    await bob.heard_exactly(("customParameters", at_bob))
    assert bob.heard[-1].message["customParameters"][0]["value"] == "2"
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def test_what_happens_while_the_disk_is_full_is_told_once_it_has_room(own_gateway, tmp_path, party, disk):
    """A call that nobody answers ends by itself; both are told when that is kept."""
    options = configured(tmp_path, USERS, calls={"ring_time": "5s"})
    own = own_gateway.configured(*options, logs_events=False, variables=disk.variables)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    await alice.heard_exactly(("ringing", at_alice))
    with disk.fails(own):
        await asyncio.sleep(6)
        await alice.heard_exactly()
    for call in (at_alice, at_bob):
        await call.over()


async def test_what_was_decided_before_the_write_failed_happens_and_can_be_asked(own_gateway, tmp_path, peer, disk):
    own = own_gateway.configured(*configured(tmp_path, USERS), logs_events=False, variables=disk.variables)
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    offer = sdp.offer()
    with disk.fails(own):
        is_refused(await alice.start("bob@dev.local", offer), "callControlResponse")
        await says(own, FAILING)
        # Nothing comes of this one.
        is_refused(await alice.start("bob@dev.local", sdp.offer(), customParameters=[]), "callControlResponse")
        await bob.expect_silence("call")
    await says(own, WORKING)
    ringing = await bob.expect("call")
    told = (await alice.expect("ringing")).session
    again = (await alice.start("bob@dev.local", offer)).succeeded()
    assert again["sessionData"] == told, "the call that the refused request has started"
    (await alice.end(told)).succeeded()
    await bob.expect("callEnd", ringing.session)
    await bob.expect_silence("call")


async def test_a_gateway_that_is_killed_on_a_full_disk_has_kept_its_promises(own_gateway, tmp_path, peer, disk):
    own = own_gateway.configured(*configured(tmp_path, USERS), logs_events=False, variables=disk.variables)
    alice: SpidrPeer = await peer("alice", base=own.http)
    bob: SpidrPeer = await peer("bob", base=own.http)
    await bob.lose_channel()
    (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
    with disk.fails(own):
        is_refused(await alice.extend(), "subscribeResponse")
        own.kill()
    await alice.closed()
    await asyncio.to_thread(own.start)
    for each in (alice, bob):
        await each.open_channel()
    await bob.expect("call")
    await bob.expect("callEnd")
    (await alice.extend()).succeeded()

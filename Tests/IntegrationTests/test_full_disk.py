"""A disk that is full: what was promised stays, and nothing is promised that cannot be kept.

The files of the gateway may not grow beyond what its database has (`RLIMIT_FSIZE`), which SQLite meets as it meets a
full disk. No file system has to be mounted for that."""
import asyncio
import resource
from contextlib import contextmanager
from pathlib import Path

from durability import configured
from peers import sdp
from peers.gateway import Gateway
from peers.spidr import SpidrPeer
from situations import connected

USERS = ["alice", "bob"]
FAILING = "the journal cannot be written"
WORKING = "the journal is written again"


@contextmanager
def full_disk(own: Gateway, folder: Path):
    """The database takes nothing more. The log of the gateway is shorter than that, and does."""
    size = (folder / "users.sqlite-wal").stat().st_size
    assert size > 2 * own.log_path.stat().st_size
    limits = resource.prlimit(own.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(own.pid, resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        if own.is_running:
            resource.prlimit(own.pid, resource.RLIMIT_FSIZE, limits)


async def said(own: Gateway, sentence: str):
    async with asyncio.timeout(20):
        while sentence not in own.log_path.read_text():
            await asyncio.sleep(0.05)


def is_refused(answer, wrapper: str):
    answer.refused(503, 503, wrapper, "service.unavailable")
    assert int(answer.headers["retry-after"]) > 0


async def test_on_a_full_disk_requests_are_refused_and_nothing_promised_is_lost(own_gateway, tmp_path, party):
    own = own_gateway.configured(*configured(tmp_path, USERS), logs_events=False)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    with full_disk(own, tmp_path):
        # The first one is tried, the others are refused at once.
        for _ in range(3):
            is_refused(await alice.extend(), "subscribeResponse")
        is_refused(await at_alice.send_custom_headers(X_Number="1"), "callControlResponse")
        await said(own, FAILING)
        # What needs no disk goes on: the state of a call, the channel, the readiness of the process.
        (await alice.state(at_alice.session)).succeeded()
        await bob.lose_channel()
        await bob.open_channel()
        await bob.heard_exactly()
    await said(own, WORKING)
    (await at_alice.send_custom_headers(X_Number="2")).succeeded()
    await bob.heard_exactly(("customParameters", at_bob))
    assert bob.heard[-1].message["customParameters"][0]["value"] == "2"
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def test_what_happens_while_the_disk_is_full_is_told_once_it_has_room(own_gateway, tmp_path, party):
    """A call that nobody answers ends by itself; both are told when that is kept."""
    options = configured(tmp_path, USERS, calls={"ring_time": "5s"})
    own = own_gateway.configured(*options, logs_events=False)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    await alice.heard_exactly(("ringing", at_alice))
    with full_disk(own, tmp_path):
        await asyncio.sleep(6)
        await alice.heard_exactly()
    for call in (at_alice, at_bob):
        await call.over()


async def test_a_gateway_that_is_killed_on_a_full_disk_has_kept_its_promises(own_gateway, tmp_path, peer):
    own = own_gateway.configured(*configured(tmp_path, USERS), logs_events=False)
    alice: SpidrPeer = await peer("alice", base=own.http)
    bob: SpidrPeer = await peer("bob", base=own.http)
    await bob.lose_channel()
    (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
    with full_disk(own, tmp_path):
        is_refused(await alice.extend(), "subscribeResponse")
        own.kill()
    await alice.closed()
    await asyncio.to_thread(own.start)
    for each in (alice, bob):
        await each.open_channel()
    await bob.expect("call")
    await bob.expect("callEnd")
    (await alice.extend()).succeeded()

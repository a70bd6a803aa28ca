"""Calls whose media is on different workers come together like any others: legs move from worker to worker
(docs/adr/0005)."""
import asyncio
import re
import time

import pytest

from party import FCS, L5, hear_now
from peers.gateway import Gateway
from situations import connected, forget, held, resumed


@pytest.fixture
def far_gateway(own_gateway) -> Gateway:
    """With more workers than one on every machine."""
    return own_gateway("--set", "media.workers=2")


def worker(call) -> int:
    """The port that all of the gateway's descriptions name: each worker has its own, and no peer is told of another."""
    descriptions = call.descriptions + ([call.invitation.sdp] if call.is_incoming else [])
    ports = {
        int(port)
        for each in descriptions
        for port in re.findall(r"^a=candidate:\S+ 1 udp \d+ \S+ (\d+) ", each, re.MULTILINE)
    }
    assert len(ports) == 1, f"{call} was told {ports}"
    return ports.pop()


async def far_apart(party, gateway: Gateway, dialect=L5):
    """Alice holds a call to Bob and one that Carol made, on different workers.

    A new call goes where one of its users has a call: Carol has one with Dave on the other worker, until this one has
    begun."""
    alice, bob, carol = [
        await party(name, base=gateway.http, dialect=dialect, sounds=True) for name in ("alice", "bob", "carol")
    ]
    dave = await party("dave", base=gateway.http)
    to_bob, at_bob = await connected(alice, bob)
    for _ in range(40):
        anchor = await dave.dial("carol")
        at_carol = await carol.incoming()
        if worker(at_carol) != worker(to_bob):
            break
        (await anchor.end()).succeeded()
        await at_carol.over()
    else:
        raise AssertionError("forty calls in a row were on one worker")
    await held(to_bob, at_bob)
    of_carol, from_carol = await connected(carol, alice)
    assert worker(of_carol) == worker(at_carol) != worker(to_bob)
    (await anchor.end()).succeeded()
    await at_carol.over()
    await held(from_carol, of_carol)
    forget(alice, bob, carol)
    return to_bob, at_bob, from_carol, of_carol


async def nothing_left(gateway: Gateway):
    end = time.monotonic() + 10
    while (left := gateway.metric("orbweaver_media_sessions_active")) > 0:
        assert time.monotonic() < end, f"{left:.0f} media sessions are left"
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("dialect", [L5, FCS], ids=["L5", "FCS"])
async def test_consultative_transfer(far_gateway, party, dialect):
    to_bob, at_bob, from_carol, of_carol = await far_apart(party, far_gateway, dialect)
    alice = to_bob.party
    (await to_bob.transfer(from_carol)).succeeded()
    assert (await to_bob.over()).by == "sessionComplete"
    assert (await from_carol.over()).by == "callEnd"
    await of_carol.until(lambda: of_carol.remote == ("Bob", "bob@dev.local"), "shown the transferred party")
    await hear_now({at_bob: {"carol"}, of_carol: {"bob"}})
    assert worker(at_bob) != worker(of_carol)
    await alice.heard_exactly(("sessionComplete", to_bob), ("callEnd", from_carol))
    forget(at_bob.party, of_carol.party)

    await held(of_carol, at_bob)
    await resumed(of_carol, at_bob)
    await held(at_bob, of_carol)
    await resumed(at_bob, of_carol)
    await hear_now({at_bob: {"carol"}, of_carol: {"bob"}})
    (await of_carol.end()).succeeded()
    assert (await at_bob.over()).by == "callEnd"
    await nothing_left(far_gateway)


async def test_conference(far_gateway, party):
    to_bob, at_bob, from_carol, of_carol = await far_apart(party, far_gateway)
    alice = to_bob.party
    joined = await alice.join(to_bob, from_carol)
    await joined.answered()
    for old in (to_bob, from_carol):
        assert (await old.over()).by == "sessionComplete"
    await hear_now({joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, of_carol: {"alice", "bob"}})
    forget(alice, at_bob.party, of_carol.party)

    await of_carol.hold()
    await hear_now({joined: {"bob"}, at_bob: {"alice"}, of_carol: set()})
    await of_carol.unhold()
    await hear_now({joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, of_carol: {"alice", "bob"}})
    (await joined.end()).succeeded()
    await hear_now({at_bob: {"carol"}, of_carol: {"bob"}})
    (await at_bob.end()).succeeded()
    assert (await of_carol.over()).by == "callEnd"
    await nothing_left(far_gateway)

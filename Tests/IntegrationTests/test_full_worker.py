"""A media worker that is busy takes no new calls, which go to another one or are refused, and carries those it has
(docs/operations.md, "Load")."""
import asyncio
import re
import socket
from contextlib import asynccontextmanager

import pytest

from party import hear_now
from peers.gateway import Gateway
from situations import connected, held, resumed

pytestmark = pytest.mark.alone  # with others on its processor, a worker is never busy enough

PACKET = b"\x80" + bytes(171)
"""RTP of no call."""
BURST = 50
"""Datagrams that one request to the kernel sends, each of its own (UDP_SEGMENT)."""
UDP_SEGMENT = 103


@asynccontextmanager
async def busy(own: Gateway, address: str, port: str, room: int):
    """The worker there gets datagrams of a stranger, more and more until the gateway has no more than so much room, in
    percent."""
    count = 0  # of bursts in ten milliseconds

    async def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(PACKET))
            stranger.connect((address, int(port)))
            while True:
                for _ in range(count):
                    stranger.send(BURST * PACKET)
                await asyncio.sleep(0.01)

    sending = asyncio.create_task(send())
    try:
        async with asyncio.timeout(60):
            while own.metric("orbweaver_media_room_percent") > room:
                count += 1
                await asyncio.sleep(0.5)
        count += count // 2 + 1  # the load goes up and down
        yield
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


def place(description: str) -> tuple[str, str]:
    """The address and the port of the first IPv4 candidate."""
    return re.search(r"^a=candidate:\S+ 1 udp \d+ ([\d.]+) (\d+) ", description, re.M | re.I).groups()


async def test_a_busy_worker_refuses_new_calls_and_those_that_stand_go_on(own_gateway, party):
    own: Gateway = own_gateway("--set", "media.max_load=10", "--set", "media.workers=1")
    alice, bob = [await party(name, base=own.http, sounds=True) for name in ("alice", "bob")]
    carol, dave = [await party(name, base=own.http) for name in ("carol", "dave")]
    at_alice, at_bob = await connected(alice, bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    async with busy(own, *place(at_alice.descriptions[-1]), room=0):
        answer = await carol.start("dave@dev.local", await carol.new_media().offer({"audio": "sendrecv"}))
        refusal = answer.refused(503, 503, "callControlResponse", "call.limit_reached")
        assert refusal["retryAfter"] == 1_000 * int(answer.headers["retry-after"])
        # Nobody is told of a call that did not come about, and whatever the others do goes on.
        await dave.heard_exactly()
        await held(at_alice, at_bob)
        await resumed(at_alice, at_bob)
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    async with asyncio.timeout(20):
        while (await carol.start("dave@dev.local", await carol.new_media().offer({"audio": "sendrecv"}))).status == 503:
            await asyncio.sleep(refusal["retryAfter"] / 1_000)
    await dave.incoming()
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def test_new_calls_go_to_the_worker_that_has_room(own_gateway, party):
    own: Gateway = own_gateway("--set", "media.max_load=10", "--set", "media.workers=2")
    alice, bob = [await party(name, base=own.http) for name in ("alice", "bob")]

    async def place_of_a_call() -> tuple[str, str]:
        at_alice = await alice.dial("bob")
        at_bob = await bob.incoming()
        (await at_alice.end()).succeeded()
        await at_bob.over()
        return place(at_bob.invitation.sdp)

    full = await place_of_a_call()
    async with busy(own, *full, room=50):  # the mean of both
        places = {await place_of_a_call() for _ in range(8)}
    assert len(places) == 1 and full not in places, f"{full} is busy, and calls went to {places}"

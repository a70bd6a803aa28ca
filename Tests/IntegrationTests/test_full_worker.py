"""A media worker that is busy takes no new calls, and carries those it has (docs/operations.md, "Load")."""
import asyncio
import re
import subprocess
import sys
from contextlib import contextmanager

from party import hear_now
from peers.gateway import Gateway
from situations import connected, held, resumed

FLOOD = """
import socket, sys, time
stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stranger.connect((sys.argv[1], int(sys.argv[2])))
for _ in range(3_000):
    for _ in range(500):
        stranger.send(b"\\x80" + bytes(171))
    time.sleep(0.01)
"""
"""Datagrams that belong to no call, for half a minute at most."""


@contextmanager
def flooded(address: str, port: str):
    stranger = subprocess.Popen([sys.executable, "-c", FLOOD, address, port])
    try:
        yield
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_busy_worker_refuses_new_calls_and_those_that_stand_go_on(own_gateway, party):
    own: Gateway = own_gateway("--set", "media.max_load=10", "--set", "media.workers=1")
    alice, bob = [await party(name, base=own.http, sounds=True) for name in ("alice", "bob")]
    carol, dave = [await party(name, base=own.http) for name in ("carol", "dave")]
    at_alice, at_bob = await connected(alice, bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    address, port = re.search(r"^a=candidate:\S+ 1 udp \d+ ([\d.]+) (\d+) ", at_alice.descriptions[-1], re.M).groups()
    with flooded(address, port):
        async with asyncio.timeout(20):
            while own.metric("orbweaver_media_room_percent"):
                await asyncio.sleep(0.1)
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

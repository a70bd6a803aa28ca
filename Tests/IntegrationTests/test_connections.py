"""Clients that hold connections: unread answers, too many of one address, more than there are descriptors, and all of
it at a stop."""
import asyncio
import resource
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from peers import raw
from peers.gateway import Gateway
from peers.waiting import until

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
METRICS = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
HALF = b"POST /rest/version/1/user/alice@dev.local/subscription HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"


def is_served(port: int, source: str = "127.0.0.1") -> bool:
    """A request on a connection of its own."""
    try:
        with raw.connection(port, source) as stream:
            stream.settimeout(5)
            stream.sendall(HEALTH)
            return stream.recv(65536).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def resident_megabytes(gateway: Gateway) -> float:
    lines = Path(f"/proc/{gateway.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


def cpu_seconds(gateway: Gateway) -> float:
    fields = Path(f"/proc/{gateway.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def test_answers_that_nobody_reads_cost_little_and_end_their_connection(own_gateway):
    own = own_gateway("--set", "listen.write_timeout=4s")
    await asyncio.to_thread(is_served, own.http_port)
    before = resident_megabytes(own)
    with ExitStack() as stack:
        streams = [stack.enter_context(raw.connection(own.http_port, receive_buffer=2048)) for _ in range(60)]
        for stream in streams:
            stream.setblocking(False)
            stream.send(METRICS * 800)
        await asyncio.sleep(2)
        # Parts of 800 requests would be half a megabyte for each connection.
        assert resident_megabytes(own) - before < 60 * 0.25
        await until(lambda: own.metric("orbweaver_connections_closed_total", reason="unread") == 60)
    await until(lambda: own.metric("orbweaver_connections_active") <= 2)


async def test_one_address_keeps_nobody_out(own_gateway):
    own = own_gateway("--set", "listen.max_connections=40")
    with ExitStack() as stack:
        for index in range(60):
            stream = stack.enter_context(raw.connection(own.http_port))
            stream.sendall(HEALTH if index % 2 else HALF)
        for number in range(2, 12):
            assert await asyncio.to_thread(is_served, own.http_port, f"127.0.0.{number}")
        assert own.metric("orbweaver_connections_closed_total", reason="evicted") >= 20
        assert own.metric("orbweaver_connections_active") <= 41


async def test_more_connections_than_descriptors_leave_the_gateway_idle_and_serving(own_gateway):
    """The limit is lowered while it runs, so that what it reckoned with at its start does not hold."""
    own = own_gateway()
    open_now = len(list(Path(f"/proc/{own.pid}/fd").iterdir()))
    _, hard = resource.prlimit(own.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(own.pid, resource.RLIMIT_NOFILE, (open_now + 10, hard))
    with ExitStack() as stack:
        streams = [stack.enter_context(raw.connection(own.http_port)) for _ in range(40)]
        before = cpu_seconds(own)
        await asyncio.sleep(3)
        assert cpu_seconds(own) - before < 0.6, "a fifth of a core is more than turning clients away takes"
        # The others were told; they do not wait in vain.
        gone = [stream for stream in streams if raw.is_readable(stream)]
        assert len(gone) >= 20
        assert "turned away" in own.log_tail()
    await until(lambda: is_served(own.http_port))
    assert own.metric("orbweaver_connections_refused_total", reason="descriptors") >= 20


@pytest.mark.parametrize("limit", [90])
async def test_few_descriptors_at_the_start_mean_fewer_connections(own_gateway, limit):
    own = own_gateway(descriptors=limit)
    assert "listen.max_connections is lowered" in own.log_tail()
    with ExitStack() as stack:
        for _ in range(limit):
            stream = stack.enter_context(raw.connection(own.http_port))
            stream.sendall(HEALTH)
        assert await asyncio.to_thread(is_served, own.http_port, "127.0.0.2")
        assert own.metric("orbweaver_connections_refused_total", reason="descriptors") == 0


def test_the_soft_limit_of_descriptors_is_raised(own_gateway):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    own = own_gateway(descriptors=(min(256, hard), hard))
    assert resource.prlimit(own.pid, resource.RLIMIT_NOFILE) == (hard, hard)


@pytest.mark.parametrize("waste", ["unread", "half"])
async def test_clients_that_are_waited_for_do_not_prolong_a_stop(own_gateway, waste):
    own = own_gateway("--set", "drain.deadline=20s")
    with ExitStack() as stack:
        for _ in range(1 if waste == "unread" else 50):
            stream = stack.enter_context(raw.connection(own.http_port, receive_buffer=2048))
            stream.setblocking(False)
            stream.send(METRICS * 40 if waste == "unread" else HALF)
        await until(lambda: own.metric("orbweaver_connections_active") >= 1)
        await asyncio.sleep(0.5)
        begin = time.monotonic()
        own.terminate()
        assert await own.ended() == 0
        assert time.monotonic() - begin < 5

"""A reader of `/v1/events` that stops reading is cut off after `listen.write_timeout`, and misses nothing when it comes
back with its cursor (docs/call-events.md, *GET /v1/events*)."""
import asyncio
import json
import socket
import time
from collections.abc import Callable

import httpx
import pytest
import requests
import sseclient
from requests.adapters import HTTPAdapter
from websockets.asyncio.client import connect

from durability import configured
from peers.gateway import Gateway
from peers.websocket import TEXT, RawChannel
from test_public_events import USERS, call_and_end, credentials, polled, streamed

FIRST = 3
"""Events that a reader takes before it stops."""
MUCH = 400_000
"""Bytes: several times what the kernels of both ends keep of a connection that nobody reads."""
RECEIVE_BUFFER = 2_048


@pytest.fixture
def site(own_gateway, tmp_path) -> Gateway:
    listen = {"host": "127.0.0.1", "write_timeout": "3s"}
    return own_gateway.configured(*configured(tmp_path, USERS, listen=listen))


class NarrowAdapter(HTTPAdapter):
    """Its connections take few bytes while nobody reads them."""

    def init_poolmanager(self, *arguments, **options):
        narrow = [(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)]
        super().init_poolmanager(*arguments, **options, socket_options=narrow)


def until(is_true: Callable[[], bool], timeout: float = 60):
    end = time.monotonic() + timeout
    while not is_true():
        assert time.monotonic() < end, f"it is not cut off within {timeout} s"
        time.sleep(0.2)


async def much(peer, site: Gateway, start: str) -> list[dict]:
    """So many events behind a place that they do not fit into a connection that is not read."""
    alice, bob = await peer("alice", base=site.http), await peer("bob", base=site.http)
    while True:
        for _ in range(20):
            await call_and_end(alice, bob)
        heard, _ = await asyncio.to_thread(polled, site.http, credentials("alice"), start)
        if sum(len(json.dumps(each)) for each in heard) > MUCH:
            return heard


async def test_server_sent_events_that_nobody_reads_end_and_go_on_behind_the_last_one(site, peer):
    who = credentials("alice")
    start = (await asyncio.to_thread(polled, site.http, who))[1]
    heard = await much(peer, site, start)

    def read() -> list[sseclient.Event]:
        with requests.Session() as session:
            session.mount("http://", NarrowAdapter())
            response = session.get(
                f"{site.http}/v1/events", auth=who, params={"since": start}, headers={"Accept": "text/event-stream"},
                stream=True, timeout=60,
            )  # fmt: skip
            assert response.status_code == 200, response.text
            events = sseclient.SSEClient(response).events()
            taken = [next(events) for _ in range(FIRST)]
            until(lambda: site.metric("orbweaver_connections_closed_total", reason="unread") == 1)
            # What the kernel has kept can be read; then the connection is found to be reset.
            with pytest.raises(requests.RequestException):
                taken.extend(events)
            return taken

    taken = await asyncio.to_thread(read)
    assert FIRST <= len(taken) < len(heard)
    rest = await asyncio.to_thread(streamed, site.http, who, len(heard) - len(taken), None, taken[-1].id)
    assert [json.loads(each.data) for each in taken + rest] == heard
    assert [each.id for each in taken + rest] == [each["id"] for each in heard]


async def test_a_websocket_that_nobody_reads_ends_and_goes_on_behind_the_last_event(site, peer):
    who = credentials("alice")
    authorization = httpx.BasicAuth(*who)._auth_header
    start = (await asyncio.to_thread(polled, site.http, who))[1]
    heard = await much(peer, site, start)

    def read() -> list[dict]:
        taken: list[dict] = []
        path, head = f"/v1/events?since={start}", f"Authorization: {authorization}"
        with RawChannel(site.http_port, path, head, receive_buffer=RECEIVE_BUFFER) as channel:
            while len(taken) < 1 + FIRST:
                taken.append(json.loads(channel.receive().payload))
            until(lambda: site.metric("orbweaver_websockets_closed_total", reason="too_slow") == 1)
            try:
                while (received := channel.receive()) is not None:
                    taken += [json.loads(received.payload)] if received.opcode == TEXT else []
            except ConnectionResetError:
                pass  # in the middle of a frame
        return taken

    started, *taken = await asyncio.to_thread(read)
    assert started["type"] == "stream.started"
    assert FIRST <= len(taken) < len(heard) and taken == heard[: len(taken)]
    url = f"ws://127.0.0.1:{site.http_port}/v1/events?since={taken[-1]['id']}"
    async with connect(url, additional_headers={"Authorization": authorization}, proxy=None) as again, \
            asyncio.timeout(60):  # fmt: skip
        assert json.loads(await again.recv())["type"] == "stream.started"
        assert taken + [json.loads(await again.recv()) for _ in heard[len(taken) :]] == heard

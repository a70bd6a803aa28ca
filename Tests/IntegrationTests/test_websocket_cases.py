"""The notification channel, held against the cases of the Autobahn test suite (`websocket_cases.py`): frames that are
written byte by byte over a bare socket."""
from collections.abc import Iterator

import pytest
import pytest_asyncio

from peers.spidr import SpidrPeer
from peers.websocket import CLOSE, PONG, RawChannel, Received, close, ping
from websocket_cases import CASES, Case

ALIVE = b"does the channel live?"
EXTENSIONS = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits, x-webkit-deflate-frame"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def channel(gateway) -> Iterator[str]:
    """The path of a channel that each case opens anew."""
    async with SpidrPeer(gateway.http, "carol") as carol:
        await carol.register(listen=False)
        yield carol.channel


def test_the_list_has_every_family_of_the_suite():
    numbers = [case.number for case in CASES]
    assert len(set(numbers)) == len(numbers) > 300
    # 8 is empty, 11 was taken out of the suite. 13 is 12 with other parameters of the compression: test_compression.py.
    assert {number.split(".")[0] for number in numbers} == {*map(str, (*range(1, 8), 9, 10, 12)), "M"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_of_the_autobahn_suite(gateway, channel, case: Case):
    offered = [EXTENSIONS] if case.number.startswith("12.") else []
    with RawChannel(gateway.http_port, channel, *offered) as client:
        for data in case.sent:
            client.send(data)
        if case.closes is False:
            client.send(ping(ALIVE))
        for pong in (*case.pongs, *([ALIVE] if case.closes is False else [])):
            assert client.receive() == Received(PONG, pong)
        if case.closes is False:
            client.send(close(1000))
        code = 1000 if case.closes is False else case.closes
        assert client.receive() == Received(CLOSE, b"" if code is True else code.to_bytes(2, "big"))
        client.send(close(1000))
        assert client.receive() is None, "the connection ends, and nothing else is said"


def test_the_gateway_serves_after_all_of_them(gateway, channel):
    with RawChannel(gateway.http_port, channel) as client:
        client.send(ping(ALIVE))
        assert client.receive() == Received(PONG, ALIVE)

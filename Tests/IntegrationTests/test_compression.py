"""Notifications that are compressed (`permessage-deflate`, RFC 7692), as `listen.compression` says: for clients of
other makers, and held against cases in the spirit of sections 12 and 13 of the Autobahn suite, written frame by
frame."""
import asyncio
import json
import random
import zlib
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
import websockets
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

from peers.chromium import Chromium
from peers.spidr import SpidrPeer
from peers.websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, RawChannel, Received, close, frame, ping

LIMIT = 16_384
"""The most bytes of a client's message."""
COMPRESSED = 4
"""RSV1 among the three reserved bits."""
PLAIN = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
KEPT = "permessage-deflate; client_no_context_takeover"
ALIVE = b"does the channel live?"
TALK = " ".join(f"candidate:{number} 1 udp 2130706431 192.0.2.{number} 7000 typ host" for number in range(60))


def deflated(data: bytes, window: int = 15, level: int = 6) -> bytes:
    """The payload of a compressed message (RFC 7692 §7.2.1)."""
    compressor = zlib.compressobj(level, zlib.DEFLATED, -window)
    return (compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH))[:-4]


class Reader:
    """Decompresses notifications, with the window that was agreed to."""

    def __init__(self, window: int, keeps_context: bool):
        self._window, self._keeps_context = window, keeps_context
        self._inflater = zlib.decompressobj(-window)

    def read(self, received: Received) -> dict:
        assert received.opcode == TEXT
        if not received.is_compressed:
            return json.loads(received.payload)
        if not self._keeps_context:
            self._inflater = zlib.decompressobj(-self._window)
        return json.loads(self._inflater.decompress(received.payload + b"\0\0\xff\xff"))


async def say(client: SpidrPeer, to: str, text: str):
    request = {"toUrl": f"{to}@dev.local", "message": text, "type": "A2", "charset": "UTF-8"}
    (await client.request("POST", "/instantmessage", {"imRequest": request})).succeeded()


def text_of(notification: dict) -> str:
    return notification["notificationMessage"]["imnotificationParams"]["msgText"]


async def start(own_gateway, mode: str, *options: str):
    return await asyncio.to_thread(own_gateway, "--set", f"listen.compression={mode}", *options)


OFFERS = {
    "12, nothing asked": ("message", "permessage-deflate", PLAIN, 15, False),
    "12, as Chromium asks": ("message", "permessage-deflate; client_max_window_bits", PLAIN, 15, False),
    "13, no context": (
        "channel", "permessage-deflate; server_no_context_takeover; client_no_context_takeover", PLAIN, 15, False,
    ),
    "13, a window of 512 bytes": (
        "message", "permessage-deflate; server_max_window_bits=9", PLAIN + "; server_max_window_bits=9", 9, False,
    ),
    "13, a small window kept": (
        "channel", "permessage-deflate; server_max_window_bits=9", KEPT + "; server_max_window_bits=9", 9, True,
    ),
    "13, a window kept": ("channel", "permessage-deflate", KEPT, 13, True),
    "13, what cannot be done, and what can": (
        "message", "permessage-deflate; server_max_window_bits=8, permessage-deflate; unknown, permessage-deflate",
        PLAIN, 15, False,
    ),
    "declined": ("message", "permessage-deflate; server_max_window_bits=8", None, 15, False),
    "off": ("off", "permessage-deflate", None, 15, False),
}  # fmt: skip


@pytest.mark.parametrize("case", OFFERS)
async def test_what_is_agreed_to_is_kept(own_gateway, case):
    mode, offer, agreed, window, keeps_context = OFFERS[case]
    own = await start(own_gateway, mode)
    async with SpidrPeer(own.http, "alice") as alice, SpidrPeer(own.http, "bob") as bob:
        await alice.register(services=["IM"])
        await bob.register(services=["IM"], listen=False)
        with RawChannel(own.http_port, bob.channel, f"Sec-WebSocket-Extensions: {offer}", agreed=agreed) as channel:
            reader, sizes = Reader(window, keeps_context), []
            for text in ("short", TALK, TALK):
                await say(alice, "bob", text)
                received = await asyncio.to_thread(channel.receive)
                while received.opcode == PING:
                    received = await asyncio.to_thread(channel.receive)
                assert text_of(reader.read(received)) == text
                assert received.is_compressed == (agreed is not None)
                sizes.append(len(received.payload))
            assert (sizes[1] < len(TALK) / 3) == (agreed is not None), sizes
            # The second time the window still holds the first.
            assert (sizes[2] < sizes[1] / 3) == (keeps_context and window > 9), sizes
            # What the client compresses is taken, in one frame or in several with others between them.
            noise = random.Random(1).randbytes(16_000)
            for opcode, data in ((TEXT, b"{}" * 2_000), (BINARY, noise), (TEXT, b"*" * LIMIT)):
                if not agreed:
                    break
                payload = deflated(data)
                channel.send(frame(opcode, payload, reserved=COMPRESSED))
                first, rest = payload[: len(payload) // 2], payload[len(payload) // 2 :]
                channel.send(frame(opcode, first, fin=False, reserved=COMPRESSED))
                channel.send(ping(b"between") + frame(CONTINUATION, rest))
                assert await asyncio.to_thread(channel.receive) == Received(PONG, b"between")
                channel.send(frame(opcode, data))  # and what it does not compress
            channel.send(ping(ALIVE))
            assert await asyncio.to_thread(channel.receive) == Received(PONG, ALIVE)
            channel.send(close(1000))
            assert (await asyncio.to_thread(channel.receive)).opcode == CLOSE


BOMB = deflated(b"\0" * 15_000_000, level=9)
HELLO = deflated(b"Hello")
VIOLATIONS = {
    "a bomb of 15 MB": ([frame(BINARY, BOMB, reserved=COMPRESSED)], 1009),
    "one byte more than allowed": ([frame(TEXT, deflated(b"*" * (LIMIT + 1)), reserved=COMPRESSED)], 1009),
    "a bomb in fragments": (
        [frame(TEXT, BOMB[:9_000], fin=False, reserved=COMPRESSED), frame(CONTINUATION, BOMB[9_000:])], 1009,
    ),
    "more than allowed though compressed": (
        [frame(TEXT, b"\0" * 9_000, fin=False, reserved=COMPRESSED), frame(CONTINUATION, b"\0" * 9_000)], 1009,
    ),
    "no such data": ([frame(TEXT, b"\xff\xff\xff", reserved=COMPRESSED)], 1007),
    "cut off": ([frame(BINARY, deflated(random.Random(2).randbytes(99))[:50], reserved=COMPRESSED)], 1007),
    "a reference to the message before": (
        [frame(TEXT, HELLO, reserved=COMPRESSED), frame(TEXT, b"\xf2\x00\x11\x00\x00", reserved=COMPRESSED)], 1007,
    ),
    "text that is not UTF-8": ([frame(TEXT, deflated(b"\xc3("), reserved=COMPRESSED)], 1007),
    "a compressed ping": ([frame(PING, HELLO, reserved=COMPRESSED)], 1002),
    "a compressed close": ([frame(CLOSE, b"\x03\xe8", reserved=COMPRESSED)], 1002),
    "the bit on a second fragment": (
        [frame(TEXT, HELLO[:3], fin=False, reserved=COMPRESSED), frame(CONTINUATION, HELLO[3:], reserved=COMPRESSED)],
        1002,
    ),
    "the second bit": ([frame(TEXT, HELLO, reserved=COMPRESSED | 2)], 1002),
    "the third bit": ([frame(TEXT, HELLO, reserved=COMPRESSED | 1)], 1002),
}  # fmt: skip


async def test_broken_rules_close_the_channel(own_gateway):
    assert len(BOMB) < LIMIT
    own = await start(own_gateway, "message")
    async with SpidrPeer(own.http, "bob") as bob:
        await bob.register(listen=False)
        for name, (sent, code) in VIOLATIONS.items():
            offer = "Sec-WebSocket-Extensions: permessage-deflate"
            with RawChannel(own.http_port, bob.channel, offer, agreed=PLAIN) as channel:
                for data in sent:
                    channel.send(data)
                assert channel.receive() == Received(CLOSE, code.to_bytes(2, "big")), name
                channel.send(close(1000))
                assert channel.receive() is None, name


@pytest.mark.parametrize("mode", ["message", "channel"])
async def test_the_websockets_library_hears_and_is_heard(own_gateway, mode):
    own = await start(own_gateway, mode)
    factories = [
        [ClientPerMessageDeflateFactory()],
        [ClientPerMessageDeflateFactory(server_no_context_takeover=True, client_no_context_takeover=True)],
        [ClientPerMessageDeflateFactory(server_max_window_bits=10, client_max_window_bits=10)],
    ]
    async with SpidrPeer(own.http, "alice") as alice, SpidrPeer(own.http, "bob") as bob:
        await alice.register(services=["IM"])
        await bob.register(services=["IM"], listen=False)
        url = own.http.replace("http", "ws", 1) + bob.channel
        for extensions in factories:
            async with websockets.connect(url, extensions=extensions, compression=None) as socket:
                assert [each.name for each in socket.protocol.extensions] == ["permessage-deflate"]
                for number in range(6):
                    text = TALK[number * 7 :] + str(number)
                    await say(alice, "bob", text)
                    assert text_of(json.loads(await asyncio.wait_for(socket.recv(), 20))) == text
                    await socket.send(json.dumps({"message_type": "ping", "more": text}))
                await asyncio.wait_for(await socket.ping(), 20)
        async with websockets.connect(url, compression="deflate") as socket:
            await socket.send("*" * (LIMIT + 1))
            with suppress(websockets.ConnectionClosed):
                while True:  # what is sent again
                    await asyncio.wait_for(socket.recv(), 20)
            assert socket.close_code == 1009


async def test_a_browser_hears(own_gateway):
    own = await start(own_gateway, "channel")
    async with SpidrPeer(own.http, "alice") as alice, SpidrPeer(own.http, "bob") as bob:
        await alice.register(services=["IM"])
        await bob.register(services=["IM"], listen=False)
        url = own.http.replace("http", "ws", 1) + bob.channel
        async with AsyncExitStack() as stack:
            browser = await asyncio.to_thread(Chromium)
            stack.callback(browser.close)
            page = await asyncio.to_thread(browser.page, own.http + "/health")
            await asyncio.to_thread(
                page.run,
                f"window.heard = []; window.socket = new WebSocket('{url}');"
                "socket.onmessage = event => heard.push(event.data);"
                "socket.onopen = () => socket.send('*'.repeat(9000));",
            )
            await asyncio.to_thread(page.wait_for, "socket.readyState === 1")
            assert await asyncio.to_thread(page.run, "socket.extensions") == KEPT
            for count in range(1, 4):
                await say(alice, "bob", TALK)
                await asyncio.to_thread(page.wait_for, f"heard.length === {count}")
            for data in await asyncio.to_thread(page.run, "heard"):
                assert text_of(json.loads(data)) == TALK
            assert await asyncio.to_thread(page.run, "socket.readyState") == 1


CHANNELS = 200


def private_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty"))) * 1024


async def test_an_idle_channel_keeps_no_window_unless_it_was_asked_to(own_gateway):
    """The figures of docs/performance.md: `-s -k no_window`."""
    each = {}
    for mode in ("off", "message", "channel"):
        own = await start(own_gateway, mode, "--set", f"registration.max_per_user={CHANNELS + 50}")
        async with SpidrPeer(own.http, "alice") as alice, AsyncExitStack() as stack:
            await alice.register(services=["IM"])
            devices = [await stack.enter_async_context(SpidrPeer(own.http, "bob")) for _ in range(CHANNELS + 20)]
            for device in devices:
                await device.register(services=["IM"], alone=False, listen=False)

            async def hear(some: list[SpidrPeer]):
                sockets = [
                    await stack.enter_async_context(
                        websockets.connect(own.http.replace("http", "ws", 1) + device.channel, compression="deflate")
                    )
                    for device in some
                ]
                await say(alice, "bob", TALK)
                for socket in sockets:
                    while text_of(json.loads(await asyncio.wait_for(socket.recv(), 30))) != TALK:
                        pass
                await asyncio.sleep(1)

            await hear(devices[:20])  # what all share
            before = private_bytes(own.pid)
            await hear(devices[20:])
            each[mode] = (private_bytes(own.pid) - before) / CHANNELS
        await asyncio.to_thread(own.kill)
    print({mode: f"{size / 1024:.1f} KB" for mode, size in each.items()})
    assert each["message"] - each["off"] < 10_000, each
    assert 40_000 < each["channel"] - each["off"] < 110_000, each

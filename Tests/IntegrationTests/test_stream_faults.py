"""Bots that do not behave: nonsense, crumbs, an hour at once, the wrong rate, pieces that end inside a sample, sockets
that are not read or closed at once, handshakes that are none (docs/bots.md, *Audio streams*). Whichever side opens the
socket, the call goes on, the application is told, and another call with a bot of its own hears nothing of it."""
import asyncio
import base64
import contextlib
import itertools
import json
import re

import numpy
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.utils import accept_key

from party import MUSIC, TONES, hear_now
from peers.bot import DEMO_KEY, Bot
from peers.bot_server import SUBPROTOCOL, BotServer
from peers.stream import Stream
from test_bots import answered
from test_connections import resident_megabytes
from test_stream_callers import WAYS, program
from test_streams import tone
from test_twilio_library import mu_law

FEW_MEGABYTES = 60
"""The audio of an hour has 115 MB. The gateway keeps a minute of it, and what its sockets have read already."""


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


@contextlib.asynccontextmanager
async def calls(party, bot: Bot):
    """Alice in a call without a bot yet, and its name; and Bob, who hears himself from a bot that behaves, at the end
    as at the beginning."""
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    other, quiet = await answered(bot, bob)
    async with Stream(bot.base, quiet, echoes=True) as well:
        await hear_now({other: {"bob"}})
        call, session = await answered(bot, alice)
        yield call, session
        await hear_now({other: {"bob"}})
        assert well.code is None
    (await other.end()).succeeded()


async def takes_another(bot: Bot, call, session: str):
    """The call goes on, and a bot that behaves may have it."""
    assert (await bot.show(session))["state"] == "talking"
    async with Stream(bot.base, session, echoes=True):
        await hear_now({call: {"alice"}})
    (await call.end()).succeeded()


# What they say


@pytest.mark.parametrize("fallback", ["none", "end"])
@pytest.mark.parametrize("way", WAYS)
async def test_what_cannot_be_read_is_said_and_a_bot_of_nothing_else_is_given_up(party, bot, way, fallback):
    async with calls(party, bot) as (call, session):
        async with program(bot, session, way, fallback=fallback) as stream:
            await stream.play(tone("carol", 40))
            await hear_now({call: {"carol"}})
            for text, code in [
                ("hello", "malformed"), ("[]", "malformed"), ("{}", "missing_field"), ('{"type": 7}', "invalid_value"),
                ('{"type": "sing"}', "unknown_command"), ('{"type": "mark"}', "missing_field"),
            ]:  # fmt: skip
                await stream.socket.send(text)
                assert (await stream.expect("refused"))["code"] == code, text
            await stream.say(type="status")
            await stream.expect("status")
            await hear_now({call: {"carol"}})
            for _ in range(100):
                await stream.socket.send("nonsense")
            assert (await stream.expect("end"))["reason"] == "faults" and await stream.closed() == 1008
            if fallback == "end":
                await call.over()
                await bot.until(session, state="ended")
            else:
                await bot.until(session, stream=None)
        if fallback == "none":
            await takes_another(bot, call, session)


@pytest.mark.parametrize("way", WAYS)
async def test_audio_comes_in_crumbs_and_in_heaps(gateway, party, bot, way):
    async with calls(party, bot) as (call, session):
        async with program(bot, session, way) as stream:
            data = tone("carol", 1).astype("<i2").tobytes()
            for place in range(len(data)):
                await stream.socket.send(data[place : place + 1])
            await stream.say(type="mark", name="crumbs")
            assert (await stream.expect("marked"))["heard"] == 1_000
            # Of an hour the gateway takes a minute, and says how much it does not take.
            hour, before = tone("dave", 60), resident_megabytes(gateway)
            for _ in range(60):
                await stream.play(hour)
            await stream.expect("pause")
            assert (await stream.expect("refused"))["code"] == "buffer_full"
            assert resident_megabytes(gateway) - before < FEW_MEGABYTES
            await hear_now({call: {"dave"}})
            await stream.say(type="status")
            assert (await stream.expect("status", timeout=60))["waiting"] <= 60_000
            await stream.say(type="clear")
            await stream.expect("cleared")
            await hear_now({call: set()})
        await bot.until(session, stream=None)
        await takes_another(bot, call, session)


@pytest.mark.parametrize("way", WAYS)
async def test_a_bot_that_waits_from_each_pause_to_the_resume_behind_it_loses_nothing(party, bot, way):
    """Otherwise it sends as fast as it can, faster than it is heard, until it has said what does not fit at once."""
    async with calls(party, bot) as (call, session):
        async with program(bot, session, way) as stream:
            await stream.expect("start")
            pauses = 0
            for _ in range(70):
                await stream.play(tone("carol", 1))
                await stream.say(type="status")
                await stream.expect("status")  # what else that second has led to is told by now
                if any(each["type"] == "pause" for each in stream.told):
                    await stream.expect("pause")
                    await stream.expect("resume", timeout=60)
                    pauses += 1
            assert pauses >= 1
            await hear_now({call: {"carol"}})
            await stream.say(type="pause")
            await stream.say(type="status")
            waiting = (await stream.expect("status"))["waiting"]
            await stream.say(type="clear")
            assert abs((await stream.expect("cleared"))["heard"] + waiting - 70_000) <= 20
            assert not [each for each in stream.told if each["type"] == "refused"]
        await bot.until(session, stream=None)
        await takes_another(bot, call, session)


@pytest.mark.parametrize("way", WAYS)
async def test_audio_of_three_times_the_rate_is_heard_slowly_and_the_bot_is_told_to_stop(party, bot, way):
    """48,000 samples a second sent as if they were 16,000: a tone is heard at a third of its frequency, for three times
    as long, and every millisecond is either heard, or waits, or is said not to have been taken."""
    async with calls(party, bot) as (call, session), program(bot, session, way, rate=16_000) as stream:
        times = numpy.arange(48_000) / 48_000
        second = (8_000 * numpy.sin(2 * numpy.pi * 3 * TONES["carol"] * times)).astype(numpy.int16)
        for _ in range(30):
            await stream.play(second)
        await stream.expect("pause")
        await hear_now({call: {"carol"}})
        await stream.say(type="pause")
        await stream.say(type="status")
        status = await stream.expect("status")
        assert status["paused"] is True and 40_000 < status["waiting"] <= 60_000
        await stream.say(type="clear")
        heard = (await stream.expect("cleared"))["heard"]
        await stream.expect("resume")
        await stream.say(type="status")
        await stream.expect("status")  # what was refused before is told by now
        refused = [each for each in stream.told if each["type"] == "refused"]
        assert refused and {each["code"] for each in refused} == {"buffer_full"}
        lost = [int(re.search(r"(\d+) ms", each["message"])[1]) for each in refused]
        # Each number is whole milliseconds.
        assert abs(heard + status["waiting"] + sum(lost) - 90_000) <= len(lost) + 2
        # A bot that keeps to its rate is heard as if nothing had been.
        await stream.play(tone("dave", 20))
        await hear_now({call: {"dave"}})
        (await call.end()).succeeded()


@pytest.mark.parametrize("way", WAYS)
async def test_pieces_of_odd_lengths_are_put_together_and_half_a_sample_at_the_end_is_left_out(party, bot, way):
    async with calls(party, bot) as (call, session), program(bot, session, way) as stream:
        data, place = tone("carol", 10).astype("<i2").tobytes(), 0
        for length in itertools.cycle([1, 3, 641, 639, 7, 1_279]):
            await stream.socket.send(data[place : place + length])
            place += length
            if place >= len(data):
                break
        await stream.say(type="mark", name="odd")
        await hear_now({call: {"carol"}})
        assert (await stream.expect("marked"))["heard"] == 10_000
        await stream.socket.send(b"\x7f")
        await stream.say(type="finish")
        await stream.say(type="mark", name="rest")
        assert (await stream.expect("marked"))["heard"] == 10_000
        # What comes then is not put together with it: that would be noise.
        await stream.play(tone("dave", 20))
        await hear_now({call: {"dave"}})
        assert not [each for each in stream.told if each["type"] == "refused"]
        (await call.end()).succeeded()


# What they do with their sockets


async def test_a_bot_that_does_not_read_is_cut_off_and_the_call_goes_on(party, bot):
    async with calls(party, bot) as (call, session):
        async with Stream(bot.base, session, reads=False, rate=48_000), asyncio.timeout(150):
            while True:
                try:
                    async with Stream(bot.base, session):
                        break
                except InvalidStatus as error:
                    assert error.response.status_code == 409
                await asyncio.sleep(1)
        await bot.tell(session, "play", items=[{"tone": "dial"}])
        await hear_now({call: {MUSIC}})
        (await call.end()).succeeded()


async def test_a_server_that_does_not_read_is_cut_off_and_connected_to_again_until_the_application_ends_it(party, bot):
    async with calls(party, bot) as (call, session):
        async with BotServer(reads=False) as server:
            await bot.tell(session, "stream", url=server.url, rate=48_000)
            await server.socket()
            await bot.until(session, stream="open")
            await server.socket(2, timeout=150)
            await bot.tell(session, "play", items=[{"tone": "dial"}])
            await hear_now({call: {MUSIC}})
            await bot.tell(session, "stop")
            assert "stream" not in await bot.tell(session, "stream", action="stop")
            await takes_another(bot, call, session)
            assert len(server.handshakes) == 2


@pytest.mark.parametrize(
    ("code", "fallback", "attempts", "is_over"),
    [
        (1000, "end", (1, 1), False), (1008, "none", (1, 1), False), (4000, "end", (1, 1), True),
        (1011, "none", (3, 5), False), (1006, "end", (3, 5), True),
    ],
)  # fmt: skip
async def test_a_server_that_closes_its_sockets_at_once(party, bot, code, fallback, attempts, is_over):
    """What says that the stream is over, or that something is wrong, is believed at once; the rest is tried again."""
    async with calls(party, bot) as (call, session):
        async with BotServer(closes=code) as server:
            await bot.tell(session, "stream", url=server.url, retryTime=3_000, fallback=fallback)
            if is_over:
                await call.over()
                await bot.until(session, state="ended")
            else:
                await bot.until(session, stream=None)
            fewest, most = attempts
            assert fewest <= len(server.handshakes) <= most
        if not is_over:
            await takes_another(bot, call, session)


# What they say in place of a handshake


def agreed(key: str) -> bytes:
    """The handshake that answers this key."""
    lines = (
        "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {accept_key(key)}", f"Sec-WebSocket-Protocol: {SUBPROTOCOL}", "", "",
    )  # fmt: skip
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize(
    "says",
    [
        lambda key: b"",
        lambda key: b"\x00\xff\x00\xff" * 100,
        lambda key: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
        lambda key: agreed(key[::-1]),
        # Reserved bits and an opcode that is none, behind a handshake as it should be.
        lambda key: agreed(key) + b"\xff\xff\xff\xff" * 100,
    ],
    ids=["nothing", "no HTTP", "a page", "another key", "no frames"],
)
@pytest.mark.parametrize("stays", [False, True], ids=["and leaves", "and stays"])
async def test_a_server_that_is_none_is_given_up(party, bot, says, stays):
    """At once where there is nothing to wait for; after `streams.connect_time` where it says nothing and stays."""
    asked, is_done = [], asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(request)
        key = re.search(r"^sec-websocket-key: (\S+)", request, re.MULTILINE | re.IGNORECASE)[1]
        writer.write(says(key))
        if stays:
            await is_done.wait()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        async with calls(party, bot) as (call, session):
            await bot.tell(session, "play", items=[{"tone": "dial"}])
            await hear_now({call: {MUSIC}})
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            await bot.tell(session, "stream", url=url, retryTime=0)
            await bot.until(session, timeout=40, stream=None)
            assert len(asked) == 1
            await hear_now({call: {MUSIC}})
            await bot.tell(session, "stop")
            await takes_another(bot, call, session)
    finally:
        is_done.set()
        server.close()
        await server.wait_closed()


async def closing_frame(reader: asyncio.StreamReader):
    """Reads what the gateway says until it closes the socket (RFC 6455 §5.2)."""
    opcode = None
    while opcode != 8:
        first, length = await reader.readexactly(2)
        opcode, length = first & 0x0F, length & 0x7F
        if length >= 126:
            length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
        await reader.readexactly(4 + length)  # with the mask


@pytest.mark.parametrize(
    "answer", [b"", b"\x88\x02\x03\xf3", None, "early"],
    ids=["says nothing", "says that it will be back", "leaves", "has left before it is read"],
)  # fmt: skip
async def test_a_server_that_is_cut_off_for_nonsense_is_given_up_however_it_takes_that(party, bot, answer):
    asked, is_done = [], asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(request)
        key = re.search(r"^sec-websocket-key: (\S+)", request, re.MULTILINE | re.IGNORECASE)[1]
        writer.write(agreed(key) + 100 * b"\x81\x08nonsense")
        if answer == "early":
            writer.close()
            return
        await closing_frame(reader)
        if answer is None:
            writer.transport.abort()
        else:
            writer.write(answer)
            await is_done.wait()
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        async with calls(party, bot) as (call, session):
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            await bot.tell(session, "stream", url=url, fallback="end")
            await call.over()
            await bot.until(session, state="ended")
            assert len(asked) == 1
    finally:
        is_done.set()
        server.close()
        await server.wait_closed()


# Audio that has to wait


class HourForTwilio:
    """A bot in the dialect of Twilio, which has no words to slow a bot down: it sends an hour of audio at once."""

    MINUTES = 60

    def __init__(self):
        self.sent = 0
        """How many minutes its socket has taken."""
        self.heard: list[str] = []
        """The events that it was told."""

    async def talk(self, socket: Connection):
        audio = base64.b64encode(mu_law("dave", 30)).decode()
        sender = asyncio.create_task(self._send(socket, json.dumps({"event": "media", "media": {"payload": audio}})))
        with contextlib.suppress(ConnectionClosed):
            async for text in socket:
                self.heard.append(json.loads(text)["event"])
        await sender

    async def _send(self, socket: Connection, half: str):
        with contextlib.suppress(ConnectionClosed):
            for _ in range(self.MINUTES):
                await socket.send(half)
                await socket.send(half)
                self.sent += 1

    async def hears(self, pieces: int):
        """Waits until it was sent so many pieces of 20 ms."""
        async with asyncio.timeout(300):
            while self.heard.count("media") < pieces:
                await asyncio.sleep(0.2)


@pytest.mark.parametrize("way", ["in", "out"])
async def test_a_bot_that_cannot_be_told_to_stop_waits_at_its_socket_with_an_hour_and_loses_nothing(
    own_gateway, party, way
):
    own = own_gateway("--set", "listen.channel_idle=10s")
    alice = await party("alice", sounds=True, base=own.http)
    program = HourForTwilio()
    # A bot that expects pongs in time would give up: they wait behind its own audio.
    quiet = {"ping_interval": None, "compression": None}
    async with Bot(own.http) as bot, contextlib.AsyncExitStack() as stack:
        call, session = await answered(bot, alice)
        if way == "in":
            uri = Stream(own.http, session, dialect="twilio").uri
            headers = {"Authorization": f"Bearer {DEMO_KEY}"}
            socket = await stack.enter_async_context(connect(uri, additional_headers=headers, proxy=None, **quiet))
            talk = asyncio.create_task(program.talk(socket))
        else:
            server = await stack.enter_async_context(serve(program.talk, "127.0.0.1", 0, **quiet))
            port = server.sockets[0].getsockname()[1]
            await bot.tell(session, "stream", url=f"ws://127.0.0.1:{port}/", dialect="twilio")
        await hear_now({call: {"dave"}})
        # Longer than a socket that shows no sign of life is kept: the program is still there, and still has audio.
        await program.hears(1_000 if way == "in" else 3_000)
        await hear_now({call: {"dave"}})
        assert 9 <= program.sent < program.MINUTES
        assert own.metric("orbweaver_stream_messages_refused_total") == 0
        assert (await bot.show(session))["stream"] == "open" and "stop" not in program.heard
        (await call.end()).succeeded()
        async with asyncio.timeout(60):
            while "stop" not in program.heard:
                await asyncio.sleep(0.2)
            if way == "in":
                await talk

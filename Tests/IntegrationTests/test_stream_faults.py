"""Bots that send audio of the wrong rate, or pieces that end inside a sample (docs/bots.md, *Audio streams*). Those
that send nonsense or crumbs, or do not read, are in test_streams.py."""
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
from websockets.exceptions import ConnectionClosed

from party import TONES, hear_now
from peers.bot import DEMO_KEY, Bot
from peers.stream import Stream
from test_bots import answered
from test_streams import tone
from test_twilio_library import mu_law


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


async def test_audio_of_three_times_the_rate_is_heard_slowly_and_the_bot_is_told_to_stop(party, bot):
    """48,000 samples a second sent as if they were 16,000: a tone is heard at a third of its frequency, for three times
    as long, and every millisecond is either heard, or waits, or is said not to have been taken."""
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session, rate=16_000) as stream:
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


async def test_pieces_of_odd_lengths_are_put_together_and_half_a_sample_at_the_end_is_left_out(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session) as stream:
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

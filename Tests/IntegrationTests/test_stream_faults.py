"""Bots that send audio of the wrong rate, or pieces that end inside a sample (docs/bots.md, *Audio streams*). Those
that send nonsense, crumbs or an hour, or do not read, are in test_streams.py."""
import itertools
import re

import numpy
import pytest_asyncio

from party import TONES, hear_now
from peers.bot import Bot
from peers.stream import Stream
from test_bots import answered
from test_streams import tone


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

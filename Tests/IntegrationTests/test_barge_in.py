"""A caller speaks while a bot plays: its speech, found by the gateway, pauses what the bot says until it decides
(docs/bots.md, *Audio streams*). The voice is synthetic. What the caller has heard is measured at the caller."""
import asyncio
import functools
from contextlib import asynccontextmanager
from pathlib import Path

import av
import numpy
import pytest_asyncio

from party import TONES, hear_now
from party.media import ToneMedia
from party.tones import KeepingEar
from peers.bot import Bot
from peers.codecs import OPUS, encode, resample
from peers.sound import RATE
from peers.speech import PacketTrack
from peers.stream import Stream
from test_bots import answered
from test_streams import tone

SPEECH = Path(__file__).resolve().parents[2] / "fixtures/audio/speech"
SECONDS = 40
"""What the bot has to say."""
FEW_FRAMES = 100
"""Milliseconds: five frames of 20 ms."""


@functools.cache
def sentence(name: str) -> numpy.ndarray:
    """One of fixtures/audio/speech, which a synthetic voice says, 16 bit at `RATE`."""
    with av.open(str(SPEECH / f"{name}.wav")) as file:
        pieces = [frame.to_ndarray().reshape(-1) for frame in file.decode(audio=0)]
        return resample(numpy.concatenate(pieces), file.streams.audio[0].rate, RATE)


class Talker(ToneMedia):
    """Is silent, and says a sentence of a synthetic voice whenever it is told to."""

    def __init__(self):
        self._track = PacketTrack(OPUS, encode(sentence("meant"), OPUS))
        super().__init__(0, source=self._track)
        self.ear = KeepingEar()
        self._ears = [self.ear]

    def say(self):
        self._track.speak()


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


async def talker(party, bot: Bot):
    alice = await party("alice", sounds=True)
    alice.new_media = Talker
    return await answered(bot, alice)


@asynccontextmanager
async def interrupted(party, bot: Bot, decision: int):
    """The caller's end of a call in which a bot plays Carol's tone, its stream, and what it was told when the caller
    began to speak."""
    call, session = await talker(party, bot)
    async with Stream(bot.base, session, bargeIn=decision) as stream:
        await stream.play(tone("carol", SECONDS))
        await stream.say(type="mark", name="end")
        await hear_now({call: {"carol"}})
        call.media.say()
        started = await stream.expect("speechStarted")
        assert (started["paused"], started["decision"]) == (True, decision)
        yield call, stream, started
    (await call.end()).succeeded()


async def standing(stream: Stream) -> int:
    """How much of what the bot says has been heard, while it is paused."""
    await stream.say(type="status")
    status = await stream.expect("status")
    assert status["paused"] is True
    return SECONDS * 1_000 - status["waiting"]


async def dropped(call, stream: Stream) -> int:
    """The bot drops what waits. How much of it has been heard, as the bot is told, and as the caller has heard it."""
    await stream.say(type="clear")
    marked, cleared = await stream.expect("marked"), await stream.expect("cleared")
    assert (marked["name"], marked["cleared"], marked["heard"]) == ("end", True, cleared["heard"])
    await stream.play(tone("dave", 5))  # behind it nothing of Carol is on its way any more
    await hear_now({call: {"dave"}}, still=0)
    heard = call.media.ear.milliseconds(TONES["carol"])
    assert abs(heard - cleared["heard"]) <= FEW_FRAMES, f"told {cleared['heard']} ms, heard {heard} ms"
    return cleared["heard"]


async def test_the_bot_confirms_an_interruption(party, bot):
    async with interrupted(party, bot, 10_000) as (call, stream, _):
        await hear_now({call: set()})
        heard = await standing(stream)
        assert await dropped(call, stream) == heard
        assert not [each for each in stream.told if each["type"] == "resumed"]


async def test_the_bot_does_not_decide_in_time(party, bot):
    async with interrupted(party, bot, 5_000) as (call, stream, started):
        heard = await standing(stream)
        assert (await stream.expect("resumed"))["heard"] == heard
        await hear_now({call: {"carol"}})
        stopped = await stream.expect("speechStopped")
        # The sentence is as long as that, and silence tells where it ends.
        assert 0.2 <= (stopped["at"] - started["at"]) / (1_000 * len(sentence("meant")) / RATE) <= 1.5
        assert await dropped(call, stream) > heard


async def test_the_bot_takes_an_interruption_back_and_is_interrupted_again(party, bot):
    async with interrupted(party, bot, 3_000) as (call, stream, _):
        await stream.say(type="resume")
        await hear_now({call: {"carol"}})
        await stream.expect("speechStopped")
        frames = len(stream.frames)
        await stream.until(lambda: len(stream.frames) >= frames + 200, "4 s later", 60)
        assert not [each for each in stream.told if each["type"] == "resumed"], "it has decided"
        call.media.say()
        assert (await stream.expect("speechStarted"))["paused"] is True
        await stream.say(type="pause")
        await hear_now({call: set()})
        heard = await standing(stream)
        frames = len(stream.frames)
        await stream.until(lambda: len(stream.frames) >= frames + 200, "4 s later", 60)
        assert await standing(stream) == heard, "the pause of the bot lasts until the bot ends it"
        assert await dropped(call, stream) == heard


async def test_a_bot_that_is_sent_speech_alone_gets_the_first_sound_of_it(party, bot):
    call, session = await talker(party, bot)
    async with Stream(bot.base, session, media="speech") as stream:
        await stream.expect("start")
        await asyncio.sleep(1)
        likenesses = []
        # A busy machine may stretch or tear a sentence on its way; the beginning of a sentence that is cut off is
        # never there.
        while not likenesses or max(likenesses) < 0.8:
            assert len(likenesses) < 3, likenesses
            pieces = len(stream.pieces)
            call.media.say()
            started = await stream.expect("speechStarted")
            await stream.expect("speechStopped")
            at, data = stream.pieces[pieces]
            assert 0 < started["at"] - at <= 400, "the time before the start is at most 300 ms, and what finding takes"
            likenesses.append(likeness(first_sound(), numpy.frombuffer(bytes(data), "<i2")))
        assert len(stream.frames) < 50 * 3 * 4, "nothing else is sent"
        (await call.end()).succeeded()
        assert await stream.closed() == 1000


def first_sound() -> numpy.ndarray:
    """A quarter of a second of the sentence from its first sound on, at 16,000 samples per second."""
    samples = resample(sentence("meant"), RATE, 16_000)
    first = int(numpy.argmax(abs(samples.astype(int)) > 0.05 * abs(samples.astype(int)).max()))
    return samples[first : first + 4_000]


def likeness(part: numpy.ndarray, whole: numpy.ndarray) -> float:
    """How like the part is to what the whole has where it is most like it, 0 … 1; 0 if it is too short to have it."""
    part, whole = part.astype(float), whole.astype(float)
    if len(whole) < len(part):
        return 0.0
    energy = numpy.concatenate([[0], numpy.cumsum(whole**2)])
    around = numpy.maximum(energy[len(part) :] - energy[: -len(part)], 1)
    return float(numpy.max(numpy.correlate(whole, part, "valid") / numpy.sqrt(around * numpy.sum(part**2))))

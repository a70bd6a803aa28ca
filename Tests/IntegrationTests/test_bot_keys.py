"""Keys in the sound of callers who have G.711 and no telephone events: a bot gathers them, and its stream is told of
them (docs/bots.md). What only resembles a key is none."""
import asyncio
import functools
import re

import numpy
import pytest
import pytest_asyncio

from party.digits import COLUMNS, DIGITS, ROWS
from party.media import ToneMedia
from party.tones import amplitudes
from peers.bot import Bot
from peers.codecs import PCMA, PCMU, Codec, encode, resample
from peers.sound import RATE, sine
from peers.speech import PacketTrack
from peers.stream import Stream
from test_barge_in import sentence
from test_bots import answered, events

G711 = 8_000
"""Samples per second."""
GATHERING = {"maximum": 4, "terminators": "#", "firstTimeout": 60_000, "betweenTimeout": 60_000}


class Saying(PacketTrack):
    """Is silent, and says one thing after the other."""

    async def say(self, payloads: list[bytes]):
        self._payloads = payloads
        self.spoken.clear()
        self.speak()
        await asyncio.wait_for(self.spoken.wait(), 30)


class Telephone(ToneMedia):
    """Has one codec of G.711 and, like all of aiortc, no telephone events."""

    def __init__(self, codec: Codec):
        self._codec, self._track = codec, Saying(codec, [])
        super().__init__(0, source=self._track, codec=codec.name)

    async def say(self, samples: numpy.ndarray):
        """Samples of 16 bits, to their end."""
        await self._track.say(encode(samples, self._codec))


def pressed(digits: str) -> numpy.ndarray:
    """Each 100 ms of its two tones, with 100 ms of silence behind it (ITU-T Q.23)."""
    count, parts = G711 // 10, []
    for digit in digits:
        row = next(place for place, each in enumerate(DIGITS) if digit in each)
        pair = ROWS[row], COLUMNS[DIGITS[row].index(digit)]
        parts += [sum(sine(each, 0, count, G711) // 2 for each in pair), numpy.zeros(count, numpy.int16)]
    return numpy.concatenate(parts)


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


@pytest_asyncio.fixture(params=[PCMU, PCMA], ids=lambda codec: codec.name)
async def telephone(request, party, bot):
    """The caller's end of a call that the bot has answered, and the bot's name of the call."""
    alice = await party("alice", sounds=True)
    alice.new_media = functools.partial(Telephone, request.param)
    call, session = await answered(bot, alice)
    offer = call.media.connection.localDescription.sdp
    payload_type = {PCMU: "0", PCMA: "8"}[request.param]
    assert re.findall(r"^m=audio \d+ \S+ (.*?)\r?$", offer, re.MULTILINE) == [payload_type]
    assert not [each for each in (offer, *call.descriptions) if "telephone-event" in each] and call.descriptions
    yield call, session
    (await call.end()).succeeded()


async def gathered(bot: Bot, session: str, count: int) -> list[tuple[str, str]]:
    """The keys and the outcome of each gathering, once so many have ended."""
    call = (await bot.show(session))["call"]
    async with asyncio.timeout(20):
        while len(found := await events(bot, call, "gather.ended")) < count:
            await asyncio.sleep(0.05)
    return [(each["data"]["keys"], each["data"]["outcome"]) for each in found]


async def keys_of_the_call(bot: Bot, session: str) -> str:
    found = await events(bot, (await bot.show(session))["call"], "key.pressed")
    assert not [each for each in found if "milliseconds" in each["data"]], "how long they were pressed is not known"
    return "".join(each["data"]["key"] for each in found)


async def told(stream: Stream, keys: str):
    """Waits until the stream was told of so many keys, and for a second more: they are these, and no others."""
    def so_far() -> str:
        return "".join(each["keys"] for each in stream.told if each["type"] == "keys")

    await stream.until(lambda: len(so_far()) >= len(keys), f"told {keys}")
    frames = len(stream.frames)
    await stream.until(lambda: len(stream.frames) >= frames + 50, "a second later")
    assert so_far() == keys


def sound_of(stream: Stream) -> numpy.ndarray:
    """All that the stream was sent, as samples."""
    return numpy.frombuffer(b"".join(bytes(piece) for _, piece in stream.pieces), "<i2")


async def test_keys_that_sound_are_gathered_once_each_in_their_order(telephone, bot):
    call, session = telephone
    await bot.tell(session, "gather", **GATHERING)
    await call.media.say(pressed("155#"))
    assert await gathered(bot, session, 1) == [("155", "terminator")]
    async with Stream(bot.base, session) as stream:
        await stream.expect("start")
        await bot.tell(session, "gather", **GATHERING)
        await call.media.say(pressed("80A*6"))
        assert await gathered(bot, session, 2) == [("155", "terminator"), ("80A*", "maximum")]
        await told(stream, "80A*6")
    assert await keys_of_the_call(bot, session) == "155#80A*6"


async def test_speech_and_single_tones_are_no_keys(telephone, bot):
    call, session = telephone
    async with Stream(bot.base, session, rate=RATE) as stream:
        await stream.expect("start")
        await bot.tell(session, "gather", **GATHERING)
        for name in ("meant", "question"):
            await call.media.say(resample(sentence(name), RATE, G711))
        await stream.until(lambda: abs(sound_of(stream).astype(int)).max(initial=0) > 1_000, "hears the speech")
        alone = 770, 1_336  # together they are 5
        for frequency in alone:
            await call.media.say(numpy.append(sine(frequency, 0, 2 * G711, G711), numpy.zeros(G711 // 5, numpy.int16)))
        # All the time keys were listened for.
        await call.media.say(pressed("7#"))
        assert await gathered(bot, session, 1) == [("7", "terminator")]
        await told(stream, "7#")
        halves = [sound_of(stream)[start:][: RATE // 2] for start in range(0, len(sound_of(stream)), RATE // 2)]
        levels = numpy.array([amplitudes(each, alone) for each in halves if len(each) == RATE // 2])
        assert levels.max(axis=0).min() > 2_000, "both tones were heard"
    assert await keys_of_the_call(bot, session) == "7#"

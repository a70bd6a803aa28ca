"""What a bot says while its caller still connects is heard from its start (docs/bots.md)."""
import asyncio

import numpy
import pytest_asyncio

from party import TONES
from party.media import ToneMedia
from party.tones import KeepingEar
from peers.bot import Bot
from peers.stream import Stream
from test_streams import tone


class LateMedia(ToneMedia):
    """Does not look at the answer to its offer before it may: until then it neither connects nor hears."""

    def __init__(self, name: str):
        super().__init__(TONES[name])
        self._ears, self.may_connect = [KeepingEar()], asyncio.Event()

    async def accept(self, answer: str, provisional: bool = False):
        await self.may_connect.wait()
        await super().accept(answer, provisional)

    def heard(self, frequency: float) -> int:
        """For how many milliseconds it has heard this tone."""
        return self._ears[0].milliseconds(frequency)


DIAL = 425
"""Hertz of the dial tone (ITU-T E.180)."""
LATE = 2
"""How many seconds a client needs until it connects: more than what it is told takes."""
WHOLE = 980
"""Milliseconds that are heard of a second. The silence behind it brings the end out of the client's jitter buffer."""


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


def ends_of_lists(gateway, tag: str) -> list[tuple[int, str]]:
    """How much was heard of the lists with this tag, in milliseconds, and how they ended."""
    facts = (event["fact"].get("played") for events in gateway.events().values() for event in events)
    lists = (fact["list"] for fact in facts if fact)
    return [(each["heard"], str(each["outcome"])) for each in lists if each.get("tag") == tag]


async def test_a_greeting_is_heard_whole_by_a_caller_that_connects_late(gateway, party, bot):
    alice = await party("alice", stack=LateMedia)
    call = await alice.dial("bot")
    session = (await bot.incoming())["id"]
    await bot.tell(session, "answer")
    await bot.tell(session, "play", items=[{"tone": "dial", "duration": 1_000}, {"silence": 500}], tag="late greeting")
    await asyncio.sleep(LATE)
    assert (await bot.show(session))["playing"] == {"tag": "late greeting", "waiting": 0}, "it waits"
    call.media.may_connect.set()
    await call.answered()
    await bot.until(session, playing=None)
    await call.until(lambda: call.media.heard(DIAL) >= WHOLE, "hears the greeting from its start")
    [(heard, _)] = ends_of_lists(gateway, "late greeting")
    assert heard == 1_500
    await bot.tell(session, "end")
    await call.over()


async def test_a_stream_is_heard_whole_by_a_caller_that_connects_late(party, bot):
    alice = await party("alice", stack=LateMedia)
    call = await alice.dial("bot")
    session = (await bot.incoming())["id"]
    await bot.tell(session, "answer")
    async with Stream(bot.base, session) as stream:
        await stream.expect("start")
        await stream.play(numpy.concatenate([tone("carol", 1), numpy.zeros(8_000, numpy.int16)]))
        await stream.say(type="mark", name="said")
        await asyncio.sleep(LATE)
        assert not [told for told in stream.told if told["type"] in ("marked", "drained")], "nothing was heard yet"
        call.media.may_connect.set()
        await call.answered()
        assert (await stream.expect("marked"))["heard"] == 1_500
        await call.until(lambda: call.media.heard(TONES["carol"]) >= WHOLE, "hears the stream from its start")
    await bot.tell(session, "end")
    await call.over()


async def test_a_caller_that_never_connects_before_the_answer_is_not_waited_for_without_end(gateway, party, bot):
    alice = await party("alice", stack=LateMedia)
    call = await alice.dial("bot", supported=["earlymedia"])
    session = (await bot.incoming())["id"]
    await bot.tell(session, "progress")
    await bot.tell(session, "play", items=[{"tone": "dial", "duration": 500}], tag="unheard")
    await bot.until(session, playing=None)
    [(heard, _)] = ends_of_lists(gateway, "unheard")
    assert heard == 0
    await bot.tell(session, "reject")
    call.media.may_connect.set()
    await call.over()

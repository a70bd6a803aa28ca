"""Callers of bots on audio streams: a browser that hears itself in each dialect, keys both ways as libwebrtc presses
and hears them, a stream before the answer, and listeners of a browser's call (docs/bots.md, *Audio streams*)."""
import asyncio
import json
from contextlib import asynccontextmanager

import numpy
import pytest
import pytest_asyncio

from party import TONES, hear_now
from party.tones import heard_in
from peers.bot import Bot
from peers.bot_server import BotServer
from peers.codecs import resample
from peers.echo_bot import EchoBot
from peers.page_sound import PageEar, speak_in_tone
from peers.phone_page import PhonePage
from peers.sound import RATE
from peers.stream import Stream
from peers.wrtc import Wrtc
from test_bots import answered
from test_browser_sound import FRAGMENTS, fragments
from test_streams import tone

WAYS = ["in", "out"]
"""The bot connects to the gateway, or the gateway to the bot."""


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


@asynccontextmanager
async def page_with_bot(gateway, browser, bot: Bot):
    """A page in a call with the bot, in which it speaks in Alice's tone, and the bot's name of that call."""
    phone = await asyncio.to_thread(lambda: PhonePage.open(browser(), gateway.http, "alice"))
    await asyncio.to_thread(speak_in_tone, phone, TONES["alice"])
    await asyncio.to_thread(phone.run, "dial('bot@dev.local')")
    session = (await bot.incoming())["id"]
    await bot.tell(session, "answer")
    await asyncio.to_thread(phone.wait_for_view, "connected")
    yield phone, session
    await asyncio.to_thread(phone.unregister)


def press_seven(phone: PhonePage):
    """By the browser itself, once its sound has arrived."""
    phone.wait_for("report?.audio !== undefined")
    phone.run("call.pc.getSenders().find((each) => each.dtmf).dtmf.insertDTMF('7', 200, 100)")


@asynccontextmanager
async def program(bot: Bot, session: str, way: str, **terms: str | int):
    """What says and hears something on the stream of the call, with these terms, and ends it."""
    if way == "in":
        async with Stream(bot.base, session, **terms) as stream:
            yield stream
    else:
        async with BotServer() as server:
            await bot.tell(session, "stream", url=server.url, **terms)
            yield await server.socket()
            await server.down(1000)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("dialect", "terms", "first", "key", "last"),
    [
        ("orbweaver", {"rate": 48_000}, '{"type":"start"', '"keys":"7"', '{"type":"end"'),
        ("orbweaver", {"format": "opus"}, '{"type":"start"', '"keys":"7"', '{"type":"end"'),
        ("twilio", {}, '{"event":"connected"', '"digit":"7"', '{"event":"stop"'),
        ("asterisk", {"format": "l16", "rate": 16_000}, "MEDIA_START ", "DTMF_END digit:7 ", None),
        ("asterisk", {"format": "opus"}, "MEDIA_START ", "DTMF_END digit:7 ", None),
        ("asterisk-json", {"format": "l16", "rate": 48_000}, '{"event":"MEDIA_START"', '"digit":"7"', None),
    ],
)
async def test_a_browser_hears_itself(gateway, browser, bot, way, dialect, terms, first, key, last):
    async with page_with_bot(gateway, browser, bot) as (phone, session):
        async with EchoBot(dialect, **terms).talks(bot, session, way) as program:
            await asyncio.to_thread(lambda: PageEar(phone).hears(heard_in, {"alice"}))
            await asyncio.to_thread(press_seven, phone)
            await program.told(lambda word: key in word)
            await asyncio.to_thread(phone.press, "hangup")
            assert await program.ended() == 1000
        assert program.count > 50 and program.words[0].startswith(first), program.words[:2]
        assert last is None or program.words[-1].startswith(last), program.words[-2:]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("terms", [{"rate": 48_000}, {"format": "opus"}], ids=["l16", "opus"])
async def test_a_browser_restarts_ice_and_holds_and_hears_itself_on_the_same_stream(gateway, browser, bot, way, terms):
    async with page_with_bot(gateway, browser, bot) as (phone, session):
        async with EchoBot("orbweaver", **terms).talks(bot, session, way) as program:

            async def hears_itself():
                await asyncio.to_thread(lambda: PageEar(phone).hears(heard_in, {"alice"}))

            await hears_itself()
            old = await asyncio.to_thread(fragments, phone)
            await asyncio.to_thread(phone.run, "call.restartIce()")
            # The path in use is one with the new credentials.
            is_new = f"pair === local && local !== '{old['local']}'"
            found = f"({FRAGMENTS})('{phone.name}').then(({{ local, pair }}) => {is_new})"
            await asyncio.to_thread(phone.page.wait_for, found)
            await asyncio.to_thread(phone.wait_for, "call.isChanging === false")
            new = await asyncio.to_thread(fragments, phone)
            assert {new["local"], new["remote"]}.isdisjoint(old.values())
            await hears_itself()
            await asyncio.to_thread(phone.run, "call.hold()")
            await asyncio.to_thread(phone.wait_for, "call.state === 'ON_HOLD'")
            await asyncio.to_thread(phone.run, "call.resume()")
            await asyncio.to_thread(phone.wait_for, "call.state === 'IN_CALL'")
            await hears_itself()
            await asyncio.to_thread(phone.press, "hangup")
            assert await program.ended() == 1000
        assert len([each for each in program.words if '"type":"start"' in each]) == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_caller_hears_itself_with_events_of_asterisk_in_json(party, bot, way):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with EchoBot("asterisk-json").talks(bot, session, way) as program:
        await hear_now({call: {"alice"}})
        (await alice.media(call.session, type="dtmf", digits="4")).succeeded()
        await program.told(lambda word: '"DTMF_END"' in word)
        await program.say(command="MARK_MEDIA", correlation_id="here")
        await program.say(command="GET_STATUS")
        await program.told(lambda word: '"STATUS"' in word)
        await program.told(lambda word: '"MEDIA_MARK_PROCESSED"' in word)
        (await call.end()).succeeded()
        assert await program.ended() == 1000
    words = [json.loads(each) for each in program.words]
    assert words[0]["event"] == "MEDIA_START" and words[0]["format"] == "ulaw"
    (key,) = (each for each in words if each["event"] == "DTMF_END")
    assert (key["digit"], key["channel_id"]) == ("4", session)
    (mark,) = (each for each in words if each["event"] == "MEDIA_MARK_PROCESSED")
    assert (mark["correlation_id"], mark["channel_id"]) == ("here", session)


@pytest.mark.parametrize("way", WAYS)
async def test_keys_both_ways_as_the_caller_presses_and_hears_them(party, bot, way):
    alice = await party("alice", stack=Wrtc)
    call, session = await answered(bot, alice)
    async with program(bot, session, way) as said:
        await said.expect("start")
        await said.play(tone("carol", 1))
        await said.say(type="mark", name="said")
        await said.expect("marked")
        await call.media.press("59")
        for key in "59":
            told = await said.expect("keys")
            assert told["keys"] == key
            assert 300 <= told["duration"] <= 600, "it was pressed for 400 ms"
        # The time of libwebrtc's jitter buffer stands still in silence, and it plays no event of another time.
        await said.play(tone("carol", 3))
        await call.until(lambda: call.hears() == {"carol"}, "told something")
        await said.say(type="keys", keys="15#")
        await call.until(lambda: len(call.media.digits) >= 3, "told three digits")
        assert call.media.digits == list("15#")
        (await call.end()).succeeded()
        assert (await said.expect("end"))["reason"] == "callEnded" and await said.closed() == 1000


@pytest.mark.parametrize("way", WAYS)
async def test_a_stream_before_the_answer_is_heard_and_has_the_keys_of_the_caller(party, bot, way):
    alice = await party("alice", stack=Wrtc)
    call = await alice.dial("bot", supported=["earlymedia"])
    session = (await bot.incoming())["id"]
    assert (await bot.tell(session, "progress"))["state"] == "progressing"
    await call.connected()
    async with program(bot, session, way) as said:
        await said.expect("start")
        await said.play(tone("carol", 40))
        await call.until(lambda: call.hears() == {"carol"}, "told something before the answer")
        await call.media.press("7")
        assert (await said.expect("keys"))["keys"] == "7"
        assert not call.is_answered and (await bot.show(session))["state"] == "progressing"
        # The program answers; its stream goes on.
        await said.say(type="answer")
        await call.answered()
        await bot.until(session, state="talking")
        await hear_now({call: {"carol"}})
        await said.say(type="clear")
        assert 500 <= (await said.expect("cleared"))["heard"] < 40_000
        await said.say(type="end")
        assert (await said.expect("end"))["reason"] == "callEnded" and await said.closed() == 1000
    await call.over()


async def test_listeners_hear_a_browser_and_what_it_is_told(gateway, browser, bot):
    async with page_with_bot(gateway, browser, bot) as (phone, session):
        async with (
            Stream(bot.base, session) as speaker,
            Stream(bot.base, session, listen="caller") as caller,
            Stream(bot.base, session, listen="call", rate=8_000) as whole,
        ):
            await speaker.play(tone("carol", 40))
            await asyncio.to_thread(lambda: PageEar(phone).hears(heard_in, {"carol"}))
            await hears(speaker, 16_000, {"alice"})
            await hears(caller, 16_000, {"alice"})
            await hears(whole, 8_000, {"alice", "carol"})
            await speaker.say(type="clear")
            await speaker.expect("cleared")
            await hears(whole, 8_000, {"alice"})
            await asyncio.to_thread(press_seven, phone)
            for each in (speaker, caller, whole):
                assert (await each.expect("keys"))["keys"] == "7"
            await asyncio.to_thread(phone.press, "hangup")
            for each in (speaker, caller, whole):
                assert (await each.expect("end"))["reason"] == "callEnded" and await each.closed() == 1000


async def hears(stream: Stream, rate: int, expected: set[str]):
    """Waits until the last half second that the stream was sent, in samples of this rate, has exactly these tones."""
    def heard() -> set[str]:
        samples = numpy.frombuffer(bytes(stream.pieces[-1][1][-rate:]) if stream.pieces else b"", "<i2")
        return heard_in(resample(samples, rate, RATE)) if len(samples) == rate // 2 else set()

    await stream.until(lambda: heard() == expected, f"hears {expected}", 40)

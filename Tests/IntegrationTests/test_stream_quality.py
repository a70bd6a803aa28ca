"""Speech that a bot plays back on an audio stream, next to the same speech without a bot, as ITU-T P.862 (PESQ) hears
it.

The same path without a bot is the gateway's own echo, `echo@dev.local`: it decodes what the caller says, keeps it for a
second, and encodes it for the caller, in one channel. A bot with linear samples adds a WebSocket there and back, and
nothing else. Packets of Opus pass as they are: those that come back are the caller's own, and are held against two
peers that are connected directly as well, where nothing is encoded twice. Where the caller is Chromium, they are held
against a call of its page to another page. The bot connects to the gateway, or the gateway to the bot.

How the far side hears, and what a busy machine does, is in test_speech_quality.py.
"""
import asyncio
import gc
import statistics
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager, nullcontext

import numpy
import pytest

from peers.bot import Bot
from peers.bot_server import BotServer
from peers.codecs import OPUS, encode
from peers.page_sound import PageEar, give_voice, say_it
from peers.phone_page import PhonePage
from peers.speech import Speech, SpeakingPeer
from peers.spidr import SpidrPeer
from peers.stream import Stream
from speech_quality import PASSING_MARGIN
from test_speech_quality import ATTEMPTS, calm
from test_stream_callers import WAYS

pytestmark = pytest.mark.alone

ECHO = 1.0
"""Seconds by which the gateway's own echo is late."""
AHEAD = 0.2
"""Seconds of silence that a bot says first, so that it has something to say when the machine holds it up."""


def peer_of(speech: Speech) -> SpeakingPeer:
    payloads = speech.payloads(OPUS, 0)
    return SpeakingPeer(speech, OPUS, payloads, [False] * len(payloads))


@contextmanager
def without_garbage():
    """Without a stop for it: packets would wait for its end."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def speak(peer: SpeakingPeer):
    """And until the echo of the last of it must have come."""
    with without_garbage():
        await peer.speak()
        await asyncio.sleep(2 * ECHO)


@asynccontextmanager
async def echoing(bot: Bot, session: str, encoding: str, way: str):
    """A bot that plays back what the caller says; `way`: who opens the socket."""
    terms, silence = {"format": encoding, "rate": 48_000}, numpy.zeros(int(AHEAD * OPUS.rate), numpy.int16)

    async def say_nothing(stream):
        if encoding == "opus":
            for packet in encode(silence, OPUS):
                await stream.socket.send(packet)
        else:
            await stream.play(silence)

    if way == "in":
        async with Stream(bot.base, session, echoes=True, **terms) as stream:
            await say_nothing(stream)
            yield
    else:
        async with BotServer(echoes=True) as server:
            await bot.tell(session, "stream", url=server.url, **terms)
            await say_nothing(await server.socket())
            yield
            await server.down(1000)


async def directly(speech: Speech) -> numpy.ndarray:
    """What one peer hears of another one."""
    ones, others = peer_of(speech), peer_of(speech)
    await ones.accept(await others.answer(await ones.offer()))
    await asyncio.gather(ones.connected(), others.connected())
    await speak(ones)
    await asyncio.gather(ones.close(), others.close())
    return others.hear()


async def answered(bot: Bot) -> str:
    """The call that rings at the bot, which takes it."""
    ringing = (await bot.incoming())["id"]
    await bot.tell(ringing, "answer")
    return ringing


async def echoed(caller: SpidrPeer, speech: Speech, bot: Bot, encoding: str | None, way: str) -> numpy.ndarray:
    """What the caller hears of itself. `encoding`: of the stream of a bot; `None`: the gateway's own echo."""
    peer = peer_of(speech)
    session = await caller.call("bot" if encoding else "echo", await peer.offer())
    taken = await answered(bot) if encoding else None
    await peer.accept((await caller.expect("respondCallUpdate", session)).sdp)
    await peer.connected()
    async with echoing(bot, taken, encoding, way) if encoding else nullcontext():
        await speak(peer)
        (await caller.end(session)).succeeded()
    await peer.close()
    return peer.hear()


def score(speech: Speech, heard: numpy.ndarray) -> float:
    """MOS-LQO, the median of the utterances."""
    return statistics.median(speech.scores(heard, OPUS.rate, "wb"))


@pytest.mark.nightly  # by day the browser's test has both ways
@pytest.mark.parametrize("way", WAYS)
async def test_an_echo_of_a_bot_is_as_good_as_without_it(gateway, peer, way):
    caller, speech = await peer("alice"), await asyncio.to_thread(Speech, 3)
    await calm()
    direct = await asyncio.to_thread(score, speech, await directly(speech))
    async with Bot(gateway.http) as bot:
        for attempt in range(1, ATTEMPTS + 1):
            found = {}
            for encoding in (None, "l16", "opus"):
                await calm()
                heard = await echoed(caller, speech, bot, encoding, way)
                found[encoding] = await asyncio.to_thread(score, speech, heard)
            own, samples, packets = found.values()
            said = f"direct {direct:.2f}, own echo {own:.2f}, bot with L16 {samples:.2f}, with Opus {packets:.2f}"
            print(f"\nattempt {attempt}: {said}")
            if samples >= own - PASSING_MARGIN and packets >= max(own, direct) - PASSING_MARGIN:
                # PESQ of anything else would be near 1.
                assert min(found.values()) > 2.5, said
                return
    pytest.fail(said)


# With Chromium

Hears = Callable[[], Awaitable[numpy.ndarray]]


async def said(caller: PhonePage, listener: PhonePage, speech: Speech) -> numpy.ndarray:
    """What one page hears of what a page says; they may be the same."""
    await asyncio.to_thread(listener.wait_for, "call?.pc?.connectionState === 'connected'")
    ear = await asyncio.to_thread(PageEar, listener)
    with without_garbage():
        await asyncio.to_thread(say_it, caller)
        await asyncio.sleep(speech.seconds + 2 * ECHO)
    heard = await asyncio.to_thread(ear.heard)
    await asyncio.to_thread(caller.run, "hangUp()")
    for phone in {caller, listener}:
        await asyncio.to_thread(phone.wait_for_view, "ended")
    return heard


async def test_a_browser_hears_itself_from_a_bot_as_well_as_without_one(gateway, browser):
    speech, chromium = await asyncio.to_thread(Speech, 3), await asyncio.to_thread(browser)
    alice, bob = [await asyncio.to_thread(PhonePage.open, chromium, gateway.http, name) for name in ("alice", "bob")]
    for phone in (alice, bob):
        await asyncio.to_thread(give_voice, phone, speech.samples)
        without_video = f"document.querySelector('#phone-{phone.name} input[name=video]').checked = false"
        await asyncio.to_thread(phone.page.run, without_video)

    async def dial(address: str):
        await asyncio.to_thread(alice.run, f"dial('{address}@dev.local')")

    async def own_echo() -> numpy.ndarray:
        await dial("echo")
        await asyncio.to_thread(alice.wait_for_view, "connected")
        return await said(alice, alice, speech)

    async def another_page() -> numpy.ndarray:
        await dial("bob")
        await asyncio.to_thread(bob.wait_for_view, "incoming")
        await asyncio.to_thread(bob.run, "answer()")
        for phone in (alice, bob):
            await asyncio.to_thread(phone.wait_for_view, "connected")
        return await said(alice, bob, speech)

    def echo_of(encoding: str, way: str) -> Hears:
        async def hears() -> numpy.ndarray:
            await dial("bot")
            taken = await answered(bot)
            await asyncio.to_thread(alice.wait_for_view, "connected")
            async with echoing(bot, taken, encoding, way):
                return await said(alice, alice, speech)

        return hears

    async def scored(hears: Hears) -> float:
        await calm()
        return await asyncio.to_thread(score, speech, await hears())

    async with Bot(gateway.http) as bot:
        # Each with the same path without a bot.
        references = {"l16": await scored(own_echo), "opus": await scored(another_page)}
        found, short = {}, [(encoding, way) for encoding in references for way in WAYS]
        for attempt in range(1, ATTEMPTS + 1):
            for encoding, way in short:
                found[encoding, way] = await scored(echo_of(encoding, way))
            told = ", ".join(f"{encoding} {way} {each:.2f}" for (encoding, way), each in found.items())
            told = f"own echo {references['l16']:.2f}, another page {references['opus']:.2f}, {told}"
            print(f"\nattempt {attempt}: {told}")
            short = [each for each, value in found.items() if value < references[each[0]] - PASSING_MARGIN]
            if not short:
                break
    for phone in (alice, bob):
        await asyncio.to_thread(phone.unregister)
    assert not short, told
    # PESQ of anything else would be near 1.
    assert min(*references.values(), *found.values()) > 1.5, told

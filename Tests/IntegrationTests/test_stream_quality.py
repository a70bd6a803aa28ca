"""Speech that a bot plays back on an audio stream, next to the same speech without a bot, as ITU-T P.862 (PESQ) hears
it.

The same path without a bot is the gateway's own echo, `echo@dev.local`: it decodes what the caller says, keeps it for a
second, and encodes it for the caller, in one channel. A bot with linear samples adds a WebSocket there and back, and
nothing else. Packets of Opus pass as they are: those that come back are the caller's own, and are held against two
peers that are connected directly as well, where nothing is encoded twice.

How the far side hears, and what a busy machine does, is in test_speech_quality.py.
"""
import asyncio
import gc
import statistics
from contextlib import AsyncExitStack

import numpy
import pytest

from peers.bot import Bot
from peers.codecs import OPUS, encode
from peers.speech import Speech, SpeakingPeer
from peers.spidr import SpidrPeer
from peers.stream import Stream
from speech_quality import PASSING_MARGIN
from test_speech_quality import ATTEMPTS, calm

pytestmark = pytest.mark.alone

ECHO = 1.0
"""Seconds by which the gateway's own echo is late."""
AHEAD = 0.2
"""Seconds of silence that a bot says first, so that it has something to say when the machine holds it up."""


def peer_of(speech: Speech) -> SpeakingPeer:
    payloads = speech.payloads(OPUS, 0)
    return SpeakingPeer(speech, OPUS, payloads, [False] * len(payloads))


async def speak(peer: SpeakingPeer):
    """And until the echo of the last of it must have come, without a stop for garbage: packets would wait for it."""
    gc.collect()
    gc.disable()
    try:
        await peer.speak()
        await asyncio.sleep(2 * ECHO)
    finally:
        gc.enable()


async def directly(speech: Speech) -> numpy.ndarray:
    """What one peer hears of another one."""
    ones, others = peer_of(speech), peer_of(speech)
    await ones.accept(await others.answer(await ones.offer()))
    await asyncio.gather(ones.connected(), others.connected())
    await speak(ones)
    await asyncio.gather(ones.close(), others.close())
    return others.hear()


async def echoed(caller: SpidrPeer, speech: Speech, bot: Bot, encoding: str | None) -> numpy.ndarray:
    """What the caller hears of itself. `encoding`: of the stream of a bot; `None`: the gateway's own echo."""
    peer = peer_of(speech)
    session = await caller.call("bot" if encoding else "echo", await peer.offer())
    async with AsyncExitStack() as stack:
        if encoding:
            ringing = (await bot.incoming())["id"]
            await bot.tell(ringing, "answer")
        await peer.accept((await caller.expect("respondCallUpdate", session)).sdp)
        await peer.connected()
        if encoding:
            wish = Stream(bot.base, ringing, echoes=True, format=encoding, rate=48_000)
            stream = await stack.enter_async_context(wish)
            silence = numpy.zeros(int(AHEAD * OPUS.rate), numpy.int16)
            if encoding == "opus":
                for packet in encode(silence, OPUS):
                    await stream.socket.send(packet)
            else:
                await stream.play(silence)
        await speak(peer)
        (await caller.end(session)).succeeded()
    await peer.close()
    return peer.hear()


def score(speech: Speech, heard: numpy.ndarray) -> float:
    """MOS-LQO, the median of the utterances."""
    return statistics.median(speech.scores(heard, OPUS.rate, "wb"))


async def test_an_echo_of_a_bot_is_as_good_as_without_it(gateway, peer):
    caller, speech = await peer("alice"), await asyncio.to_thread(Speech, 3)
    await calm()
    direct = await asyncio.to_thread(score, speech, await directly(speech))
    async with Bot(gateway.http) as bot:
        for attempt in range(1, ATTEMPTS + 1):
            found = {}
            for encoding in (None, "l16", "opus"):
                await calm()
                found[encoding] = await asyncio.to_thread(score, speech, await echoed(caller, speech, bot, encoding))
            own, samples, packets = found.values()
            said = f"direct {direct:.2f}, own echo {own:.2f}, bot with L16 {samples:.2f}, with Opus {packets:.2f}"
            print(f"\nattempt {attempt}: {said}")
            if samples >= own - PASSING_MARGIN and packets >= max(own, direct) - PASSING_MARGIN:
                # PESQ of anything else would be near 1.
                assert min(found.values()) > 2.5, said
                return
    pytest.fail(said)

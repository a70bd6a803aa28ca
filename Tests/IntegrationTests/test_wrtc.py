"""libwebrtc as the Python module wrtc in calls with itself and with aiortc. It has no H.264."""
import asyncio
import functools
import re

import pytest
import webrtc

from party import hear_now
from peers.bot import Bot
from peers.detour import Detour
from peers.wrtc import Wrtc
from scenarios import (
    add_video, each_other, hold_and_double_hold, meet, press_digits, restart_ice, ring_early, run, show, table, talk,
    transfer,
)  # fmt: skip
from situations import connected, held, resumed


@table(
    (talk, Wrtc, None),
    (talk, None, Wrtc),
    (hold_and_double_hold, Wrtc, Wrtc),
    (ring_early, Wrtc, None),
    (press_digits, Wrtc, Wrtc),
    (restart_ice, Wrtc, Wrtc),
    (transfer, Wrtc, Wrtc, None),
    (transfer, None, Wrtc, Wrtc),
    (meet, Wrtc, Wrtc, None),
    (add_video, Wrtc, Wrtc),
)
async def test_wrtc(party, scenario, stacks):
    await run(party, scenario, stacks)


@pytest.mark.parametrize("audio", ["PCMU", "PCMA", "G722"])
async def test_an_answer_with_one_codec(party, audio):
    """libwebrtc answers as it is told to, and sends what is first in the offer all the same (Opus)."""
    await run(party, talk, (Wrtc, functools.partial(Wrtc, audio=audio)))


@pytest.mark.parametrize("codec", ["VP9", "AV1"])
async def test_video_is_added_in_another_codec(party, codec):
    await run(party, add_video, (functools.partial(Wrtc, video=codec),) * 2)


async def test_the_keys_of_a_bot_that_says_nothing_are_heard(gateway, party):
    """libwebrtc plays a telephone event when its jitter buffer has come to it, which goes on with audio alone."""
    bob = await party("bob", stack=Wrtc)
    async with Bot(gateway.http) as bot:
        session = (await bot.start("bob"))["id"]
        at_bob = await bob.incoming()
        (await at_bob.answer()).succeeded()
        await at_bob.connected()
        await bot.until(session, state="talking")
        for keys in ("15#", "8D"):
            heard = len(at_bob.media.digits)
            await asyncio.sleep(2)  # nothing is sent meanwhile
            await bot.tell(session, "keys", keys=keys, duration=400, gap=100)
            wanted = heard + len(keys)
            await at_bob.until(lambda wanted=wanted: len(at_bob.media.digits) >= wanted, "told the digits")
            assert at_bob.media.digits[heard:] == list(keys)
        await bot.tell(session, "end")
    await at_bob.over()


async def test_sound_passes_loss_and_jitter_through_hold_and_ice_restarts(gateway, party):
    with Detour(gateway.media_ports, 1) as alices, Detour(gateway.media_ports, 2) as bobs:
        for way in (alices, bobs):
            way.loss, way.jitter = 0.05, 0.015
        alice = await party("alice", stack=functools.partial(Wrtc, detour=alices))
        bob = await party("bob", stack=functools.partial(Wrtc, detour=bobs))
        await hold_and_double_hold(alice, bob)
        await restart_ice(alice, bob)
        at_alice, at_bob = await connected(alice, bob)
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}}, still=3)
        (await at_alice.end()).succeeded()
        await at_bob.over()
        assert min(alices.lost, bobs.lost) > 20


async def test_a_peer_that_comes_from_another_port_is_followed_without_an_ice_restart(gateway, party):
    with Detour(gateway.media_ports) as way:
        alice, bob = await party("alice", stack=functools.partial(Wrtc, detour=way)), await party("bob", stack=Wrtc)
        at_alice, at_bob = await connected(alice, bob)
        await each_other(at_alice, at_bob)
        way.forget()
        await asyncio.sleep(1)  # what was heard before is not heard any more
        await each_other(at_alice, at_bob)
        for each in (alice, bob):
            await each.heard_exactly()
        (await at_alice.end()).succeeded()
        await at_bob.over()


@pytest.mark.parametrize("codec", ["VP8", "VP9", "AV1"])
async def test_pictures(party, codec):
    await run(party, show, (functools.partial(Wrtc, video=codec),) * 2)


@pytest.mark.parametrize("codec", ["VP8", "VP9", "AV1"])
async def test_pictures_after_early_media(party, codec):
    stack = functools.partial(Wrtc, video=codec)
    alice, bob = [await party(name, stack=stack, shows=True) for name in ("alice", "bob")]
    await ring_early(alice, bob)


class Passive(Wrtc):
    """The server of the DTLS handshake: so says its first description. In later offers it leaves the choice."""

    async def offer(self, wishes: dict[str, str]) -> str:
        is_first = self.connection.current_local_description is None
        offer = await super().offer(wishes)
        return offer.replace("a=setup:actpass", "a=setup:passive") if is_first else offer

    async def _make_answer(self) -> webrtc.RTCSessionDescriptionInit:
        sdp = (await super()._make_answer()).sdp.replace("a=setup:active", "a=setup:passive")
        return webrtc.RTCSessionDescriptionInit(type="answer", sdp=sdp)


async def test_the_client_of_the_handshake_says_so_in_later_answers_too(party):
    """libwebrtc refuses an answer that reverses the roles while the association stands (RFC 8829 section 5.3.1), also
    to an ICE restart."""
    alice, bob = await party("alice", stack=Passive), await party("bob", stack=Passive)
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    for one, other in ((at_alice, at_bob), (at_bob, at_alice)):
        await held(one, other)
        await resumed(one, other)
        one.media.wants_new_path = True
        await one.update()
        await one.connected()
        await each_other(at_alice, at_bob)
    setups = [setups_in(each) for each in (at_alice.descriptions, [at_bob.invitation.sdp, *at_bob.descriptions])]
    offered, answered = {"actpass"}, {"active"}
    # He has been offered her hold and her end of it, she has been offered his.
    assert setups == [4 * [answered] + 2 * [offered], 3 * [offered] + 3 * [answered]]
    (await at_alice.end()).succeeded()
    await at_bob.over()


def setups_in(descriptions: list[str]) -> list[set[str]]:
    return [set(re.findall(r"^a=setup:(\w+)", each, re.MULTILINE)) for each in descriptions]

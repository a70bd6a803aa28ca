"""Pion in calls with itself, with aiortc, libwebrtc, GStreamer and Firefox.

What 3.1.56 (Debian 12) cannot do: start its media at a provisional answer; survive an offer with `inactive`, which
`peers/pion` does not show it."""
import asyncio
import functools
import re

import pytest

from peers.firefox import FAKE_MICROPHONE, Firefox
from peers.gstreamer import GStreamer
from peers.pion import Pion
from peers.phone_page import PhonePage
from peers.wrtc import Wrtc
from scenarios import (
    add_video, each_other, hold_and_double_hold, meet, pass_over_early_media, press_digits, restart_ice, ring_early,
    run, see, show, table, talk, transfer,
)  # fmt: skip
from situations import connected, held, resumed


def speaking(stack, codec):
    return functools.partial(stack, video=codec)


@table(
    (talk, Pion, None),
    (talk, None, Pion),
    (hold_and_double_hold, Pion, Wrtc),
    (hold_and_double_hold, Wrtc, Pion),
    (ring_early, None, Pion),
    (pass_over_early_media, Pion, None),
    (press_digits, Pion, Pion),
    (press_digits, Pion, Wrtc),
    (press_digits, Wrtc, Pion),
    (restart_ice, Pion, Pion),
    (transfer, Pion, None, None),
    (transfer, None, Pion, None),
    (transfer, None, None, Pion),
    (meet, Pion, Wrtc, Pion),
    (add_video, Pion, Wrtc),
)
async def test_pion(party, scenario, stacks):
    await run(party, scenario, stacks)


@pytest.mark.parametrize("rate", [48_000, 8_000])
async def test_digits_of_a_peer_that_knows_one_clock_rate(party, rate):
    """The gateway offers libwebrtc both rates, and it sends at which it likes."""
    await run(party, press_digits, (functools.partial(Pion, event_rates=(rate,)), Wrtc))


@pytest.mark.parametrize(("callee", "codec"), [(Wrtc, "VP9"), (GStreamer, "H264")])
async def test_video_is_added_in_another_codec(party, callee, codec):
    await run(party, add_video, (speaking(Pion, codec), speaking(callee, codec)))


@pytest.mark.parametrize("codec", ["VP8", "VP9", "H264"])
async def test_pictures(party, codec):
    await run(party, show, (speaking(Pion, codec),) * 2)


@pytest.mark.parametrize(
    ("caller", "callee", "codec"),
    [
        (Pion, Wrtc, "VP8"), (Pion, Wrtc, "VP9"), (Wrtc, Pion, "VP9"),
        (Pion, GStreamer, "H264"), (GStreamer, Pion, "H264"),
    ],
)
async def test_pictures_with_another_stack(party, caller, callee, codec):
    await run(party, see, (speaking(caller, codec), speaking(callee, codec)))


@pytest.mark.parametrize(("answered", "kept"), [("active", "passive"), ("passive", "active"), ("actpass", "active")])
@pytest.mark.parametrize(("offered", "taken"), [("actpass", "passive"), ("active", "passive"), ("passive", "active")])
async def test_either_end_has_either_role_in_the_handshake_and_keeps_it(party, offered, taken, answered, kept):
    """By what Alice offers and Bob answers; if the choice is his, he is passive. `taken` is what the gateway answers
    her, `kept` what it answers to his later offers, an ICE restart included (RFC 5763 section 5, RFC 8829 section
    5.3.1). Pion looks at roles in first descriptions only."""
    alice = await party("alice", stack=functools.partial(Pion, setup=offered))
    bob = await party("bob", stack=functools.partial(Pion, setup=answered))
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    assert setups([at_bob.invitation.sdp]) == {"actpass"}
    for one, other, role in ((at_alice, at_bob, taken), (at_bob, at_alice, kept)):
        await held(one, other)
        await resumed(one, other)
        one.media.wants_new_path = True
        await one.update()
        await one.connected()
        await each_other(at_alice, at_bob)
        assert setups(one.descriptions[-3:]) == {role}
        assert setups(other.descriptions[-2:]) == {"actpass"}
    (await at_alice.end()).succeeded()
    await at_bob.over()


def setups(descriptions: list[str]) -> set[str]:
    return {each for text in descriptions for each in re.findall(r"^a=setup:(\w+)", text, re.MULTILINE)}


async def test_firefox_answers_vp9_without_its_profile(gateway, party):
    """Pion offers `profile-id=0`; the answer leaves it out, which means the same (RFC 9628 section 7.1)."""
    with await asyncio.to_thread(Firefox) as firefox:
        bob = await asyncio.to_thread(PhonePage.open, firefox, gateway.http, "bob")
        alice = await party("alice", stack=speaking(Pion, "VP9"), shows=True)
        at_alice = await alice.dial("bob")
        await asyncio.to_thread(bob.wait_for_view, "incoming")
        await asyncio.to_thread(bob.run, "answer()")
        await at_alice.answered()
        await asyncio.to_thread(bob.wait_for, "report?.video?.framesDecoded > 10")
        await asyncio.to_thread(bob.wait_for, "report.audio.energy > 0")
        await at_alice.until(lambda: at_alice.media.pictures > 10, "shown Firefox's camera", 60)
        await at_alice.until(lambda: at_alice.media.loudness(FAKE_MICROPHONE) > 500, "hearing Firefox's microphone", 60)
        (await at_alice.end()).succeeded()
        await asyncio.to_thread(bob.wait_for_view, "ended")
        await asyncio.to_thread(bob.unregister)

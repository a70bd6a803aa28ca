"""libwebrtc as the Python module wrtc in calls with itself and with aiortc. It has no H.264."""
import functools

import pytest

from peers.wrtc import Wrtc
from scenarios import (
    add_video, hold_and_double_hold, meet, press_digits, restart_ice, ring_early, run, show, table, talk, transfer,
)  # fmt: skip


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


@pytest.mark.parametrize("codec", ["VP8", "VP9", "AV1"])
async def test_pictures(party, codec):
    await run(party, show, (functools.partial(Wrtc, video=codec),) * 2)


@pytest.mark.parametrize("codec", ["VP8", "VP9", "AV1"])
async def test_pictures_after_early_media(party, codec):
    stack = functools.partial(Wrtc, video=codec)
    alice, bob = [await party(name, stack=stack, shows=True) for name in ("alice", "bob")]
    await ring_early(alice, bob)

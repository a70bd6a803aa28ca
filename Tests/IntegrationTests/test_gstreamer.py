"""GStreamer's webrtcbin in calls with itself, with aiortc and with libwebrtc.

What 1.22.0 (Debian 12) cannot do: change directions in a call, and so hold; take an answer after a provisional one;
restart ICE; answer with telephone events."""
import functools

import pytest

from peers.gstreamer import GStreamer
from peers.pion import Pion
from peers.wrtc import Wrtc
from scenarios import add_video, press_digits, ring_early, run, see, table, talk, transfer


def speaking(stack, **codecs):
    return functools.partial(stack, **codecs)


@table(
    (talk, GStreamer, None),
    (talk, None, GStreamer),
    (ring_early, None, GStreamer),
    (transfer, GStreamer, None, None),
    (transfer, None, GStreamer, None),
    (transfer, None, None, GStreamer),
    (add_video, GStreamer, Wrtc),
)
async def test_gstreamer(party, scenario, stacks):
    await run(party, scenario, stacks)


@pytest.mark.parametrize("callee", [Pion, Wrtc])
async def test_it_sends_and_hears_digits_when_it_calls(party, callee):
    """Its transceiver has both codecs before there is a pad, and its program puts the digits between the audio."""
    await run(party, press_digits, (speaking(GStreamer, digits=True), callee))


@pytest.mark.parametrize("audio", ["PCMU", "PCMA"])
async def test_its_opus_meets_another_codec(party, audio):
    await run(party, talk, (speaking(Wrtc, audio=audio), GStreamer))


@pytest.mark.parametrize("codec", ["VP8", "VP9"])
@pytest.mark.parametrize("calls", ["calls", "is called"])
async def test_pictures(party, codec, calls):
    stacks = speaking(GStreamer, video=codec), speaking(Wrtc, video=codec)
    await run(party, see, stacks if calls == "calls" else stacks[::-1])


@pytest.mark.parametrize(("callee", "codec"), [(Wrtc, "VP9"), (Pion, "H264")])
async def test_video_is_added_in_another_codec(party, callee, codec):
    await run(party, add_video, (speaking(GStreamer, video=codec), speaking(callee, video=codec)))


async def test_pictures_in_h264(party):
    await run(party, see, (speaking(GStreamer, video="H264"),) * 2)

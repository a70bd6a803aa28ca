"""GStreamer's webrtcbin in calls with itself, with aiortc and with libwebrtc.

What 1.22.0 (Debian 12) cannot do: change directions in a call, so that its program has to hide them from it; take an
answer after a provisional one; restart ICE; answer with telephone events."""
import functools

import pytest

from call_records import states
from party import FCS, L5, MUSIC, hear_now
from party.dialects import origin
from peers.gstreamer import GStreamer, SteadyGStreamer
from peers.pion import Pion
from peers.wrtc import Wrtc
from scenarios import (
    NOBODY, add_video, add_video_when_called, each_other, hold_and_double_hold, meet, meet_without_hold, press_digits,
    ring_early, run, see, show, table, talk, transfer,
)  # fmt: skip
from situations import connected


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
    (meet_without_hold, GStreamer, None, None),
    (meet_without_hold, None, GStreamer, None),
    (meet_without_hold, GStreamer, GStreamer, GStreamer),
)
async def test_gstreamer(party, scenario, stacks):
    await run(party, scenario, stacks)


@table(
    (hold_and_double_hold, SteadyGStreamer, Wrtc),
    (hold_and_double_hold, Wrtc, SteadyGStreamer),
    (meet, SteadyGStreamer, Wrtc, None),
    (meet, None, SteadyGStreamer, Wrtc),
)
async def test_a_program_that_hides_directions_from_it_can_hold(party, scenario, stacks):
    await run(party, scenario, stacks)


@pytest.mark.parametrize(("stack", "dialect"), [(Wrtc, L5), (None, FCS)], ids=["libwebrtc", "aiortc"])
async def test_whoever_talks_to_it_holds_and_resumes_although_it_answers_no_hold(party, stack, dialect):
    """The gateway answers in its place after two seconds, plays music to it, and passes on nothing of it."""
    alice, bob = await party("alice", sounds=True, stack=stack, dialect=dialect), await party("bob", stack=GStreamer)
    at_alice, at_bob = await connected(alice, bob)
    at_bob.answers_updates = False
    for _ in range(2):
        await each_other(at_alice, at_bob)
        await at_alice.hold()
        assert at_alice.state == "ON_HOLD"
        assert await states(at_alice, at_bob) == ("ON_HOLD", "REMOTELY_HELD")
        await hear_now({at_alice: NOBODY, at_bob: {MUSIC}}, still=2)
        await at_alice.unhold()
        assert at_alice.state == "IN_CALL"
        assert await states(at_alice, at_bob) == ("IN_CALL", "IN_CALL")
    await each_other(at_alice, at_bob)
    (await at_alice.end()).succeeded()
    await at_bob.over()


class Noted(GStreamer):
    offered = ""

    async def offer(self, wishes: dict[str, str]) -> str:
        self.offered = await super().offer(wishes)
        return self.offered


async def test_its_offers_are_taken_under_the_session_of_the_gateway(party):
    """Its answer repeats the `o=` of the gateway's offer, and its own first offer has that id with version 0."""
    alice, bob = await party("alice", stack=Wrtc), await party("bob", stack=Noted)
    at_bob = await add_video_when_called(alice, bob)
    (identifier, version), (own, first) = origin(at_bob.invitation.sdp), origin(at_bob.media.offered)
    assert own == identifier and first < version


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


@pytest.mark.parametrize("codec", ["VP8", "VP9", "H264"])
async def test_pictures_stop_and_come_back_where_its_program_hides_directions(party, codec):
    await run(party, show, (speaking(SteadyGStreamer, video=codec),) * 2)

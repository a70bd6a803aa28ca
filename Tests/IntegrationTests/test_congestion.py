"""What a browser learns from the gateway about its own path, and about that of whoever sees it; what is counted of its
pictures."""
import asyncio
import re
import time
from collections.abc import Callable

import pytest
from aiortc import MediaStreamTrack, VideoStreamTrack

from peers.detour import Detour
from peers.media import MediaPeer
from peers.phone_page import PhonePage

pytestmark = pytest.mark.alone

# Takes lines out of what the gateway says before the browser reads it.
DEAFEN = """(() => {
  const original = RTCPeerConnection.prototype.setRemoteDescription;
  RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
    window.heard = sdp;
    return original.call(this, { type, sdp: sdp.replace(/^a=.*(?:%s).*\\r\\n/gm, '') });
  };
})()"""

ESTIMATE = """(async () => {
  const stats = await orbweaver.phones.alice.call.pc.getStats();
  const transport = [...stats.values()].find((entry) => entry.type === 'transport');
  return stats.get(transport.selectedCandidatePairId)?.availableOutgoingBitrate ?? 0;
})()"""

SENT = """(async () => {
  const stats = [...(await orbweaver.phones.alice.call.pc.getStats()).values()];
  const streams = stats.filter((entry) => entry.type === 'outbound-rtp');
  const bytes = streams.reduce((sum, entry) => sum + entry.bytesSent + (entry.headerBytesSent ?? 0), 0);
  return { bits: 8 * bytes, at: streams[0].timestamp / 1000 };
})()"""

STATISTICS = """(async () => {
  const session = orbweaver.phones.alice.call.sessionData;
  const path = `/rest/version/1/user/alice/callControl/callSessions/${session}/statistics`;
  const answer = await fetch(path, { headers: { Authorization: 'Basic ' + btoa('alice:dev') } });
  return (await answer.json()).statisticsResponse.legs[0].media.find((line) => line.kind === 'video');
})()"""

STILL = 1_000
"""Milliseconds without a picture: more than a freeze takes, and less than a pause that somebody wants (W3C
webrtc-stats)."""

SHOW_A_MOSAIC = """(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
  const context = canvas.getContext('2d');
  const places = Array.from({ length: 300 }, (_, place) => [16 * (place % 20), 16 * Math.floor(place / 20)]);
  const draw = () => {
    for (const [x, y] of places.filter(() => Math.random() < 0.2)) {
      context.fillStyle = `hsl(${360 * Math.random()} 60% 50%)`;
      context.fillRect(x, y, 16, 16);
    }
  };
  setInterval(draw, 66);
  draw();
  const [track] = canvas.captureStream(15).getVideoTracks();
  const sender = orbweaver.phones.alice.call.pc.getSenders().find((each) => each.track?.kind === 'video');
  await sender.replaceTrack(track);
})()"""

STAND_STILL = """(async () => {
  const sender = orbweaver.phones.alice.call.pc.getSenders().find(({ track }) => track?.kind === 'video');
  const camera = sender.track;
  await sender.replaceTrack(null);
  await new Promise((resolve) => setTimeout(resolve, %d));
  await sender.replaceTrack(camera);
})()"""


def test_a_browser_learns_from_the_gateway_what_its_path_carries(gateway, browser):
    """Browsers begin with 300 kbit/s. Without REMB, which is taken away here, transport-wide feedback is what tells of
    more: a browser that is answered probes at once, while one without feedback dares 8 % more with each receiver
    report."""
    chromium = browser()
    alice, bob = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    alice.page.run(DEAFEN % "goog-remb")
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
    said = alice.page.run("window.heard")
    assert " http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n" in said
    assert " transport-cc\r\n" in said
    alice.page.wait_for(f"({ESTIMATE}).then((estimate) => estimate > 450000)", 30)
    bob.wait_for("report?.video?.framesDecoded > 50")
    before = alice.page.run(STATISTICS)["pictures"]
    assert before["frames"] > 50 and before["keyFrames"] >= 1
    alice.page.run(STAND_STILL % STILL)
    bob.wait_for(f"report?.video?.framesDecoded > {before['frames'] + 50}")
    after = alice.page.run(STATISTICS)["pictures"]
    assert after["frames"] >= before["frames"] + 50
    assert after["freezes"] > before["freezes"] and after["frozen"] - before["frozen"] >= STILL, f"{before} → {after}"
    alice.run("hangUp()")
    for phone in (alice, bob):
        phone.unregister()


def talk_over(way: Detour, alice: PhonePage, bob: PhonePage) -> None:
    """Alice calls Bob, whose media takes this way."""
    bob.takes(way)
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")


def test_a_browser_sends_what_the_way_to_its_receiver_carries(gateway, browser):
    """Bob says nothing by REMB, so it is the gateway that finds out how narrow the way to him is, and tells Alice."""
    chromium = browser()
    alice, bob = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    bob.page.run(DEAFEN % "goog-remb")
    with Detour(gateway.media_ports) as way:
        talk_over(way, alice, bob)
        bob.wait_for("report?.video?.framesDecoded > 100")
        wish = rate_of(alice)
        way.capacity = wish / 2
        alice.page.wait_for(f"({ESTIMATE}).then((estimate) => estimate < {way.capacity})")
        seen = bob.leg()["video"]["framesDecoded"]
        bob.wait_for(f"report.video.framesDecoded > {seen + 50}")
        narrow = settled_rate_of(alice)
        assert narrow < 1.1 * way.capacity, f"{narrow} over a way for {way.capacity}, without it {wish}"
        way.capacity = None
        alice.page.wait_for(f"({ESTIMATE}).then((estimate) => estimate > {1.5 * wish})", 120)
    alice.run("hangUp()")
    for phone in (alice, bob):
        phone.unregister()


async def test_a_peer_without_numbers_sends_what_the_way_to_its_receiver_carries(gateway, peer):
    """aiortc numbers no packets, and sends no REMB without send times: what Bob loses is all that the gateway has to
    tell Alice by."""
    alice, at_alice = await peer("alice"), MediaPeer(440)
    bob, at_bob = await peer("bob"), MediaPeer(550)
    sender = at_alice.connection.addTrack(VideoStreamTrack())

    async def aims(is_so: Callable[[int], bool]):
        """aiortc says nowhere what it aims at, in bits per second; it begins with 500,000, and heeds 250,000 to
        1,500,000."""
        async with asyncio.timeout(120):
            while not is_so(sender._RTCRtpSender__encoder.target_bitrate):
                await asyncio.sleep(0.1)

    with Detour(gateway.media_ports) as way:
        session = await alice.call("bob", await at_alice.offer())
        invitation = await bob.expect("call")
        offer = re.sub(r"^a=extmap:\d+ \S*abs-send-time\r\n", "", invitation.sdp, flags=re.MULTILINE)
        (await bob.answer(invitation.session, await at_bob.answer(way.leads(offer)))).succeeded()
        await at_alice.accept((await alice.expect("respondCallUpdate", session)).sdp)
        shown = next(each.receiver.track for each in at_bob.connection.getTransceivers() if each.kind == "video")
        watching = asyncio.ensure_future(watch(shown))
        await at_bob.connected()
        await shown.recv()
        assert sender._RTCRtpSender__encoder.target_bitrate == 500_000
        way.loss = 0.3
        await aims(lambda rate: rate == 250_000)
        way.loss = 0.0
        await aims(lambda rate: rate == 1_500_000)
    (await alice.end(session)).succeeded()
    await bob.expect("callEnd", invitation.session)
    watching.cancel()
    for media in (at_alice, at_bob):
        await media.close()


async def watch(track: MediaStreamTrack):
    while True:
        await track.recv()


@pytest.mark.nightly  # by day Chromium and aiortc do
def test_firefox_sends_what_the_way_to_its_receiver_carries(gateway, browser, firefox):
    """Its made-up camera is at home in 200 kbit/s, and Firefox cannot code it with less: it shows something
    livelier."""
    chromium = browser()
    alice, bob = PhonePage.open(firefox, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    bob.page.run(DEAFEN % "goog-remb")
    with Detour(gateway.media_ports) as way:
        talk_over(way, alice, bob)
        alice.page.run(SHOW_A_MOSAIC)
        bob.wait_for("report?.video?.framesDecoded > 100")
        wish = settled_rate_of(alice)
        way.capacity = wish / 2
        seen = bob.leg()["video"]["framesDecoded"]
        bob.wait_for(f"report.video.framesDecoded > {seen + 50}")
        narrow = settled_rate_of(alice)
        assert narrow < 1.1 * way.capacity, f"{narrow} over a way for {way.capacity}, without it {wish}"
        way.capacity = None
        end = time.monotonic() + 240
        while settled_rate_of(alice) < 0.8 * wish:
            assert time.monotonic() < end, "the way is wide again, and nobody believes it"
    alice.run("hangUp()")
    for phone in (alice, bob):
        phone.unregister()


def settled_rate_of(phone: PhonePage) -> float:
    """What it does may overshoot for a moment."""
    return sorted(rate_of(phone) for _ in range(6))[2]


def rate_of(phone: PhonePage) -> float:
    """Bits per second that it sends now."""
    before = phone.page.run(SENT)
    time.sleep(3)
    after = phone.page.run(SENT)
    return (after["bits"] - before["bits"]) / (after["at"] - before["at"])

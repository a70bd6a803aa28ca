"""What a browser learns from the gateway about its own path, and about that of whoever sees it; what is counted of its
pictures."""
import time

from peers.detour import Detour
from peers.phone_page import PhonePage

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
  const stats = await orbweaver.phones.alice.call.pc.getStats();
  const transport = [...stats.values()].find((entry) => entry.type === 'transport');
  return { bits: 8 * transport.bytesSent, at: transport.timestamp / 1000 };
})()"""

STATISTICS = """(async () => {
  const path = `/rest/version/1/user/alice/callControl/callSessions/${orbweaver.phones.alice.call.sessionData}/statistics`;
  const answer = await fetch(path, { headers: { Authorization: 'Basic ' + btoa('alice:dev') } });
  return (await answer.json()).statisticsResponse.legs[0].media.find((line) => line.kind === 'video');
})()"""

STILL = 1_000
"""Milliseconds without a picture: more than a freeze takes, and less than a pause that somebody wants (W3C webrtc-stats)."""

STAND_STILL = """(async () => {
  const sender = orbweaver.phones.alice.call.pc.getSenders().find(({ track }) => track?.kind === 'video');
  const camera = sender.track;
  await sender.replaceTrack(null);
  await new Promise((resolve) => setTimeout(resolve, %d));
  await sender.replaceTrack(camera);
})()"""


def test_a_browser_learns_from_the_gateway_what_its_path_carries(gateway, browser):
    """Browsers begin with 300 kbit/s. Without REMB, which is taken away here, transport-wide feedback is what tells of more: a browser
    that is answered probes at once, while one without feedback dares 8 % more with each receiver report."""
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
        phone.run("unregister()")


def test_a_browser_sends_what_the_way_to_its_receiver_carries(gateway, browser):
    """Bob says nothing by REMB, so it is the gateway that finds out how narrow the way to him is, and tells Alice."""
    chromium = browser()
    alice, bob = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    bob.page.run(DEAFEN % "goog-remb")
    with Detour(gateway.media_ports) as way:
        bob.takes(way)
        alice.run("dial()")
        bob.wait_for_view("incoming")
        bob.run("answer()")
        for phone in (alice, bob):
            phone.wait_for_view("connected")
        bob.wait_for("report?.video?.framesDecoded > 100")
        wish = rate_of(alice)
        way.capacity = wish / 2
        alice.page.wait_for(f"({ESTIMATE}).then((estimate) => estimate < {way.capacity})")
        seen = bob.leg()["video"]["framesDecoded"]
        bob.wait_for(f"report.video.framesDecoded > {seen + 50}")
        # What the sender does may overshoot for a moment; in the long run it stays within.
        rates = [rate_of(alice) for _ in range(6)]
        assert sorted(rates)[2] < 1.1 * way.capacity, f"{rates} over a way for {way.capacity}, without it {wish}"
        way.capacity = None
        alice.page.wait_for(f"({ESTIMATE}).then((estimate) => estimate > {1.5 * wish})", 120)
    alice.run("hangUp()")
    for phone in (alice, bob):
        phone.run("unregister()")


def rate_of(phone: PhonePage) -> float:
    """Bits per second that it sends now."""
    before = phone.page.run(SENT)
    time.sleep(3)
    after = phone.page.run(SENT)
    return (after["bits"] - before["bits"]) / (after["at"] - before["at"])

"""What a browser learns about its path from the gateway's transport-wide feedback, and what the gateway counts of its pictures."""
import time

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
  return stats.get(transport.selectedCandidatePairId).availableOutgoingBitrate ?? 0;
})()"""

STATISTICS = """(async () => {
  const path = `/rest/version/1/user/alice/callControl/callSessions/${orbweaver.phones.alice.call.sessionData}/statistics`;
  const answer = await fetch(path, { headers: { Authorization: 'Basic ' + btoa('alice:dev') } });
  return (await answer.json()).statisticsResponse.legs[0].media.find((line) => line.kind === 'video');
})()"""


def call(gateway, browser, ignored: str) -> tuple[float, dict]:
    """What Alice's browser believes it can send five seconds into a call, and what the gateway says of her video."""
    chromium = browser()
    alice, bob = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    alice.page.run(DEAFEN % ignored)
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
    bob.wait_for("report?.video?.framesDecoded > 0")
    time.sleep(5)
    estimate, pictures = alice.page.run(ESTIMATE), alice.page.run(STATISTICS)
    said = alice.page.run("window.heard")
    assert "/recvonly http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01" in said
    assert " transport-cc\r\n" in said
    alice.run("hangUp()")
    for phone in (alice, bob):
        phone.run("unregister()")
    return estimate, pictures


def test_a_browser_learns_from_the_gateway_what_its_path_carries(gateway, browser):
    """Without REMB, transport-wide feedback is all that says more than a receiver report does: with it, a browser finds out within
    seconds; without it, it only dares a little more with each report that names no loss."""
    informed, video = call(gateway, browser, "goog-remb")
    deaf, _ = call(gateway, browser, "goog-remb|transport-cc|transport-wide-cc")
    assert informed > 800_000, (informed, deaf)
    assert informed > 1.5 * deaf, (informed, deaf)
    pictures = video["pictures"]
    assert pictures["frames"] > 50 and pictures["keyFrames"] >= 1, video

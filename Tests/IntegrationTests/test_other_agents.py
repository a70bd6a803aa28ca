"""Agents that say less, or other things, than browsers do by themselves: one video codec, no BUNDLE, parameters written
in another way."""
import re
import time

import pytest

from peers import sdp
from peers.phone_page import PhonePage

VIDEO_CODEC = """((codec) => {
  const offer = RTCPeerConnection.prototype.createOffer;
  RTCPeerConnection.prototype.createOffer = function (...options) {
    for (const transceiver of this.getTransceivers()) {
      if (transceiver.receiver.track.kind !== 'video') continue;
      const { codecs } = RTCRtpReceiver.getCapabilities('video');
      const wanted = ['video/' + codec, 'video/rtx'];
      transceiver.setCodecPreferences(codecs.filter(({ mimeType }) => wanted.includes(mimeType)));
    }
    return offer.apply(this, options);
  };
})"""
"""A page that offers no other video codec."""

UNBUNDLED = r"""(() => {
  const ungrouped = (sdp) => sdp.replace(/^a=group:BUNDLE.*\r\n/m, '');
  const prototype = RTCPeerConnection.prototype;
  for (const name of ['createOffer', 'createAnswer']) {
    const make = prototype[name];
    prototype[name] = async function (...options) {
      const { type, sdp } = await make.apply(this, options);
      return { type, sdp: ungrouped(sdp) };
    };
  }
  const take = prototype.setRemoteDescription;
  prototype.setRemoteDescription = function ({ type, sdp }) {
    return take.call(this, { type, sdp: ungrouped(sdp).replace(/^m=(\w+) 0 /gm, 'm=$1 1 ') });
  };
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration) { super({ ...configuration, bundlePolicy: 'balanced' }); }
  };
})()"""
"""A page that does as fcs.js does: no group in what it says and hears, and port 0 turned into another."""
UNBUNDLED_ENDS = ["alice", "bob", "alice bob"]


NO_VIDEO_CODEC = r"""(() => {
  const take = RTCPeerConnection.prototype.setRemoteDescription;
  RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
    return take.call(this, { type, sdp: sdp.replace(/^(a=rtpmap:\d+) \S+\/90000/gm, '$1 none/90000') });
  };
})()"""
"""A page that knows none of the video codecs that it is offered, and so answers with port 0."""

WITH_POLICY = """(bundlePolicy) => {
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration) { super({ ...configuration, bundlePolicy }); }
  };
}"""


@pytest.mark.parametrize("codec", ["VP9", "H264", "AV1"])
def test_a_picture_in_any_codec_outlives_early_media(gateway, browser, codec):
    """A line that an answer ahead of the final one rejects would be gone for good."""
    chromium = browser()
    alice, bob = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    alice.page.run(f"{VIDEO_CODEC}('{codec}')")
    alice.run("dial()")
    alice.wait_for("call?.pc?.signalingState === 'have-remote-pranswer'")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
    for phone in (alice, bob):
        phone.wait_for("report?.video?.framesDecoded > 0")
        assert phone.leg()["video"]["codec"] == codec
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []


def in_a_call(chromium, gateway, unbundled: str, callee: str | None = None) -> tuple[PhonePage, PhonePage]:
    """Alice has called Bob. Those named in `unbundled` do not bundle; `callee` is run in Bob's page before the call."""
    alice, bob = (PhonePage.open(chromium, gateway.http, name) for name in ("alice", "bob"))
    if callee:
        bob.page.run(callee)
    for phone in (alice, bob):
        if phone.name in unbundled.split():
            phone.page.run(UNBUNDLED)
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
    return alice, bob


@pytest.mark.parametrize("unbundled", UNBUNDLED_ENDS)
def test_an_agent_without_bundle_hears_and_sees(gateway, browser, unbundled):
    """A first offer has one transport for both m-lines. Whoever is called gets a second one, with two."""
    alice, bob = in_a_call(browser(), gateway, unbundled)
    for phone in (alice, bob):
        phone.wait_for("report?.audio?.packets > 50")
        phone.wait_for("report?.video?.framesDecoded > 10")
        assert transports(phone) == (2 if phone.name in unbundled.split() else 1)
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()


@pytest.mark.parametrize("unbundled", UNBUNDLED_ENDS)
def test_an_agent_without_bundle_has_sound_where_the_callee_rejects_video(gateway, browser, unbundled):
    """It takes the rejected line for one that is there."""
    alice, bob = in_a_call(browser(), gateway, unbundled, callee=NO_VIDEO_CODEC)
    assert "\r\nm=video 0 " in bob.run("call.pc.currentLocalDescription.sdp")
    kept = "m=video 1 " if "alice" in unbundled else "m=video 0 "
    assert f"\r\n{kept}" in alice.run("call.pc.currentRemoteDescription.sdp")
    time.sleep(1)  # whoever does not bundle may get another offer
    for phone in (alice, bob):
        heard = phone.leg()["audio"]
        phone.wait_for(f"report?.audio?.packets > {heard['packets'] + 100}")
        phone.wait_for(f"report.audio.energy > {heard['energy']}")
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []


def transports(phone: PhonePage) -> int:
    return phone.run("call.pc.getStats().then((stats) => [...stats.values()].map(({ type }) => type))").count(
        "transport"
    )


def pictures_go_on(*phones: PhonePage):
    for phone in phones:
        seen = phone.leg()["video"]["framesDecoded"]
        phone.wait_for(f"report?.video?.framesDecoded > {seen + 10}")


def test_an_agent_without_bundle_holds_restarts_ice_and_changes_video(gateway, browser):
    chromium = browser()
    alice, bob = [PhonePage.open(chromium, gateway.http, name) for name in ("alice", "bob")]
    alice.page.run(UNBUNDLED)
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
        phone.wait_for("report?.video?.framesDecoded > 10")
    for holder, other in ((alice, bob), (bob, alice)):
        holder.run("hold()")
        other.wait_for("call.state === 'REMOTELY_HELD'")
        other.run("hold()")
        holder.wait_for("call.state === 'ON_DOUBLE_HOLD'")
        holder.run("resumeCall()")
        holder.wait_for("call.state === 'REMOTELY_HELD'")
        other.run("resumeCall()")
        for phone in (alice, bob):
            phone.wait_for("call.state === 'IN_CALL'")
    pictures_go_on(alice, bob)
    for phone in (alice, bob):
        phone.run("call.restartIce()")
        pictures_go_on(alice, bob)
    for camera, viewer in ((alice, bob), (bob, alice)):
        for shows in ("false", "true"):
            camera.run(f"call.video({shows})")
            viewer.wait_for(f"call.media.receivesVideo === {shows}")
    pictures_go_on(alice, bob)
    for phone in (alice, bob):
        heard = phone.leg()["audio"]["packets"]
        phone.wait_for(f"report?.audio?.packets > {heard + 50}")
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []


def test_an_agent_without_bundle_is_transferred(gateway, browser):
    chromium = browser()
    alice, bob, carol = (PhonePage.open(chromium, gateway.http, name) for name in ("alice", "bob", "carol"))
    alice.page.run(UNBUNDLED)
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
        phone.wait_for("report?.video?.framesDecoded > 10")
    bob.page.run("void orbweaver.phones.bob.transfer('carol')")  # done when carol has answered
    carol.wait_for_view("incoming")
    carol.run("answer()")
    bob.wait_for_view("ended")
    carol.wait_for("report?.video?.framesDecoded > 10")
    pictures_go_on(alice)
    carol.wait_for("report?.audio?.packets > 50")
    alice.run("hangUp()")
    carol.wait_for_view("ended")
    for phone in (alice, bob, carol):
        phone.unregister()
        assert phone.page.errors == []


@pytest.mark.parametrize("unbundled", UNBUNDLED_ENDS)
def test_video_is_added_to_a_call_of_an_agent_without_bundle(gateway, browser, unbundled):
    """Nothing of a call with sound alone shows whether its agents bundle."""
    chromium = browser()
    phones = {name: PhonePage.open(chromium, gateway.http, name) for name in ("alice", "bob")}
    alice, bob = phones.values()
    for name in unbundled.split():
        phones[name].page.run(UNBUNDLED)
    for phone in (alice, bob):
        phone.page.click(f"#phone-{phone.name} input[name=video]")
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
        phone.wait_for("report?.audio?.packets > 10")
    alice.run("call.video(true)")
    bob.wait_for("report?.video?.framesDecoded > 10")
    bob.run("call.video(true)")
    alice.wait_for("report?.video?.framesDecoded > 10")
    pictures_go_on(alice, bob)
    for phone in (alice, bob):
        assert transports(phone) == (2 if phone.name in unbundled.split() else 1)
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []


@pytest.mark.parametrize("policy", ["balanced", "max-compat", "max-bundle"])
def test_a_browser_bundles_whatever_its_policy(gateway, browser, policy):
    """An offer has credentials for each line; a browser takes those of the first one, and everything goes on with
    them."""
    chromium = browser()
    alice, bob = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    refused = gateway.metric("orbweaver_stun_refused_total", reason="unknown_username")
    for phone in (alice, bob):
        phone.page.run(f"({WITH_POLICY})('{policy}')")
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
    for phone in (alice, bob):
        phone.wait_for("report?.video?.framesDecoded > 10")
        phone.wait_for("report?.audio?.packets > 50")
        assert transports(phone) == 1, "everything is on one transport"
    unknown = gateway.metric("orbweaver_stun_refused_total", reason="unknown_username")
    assert unknown == refused, "nobody checks with the credentials of other lines"
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []


def without_multiplexing(text: str) -> str:
    """No group, and a video line whose RTCP would need a port of its own, which the gateway has not."""
    ungrouped = re.sub(r"^a=group:BUNDLE.*\r\n", "", text, flags=re.M)
    video = ungrouped.index("m=video")
    return ungrouped[:video] + ungrouped[video:].replace("a=rtcp-mux\r\n", "")


def without_video(text: str) -> str:
    """The line is not there at all."""
    return text[: text.index("m=video")]


async def test_a_line_that_an_answer_drops_is_rejected_and_the_call_goes_on(peer):
    alice, bob = await peer("alice"), await peer("bob")
    for change in (without_video, without_multiplexing):
        session = await alice.call("bob", sdp.offer(video=True))
        invitation = await bob.expect("call")
        (await bob.answer(invitation.session, change(sdp.answer(invitation.sdp)))).succeeded()
        answered = (await alice.expect("respondCallUpdate", session)).sdp
        assert re.findall(r"^m=(\w+) (\d+)", answered, re.M)[1] == ("video", "0")
        assert "m=audio 0" not in answered
        (await alice.end(session)).succeeded()
        await bob.expect("callEnd", invitation.session)


@pytest.mark.parametrize("change", [without_video, without_multiplexing])
@pytest.mark.parametrize("shown", [False, True], ids=["video is added", "video was there"])
async def test_a_line_that_an_answer_drops_in_mid_call_is_rejected_and_the_call_goes_on(peer, shown, change):
    """Twice, and then it is taken."""
    alice, bob = await peer("alice"), await peer("bob")
    session = await alice.call("bob", sdp.offer(video=shown))
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await alice.expect("respondCallUpdate", session)

    own = sdp.offer(video=True)
    steps = (("sendonly", "recvonly", True), ("sendrecv", "sendrecv", True), ("inactive", "inactive", False))
    for version, (offered, answered, drops) in enumerate(steps, start=3):
        offer = re.sub(r"^(o=- \d+) \d+", rf"\1 {version}", own, flags=re.M).replace("a=sendrecv", f"a={offered}")
        (await alice.operate(session, "startCallUpdate", sdp=offer)).succeeded()
        update = await bob.expect("startCallUpdate", invitation.session)
        answer = sdp.answer(update.sdp).replace("a=sendrecv", f"a={answered}")
        sent = change(answer) if drops else answer
        (await bob.operate(invitation.session, "respondCallUpdate", sdp=sent)).succeeded()
        told = (await alice.expect("respondCallUpdate", session)).sdp
        assert f"a={answered}\r\n" in told
        lines = [(kind, port == "0") for kind, port in re.findall(r"^m=(\w+) (\d+)", told, re.M)]
        assert lines == [("audio", False), ("video", drops)], told
    (await alice.end(session)).succeeded()
    await bob.expect("callEnd", invitation.session)


async def test_what_the_gateway_refuses_of_a_caller_is_not_offered_on(peer):
    """Some clients take every line of a first offer for media that they are offered."""
    alice, bob = await peer("alice"), await peer("bob")
    session = await alice.call("bob", without_multiplexing(sdp.offer(video=True)))
    invitation = await bob.expect("call")
    assert re.findall(r"^m=(\w+)", invitation.sdp, re.M) == ["audio"]
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    answered = (await alice.expect("respondCallUpdate", session)).sdp
    assert [port == "0" for _, port in re.findall(r"^m=(\w+) (\d+)", answered, re.M)] == [False, True]
    (await alice.end(session)).succeeded()


async def test_descriptions_say_the_transport_in_every_line_that_is_carried(peer):
    alice, bob = await peer("alice"), await peer("bob")
    session = await alice.call("bob", sdp.offer(video=True))
    offered = (await bob.expect("call")).sdp
    for line in re.split(r"(?=^m=)", offered, flags=re.M)[1:]:
        for name in ("ice-ufrag", "ice-pwd", "fingerprint", "setup"):
            assert f"\r\na={name}:" in line, line
    assert "bundle-only" not in offered and not re.search(r"^m=\w+ 0 ", offered, re.M)
    (await alice.end(session)).succeeded()

"""Browsers talk to each other through the gateway."""
import asyncio
import time

from peers import sdp, sound
from peers.phone_page import PhonePage, in_both_browsers
from peers.proxy import CuttableWire

FIRST_WORDS = "A spider sits in the middle of her web, and feels on every thread what comes and what goes."
SECOND_WORDS = "The gateway opens every packet that arrives, and seals it again for the other side of the call."


def assert_media_flows(phone: PhonePage, media_ports: range):
    """Sound with energy in it arrives, pictures are decoded, and all of it comes from the gateway."""
    phone.wait_for("report?.video?.framesDecoded > 0")
    phone.wait_for("report.audio.energy > 0")
    before = phone.leg()
    time.sleep(2)
    # Two browsers that share a busy machine may decode nothing for that long.
    phone.wait_for(f"report.video.framesDecoded > {before['video']['framesDecoded']}")
    after = phone.leg()
    assert after["audio"]["energy"] > before["audio"]["energy"] > 0
    assert after["video"]["framesDecoded"] > before["video"]["framesDecoded"] > 0
    assert int(after["pair"]["remote"].rsplit(":", 1)[1]) in media_ports
    assert after["audio"]["codec"] == "opus"
    assert after["keys"] == {"tls": "DTLS 1.2", "srtp": "SRTP_AEAD_AES_128_GCM"}
    # The gateway numbers its own streams without gaps; loopback loses next to nothing.
    assert after["audio"]["lost"] < 10


def test_two_browsers_call_each_other_with_sound_and_picture(gateway, browser, tmp_path):
    alices = browser(sound.speech(tmp_path / "first.wav", FIRST_WORDS))
    bobs = browser(sound.speech(tmp_path / "second.wav", SECOND_WORDS))
    alice = PhonePage.open(alices, gateway.http, "alice")
    bob = PhonePage.open(bobs, gateway.https, "bob")  # https and wss on this side

    alice.run("dial()")
    bob.wait_for_view("incoming")
    alice.wait_for("notifications.some((message) => message.eventType === 'ringing')")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
    assert gateway.metric("orbweaver_calls_active") == 1
    assert gateway.metric("orbweaver_media_sessions_active") == 2
    for phone in (alice, bob):
        assert_media_flows(phone, gateway.media_ports)

    alice.page.run("window.theCall = orbweaver.phones.alice.call")
    bob.run("hangUp('that was all')")
    alice.wait_for_view("ended")
    reason = alice.page.run("theCall.endReason")
    assert (reason["text"], reason["by"]) == ("that was all", "remote")
    assert "That was all." in alice.says()
    assert gateway.metric("orbweaver_calls_active") == 0

    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []


USE_AN_RSA_KEY = """(async () => {
  window.certificate = await RTCPeerConnection.generateCertificate({
    name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1])
  });
  const Plain = RTCPeerConnection;
  window.RTCPeerConnection = class extends Plain {
    constructor(configuration) { super({ ...configuration, certificates: [window.certificate] }); }
  };
})()"""


def test_browsers_whose_certificates_have_rsa_keys_talk(gateway, browser):
    """The gateway decodes the keys of certificates by a part of OpenSSL, in which RSA has to be as well."""
    one = browser()
    carol, dave = PhonePage.open(one, gateway.http, "carol"), PhonePage.open(one, gateway.http, "dave")
    for phone in (carol, dave):
        phone.page.run(USE_AN_RSA_KEY)
    carol.run("dial()")
    dave.wait_for_view("incoming")
    dave.run("answer()")
    for phone in (carol, dave):
        phone.wait_for_view("connected")
        phone.wait_for("report?.video?.framesDecoded > 0")
        assert phone.leg()["keys"]["tls"] == "DTLS 1.2"
        fingerprint = phone.page.run("certificate.getFingerprints()[0].value").upper()
        assert fingerprint in phone.run("call.pc.localDescription.sdp").upper()
    dave.run("hangUp()")
    carol.wait_for_view("ended")
    for phone in (carol, dave):
        phone.unregister()


@in_both_browsers
def test_a_rejected_call_says_so(gateway, browser):
    """One browser with two pages."""
    one = browser()
    carol, dave = PhonePage.open(one, gateway.http, "carol"), PhonePage.open(one, gateway.http, "dave")
    carol.run("dial()")
    dave.wait_for_view("incoming")
    carol.page.run("void (window.theCall = orbweaver.phones.carol.call)")
    dave.run("reject()")
    carol.wait_for_view("failed")
    assert carol.page.run("theCall.endReason.code") == 603
    assert "Declined" in carol.says()
    dave.wait_for_view("ended")
    for phone in (carol, dave):
        phone.unregister()


@in_both_browsers
async def test_a_browser_whose_connection_breaks_comes_back_and_hears_what_it_missed(gateway, browser, peer):
    carol = await peer("carol")
    async with CuttableWire(gateway.http_port) as wire:
        one = await asyncio.to_thread(browser)
        dave = await asyncio.to_thread(PhonePage.open, one, f"http://127.0.0.1:{wire.port}", "dave")
        wire.cut()
        await asyncio.to_thread(dave.wait_for, "client.state === 'RECONNECTING'")
        session = await carol.call("dave", sdp.offer())
        wire.mend()
        await asyncio.to_thread(dave.wait_for_view, "incoming")
        assert "carol" in (await asyncio.to_thread(dave.says)).lower()
        await carol.expect("ringing", session)
        await carol.end(session)
        await asyncio.to_thread(dave.wait_for_view, "ended")
        assert "Missed call" in await asyncio.to_thread(dave.says)
        await asyncio.to_thread(dave.unregister)


@in_both_browsers
async def test_a_call_goes_on_while_the_connection_of_one_side_is_broken(gateway, browser):
    """That side plays on, and follows a hold of the other's once it is back."""

    def course(wire: CuttableWire):
        one = browser()
        alice = PhonePage.open(one, f"http://127.0.0.1:{wire.port}", "alice")
        bob = PhonePage.open(one, gateway.http, "bob")
        alice.run("dial()")
        bob.wait_for_view("incoming")
        bob.run("answer()")
        for phone in (alice, bob):
            phone.wait_for("report?.video?.framesDecoded > 0")
            phone.wait_for("report.audio.energy > 0")
        loop.call_soon_threadsafe(wire.cut)
        alice.wait_for("client.state === 'RECONNECTING'")
        assert_media_goes_on(alice, bob)
        bob.page.run("void orbweaver.phones.bob.hold()")  # done when alice has answered
        loop.call_soon_threadsafe(wire.mend)
        alice.wait_for("call.state === 'REMOTELY_HELD'")
        bob.wait_for("call.state === 'ON_HOLD'")
        bob.run("resumeCall()")
        alice.wait_for("call.state === 'IN_CALL'")
        assert_media_goes_on(alice, bob)
        alice.run("hangUp()")
        bob.wait_for_view("ended")
        for phone in (alice, bob):
            phone.unregister()

    loop = asyncio.get_running_loop()
    async with CuttableWire(gateway.http_port) as wire:
        await asyncio.to_thread(course, wire)


def assert_media_goes_on(*phones: PhonePage):
    for phone in phones:
        before = phone.leg()
        phone.wait_for(f"report.audio.energy > {before['audio']['energy']}")
        phone.wait_for(f"report.video.framesDecoded > {before['video']['framesDecoded']}")


@in_both_browsers
def test_an_answer_on_one_device_silences_the_other(gateway, browser):
    one = browser()
    alice = PhonePage.open(one, gateway.http, "alice")
    desk, pocket = PhonePage.open(one, gateway.http, "bob"), PhonePage.open(one, gateway.http, "bob")
    alice.run("dial()")
    for device in (desk, pocket):
        device.wait_for_view("incoming")
    pocket.run("answer()")
    desk.wait_for_view("ended")
    assert "Answered elsewhere" in desk.says()
    for phone in (alice, pocket):
        phone.wait_for_view("connected")
    alice.run("hangUp()")
    pocket.wait_for_view("ended")
    assert "Alice hung up" in pocket.says()
    for phone in (alice, desk, pocket):
        phone.unregister()

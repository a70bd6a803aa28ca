"""The demo page and its JavaScript client in Firefox, with Chromium at the other end."""
import pytest

from peers import sound
from peers.firefox import FAKE_MICROPHONE, Firefox
from peers.phone_page import PhonePage

CHROMIUMS_MICROPHONE = 700


@pytest.fixture(scope="module")
def firefox():
    with Firefox() as browser:
        yield browser


@pytest.fixture
def pair(gateway, browser, firefox, tmp_path):
    """A phone in Firefox and one in Chromium, both registered."""
    chromium = browser(sound.tone(tmp_path / "chromium.wav", CHROMIUMS_MICROPHONE))
    phones = PhonePage.open(firefox, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    yield phones
    for phone in phones:
        phone.run("unregister()")
        assert phone.page.errors == []


def connect(caller: PhonePage, callee: PhonePage):
    caller.run("dial()")
    callee.wait_for_view("incoming")
    callee.run("answer()")
    for phone in (caller, callee):
        phone.wait_for_view("connected")


def hears(phone: PhonePage, frequency: float):
    for _ in range(10):
        heard = phone.loudest_frequency()
        if abs(heard - frequency) < 30:
            return
    raise AssertionError(f"{phone.name} hears {heard} Hz, should hear {frequency}")


@pytest.mark.parametrize("caller", ["firefox", "chromium"])
def test_both_hear_and_see_each_other(pair, caller):
    alice, bob = pair
    connect(*(pair if caller == "firefox" else reversed(pair)))
    for phone in pair:
        phone.wait_for("report?.video?.framesDecoded > 10")
        phone.wait_for("report.audio.energy > 0")
    hears(bob, FAKE_MICROPHONE)
    hears(alice, CHROMIUMS_MICROPHONE)
    alice.run("hangUp('that was all')")
    bob.wait_for_view("ended")


def test_each_side_holds_and_resumes(pair):
    alice, bob = pair
    connect(alice, bob)
    for holder, other in ((alice, bob), (bob, alice)):
        holder.run("hold()")
        other.wait_for("call.state === 'REMOTELY_HELD'")
        other.run("hold()")
        holder.wait_for("call.state === 'ON_DOUBLE_HOLD'")
        other.run("resumeCall()")
        other.wait_for("call.state === 'REMOTELY_HELD'")
        holder.run("resumeCall()")
        for phone in pair:
            phone.wait_for("call.state === 'IN_CALL'")
    hears(bob, FAKE_MICROPHONE)
    hears(alice, CHROMIUMS_MICROPHONE)
    bob.run("hangUp()")
    alice.wait_for_view("ended")


def test_ice_restarts_and_the_camera_goes_and_comes(pair):
    alice, bob = pair
    connect(alice, bob)
    hears(bob, FAKE_MICROPHONE)
    alice.run("call.restartIce()")
    hears(bob, FAKE_MICROPHONE)
    for shows in (False, True):
        alice.run(f"call.video({str(shows).lower()})")
        bob.wait_for(f"call.media.receivesVideo === {str(shows).lower()}")
    decoded = bob.leg()["video"]["framesDecoded"]
    bob.wait_for(f"report.video.framesDecoded > {decoded + 10}")
    alice.run("hangUp()")
    bob.wait_for_view("ended")


def test_firefox_transfers_its_call_and_the_reason_of_an_end_arrives(pair, gateway, browser, tmp_path):
    alice, bob = pair
    carol = PhonePage.open(browser(sound.tone(tmp_path / "carol.wav", 500)), gateway.http, "carol")
    connect(alice, bob)
    alice.page.run("void orbweaver.phones.alice.transfer('carol')")  # done when carol has answered
    carol.wait_for_view("incoming")
    carol.run("answer()")
    alice.wait_for_view("ended")
    hears(bob, 500)
    hears(carol, CHROMIUMS_MICROPHONE)
    bob.run("hangUp()")
    carol.wait_for_view("ended")
    carol.run("unregister()")

    connect(bob, alice)
    alice.page.run("void (window.theCall = orbweaver.phones.alice.call)")
    bob.run("hangUp('that was all')")
    alice.wait_for_view("ended")
    assert alice.page.run("({ text: theCall.endReason.text, by: theCall.endReason.by })") == {"text": "that was all", "by": "remote"}


def test_a_call_without_video_stays_so_whatever_camera_the_callee_has(pair):
    """Also after a hold, when the callee could offer what it has."""
    alice, bob = pair
    alice.page.run("void (document.querySelector('#phone-alice input[name=video]').checked = false)")
    connect(alice, bob)
    alice.run("hold()")
    bob.wait_for("call.state === 'REMOTELY_HELD'")
    alice.run("resumeCall()")
    bob.wait_for("call.state === 'IN_CALL'")
    assert not bob.run("call.media.sendsVideo")
    assert "m=video" not in alice.run("call.pc.localDescription.sdp") + bob.run("call.pc.localDescription.sdp")
    alice.run("hangUp()")
    bob.wait_for_view("ended")

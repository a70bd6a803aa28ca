"""What can happen inside a call, with the mouse on the demo page. Pictures are left in .artifacts/."""
import time

import pytest

from peers import sound
from peers.chromium import Page
from peers.phone_page import PhonePage, in_both_browsers, in_both_browsers_at_night

TONE = 1_000


@pytest.fixture
def page(gateway, browser, tmp_path) -> Page:
    """Every phone of the page plays the same tone: what one hears comes from another, or is music."""
    page = browser(sound.tone(tmp_path / "tone.wav", TONE)).page(f"{gateway.http}/")
    page.wait_for("window.orbweaver !== undefined")
    page.prefer("dark")
    page.run(UNTOUCHED_MICROPHONE)
    yield page
    for name in page.run("Object.keys(orbweaver.phones)"):
        PhonePage(page, name).unregister()


# A browser suppresses steady tones sooner or later.
UNTOUCHED_MICROPHONE = """(() => {
  const devices = navigator.mediaDevices, getUserMedia = devices.getUserMedia.bind(devices);
  const untouched = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  devices.getUserMedia = (wishes) => getUserMedia({ ...wishes, audio: wishes.audio && untouched });
})()"""


def registered(page: Page, *names: str) -> list[PhonePage]:
    if {"carol", "dave"} & set(names):
        page.click("#more-phones")
    phones = [PhonePage(page, name) for name in names]
    for phone in phones:
        phone.press("register")
        phone.wait_for_view("ready")
    return phones


def connect(caller: PhonePage, callee: PhonePage):
    caller.press("call")
    callee.wait_for_view("incoming")
    callee.press("answer")
    for phone in (caller, callee):
        is_in(phone, "IN_CALL")
        phone.wait_for("report?.audio?.energy > 0")


def is_in(phone: PhonePage, state: str):
    phone.wait_for(f"call?.state === '{state}'", timeout=30)
    phone.wait_for("call.isChanging === false", timeout=30)


def hears_the_other(phone: PhonePage, timeout: float = 20):
    end = time.monotonic() + timeout
    while abs((heard := phone.loudest_frequency()) - TONE) > 30:
        assert time.monotonic() < end, f"{phone.name} hears {heard} Hz"


def choose(phone: PhonePage, address: str):
    phone.press("more")
    phone.page.run(f"document.querySelector('#phone-{phone.name} input[name=target]').value = '{address}@dev.local'")


def test_hold_double_hold_and_resume(page, artifacts):
    alice, bob = registered(page, "alice", "bob")
    connect(alice, bob)
    steps = [
        (alice, "ON_HOLD", "REMOTELY_HELD"), (bob, "ON_DOUBLE_HOLD", "ON_DOUBLE_HOLD"),
        (alice, "REMOTELY_HELD", "ON_HOLD"), (bob, "IN_CALL", "IN_CALL"),
    ]  # fmt: skip
    for presser, alices, bobs in steps:
        presser.press("hold")
        is_in(alice, alices)
        is_in(bob, bobs)
        page.screenshot(artifacts / f"demo-hold-{alices.lower()}.png")
    for phone in (alice, bob):
        hears_the_other(phone)
        before = phone.leg()["video"]["framesDecoded"]
        phone.wait_for("report?.video?.receivedBits > 0")
        time.sleep(1)
        assert phone.leg()["video"]["framesDecoded"] > before
    assert page.errors == []


@in_both_browsers
def test_with_sendonly_the_held_side_hears_music(page):
    page.run(
        "Object.assign(document.querySelector('#dialect'), { value: 'sendonly' }).dispatchEvent(new Event('change'))"
    )
    alice, bob = registered(page, "alice", "bob")
    connect(alice, bob)
    alice.press("hold")
    is_in(bob, "REMOTELY_HELD")
    before = bob.leg()["audio"]["energy"]
    time.sleep(2)
    assert bob.leg()["audio"]["energy"] > before
    assert abs(bob.loudest_frequency() - TONE) > 30
    alice.press("hold")
    is_in(bob, "IN_CALL")
    hears_the_other(bob)


@in_both_browsers_at_night
def test_the_held_side_offers_nothing(page):
    """Firefox wants to negotiate whenever an offer leaves less than a transceiver's direction."""
    alice, bob = registered(page, "alice", "bob")
    connect(alice, bob)
    alice.press("hold")
    is_in(bob, "REMOTELY_HELD")
    time.sleep(1)
    told = [
        bob.run(f"notifications.filter((message) => message.eventType === '{kind}').length")
        for kind in ("startCallUpdate", "respondCallUpdate")
    ]
    assert told == [1, 0]
    assert page.errors == []


@in_both_browsers_at_night
def test_video_stops_and_starts_on_one_side(page):
    alice, bob = registered(page, "alice", "bob")
    connect(alice, bob)
    bob.press("video")
    is_in(bob, "IN_CALL")
    alice.wait_for("root.dataset.media === 'sound'")
    bob.wait_for("root.dataset.media === 'picture'")
    hears_the_other(alice)
    bob.press("video")
    alice.wait_for("root.dataset.media === 'picture'")
    assert page.errors == []


def test_video_is_added_to_a_call_that_had_none(page):
    alice, bob = registered(page, "alice", "bob")
    for phone in (alice, bob):
        page.click(f"#phone-{phone.name} input[name=video]")
    connect(alice, bob)
    alice.wait_for("root.dataset.media === 'sound'")
    alice.press("video")
    bob.wait_for("root.dataset.media === 'picture'")
    bob.wait_for("report?.video?.framesDecoded > 0")
    alice.wait_for("root.dataset.media === 'sound'")
    bob.press("video")
    alice.wait_for("report?.video?.framesDecoded > 0")
    assert page.errors == []


def test_blind_transfer(page, artifacts):
    alice, bob, carol = registered(page, "alice", "bob", "carol")
    connect(alice, bob)
    choose(alice, "carol")
    alice.press("transfer")
    carol.wait_for_view("incoming")
    assert "Bob" in carol.says()
    page.screenshot(artifacts / "demo-transfer-1-ringing.png")
    carol.press("answer")
    alice.wait_for_view("ended")
    assert "Transfer Successful." in alice.says()
    bob.wait_for("call.remote === 'carol@dev.local'")
    is_in(bob, "IN_CALL")
    for phone in (bob, carol):
        hears_the_other(phone)
    page.screenshot(artifacts / "demo-transfer-2-done.png")
    bob.press("hangup")
    carol.wait_for_view("ended")
    assert page.errors == []


@in_both_browsers_at_night
def test_a_transfer_to_nobody_leaves_the_call_on_hold(page):
    alice, bob = registered(page, "alice", "bob")
    connect(alice, bob)
    choose(alice, "nobody")
    alice.press("transfer")
    alice.wait_for("notifications.some((message) => message.eventType === 'sessionFail')")
    page.wait_for("!document.querySelector('#phone-alice .notice').hidden")
    is_in(alice, "ON_HOLD")
    alice.press("hold")
    is_in(alice, "IN_CALL")
    hears_the_other(bob)


def two_calls(alice: PhonePage, bob: PhonePage, carol: PhonePage):
    connect(alice, bob)
    choose(alice, "carol")
    alice.press("consult")
    carol.wait_for_view("incoming")
    carol.press("answer")
    is_in(carol, "IN_CALL")
    alice.wait_for("call.remote === 'carol@dev.local'")
    alice.wait_for("call.state === 'IN_CALL'")
    is_in(bob, "REMOTELY_HELD")


@in_both_browsers
def test_a_second_call_swap_and_consultative_transfer(page, artifacts):
    alice, bob, carol = registered(page, "alice", "bob", "carol")
    two_calls(alice, bob, carol)
    page.screenshot(artifacts / "demo-consult-1-two-calls.png")
    alice.press("swap")
    is_in(bob, "IN_CALL")
    is_in(carol, "REMOTELY_HELD")
    hears_the_other(bob)
    alice.press("connect")
    alice.wait_for_view("ended")
    bob.wait_for("call.remote === 'carol@dev.local'")
    carol.wait_for("call.remote === 'bob@dev.local'")
    for phone in (bob, carol):
        is_in(phone, "IN_CALL")
        hears_the_other(phone)
    assert page.errors == []


@in_both_browsers
def test_three_way(page, artifacts):
    alice, bob, carol = registered(page, "alice", "bob", "carol")
    two_calls(alice, bob, carol)
    alice.press("join")
    is_in_conference(alice)
    are_in_conference(alice, bob, carol)
    page.screenshot(artifacts / "demo-conference.png")
    bob.press("hangup")
    for phone in (alice, carol):
        hears_the_other(phone)
    carol.press("hangup")
    alice.wait_for_view("ended")
    assert page.errors == []


@in_both_browsers_at_night
def test_the_fourth_phone_calls_and_is_taken_into_the_conference(page, artifacts):
    alice, bob, carol, dave = registered(page, "alice", "bob", "carol", "dave")
    for phone in (alice, bob, carol, dave):
        page.click(f"#phone-{phone.name} input[name=video]")
    connect(dave, carol)
    for phone in (dave, carol):
        hears_the_other(phone)
    dave.press("hangup")
    carol.wait_for_view("ended")

    two_calls(alice, bob, carol)
    alice.press("join")
    is_in_conference(alice)
    alice.run("consult('dave@dev.local')")
    dave.wait_for_view("incoming")
    dave.press("answer")
    is_in(dave, "IN_CALL")
    alice.wait_for("call.remote === 'dave@dev.local'")
    is_in(alice, "IN_CALL")
    alice.press("join")
    is_in_conference(alice)
    are_in_conference(alice, bob, carol, dave)
    page.screenshot(artifacts / "demo-conference-of-four.png")
    alice.press("hangup")
    bob.press("hangup")
    for phone in (carol, dave):
        hears_the_other(phone)
    carol.press("hangup")
    dave.wait_for_view("ended")
    assert page.errors == []


def is_in_conference(phone: PhonePage):
    phone.wait_for("call.remote.startsWith('conference@')")
    is_in(phone, "IN_CALL")
    phone.wait_for("waiting.length === 0")


def are_in_conference(*phones: PhonePage):
    for phone in phones:
        is_in(phone, "IN_CALL")
        assert "Conference" in phone.says()
        hears_the_other(phone)


@pytest.mark.parametrize("state", ["IN_CALL", "ON_HOLD"])
@in_both_browsers_at_night
def test_a_page_that_is_loaded_again_goes_on_with_its_call(gateway, browser, state):
    """Alone in its page, so that the other phone's page stays as it is."""
    one = browser()
    alice, bob = PhonePage.open(one, gateway.http, "alice"), PhonePage.open(one, gateway.http, "bob")
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        is_in(phone, "IN_CALL")
        phone.wait_for("report?.audio?.energy > 0")
    if state == "ON_HOLD":
        alice.run("hold()")
        is_in(bob, "REMOTELY_HELD")
    told = bob.run("notifications.length")
    session = alice.run("call.sessionData")

    alice.page.open(f"{gateway.http}/?phones=alice")
    is_in(alice, state)
    assert alice.run("call.sessionData") == session
    assert bob.run("notifications.length") == told, "the other side was told of it"
    if state == "ON_HOLD":
        alice.wait_for("call.isChanging === false")  # it goes on with a new offer; the button waits as well
        alice.run("resumeCall()")
        is_in(bob, "IN_CALL")
    for phone in (alice, bob):
        phone.wait_for("report?.audio?.energy > 0")
        phone.wait_for("report?.video?.framesDecoded > 0")
    before = bob.leg()
    time.sleep(2)
    after = bob.leg()
    assert after["audio"]["energy"] > before["audio"]["energy"]
    assert after["video"]["framesDecoded"] > before["video"]["framesDecoded"]
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []


@in_both_browsers_at_night
def test_a_call_that_rings_goes_on_ringing_after_a_reload(gateway, browser):
    one = browser()
    alice, bob = PhonePage.open(one, gateway.http, "alice"), PhonePage.open(one, gateway.http, "bob")
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.page.open(f"{gateway.http}/?phones=bob")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        is_in(phone, "IN_CALL")
        phone.wait_for("report?.audio?.energy > 0")
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()

"""The demo page as a visitor uses it: with the mouse, at two sizes. Pictures are left in .artifacts/."""
import time

import pytest

from peers import sound
from peers.chromium import Page
from peers.phone_page import PhonePage, in_both_browsers, in_both_browsers_at_night

DESKTOP, POCKET = (1280, 800), (390, 844)


@pytest.fixture
def page(gateway, browser, tmp_path) -> Page:
    words = "Two phones in one page, and every word between them goes through the gateway."
    page = browser(sound.speech(tmp_path / "words.wav", words)).page(f"{gateway.http}/")
    page.wait_for("window.orbweaver !== undefined")
    page.prefer("dark")
    return page


def assert_fits(page: Page, size: tuple[int, int]):
    """Nothing makes the page scroll sideways."""
    assert page.run("document.documentElement.scrollWidth") <= size[0]


@in_both_browsers
def test_alice_calls_bob_with_the_mouse(page, artifacts):
    alice, bob = PhonePage(page, "alice"), PhonePage(page, "bob")
    page.screenshot(artifacts / "demo-desktop-1-offline.png")
    for phone in (alice, bob):
        phone.press("register")
        phone.wait_for_view("ready")
        assert phone.says("status") == "Registered"
    page.screenshot(artifacts / "demo-desktop-2-ready.png")

    alice.press("call")
    bob.wait_for_view("incoming")
    alice.wait_for("call?.state === 'RINGING'")
    # It hears the gateway's ringback; Firefox has no provisional answers.
    assert alice.run("call.hasEarlyMedia") != page.run("navigator.userAgent.includes('Firefox')")
    assert "Calling bob@dev.local" in alice.says()
    assert "is calling you" in bob.says()
    page.screenshot(artifacts / "demo-desktop-3-ringing.png")

    bob.press("answer")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
        phone.wait_for("report?.video?.framesDecoded > 0")
        phone.wait_for("report?.audio?.energy > 0")
    page.wait_for("document.querySelectorAll('.leg.alive').length === 2")
    assert_fits(page, DESKTOP)
    time.sleep(1)  # for a picture with figures in it
    page.screenshot(artifacts / "demo-desktop-4-call.png")
    page.prefer("light")
    page.screenshot(artifacts / "demo-desktop-5-light.png")

    bob.press("mute")
    assert bob.run("call.muted") is True
    bob.press("mute")
    assert bob.run("call.muted") is False
    bob.press("keys")
    page.click("#phone-bob [data-key='5']")
    bob.press("keys")
    page.click("#sound")
    assert page.run("[...document.querySelectorAll('video.remote')].every((video) => video.muted)")
    page.click("#sound")

    bob.press("hangup")
    alice.wait_for_view("ended")
    assert "Bob hung up." in alice.says()
    assert "respondCallUpdate" in alice.says("log") and "callEnd" in alice.says("log")
    assert "callCancel" in bob.says("log")

    # The other way round, and not answered.
    bob.press("call")
    alice.wait_for_view("incoming")
    # Her `ringing` has arrived: after the refusal it would be one of an unknown call.
    bob.wait_for("call?.state === 'RINGING'")
    alice.press("reject")
    bob.wait_for_view("failed")
    assert "Declined" in bob.says()
    page.screenshot(artifacts / "demo-desktop-6-declined.png")

    for phone in (alice, bob):
        phone.press("register")
        phone.wait_for_view("offline")
    assert page.errors == []


@in_both_browsers_at_night
def test_the_phones_become_tabs_on_a_small_screen(page, artifacts):
    page.resize(POCKET, phone=True)
    alice, bob = PhonePage(page, "alice"), PhonePage(page, "bob")
    alice.press("register")
    alice.wait_for_view("ready")
    page.screenshot(artifacts / "demo-pocket-1-ready.png")
    page.click(".tab:last-child")
    bob.press("register")
    bob.wait_for_view("ready")
    page.click(".tab:first-child")

    alice.press("call")
    bob.wait_for_view("incoming")
    assert "is ringing" in page.run("document.querySelector('.tab:last-child').innerText")
    page.screenshot(artifacts / "demo-pocket-2-calling.png")
    page.click(".tab:last-child")
    page.screenshot(artifacts / "demo-pocket-3-ringing.png")
    bob.press("answer")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
        phone.wait_for("report?.video?.framesDecoded > 0")
    assert_fits(page, POCKET)
    time.sleep(1)
    page.screenshot(artifacts / "demo-pocket-4-call.png")
    bob.press("hangup")
    alice.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
    assert page.errors == []


@in_both_browsers_at_night
def test_a_wrong_address_is_explained(page):
    alice = PhonePage(page, "alice")
    alice.press("register")
    alice.wait_for_view("ready")
    page.run("document.querySelector('#phone-alice input[name=address]').value = 'nobody@dev.local'")
    alice.press("call")
    alice.wait_for_view("failed")
    assert "Nobody there" in alice.says()
    alice.unregister()


@in_both_browsers_at_night
def test_a_phone_that_sleeps_is_woken_by_a_call(page, artifacts):
    """Its app is closed: it has no registration and no channel. A push to the stand-in of `--dev` opens it."""
    alice, bob = PhonePage(page, "alice"), PhonePage(page, "bob")
    for phone in (alice, bob):
        phone.press("register")
        phone.wait_for_view("ready")
    bob.press("sleep")
    bob.wait_for_view("asleep")
    assert bob.run("client.state") == "UNREGISTERED" and "stand-in" in bob.says()
    page.screenshot(artifacts / "demo-desktop-7-asleep.png")

    alice.press("call")
    bob.wait_for_view("incoming")
    assert "push.call" in bob.says("log")
    alice.wait_for("call?.state === 'RINGING'")
    bob.press("answer")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
        phone.wait_for("report?.audio?.energy > 0")
    bob.press("hangup")
    alice.wait_for_view("ended")
    bob.wait_for_view("ended")

    # It sleeps again, and is opened by hand.
    bob.press("sleep")
    bob.wait_for_view("asleep")
    bob.press("register")
    bob.wait_for_view("ready")
    alice.unregister()
    bob.run("unregister()")  # what he was told belongs to an earlier registration, so that it is not compared
    bob.run("sleeper.forget()")
    assert page.errors == []


@in_both_browsers
def test_the_robot_reads_keys_and_the_event_log_shows_it(page, artifacts):
    alice, bob = PhonePage(page, "alice"), PhonePage(page, "bob")

    def shown() -> str:
        return page.run("document.querySelector('#event-list').innerText")

    def wait_for_event(*words: str):
        page.wait_for(
            "[...document.querySelectorAll('#event-list li')].some(({ innerText }) => "
            f"{list(words)}.every((word) => innerText.includes(word)))"
        )

    robot = "document.querySelector('#phone-alice [data-action=robot]')"
    assert page.run(f"{robot}.disabled"), "a phone that is not registered calls nobody"
    for phone in (alice, bob):
        phone.press("register")
        phone.wait_for_view("ready")
    assert page.run("document.querySelector('#events').hidden")
    page.click("#events-button")
    page.wait_for("orbweaver.events.isLive")
    assert shown() == "" and page.run("document.querySelector('#events-state').innerText") == "Live"

    alice.press("robot")
    alice.wait_for_view("connected")
    assert "Echo" in alice.says() or alice.run("call.remote") == "echo@dev.local"
    alice.wait_for("report?.audio?.energy > 0")
    wait_for_event("leg.joined", "leg 1", "echo@dev.local")
    wait_for_event("call.answered")
    alice.press("keys")
    page.click("#phone-alice [data-key='5']")
    wait_for_event("key.pressed", "leg 1", "key 5")
    page.click("#phone-alice [data-key='#']")
    wait_for_event("key.pressed", "key #")
    assert_fits(page, DESKTOP)
    page.screenshot(artifacts / "demo-desktop-8-robot.png")
    alice.press("hangup")
    alice.wait_for_view("ended")
    wait_for_event("call.ended", "cause normal_clearing")

    # Each user sees the own calls only, and from now on.
    page.run("(of => { of.value = 'bob@dev.local'; of.dispatchEvent(new Event('change')); })"
             "(document.querySelector('#events-of'))")  # fmt: skip
    page.wait_for("orbweaver.events.isLive")
    alice.press("robot")
    alice.wait_for_view("connected")
    alice.press("hangup")
    alice.wait_for_view("ended")
    alice.press("call")
    bob.wait_for_view("incoming")
    wait_for_event("leg.invited")
    assert "echo@dev.local" not in shown() and "bob@dev.local" in shown()
    bob.press("reject")
    alice.wait_for_view("failed")
    page.resize(POCKET, phone=True)
    assert_fits(page, POCKET)
    page.click("#events-button")
    assert page.run("document.querySelector('#events').hidden") and not page.run("orbweaver.events.isLive")
    for phone in (alice, bob):
        phone.unregister()
    assert page.errors == []

"""Holds and resumes that cross in two pages with the JavaScript client, Chromium at one end, Chromium or Firefox at the
other: what becomes of the call, and who hears what."""
import time

import pytest

from party import MUSIC
from party.tones import TONES, heard_in
from peers.page_sound import PageEar, speak_in_tone
from peers.phone_page import PhonePage

NOBODY: set[str] = set()
dialects = pytest.mark.parametrize("dialect", ["inactive", "sendonly"])


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.alone)])
def pair(request, gateway, browser):
    """A page in Chromium, and one in the browser of the parameter; each speaks in its tone."""
    chromium = browser()
    other = request.getfixturevalue("firefox") if request.param == "firefox" else chromium
    phones = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(other, gateway.http, "bob")
    for phone in phones:
        speak_in_tone(phone, TONES[phone.name])
        phone.page.run(f"document.querySelector('#phone-{phone.name} input[name=video]').checked = false")
        phone.page.run(f"({KEEP_REFUSALS})()")
    yield phones
    for phone in phones:
        phone.unregister()
        assert phone.page.errors == []


# What the gateway refuses, by what was asked.
KEEP_REFUSALS = """() => {
  const ask = window.fetch;
  window.refusals = [];
  window.fetch = async (path, request) => {
    const response = await ask(path, request);
    if (!response.ok) refusals.push(`${request.method} ${path} ${request.body}: ${await response.clone().text()}`);
    return response;
  };
}"""

# What its call is told stays untold until `release`.
WITHHOLD = """({ call }) => {
  const told = [];
  call.receive = (message) => told.push(message);
  window.release = () => {
    delete call.receive;
    for (const message of told) call.receive(message);
  };
}"""


def connect(pair, dialect: str):
    alice, bob = pair
    for phone in pair:
        phone.page.run(f"void (orbweaver.phones.{phone.name}.client.holdWith = '{dialect}')")
    alice.run("dial('bob@dev.local')")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    are_in(pair, "IN_CALL", "IN_CALL")
    hear(pair, {"bob"}, {"alice"})


def cross(first: PhonePage, firsts: str, second: PhonePage, seconds: str):
    """Neither learns of the other's change before the gateway has taken its own, which is the case on a slow network as
    well. Done when both are confirmed."""
    changes = ((first, firsts), (second, seconds))
    for phone, change in changes:
        phone.page.run(f"({WITHHOLD})(orbweaver.phones.{phone.name})")
    for phone, change in changes:
        phone.page.run(f"void (window.change = orbweaver.phones.{phone.name}.{change}())")
        phone.wait_for("call.media.isOffering")  # from the moment at which the gateway has accepted the offer
    for phone, _ in changes:
        phone.page.run("release()")
    for phone, _ in changes:
        phone.page.run("window.change")


def are_in(pair, *states: str):
    for phone, state in zip(pair, states, strict=True):
        phone.wait_for(f"call.state === '{state}'")
        phone.wait_for("call.isChanging === false")


def hear(pair, *expected: set[str]):
    for phone, names in zip(pair, expected, strict=True):
        if names:
            PageEar(phone).hears(heard_in, names)
        else:
            hears_nothing(phone)


def hears_nothing(phone: PhonePage, timeout: float = 60):
    """For a second. Chromium takes nothing at all out of a track that is not received."""
    end = time.monotonic() + timeout
    while heard := loud_in(PageEar(phone)):
        assert time.monotonic() < end, f"{phone.name} hears {heard}"


def loud_in(ear: PageEar) -> set[str]:
    time.sleep(1)
    samples = ear.heard()
    return heard_in(samples) if len(samples) else NOBODY


def music_if(dialect: str) -> set[str]:
    return {MUSIC} if dialect == "sendonly" else NOBODY


def ends(pair):
    """No offer was turned away on the way."""
    alice, bob = pair
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in pair:
        assert phone.page.run("refusals") == []


@dialects
def test_two_holds_that_cross_are_a_double_hold_which_ends_with_two_resumes(pair, dialect):
    alice, bob = pair
    connect(pair, dialect)
    cross(alice, "hold", bob, "hold")
    are_in(pair, "ON_DOUBLE_HOLD", "ON_DOUBLE_HOLD")
    hear(pair, NOBODY, NOBODY)
    alice.run("resumeCall()")
    are_in(pair, "REMOTELY_HELD", "ON_HOLD")
    hear(pair, music_if(dialect), NOBODY)
    bob.run("resumeCall()")
    are_in(pair, "IN_CALL", "IN_CALL")
    hear(pair, {"bob"}, {"alice"})

    cross(bob, "hold", alice, "hold")
    bob.run("resumeCall()")  # before the gateway offers again what was left unsaid
    are_in(pair, "ON_HOLD", "REMOTELY_HELD")
    bob.run("hold()")
    are_in(pair, "ON_DOUBLE_HOLD", "ON_DOUBLE_HOLD")
    cross(alice, "resumeCall", bob, "resumeCall")
    are_in(pair, "IN_CALL", "IN_CALL")
    hear(pair, {"bob"}, {"alice"})
    ends(pair)


@dialects
def test_a_hold_that_crosses_a_resume_stands(pair, dialect):
    """Whichever of the two the gateway sees first."""
    connect(pair, dialect)
    for (resumes, holds), is_first in ((pair, True), (pair[::-1], False)):
        resumes.run("hold()")
        are_in((resumes, holds), "ON_HOLD", "REMOTELY_HELD")
        if is_first:
            cross(resumes, "resumeCall", holds, "hold")
        else:
            cross(holds, "hold", resumes, "resumeCall")
        are_in((resumes, holds), "REMOTELY_HELD", "ON_HOLD")
        hear((resumes, holds), music_if(dialect), NOBODY)
        holds.run("resumeCall()")
        are_in(pair, "IN_CALL", "IN_CALL")
        hear(pair, {"bob"}, {"alice"})
    ends(pair)

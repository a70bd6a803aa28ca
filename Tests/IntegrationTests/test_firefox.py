"""The demo page and its JavaScript client in Firefox, with Chromium, Pion, libwebrtc and aiortc at the other end."""
import asyncio
import functools
import time

import numpy
import pytest

from party import MUSIC, TONES, Party, PartyCall, hear_now
from party.digits import DigitEar
from party.tones import heard_in
from peers import sound
from peers.detour import Detour, routable
from peers.firefox import FAKE_MICROPHONE
from peers.page_sound import PageEar, speak_in_tone
from peers.phone_page import PhonePage
from peers.pion import Pion
from peers.wrtc import Wrtc

pytestmark = pytest.mark.alone

CHROMIUMS_MICROPHONE = 700
VP9_ALONE = ("--set", "media.video_codecs=VP9")


@pytest.fixture
def pair(request, gateway, browser, firefox, tmp_path):
    """A phone in Firefox and one in Chromium, both registered; as a parameter, with settings of the gateway."""
    if settings := getattr(request, "param", ()):
        gateway = request.getfixturevalue("own_gateway")(*settings)
    chromium = browser(sound.tone(tmp_path / "chromium.wav", CHROMIUMS_MICROPHONE))
    phones = PhonePage.open(firefox, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    yield phones
    for phone in phones:
        phone.unregister()
        assert phone.page.errors == []


def connect(caller: PhonePage, callee: PhonePage):
    caller.run(f"dial('{callee.name}@dev.local')")
    callee.wait_for_view("incoming")
    callee.run("answer()")
    for phone in (caller, callee):
        phone.wait_for_view("connected")


def has_camera(phone: PhonePage, has: bool):
    """For the calls that it makes or answers from now on."""
    phone.page.run(
        f"void (document.querySelector('#phone-{phone.name} input[name=video]').checked = {str(has).lower()})"
    )


def hears(phone: PhonePage, frequency: float):
    for _ in range(10):
        heard = phone.loudest_frequency()
        if abs(heard - frequency) < 30:
            return
    raise AssertionError(f"{phone.name} hears {heard} Hz, should hear {frequency}")


@pytest.mark.parametrize(("pair", "codec"), [((), "VP8"), (VP9_ALONE, "VP9")], ids=["VP8", "VP9"], indirect=["pair"])
def test_both_hear_and_see_each_other(pair, codec):
    """Firefox leaves out the `profile-id=0` that Chromium gives VP9, which means the same (RFC 9628 section 7.1)."""
    alice, bob = pair
    for caller, callee in (pair, reversed(pair)):
        connect(caller, callee)
        for phone in pair:
            phone.wait_for("report?.video?.framesDecoded > 10")
            assert phone.run("report.video.codec") == codec
            phone.wait_for("report.audio.energy > 0")
        hears(bob, FAKE_MICROPHONE)
        hears(alice, CHROMIUMS_MICROPHONE)
        alice.run("hangUp()")
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
    for phone in pair:
        decoded = phone.leg()["video"]["framesDecoded"]
        phone.wait_for(f"report.video.framesDecoded > {decoded + 10}")
    bob.run("hangUp()")
    alice.wait_for_view("ended")


@pytest.mark.parametrize("first", ["firefox", "chromium"])
def test_video_is_added_to_a_call_that_had_none(pair, first):
    for phone in pair:
        has_camera(phone, False)
    alice, bob = pair
    connect(alice, bob)
    hears(bob, FAKE_MICROPHONE)
    adder, other = pair if first == "firefox" else reversed(pair)
    adder.run("call.video(true)")
    other.wait_for("report?.video?.framesDecoded > 10")
    other.run("call.video(true)")
    adder.wait_for("report?.video?.framesDecoded > 10")
    hears(bob, FAKE_MICROPHONE)
    hears(alice, CHROMIUMS_MICROPHONE)
    alice.run("hangUp()")
    bob.wait_for_view("ended")


def both_hear(alice: PhonePage, bob: PhonePage):
    hears(bob, FAKE_MICROPHONE)
    hears(alice, CHROMIUMS_MICROPHONE)


def restarts_ice(phone: PhonePage):
    before = fragment(phone)
    phone.run("call.restartIce()")
    phone.wait_for("call.isChanging === false")
    assert fragment(phone) != before


def fragment(phone: PhonePage) -> str:
    """Its own end's username."""
    return phone.run("call.pc.currentLocalDescription.sdp").split("a=ice-ufrag:")[1].split("\r\n")[0]


def test_ice_restarts_and_the_camera_goes_and_comes(pair):
    alice, bob = pair
    connect(alice, bob)
    both_hear(alice, bob)
    for phone in pair:
        restarts_ice(phone)
        both_hear(alice, bob)
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
    carol.unregister()

    connect(bob, alice)
    alice.page.run("void (window.theCall = orbweaver.phones.alice.call)")
    bob.run("hangUp('that was all')")
    alice.wait_for_view("ended")
    assert alice.page.run("({ text: theCall.endReason.text, by: theCall.endReason.by })") == {
        "text": "that was all",
        "by": "remote",
    }


@pytest.mark.parametrize("role", ["transferred", "target"])
def test_firefox_is_transferred_and_transferred_to(pair, gateway, browser, tmp_path, role):
    alice, bob = pair
    carol = PhonePage.open(browser(sound.tone(tmp_path / "carol.wav", 500)), gateway.http, "carol")
    connected, target = (alice, carol) if role == "transferred" else (carol, alice)
    connect(connected, bob)
    hears(bob, FAKE_MICROPHONE if connected is alice else 500)
    hears(connected, CHROMIUMS_MICROPHONE)
    bob.page.run(f"void orbweaver.phones.bob.transfer('{target.name}')")  # done when the target has answered
    target.wait_for_view("incoming")
    target.run("answer()")
    bob.wait_for_view("ended")
    hears(carol, FAKE_MICROPHONE)
    hears(alice, 500)
    alice.run("hangUp()")
    carol.wait_for_view("ended")
    carol.unregister()


def test_sound_passes_loss_and_jitter_through_hold_and_ice_restarts(pair, gateway):
    alice, bob = pair
    for phone in pair:
        has_camera(phone, False)
    with Detour(gateway.media_ports, 1, routable()) as alices, Detour(gateway.media_ports, 2, routable()) as bobs:
        for phone, way in ((alice, alices), (bob, bobs)):
            way.loss, way.jitter = 0.05, 0.015
            phone.takes(way)
        connect(alice, bob)
        both_hear(alice, bob)
        for holder, other in ((alice, bob), (bob, alice)):
            holder.run("hold()")
            other.wait_for("call.state === 'REMOTELY_HELD'")
            holder.run("resumeCall()")
            for phone in pair:
                phone.wait_for("call.state === 'IN_CALL'")
            both_hear(alice, bob)
        for phone in pair:
            restarts_ice(phone)
            both_hear(alice, bob)
        assert min(alices.lost, bobs.lost) > 50
        alice.run("hangUp()")
        bob.wait_for_view("ended")


@pytest.fixture
async def bob(gateway, firefox):
    """A phone in Firefox, to be called by a party."""
    phone = await asyncio.to_thread(PhonePage.open, firefox, gateway.http, "bob")
    yield phone
    await asyncio.to_thread(phone.unregister)
    assert phone.page.errors == []


async def answers(bob: PhonePage, alice: Party, **fields) -> PartyCall:
    at_alice = await alice.dial("bob", **fields)
    await asyncio.to_thread(bob.wait_for_view, "incoming")
    if fields:
        await alice.expect("sessionProgress", at_alice.session)
        await at_alice.connected()
        await at_alice.until(lambda: MUSIC in at_alice.hears(), "hearing ringback")
    await asyncio.to_thread(bob.run, "answer()")
    await at_alice.answered()
    await hears_firefox(at_alice)
    return at_alice


async def hears_firefox(at_alice: PartyCall):
    await at_alice.until(lambda: at_alice.media.loudness(FAKE_MICROPHONE) > 500, "hearing Firefox's microphone", 60)


async def ends(at_alice: PartyCall, bob: PhonePage):
    (await at_alice.end()).succeeded()
    await asyncio.to_thread(bob.wait_for_view, "ended")


async def test_digits_are_sent_and_heard(party, bob):
    """Firefox plays the digits that it gets as tones, as its jitter buffer does (RFC 4733 section 2.1)."""
    at_alice = await answers(bob, await party("alice", stack=Pion))
    await asyncio.to_thread(bob.run, "call.press('15#')")
    await at_alice.until(lambda: len(at_alice.media.digits) >= 3, "told three digits", 60)
    assert at_alice.media.digits == list("15#")
    await hears_firefox(at_alice)

    # A browser on a busy machine leaves out pieces of what it plays, and a tone with a hole is no digit to the ear.
    for _ in range(3):
        ear = await asyncio.to_thread(PageEar, bob)
        await at_alice.media.press("15#")
        for _ in range(75):
            if len(digits := await asyncio.to_thread(digits_in, ear)) >= 3:
                break
            await asyncio.sleep(0.2)
        if digits == list("15#"):
            break
    assert digits == list("15#")
    await ends(at_alice, bob)


def digits_in(ear: PageEar) -> list[str]:
    digit_ear = DigitEar()
    digit_ear.take(ear.heard())
    return digit_ear.digits


async def test_a_caller_with_early_media_is_answered(party, bob):
    at_alice = await answers(bob, await party("alice", sounds=True), supported=["earlymedia"])
    await ends(at_alice, bob)


async def test_pictures_in_av1(party, bob):
    at_alice = await answers(bob, await party("alice", stack=functools.partial(Wrtc, video="AV1"), shows=True))
    await asyncio.to_thread(bob.wait_for, "report?.video?.framesDecoded > 10")
    assert await asyncio.to_thread(bob.run, "report.video.codec") == "AV1"
    await at_alice.until(lambda: at_alice.media.pictures > 10, "shown Firefox's camera", 60)
    await ends(at_alice, bob)


LONGEST_PAUSE = 0.5
"""Seconds that a tone may be missing: so long a busy machine may leave a peer without its processor."""


class Attentive(Wrtc):
    """Listens for the pauses of a tone."""

    def __init__(self, name: str, frequency: float):
        super().__init__(name)
        self.frequency, self.pauses = frequency, sound.Pauses(frequency)

    def _listen(self, samples: numpy.ndarray):
        super()._listen(samples)
        self.pauses.take(samples)


@pytest.mark.parametrize("seconds", [30, pytest.param(206, marks=pytest.mark.nightly)])
async def test_a_long_call_loses_no_packet_and_its_sound_never_stops(party, bob, seconds):
    await asyncio.to_thread(speak_in_tone, bob, TONES["bob"])
    alice = await party("alice", stack=functools.partial(Attentive, frequency=TONES["bob"]))
    at_alice = await alice.dial("bob")
    await asyncio.to_thread(bob.wait_for_view, "incoming")
    await asyncio.to_thread(bob.run, "answer()")
    await at_alice.answered()
    await hear_now({at_alice: {"bob"}}, timeout=60)
    ear = await asyncio.to_thread(PageEar, bob)
    await asyncio.to_thread(ear.hears, heard_in, {"alice"})

    pauses = {"alice": sound.Pauses(TONES["bob"]), "bob": sound.Pauses(TONES["alice"])}
    at_alice.media.pauses, begun = pauses["alice"], time.monotonic()
    while (lasted := time.monotonic() - begun) < seconds:
        await asyncio.sleep(1)
        pauses["bob"].take(await asyncio.to_thread(ear.take))
    received = {"alice": await at_alice.media.received(), "bob": (await asyncio.to_thread(bob.leg))["audio"]}
    legs = [leg["media"][0] for leg in (await alice.statistics(at_alice.session))["legs"]]
    lost = [leg[way]["packetsLost"] for leg in legs for way in ("inbound", "outbound")]
    assert lost == [0, 0, 0, 0], legs
    for name in ("alice", "bob"):
        assert received[name]["lost"] == 0 and received[name]["packets"] > 40 * lasted, received
        assert pauses[name].seconds > 0.9 * lasted and pauses[name].longest < LONGEST_PAUSE, name
    await ends(at_alice, bob)


def test_a_call_without_video_stays_so_whatever_camera_the_callee_has(pair):
    """Also when the callee is held, and when it holds: then it could offer what it has."""
    for caller, callee in (pair, reversed(pair)):
        for phone, shows in ((caller, False), (callee, True)):
            has_camera(phone, shows)
        connect(caller, callee)
        for holder, held in ((caller, callee), (callee, caller)):
            holder.run("hold()")
            held.wait_for("call.state === 'REMOTELY_HELD'")
            holder.run("resumeCall()")
            held.wait_for("call.state === 'IN_CALL'")
            for phone in pair:
                assert not phone.run("call.media.sendsVideo")
                assert "m=video" not in phone.run("call.pc.localDescription.sdp")
        caller.run("hangUp()")
        callee.wait_for_view("ended")

"""Who hears what in Chromium: pages of their own, each with a tone of its own."""
import pytest

from party.tones import TONES, heard_in
from peers.page_sound import PageEar, keep_keys, speak_in_tone
from peers.phone_page import PhonePage


@pytest.fixture
def pages(gateway, browser):
    """`pages("alice", "bob")`: tabs of one browser, each with its phone registered, speaking in its tone of `TONES`, without a camera."""
    phones = []

    def open_pages(*names: str) -> list[PhonePage]:
        chromium = browser()
        for name in names:
            phone = PhonePage.open(chromium, gateway.http, name)
            phones.append(phone)
            speak_in_tone(phone, TONES[name])
            phone.page.run(f"document.querySelector('#phone-{name} input[name=video]').checked = false")
        return phones

    yield open_pages
    for phone in phones:
        phone.run("unregister()")
        assert phone.page.errors == []


def connect(caller: PhonePage, callee: PhonePage):
    caller.run(f"dial('{callee.name}@dev.local')")
    callee.wait_for_view("incoming")
    callee.run("answer()")
    for phone in (caller, callee):
        phone.wait_for("call.state === 'IN_CALL'")


def sources(phone: PhonePage) -> set[str]:
    """What the gateway says feeds the audio of each end of the call on the stage."""
    answer = phone.run("client.request('GET', `/callControl/callSessions/${orbweaver.phones.%s.call.sessionData}/statistics`)" % phone.name)
    (legs,) = (each["legs"] for each in answer.values())
    return {leg["media"][0]["source"] for leg in legs}


def test_three_pages_in_one_mix_each_hear_the_other_two_and_not_themselves(pages):
    alice, bob, carol = pages("alice", "bob", "carol")
    connect(alice, bob)
    PageEar(alice).hears(heard_in, {"bob"})
    PageEar(bob).hears(heard_in, {"alice"})
    alice.run("call.hold()")
    connect(alice, carol)
    alice.run("join()")
    alice.wait_for("call.remote.startsWith('conference@') && orbweaver.phones.alice.call.state === 'IN_CALL'")
    for phone, others in ((alice, {"bob", "carol"}), (bob, {"alice", "carol"}), (carol, {"alice", "bob"})):
        PageEar(phone).hears(heard_in, others)
    assert sources(alice) == {"mix"}

    bob.run("hangUp()")
    PageEar(alice).hears(heard_in, {"carol"})
    PageEar(carol).hears(heard_in, {"alice"})


def test_keys_typed_in_one_page_arrive_in_the_other_once_each(pages):
    """An event is told by its timestamp, whatever the number of its packets (RFC 4733 §2.5.1.2)."""
    alice, bob = pages("alice", "bob")
    for phone in (alice, bob):
        keep_keys(phone)
    connect(alice, bob)
    for presser, other, digits in ((alice, bob, "1159#"), (bob, alice, "*0077")):
        PageEar(other).hears(heard_in, {presser.name})
        presser.press("keys")
        for digit in digits:
            presser.page.click(f"#phone-{presser.name} [data-key='{digit}']")
            presser.wait_for("call.pc.getSenders()[0].dtmf.toneBuffer === ''")
        other.page.wait_for(f"received.filter(({{ ends }}) => ends).length >= {3 * len(digits)}")
        PageEar(other).hears(heard_in, {presser.name})
        events = other.page.run("received")
        begun = {event["timestamp"]: event["key"] for event in events}
        assert "".join(begun.values()) == digits
        for timestamp in begun:
            packets = [event for event in events if event["timestamp"] == timestamp]
            assert len({packet["key"] for packet in packets}) == 1
            durations = [packet["duration"] for packet in packets]
            assert durations == sorted(durations) and packets[-1]["ends"]

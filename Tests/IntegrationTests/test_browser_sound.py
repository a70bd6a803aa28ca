"""Who hears what in browsers: pages of their own, each with a tone of its own."""
import json
import time

import pytest

from party.tones import TONES, heard_in
from peers.detour import Detour, routable
from peers.page_sound import PageEar, keep_packets, speak_in_tone
from peers.phone_page import PhonePage, in_both_browsers


@pytest.fixture
def pages(gateway, browser):
    """`pages("alice", "bob")`: tabs of one browser, each with its phone registered, speaking in its tone of `TONES`,
    most without a camera."""
    phones = []

    def open_pages(*names: str, video: bool = False) -> list[PhonePage]:
        one = browser()
        for name in names:
            phone = PhonePage.open(one, gateway.http, name)
            phones.append(phone)
            speak_in_tone(phone, TONES[name])
            phone.page.run(f"document.querySelector('#phone-{name} input[name=video]').checked = {str(video).lower()}")
        return phones

    yield open_pages
    for phone in phones:
        phone.unregister()
        assert phone.page.errors == []


def connect(caller: PhonePage, callee: PhonePage):
    caller.run(f"dial('{callee.name}@dev.local')")
    callee.wait_for_view("incoming")
    callee.run("answer()")
    for phone in (caller, callee):
        phone.wait_for("call.state === 'IN_CALL'")


def audio_of_legs(phone: PhonePage) -> list[dict]:
    """What the gateway says about the audio of each end of the call on the stage."""
    answer = phone.run(
        "client.request('GET', `/callControl/callSessions/${orbweaver.phones.%s.call.sessionData}/statistics`)"
        % phone.name
    )
    (legs,) = (each["legs"] for each in answer.values())
    return [leg["media"][0] for leg in legs]


def expect_speech(phone: PhonePage, source: str):
    """All ends speak: tones of a quarter of full scale, 15 dB below what a sine can be, two of them at a time in a mix
    of three."""
    for audio in audio_of_legs(phone):
        assert audio["source"] == source
        assert -18 <= audio["inbound"]["level"] <= -12 and -18 <= audio["outbound"]["level"] <= -9, audio


@in_both_browsers
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
    expect_speech(alice, "mix")

    bob.run("hangUp()")
    PageEar(alice).hears(heard_in, {"carol"})
    PageEar(carol).hears(heard_in, {"alice"})


def test_digits_typed_in_one_page_arrive_in_the_other_once_each(pages):
    """An event is told by its timestamp, whatever the number of its packets (RFC 4733 §2.5.1.2)."""
    alice, bob = pages("alice", "bob")
    for phone in (alice, bob):
        keep_packets(phone)
    connect(alice, bob)
    for presser, other, digits in ((alice, bob, "1159#"), (bob, alice, "*0077")):
        PageEar(other).hears(heard_in, {presser.name})
        expect_speech(presser, "relayed")  # by what the pages say in each packet
        presser.press("keys")
        for digit in digits:
            presser.page.click(f"#phone-{presser.name} [data-key='{digit}']")
            presser.wait_for("call.pc.getSenders()[0].dtmf.toneBuffer === ''")
        other.page.wait_for(f"packets.filter(({{ event }}) => event?.ends).length >= {3 * len(digits)}")
        PageEar(other).hears(heard_in, {presser.name})
        packets = [packet for packet in other.page.run("packets") if packet["event"]]
        begun = {packet["timestamp"]: packet["event"]["digit"] for packet in packets}
        assert "".join(begun.values()) == digits
        for timestamp in begun:
            events = [packet["event"] for packet in packets if packet["timestamp"] == timestamp]
            assert len({event["digit"] for event in events}) == 1
            durations = [event["duration"] for event in events]
            assert durations == sorted(durations) and events[-1]["ends"]


def test_ice_restarts_in_the_middle_of_a_call_and_nobody_else_notices(pages):
    """New credentials on both ends of the path (RFC 8839 §4.4.1.1.1), the same streams and keys on it."""
    alice, bob = pages("alice", "bob", video=True)
    connect(alice, bob)
    for phone in (alice, bob):
        phone.wait_for("report?.video?.framesDecoded > 0")
        PageEar(phone).hears(heard_in, {"bob" if phone is alice else "alice"})

    restarts_ice(alice, bob, "call.restartIce()")
    restarts_ice(bob, alice, "call.pc.restartIce()")  # by the application itself
    pretend(alice, "failed")
    restarts_ice(alice, bob, "call.pc.oniceconnectionstatechange()")
    pretend(bob, "disconnected")
    restarts_ice(bob, alice, "call.verify()")  # the WebSocket is back


@in_both_browsers
def test_a_page_whose_way_to_the_gateway_breaks_finds_another_by_itself(gateway, pages):
    """As when Wi-Fi goes and the telephone network is there: the old addresses are of no use any more, and there are
    others."""
    alice, bob = pages("alice", "bob")
    here = routable()
    with Detour(gateway.media_ports, host=here) as old_way, Detour(gateway.media_ports, host=here) as new_way:
        alice.takes(old_way)
        connect(alice, bob)
        PageEar(alice).hears(heard_in, {"bob"})
        PageEar(bob).hears(heard_in, {"alice"})
        assert gateways_port(alice) in old_way.ports.values()
        before, others, told = fragments(alice), fragments(bob), offers(bob)
        alice.run("states = []")
        alice.run(
            "call.pc.addEventListener('iceconnectionstatechange', "
            "({ target }) => orbweaver.phones.alice.states.push(target.iceConnectionState))"
        )

        alice.takes(new_way)
        old_way.is_open = False
        alice.page.wait_for(
            f"({FRAGMENTS})('alice').then(({{ local, pair }}) => pair === local && local !== '{before['local']}')"
        )
        alice.wait_for("call.isChanging === false")
        alice.wait_for("call.pc.connectionState === 'connected'")
        assert gateways_port(alice) in new_way.ports.values()
        states = alice.run("states")
        assert states[0] == "disconnected" and "failed" not in states, "what the gateway said was enough"
        PageEar(alice).hears(heard_in, {"bob"})
        PageEar(bob).hears(heard_in, {"alice"})
        assert (fragments(bob), offers(bob)) == (others, told), "the other end has nothing to do with it"
        for phone, side in ((alice, "self"), (bob, "peer")):
            steps = phone.run(
                "client.request('GET', `/callControl/callSessions/${orbweaver.phones.%s.call.sessionData}`)"
                % phone.name
            )
            steps = [
                f"{each['leg']} {each['event']}" for each in steps["callControlResponse"]["callSession"]["timeline"]
            ]
            assert [each for each in steps if "Path" in each] == [f"{side} mediaPathLost", f"{side} mediaPathRecovered"]
        alice.run("hangUp()")
        bob.wait_for_view("ended")


@in_both_browsers
def test_a_page_that_comes_from_another_port_is_followed_without_an_ice_restart(gateway, pages):
    """As behind a NAT that loses its bindings: only the gateway sees another address."""
    alice, bob = pages("alice", "bob")
    with Detour(gateway.media_ports, host=routable()) as way:
        alice.takes(way)
        connect(alice, bob)
        PageEar(alice).hears(heard_in, {"bob"})
        PageEar(bob).hears(heard_in, {"alice"})
        told = [phone.run("notifications.length") for phone in (alice, bob)]
        way.forget()
        time.sleep(1)  # what was heard before is not heard any more
        PageEar(alice).hears(heard_in, {"bob"})
        PageEar(bob).hears(heard_in, {"alice"})
        assert [phone.run("notifications.length") for phone in (alice, bob)] == told
        alice.run("hangUp()")
        bob.wait_for_view("ended")


def gateways_port(phone: PhonePage) -> int:
    """As the page knows it, of the path in use."""
    return int(phone.leg()["pair"]["remote"].rsplit(":", 1)[1])


def offers(phone: PhonePage) -> int:
    """Which the page has been made so far."""
    return phone.run("notifications.filter(({ eventType }) => eventType === 'startCallUpdate').length")


def restarts_ice(mover: PhonePage, other: PhonePage, because: str):
    before = {phone: phone.leg() for phone in (mover, other)}
    old, others, told = fragments(mover), fragments(other), other.run("notifications.length")
    mover.run(because)
    mover.page.wait_for(
        f"({FRAGMENTS})('{mover.name}').then(({{ local, pair }}) => pair === local && local !== '{old['local']}')"
    )
    mover.wait_for("call.isChanging === false")
    new = fragments(mover)
    assert {new["local"], new["remote"]}.isdisjoint(old.values())
    assert fragments(other) == others and other.run("notifications.length") == told
    for phone, voice in ((mover, other), (other, mover)):
        start = phone.leg()
        PageEar(phone).hears(heard_in, {voice.name})
        phone.wait_for(f"report?.video?.framesDecoded > {start['video']['framesDecoded']}")
        after = phone.leg()
        assert (
            after["audio"]["energy"] > start["audio"]["energy"]
            and after["audio"]["packets"] > start["audio"]["packets"]
        )
        for kind in ("audio", "video"):
            assert after[kind]["ssrc"] == before[phone][kind]["ssrc"]
            assert after[kind]["lost"] == before[phone][kind]["lost"]


def pretend(phone: PhonePage, state: str):
    """A path of the kernel's loopback cannot be lost, so the connection says that it was."""
    phone.page.run(
        f"void Object.defineProperty(orbweaver.phones.{phone.name}.call.pc, 'iceConnectionState', "
        f"{{ value: '{state}' }})"
    )


def fragments(phone: PhonePage) -> dict[str, str]:
    """The username fragments of both ends in force, and that of the pair in use."""
    return phone.page.run(f"({FRAGMENTS})('{phone.name}')")


FRAGMENTS = """async (name) => {
  const { pc } = orbweaver.phones[name].call;
  const descriptions = [pc.currentLocalDescription, pc.currentRemoteDescription];
  const [local, remote] = descriptions.map(({ sdp }) => /a=ice-ufrag:(\\S+)/.exec(sdp)[1]);
  const stats = await pc.getStats();
  const transport = [...stats.values()].find(({ type }) => type === 'transport');
  const pair = stats.get(transport.selectedCandidatePairId);
  return { local, remote, pair: pair && stats.get(pair.localCandidateId).usernameFragment };
}"""

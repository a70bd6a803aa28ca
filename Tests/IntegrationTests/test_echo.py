"""The echo robot of `--dev`: an application inside the gateway, whose leg is headless (docs/adr/0009)."""
import pytest

from party import FCS, L5, TONES, audio_direction, hear_now
from party.dialects import direction_of
from party.tones import heard_in
from peers.page_sound import PageEar, speak_in_tone
from peers.phone_page import PhonePage
from situations import connected


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_it_answers_plays_back_what_it_hears_and_is_hung_up_on(party, dialect):
    alice = await party("alice", dialect=dialect, sounds=True)
    call = await alice.dial("echo")
    await call.answered()
    await alice.heard_exactly(("respondCallUpdate", call))
    assert audio_direction(call.descriptions[-1]) == "sendrecv"
    await hear_now({call: {"alice"}})

    await call.hold()
    assert call.state == "ON_HOLD"
    await hear_now({call: set()})
    await call.unhold()
    assert call.state == "IN_CALL"
    await hear_now({call: {"alice"}})

    (await call.end()).succeeded()
    assert (await alice.state(call.session)).status == 404


async def test_a_caller_without_an_offer_is_offered_audio(party):
    alice = await party("alice", sounds=True)
    call = await alice.dial("echo", slow=True)
    await alice.heard_exactly(("startCallUpdate", call))
    await hear_now({call: {"alice"}})
    (await call.end()).succeeded()


async def test_it_has_no_picture_and_leaves_room_for_one(party):
    """Whoever takes its place after a transfer may have one."""
    alice = await party("alice")
    call = await alice.dial("echo")
    await call.answered()
    await call.show_video()
    answer = call.descriptions[-1]
    assert (direction_of(answer, "audio"), direction_of(answer, "video")) == ("sendrecv", "inactive")
    assert "m=video 0 " not in answer
    (await call.end()).succeeded()


async def test_several_call_it_at_once_and_each_hears_only_itself(party):
    ones = [await party(name, sounds=True) for name in ("alice", "bob", "carol")]
    calls = [await one.dial("echo") for one in ones]
    for call in calls:
        await call.answered()
    await hear_now({call: {call.party.name} for call in calls})


async def test_a_call_is_transferred_to_it(party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.transfer("echo")).succeeded()
    await hear_now({at_bob: {"bob"}})
    (await at_bob.end()).succeeded()


async def test_a_call_is_forwarded_to_it(party):
    alice, bob = await party("alice", sounds=True), await party("bob")
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    (await at_bob.forward("echo")).succeeded()
    await at_alice.answered()
    await hear_now({at_alice: {"alice"}})
    (await at_alice.end()).succeeded()


async def test_it_is_talked_to_in_a_conference(party):
    """In a mix, everybody hears what it plays back of all; each of them also hears the others at first hand."""
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    with_bob, at_bob = await connected(alice, bob)
    with_echo = await alice.dial("echo")
    await with_echo.answered()
    conference = await alice.join(with_bob, with_echo)
    await conference.answered()
    await hear_now({conference: {"alice", "bob"}, at_bob: {"alice", "bob"}})
    (await conference.end()).succeeded()


async def test_two_of_its_legs_talk_to_each_other_until_the_gateway_stops(own_gateway, party):
    """Alice connects two calls with it, and has left both then: what is left is a call without clients."""
    own = own_gateway()
    alice = await party("alice", base=own.http, sounds=True)
    first, second = await alice.dial("echo"), await alice.dial("echo")
    for call in (first, second):
        await call.answered()
    (await first.transfer(second)).succeeded()
    assert (await first.over()).by == "sessionComplete"
    assert (await second.over()).by == "callEnd"
    first.farewell.succeeded()
    for call in (first, second):
        assert (await alice.state(call.session)).status == 404

    own.terminate()
    assert await alice.closed() == 1001
    alice.subscription = None
    assert await own.ended() == 0
    kept, given = own.events().values()  # in the order in which Alice dialled
    joined = [event["fact"]["joined"]["party"] for event in kept if "joined" in event["fact"]]
    assert [(party["user"], party["arrival"]) for party in joined] == [
        ("alice@dev.local", "dialled"),
        ("echo@dev.local", "called"),
        ("echo@dev.local", "handedOver"),
    ]
    assert [event["leg"] for event in kept if "completed" in event["fact"]] == [0]
    assert [event["leg"] for event in given if "moved" in event["fact"]] == [1]
    # Those who are in a call at its end are told: Alice is not.
    assert [event["leg"] for event in kept if "released" in event["fact"]] == [1, 2]
    ends = [events[-1]["fact"]["ended"]["record"]["cause"] for events in (kept, given)]
    assert [set(cause) for cause in ends] == [{"drained"}, {"transferred"}]


def test_a_page_calls_it_and_hears_itself(gateway, browser):
    phone = PhonePage.open(browser(), gateway.http, "alice")
    addresses = phone.page.run("[...document.querySelectorAll('#addresses option')].map(({ value }) => value)")
    assert "echo@dev.local" in addresses
    assert "echo@dev.local" in phone.page.run("document.querySelector('.story').innerText")
    speak_in_tone(phone, TONES["alice"])
    phone.run("dial('echo@dev.local')")
    phone.wait_for_view("connected")
    PageEar(phone).hears(heard_in, {"alice"})
    phone.run("call.hold()")
    phone.wait_for("call.state === 'ON_HOLD'")
    phone.run("call.resume()")
    phone.wait_for("call.state === 'IN_CALL'")
    PageEar(phone).hears(heard_in, {"alice"})
    phone.press("hangup")
    phone.wait_for_view("ended")
    phone.unregister()
    assert phone.page.errors == []

"""Click-to-call (spidr-wire §10): the gateway calls the user's own devices, then the target, and connects both."""
import pytest

from call_records import record_of
from party import FCS, L5, MUSIC, PartyCall, audio_direction, hear_now
from party.device import Party

WRAPPER = "ctcResponse"


async def clicked(user: Party, target: str, **fields):
    request = {"callingParty": user.user, "calledParty": target if "@" in target else f"{target}@dev.local", **fields}
    return await user.request("POST", "/clicktocall", {"clickToCallRequest": request})


async def placed(user: Party, target: str) -> PartyCall:
    """A call that the user's device is told of."""
    answer = await clicked(user, target)
    assert answer.status == 200 and answer.json == {WRAPPER: {"statusCode": 0}}
    call = await user.incoming()
    assert call.remote[1] == f"{target}@dev.local", "the target is shown, and not the gateway"
    assert call.invitation.message["sessionParams"]["actions"] == ["answer", "reject"]
    return call


async def ended(call: PartyCall) -> tuple:
    end = await call.over()
    return end.by, end.code, end.text


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_both_are_called_in_turn_and_hear_each_other(party, dialect):
    alice = await party("alice", dialect=dialect, sounds=True)
    bob = await party("bob", dialect=dialect, sounds=True)
    at_alice = await placed(alice, "bob")
    assert at_alice.remote == ("Bob", "bob@dev.local")
    await bob.heard_exactly()
    (await at_alice.answer()).succeeded()
    at_bob = await bob.incoming()
    assert at_bob.remote == ("Alice", "alice@dev.local")
    await alice.heard_exactly(("call", at_alice), ("callCancel", at_alice))
    await at_alice.until(lambda: MUSIC in at_alice.hears(), "hearing ringback")
    (await at_bob.answer()).succeeded()
    await alice.heard_exactly(("startCallUpdate", at_alice))
    await bob.heard_exactly(("call", at_bob), ("callCancel", at_bob))
    assert at_alice.remote == ("Bob", "bob@dev.local")
    assert audio_direction(at_alice.descriptions[-1]) == "sendrecv"
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})

    await at_alice.hold()
    await at_bob.until(lambda: at_bob.remotely_held, "held")
    # aiortc cannot go on from here: in its own offer it numbers its codecs anew, and it keeps sending by the former
    # numbers.
    (await at_bob.end("bye")).succeeded()
    assert await ended(at_alice) == ("callEnd", None, "bye")
    record = await record_of(at_alice)
    assert record["params"]["direction"] == "incoming" and record["params"]["callerDisplayNumber"] == "bob@dev.local"


async def test_the_first_device_that_answers_is_connected(party):
    alice, tablet = await party("alice", sounds=True), await party("alice", sounds=True, alone=False)
    bob = await party("bob", sounds=True)
    at_alice = await placed(alice, "bob")
    at_tablet = await tablet.incoming()
    (await at_tablet.answer()).succeeded()
    assert (await at_alice.over()).by == "callCancel"
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    await hear_now({at_tablet: {"bob"}, at_bob: {"alice"}})
    (await at_tablet.end()).succeeded()
    await at_bob.over()


async def test_a_robot_can_be_the_target(party):
    alice = await party("alice", sounds=True)
    at_alice = await placed(alice, "echo")
    (await at_alice.answer()).succeeded()
    await hear_now({at_alice: {"alice"}})
    (await at_alice.end()).succeeded()


async def test_a_target_that_rejects(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await placed(alice, "bob")
    (await at_alice.answer()).succeeded()
    at_bob = await bob.incoming()
    (await at_bob.reject()).succeeded()
    assert await ended(at_alice) == ("callEnd", 603, "Declined")
    await bob.heard_exactly(("call", at_bob), ("callCancel", at_bob))
    ending = (await record_of(at_alice))["params"]["ending"]
    assert (ending["statusCode"], ending["cause"], ending["endedBy"]) == (603, "call_rejected", "peer")
    await alice.heard_exactly(("call", at_alice), ("callCancel", at_alice), ("callEnd", at_alice))


async def test_a_target_that_goes_before_or_while_it_rings(party):
    alice, bob = await party("alice"), await party("bob")
    for rings in (False, True):
        at_alice = await placed(alice, "bob")
        if not rings:
            (await bob.unregister()).succeeded()
        (await at_alice.answer()).succeeded()
        if rings:
            await bob.incoming()
            (await bob.unregister()).succeeded()
        assert await ended(at_alice) == ("callEnd", 480, "Not registered")
        await bob.register()


async def test_a_target_or_a_user_that_does_not_answer(own_gateway, party):
    own = own_gateway("--set", "calls.ring_time=5s")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    unanswered = await placed(alice, "bob")
    assert await ended(unanswered) == ("callEnd", 487, "No answer")
    await bob.heard_exactly()
    at_alice = await placed(alice, "bob")
    (await at_alice.answer()).succeeded()
    at_bob = await bob.incoming()
    assert await ended(at_alice) == ("callEnd", 487, "No answer")
    assert await ended(at_bob) == ("callEnd", 487, "No answer")


async def test_a_user_who_rejects_or_hangs_up(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await placed(alice, "bob")
    (await at_alice.forward("carol")).refused(
        403, 35, "callDispositionResponse", "call.operation_not_supported"
    )  # it is the user's own call
    (await at_alice.reject()).succeeded()
    assert (await at_alice.over()).by == "callCancel"
    await bob.heard_exactly()
    at_alice = await placed(alice, "bob")
    (await at_alice.answer()).succeeded()
    at_bob = await bob.incoming()
    (await at_alice.end()).succeeded()
    assert await ended(at_bob) == ("callEnd", 487, "Caller hung up")


async def test_a_target_that_cannot_be_called_is_refused_at_once(own_gateway, party):
    own = own_gateway("--set", "calls.busy=reject")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    carol = await party("carol", base=own.http)
    unreachable = 404, 10, WRAPPER, "call.unreachable"
    (await clicked(alice, "nobody")).refused(*unreachable)
    (await clicked(alice, "dave")).refused(*unreachable)
    at_carol = await carol.dial("bob")
    at_bob = await bob.incoming()
    (await clicked(alice, "bob")).refused(*unreachable)
    (await at_carol.end()).succeeded()
    await at_bob.over()
    await alice.heard_exactly()
    assert (await alice.request("GET", "/logHistory")).succeeded()["logItems"] == []


async def test_who_may_ask_for_what(peer):
    alice, bob = await peer("alice"), await peer("bob", registered=False)
    invalid = 400, 37, WRAPPER, "request.invalid_value"
    for request, expected in (
        ({"callingParty": "bob@dev.local", "calledParty": "carol@dev.local"}, invalid),
        ({"calledParty": "no address"}, invalid), ({"calledParty": 7}, invalid),
        ({}, (400, 5, WRAPPER, "request.missing_field")),
    ):  # fmt: skip
        (await alice.request("POST", "/clicktocall", {"clickToCallRequest": request})).refused(*expected)
    wanted = {"clickToCallRequest": {"calledParty": "alice@dev.local"}}
    answer = await bob.request("POST", alice.path("/clicktocall"), wanted)
    answer.refused(403, 27, WRAPPER, "auth.wrong_user")
    # Bob has no device that could be called.
    (await bob.request("POST", "/clicktocall", wanted)).refused(409, 37, WRAPPER, "call.not_allowed")
    await alice.expect_silence()


async def test_there_is_none_from_peer_to_peer(own_gateway, party):
    own = own_gateway("--set", "media.mode=direct")
    alice, _ = await party("alice", base=own.http), await party("bob", base=own.http)
    (await clicked(alice, "bob")).refused(403, 35, WRAPPER, "call.operation_not_supported")
    await alice.heard_exactly()

"""Transfer (spidr-wire §8.5): who is told what, who hears whom afterwards, and that failure brings everybody back."""
import asyncio

import pytest

from call_records import events_of, session_of, sessions_of
from party import FCS, L5, MUSIC, PartyCall, audio_direction, hear_now
from situations import brought_to, connected, forget, held, resumed, two_held_calls

NOBODY = "nobody"
SUCCESS = "Transfer Successful"
NOT_ALLOWED = 409, 37, "callControlResponse", "call.not_allowed"
STATES = pytest.mark.parametrize("state", ["IN_CALL", "ON_HOLD", "REMOTELY_HELD", "ON_DOUBLE_HOLD"])
DIALECTS = pytest.mark.parametrize("dialect", [L5, FCS], ids=str)


async def legs_of(call: PartyCall) -> list[dict]:
    return (await call.party.state(call.session)).succeeded()["callSession"]["legs"]


@DIALECTS
@STATES
async def test_blind_transfer_connects_the_other_party_with_the_target(party, state, dialect):
    alice = await party("alice", dialect=dialect, sounds=True)
    bob = await party("bob", dialect=dialect, sounds=True)
    carol = await party("carol", dialect=FCS if state == "ON_DOUBLE_HOLD" else L5, sounds=True)
    at_alice, at_bob = await connected(alice, bob)
    await brought_to(state, at_alice, at_bob)

    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    assert at_carol.remote[1] == "bob@dev.local", "the target sees who is transferred, not who transfers"
    assert at_carol.invitation.message["callNotificationParams"]["calleeDisplayNumber"] == "carol@dev.local"
    await alice.heard_exactly()
    await bob.heard_exactly()
    assert (await alice.state(at_alice.session)).succeeded()["state"] == "ANSWERED"

    (await at_carol.answer()).succeeded()
    ended = await at_alice.over()
    assert (ended.by, ended.text) == ("sessionComplete", SUCCESS)
    at_alice.farewell.succeeded()
    await at_bob.until(lambda: at_bob.remote[1] == "carol@dev.local", "shown the target")
    assert audio_direction(at_bob.descriptions[-1]) == "sendrecv"
    await alice.heard_exactly(("sessionComplete", at_alice))
    await bob.heard_exactly(("startCallUpdate", at_bob))
    told = [("startCallUpdate", at_carol)] if at_bob.holding else []
    await carol.heard_exactly(("call", at_carol), ("callCancel", at_carol), *told)

    # Only the holder resumes; the target knows, and hears music if the holder's dialect lets it.
    if at_bob.holding:
        assert audio_direction(at_carol.descriptions[-1]) == ("inactive" if dialect is L5 else "sendonly")
        assert (at_bob.state, at_carol.state) == ("ON_HOLD", "REMOTELY_HELD")
        assert [leg["callState"] for leg in await legs_of(at_carol)] == ["REMOTELY_HELD", "ON_HOLD"]
        await hear_now({at_bob: set(), at_carol: set() if dialect is L5 else {MUSIC}})
        await resumed(at_bob, at_carol)
    await hear_now({at_bob: {"carol"}, at_carol: {"bob"}})
    (await at_bob.end("thanks")).succeeded()
    assert (await at_carol.over()).text == "thanks"
    await alice.heard_exactly()


async def test_the_transferred_caller_sees_the_target_too(party):
    """Clients show `remote…` names of outgoing calls, `caller…` names of incoming ones (§5.2)."""
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_bob, at_alice = await connected(bob, alice)
    await held(at_alice, at_bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    assert at_carol.remote == ("Bob", "bob@dev.local")
    (await at_carol.answer()).succeeded()
    await at_bob.until(lambda: at_bob.remote == ("Carol", "carol@dev.local"), "shown the target")
    await at_alice.over()
    at_alice.farewell.succeeded()


@STATES
async def test_a_target_that_rejects_leaves_everything_as_it_was(party, state):
    alice, bob = await party("alice", sounds=True, dialect=FCS), await party("bob", sounds=True, dialect=FCS)
    carol = await party("carol")
    at_alice, at_bob = await connected(alice, bob)
    await brought_to(state, at_alice, at_bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.reject()).succeeded()

    await alice.heard_exactly(("sessionFail", at_alice))
    assert at_alice.failure[0] == 603 and at_alice.failure[1]
    failed = next(entry for entry in (await session_of(at_alice))["timeline"] if entry["event"] == "transferFailed")
    words = [failed[key] for key in ("leg", "statusCode", "reasonText", "cause")]
    assert words == ["self", *at_alice.failure, "transfer_failed"]
    transfers = [each for each in await events_of(at_bob) if "transfer" in each]
    assert transfers == ["peer transferStarted", "peer transferFailed"]
    await bob.heard_exactly()
    await carol.heard_exactly(("call", at_carol), ("callCancel", at_carol))
    assert at_alice.state == state
    if at_alice.holding:
        await resumed(at_alice, at_bob)
    if at_bob.holding:
        await resumed(at_bob, at_alice)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


@pytest.mark.parametrize(("target", "code"), [(NOBODY, 404), ("dave", 480)])
async def test_a_target_that_cannot_be_reached(party, target, code):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    (await at_alice.transfer(target)).succeeded()
    await alice.heard_exactly(("sessionFail", at_alice))
    assert at_alice.failure[0] == code and at_alice.failure[1]
    await bob.heard_exactly()
    await resumed(at_alice, at_bob)


async def test_300_transfers_that_fail_draw_nobody_in(party):
    alice, bob, carol = [await party(name, sounds=True) for name in ("alice", "bob", "carol")]
    at_alice, at_bob = await connected(alice, bob)
    for _ in range(300):
        (await at_alice.transfer(NOBODY)).succeeded()
    assert await sessions_of(carol) == []
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await at_alice.over()
    at_alice.farewell.succeeded()
    await hear_now({at_bob: {"carol"}, at_carol: {"bob"}})
    (await at_bob.end("thanks")).succeeded()
    assert (await at_carol.over()).text == "thanks"
    for each in (alice, bob, carol):
        assert await sessions_of(each) == []


async def test_a_target_that_does_not_answer(own_gateway, party):
    own = own_gateway("--set", "calls.ring_time=5s")
    alice, bob, carol = [await party(name, base=own.http) for name in ("alice", "bob", "carol")]
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    assert (await at_carol.over()).code == 487
    await alice.heard_exactly(("sessionFail", at_alice))
    assert at_alice.failure[0] == 487
    await resumed(at_alice, at_bob)


async def test_while_the_target_rings_others_hold_and_resume_and_nobody_transfers_twice(party):
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    await at_bob.hold()
    await at_bob.unhold()
    refusal = (await at_alice.transfer("dave")).refused(491, 491, "callControlResponse")
    assert refusal["retryAfter"] > 0
    (await at_carol.answer()).succeeded()
    await at_alice.over()
    await at_bob.until(lambda: at_bob.state == "IN_CALL", "in call with the target")


async def test_the_transferred_party_does_not_wait_any_longer(party):
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_bob.end("no patience")).succeeded()
    assert (await at_carol.over()).by == "callEnd"
    assert (await at_alice.over()).text == "no patience"
    await carol.audit_until_forgotten(at_carol.session)


async def test_several_devices_of_the_target_ring_and_one_answers(party):
    alice, bob = await party("alice"), await party("bob")
    desk, pocket = await party("carol"), await party("carol", alone=False)
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.transfer("carol")).succeeded()
    at_desk, at_pocket = await desk.incoming(), await pocket.incoming()
    (await at_pocket.answer()).succeeded()
    (await at_desk.answer()).refused(409, 37, "callControlResponse", "call.already_answered")
    await at_alice.over()
    await desk.heard_exactly(("call", at_desk), ("callCancel", at_desk))
    await pocket.heard_exactly(("call", at_pocket), ("callCancel", at_pocket))


@DIALECTS
async def test_consultative_transfer(party, dialect):
    alice = await party("alice", dialect=dialect, sounds=True)
    bob, carol = await party("bob", dialect=dialect, sounds=True), await party("carol", sounds=True)
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)

    (await to_bob.transfer(to_carol)).succeeded()
    assert (await to_bob.over()).by == "sessionComplete"
    assert (await to_carol.over()).by == "callEnd"
    to_bob.farewell.succeeded()
    await at_bob.until(lambda: at_bob.remote == ("Carol", "carol@dev.local"), "shown the target")
    await at_carol.until(lambda: at_carol.remote == ("Bob", "bob@dev.local"), "shown the transferred party")
    assert (at_bob.state, at_carol.state) == ("IN_CALL", "IN_CALL")
    await hear_now({at_bob: {"carol"}, at_carol: {"bob"}})
    await alice.heard_exactly(("sessionComplete", to_bob), ("callEnd", to_carol))
    await bob.heard_exactly(("startCallUpdate", at_bob))
    await carol.heard_exactly(("startCallUpdate", at_carol))

    # What is left is a call like any other.
    await held(at_carol, at_bob)
    await resumed(at_carol, at_bob)
    (await at_carol.end()).succeeded()
    assert (await at_bob.over()).by == "callEnd"
    await alice.heard_exactly()


# Call replace (§8.8)

REPLACING = {"supported": ["replacecall"]}


async def consulted(party, dialect=L5, *, bob_lists=True, carol_lists=True, sounds=True):
    """Alice holds a call to Bob and one to Carol."""
    alice = await party("alice", dialect=dialect, sounds=sounds)
    bob, carol = [await party(name, dialect=dialect, sounds=sounds) for name in ("bob", "carol")]
    to_bob, at_bob = await connected(alice, bob, answering=REPLACING if bob_lists else None, **REPLACING)
    await held(to_bob, at_bob)
    to_carol, at_carol = await connected(alice, carol, answering=REPLACING if carol_lists else None, **REPLACING)
    await held(to_carol, at_carol)
    return to_bob, at_bob, to_carol, at_carol


@DIALECTS
async def test_a_target_that_can_takes_a_new_call_in_place_of_the_consultation(party, dialect):
    to_bob, at_bob, to_carol, at_carol = await consulted(party, dialect)
    alice, bob, carol = to_bob.party, at_bob.party, at_carol.party
    (await to_bob.transfer(to_carol)).succeeded()
    replacing = await carol.incoming()
    assert replacing.session != at_carol.session
    told = replacing.invitation.message
    assert (told["replaces"], told["remoteParty"]) == (at_carol.session, "bob@dev.local")
    assert replacing.remote == ("Bob", "bob@dev.local")
    await alice.heard_exactly()
    await bob.heard_exactly()
    (await carol.operate(replacing.session, "callAnswer", sdp="v=0")).refused(*NOT_ALLOWED)

    (await replacing.answer()).succeeded()
    assert (await to_bob.over()).by == "sessionComplete"
    to_bob.farewell.succeeded()
    assert (await to_carol.over()).by == (await at_carol.over()).by == "callEnd"
    await at_bob.until(lambda: at_bob.remote == ("Carol", "carol@dev.local"), "shown the target")
    await alice.heard_exactly(("sessionComplete", to_bob), ("callEnd", to_carol))
    await bob.heard_exactly(("startCallUpdate", at_bob))
    await carol.heard_exactly(("startCallReplace", replacing), ("callEnd", at_carol))
    await hear_now({at_bob: {"carol"}, replacing: {"bob"}})

    await held(replacing, at_bob)
    await resumed(replacing, at_bob)
    (await at_bob.end()).succeeded()
    assert (await replacing.over()).by == "callEnd"
    await alice.heard_exactly()


async def test_a_target_that_declines_the_new_call_keeps_the_old_one(party):
    to_bob, at_bob, to_carol, at_carol = await consulted(party, FCS, sounds=False)
    alice, bob, carol = to_bob.party, at_bob.party, at_carol.party
    (await to_bob.transfer(to_carol)).succeeded()
    replacing = await carol.incoming()
    (await replacing.reject()).succeeded()
    await alice.heard_exactly(("sessionFail", to_bob))
    assert to_bob.failure == (603, "Declined")
    await bob.heard_exactly()
    await carol.heard_exactly(("startCallReplace", replacing), ("callCancel", replacing))
    await carol.audit_until_forgotten(replacing.session)
    assert (to_bob.state, at_bob.state) == ("ON_HOLD", "REMOTELY_HELD")
    await resumed(to_carol, at_carol)
    assert (to_carol.state, at_carol.state) == ("IN_CALL", "IN_CALL")


@pytest.mark.parametrize("bob_lists, carol_lists", [(False, True), (True, False)])
async def test_where_one_of_them_does_not_list_it_the_target_changes_calls(party, bob_lists, carol_lists):
    to_bob, at_bob, to_carol, at_carol = await consulted(
        party, bob_lists=bob_lists, carol_lists=carol_lists, sounds=False
    )
    (await to_bob.transfer(to_carol)).succeeded()
    assert (await to_bob.over()).by == "sessionComplete"
    await at_carol.until(lambda: at_carol.remote == ("Bob", "bob@dev.local"), "shown the transferred party")
    await at_carol.party.heard_exactly(("startCallUpdate", at_carol))


async def test_an_offer_that_meets_the_handover_of_its_leg_is_answered(party):
    """Carol holds while the gateway moves her to the call with Bob. Nobody asks her to offer again (§8.9)."""
    alice, bob, carol = [await party(name, sounds=True) for name in ("alice", "bob", "carol")]
    for milliseconds in range(5):
        to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
        # A hold that comes before the transfer is still offered to Alice, whose end is then over.
        to_carol.answers_updates = False
        hold = await at_carol.prepare_to_hold()
        transfer = asyncio.create_task(to_bob.transfer(to_carol))
        await asyncio.sleep(milliseconds / 1000)
        await hold()
        (await transfer).succeeded()
        await to_bob.over()
        await at_bob.until(lambda: at_bob.remote[1] == "carol@dev.local" and at_bob.remotely_held, "on hold by Carol")
        await at_carol.until(lambda: at_carol.state == "ON_HOLD", "holding Bob alone")
        await resumed(at_carol, at_bob)
        await hear_now({at_bob: {"carol"}, at_carol: {"bob"}})
        (await at_carol.end()).succeeded()
        await at_bob.over()
        forget(alice, bob, carol)


@pytest.mark.parametrize(("first", "second"), [(L5, L5), (L5, FCS), (FCS, L5), (FCS, FCS)], ids=str)
async def test_two_who_hold_know_that_the_other_does(party, first, second):
    """Both had put their call on hold: brought together they hold each other, and resume one after the other."""
    alice, bob, carol = await party("alice"), await party("bob", dialect=first), await party("carol", dialect=second)
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    await held(at_bob, to_bob)
    await held(at_carol, to_carol)
    (await to_bob.transfer(to_carol)).succeeded()
    await to_bob.over()
    for call in (at_bob, at_carol):  # the new party, and that it holds
        await call.party.heard_exactly(("startCallUpdate", call))
        assert call.state == "ON_DOUBLE_HOLD"
    await resumed(at_bob, at_carol)
    assert (at_bob.state, at_carol.state) == ("REMOTELY_HELD", "ON_HOLD")
    await resumed(at_carol, at_bob)
    assert (at_bob.state, at_carol.state) == ("IN_CALL", "IN_CALL")
    (await at_bob.end()).succeeded()
    await at_carol.over()


async def test_transferring_the_consultation_call_instead(party):
    """The other way round: the target is kept, the first call is given away."""
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    (await to_carol.transfer(to_bob)).succeeded()
    assert (await to_carol.over()).by == "sessionComplete"
    assert (await to_bob.over()).by == "callEnd"
    await at_bob.until(lambda: at_bob.remote[1] == "carol@dev.local", "shown the target")
    await at_carol.until(lambda: at_carol.remote[1] == "bob@dev.local", "shown the transferred party")


async def test_a_consultation_that_is_not_answered_yet_cannot_be_given(party):
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    to_bob, at_bob = await connected(alice, bob)
    await held(to_bob, at_bob)
    to_carol = await alice.dial("carol")
    at_carol = await carol.incoming()
    await alice.expect("ringing", to_carol.session)
    forget(alice, carol)
    to_carol.remote = ("Carol", "carol@dev.local")
    answer = await to_bob.transfer(to_carol)
    if answer.status == 200:
        await alice.heard_exactly(("sessionFail", to_bob))
    else:
        answer.refused(*NOT_ALLOWED)
        await alice.heard_exactly()
    await carol.heard_exactly()
    (await at_carol.answer()).succeeded()
    await to_carol.answered()
    await resumed(to_bob, at_bob)


async def test_only_own_calls_can_be_given(party):
    alice, bob, carol, dave = [await party(name) for name in ("alice", "bob", "carol", "dave")]
    at_alice, at_bob = await connected(alice, bob)
    at_carol, at_dave = await connected(carol, dave)
    for session in (at_carol.session, at_dave.session, "0000", at_bob.session):
        answer = await at_alice.transfer("dave", sessionData=session)
        answer.refused(404, 42, "callControlResponse", "call.not_found")
    for each in (alice, bob, carol, dave):
        await each.heard_exactly()


async def test_a_call_cannot_be_transferred_to_itself(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.transfer("bob", sessionData=at_alice.session)).refused(*NOT_ALLOWED)
    await held(at_alice, at_bob)
    await resumed(at_alice, at_bob)


async def test_a_call_that_rings_cannot_be_transferred(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    await alice.expect("ringing")
    for call in (at_alice, at_bob):
        refusal = (await call.transfer("carol")).refused(*NOT_ALLOWED)
        assert "RINGING" in refusal["reason"]
    (await at_bob.answer()).succeeded()
    await at_alice.answered()


async def test_a_transfer_without_an_address_is_refused(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    (await alice.operate(at_alice.session, "transfer")).refused(400, 5, "callControlResponse", "request.missing_field")
    (await alice.operate(at_alice.session, "transfer", address="sip:")).refused(
        400, 37, "callControlResponse", "request.invalid_value"
    )
    await bob.heard_exactly()

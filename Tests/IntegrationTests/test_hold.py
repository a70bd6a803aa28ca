"""Hold, resume and double hold in both dialects (spidr-wire §8.2): what each device is told, and who hears whom."""
import asyncio

import pytest

from party import FCS, L5, MUSIC, OLD, Dialect, audio_direction, hear_now
from party.dialects import answering, origin, sends
from situations import connected, held, resumed

PAIRS = [(L5, L5), (L5, FCS), (FCS, L5), (FCS, FCS)]


def pairings(*others: tuple[Dialect, Dialect]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("ones", "others"), PAIRS + list(others), ids=str)


def music_if(direction: str) -> set[str]:
    """The held party hears music while its peer's description lets something through to it."""
    return {MUSIC} if sends(direction) else set()


@pairings((OLD, L5), (FCS, OLD))
async def test_hold_double_hold_and_resume(party, ones, others):
    alice, bob = await party("alice", dialect=ones, sounds=True), await party("bob", dialect=others, sounds=True)
    at_alice, at_bob = await connected(alice, bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})

    await at_alice.hold()
    assert (at_alice.state, at_bob.state) == ("ON_HOLD", "REMOTELY_HELD")
    await hear_now({at_alice: set(), at_bob: music_if(ones.hold_offer)})

    await at_bob.hold()
    assert (at_alice.state, at_bob.state) == ("ON_DOUBLE_HOLD", "ON_DOUBLE_HOLD")
    await hear_now({at_alice: set(), at_bob: set()})

    await at_alice.unhold()
    assert (at_alice.state, at_bob.state) == ("REMOTELY_HELD", "ON_HOLD")
    await hear_now({at_alice: music_if(others.while_holding), at_bob: set()})

    await at_bob.unhold()
    assert (at_alice.state, at_bob.state) == ("IN_CALL", "IN_CALL")
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


@pairings()
async def test_directions_pass_unchanged_and_each_step_is_told_once(party, ones, others):
    """Only the other end of an offer hears of it, and only the one who offered hears of its answer."""
    alice, bob = await party("alice", dialect=ones), await party("bob", dialect=others)
    at_alice, at_bob = await connected(alice, bob)

    async def moved(mover, other, operation: str, offered: str, answered: str):
        await getattr(mover, operation)()
        assert (audio_direction(other.descriptions[-1]), audio_direction(mover.descriptions[-1])) == (offered, answered)
        await mover.party.heard_exactly(("respondCallUpdate", mover))
        await other.party.heard_exactly(("startCallUpdate", other))

    await moved(at_alice, at_bob, "hold", ones.hold_offer, answering(ones.hold_offer, "sendrecv"))
    await moved(at_bob, at_alice, "hold", "inactive", "inactive")
    await moved(at_alice, at_bob, "unhold", "sendrecv", others.while_holding)
    await moved(at_bob, at_alice, "unhold", "sendrecv", "sendrecv")
    await moved(at_bob, at_alice, "hold", others.hold_offer, answering(others.hold_offer, "sendrecv"))
    await moved(at_bob, at_alice, "unhold", "sendrecv", "sendrecv")
    assert (at_alice.direction, at_bob.direction) == ("sendrecv", "sendrecv")


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_the_callee_holds_and_what_it_plays_is_not_sent_to_itself(party, dialect):
    alice, bob = await party("alice", sounds=True), await party("bob", dialect=dialect, sounds=True)
    at_alice, at_bob = await connected(alice, bob)
    await held(at_bob, at_alice)
    await hear_now({at_alice: music_if(dialect.hold_offer), at_bob: set()})
    await resumed(at_bob, at_alice)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


async def test_holding_again_and_again_changes_nothing_else(party):
    alice, bob = await party("alice", sounds=True, dialect=FCS), await party("bob", sounds=True)
    at_alice, at_bob = await connected(alice, bob)
    for _ in range(3):
        await held(at_alice, at_bob)
        await resumed(at_alice, at_bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    for call in (at_alice, at_bob):
        identifiers, versions = zip(*map(origin, call.descriptions), strict=True)
        assert len(set(identifiers)) == 1, "L5 takes a new session id for a new connection (§8.1)"
        assert list(versions) == sorted(set(versions)), f"versions go up by one with each change: {versions}"
        assert len({ufrag(text) for text in call.descriptions}) == 1, "the gateway restarted ICE"


@pytest.mark.parametrize("first, second", PAIRS, ids=str)
async def test_two_holds_that_cross_are_a_double_hold(party, first, second):
    """Each offer is answered at once, and whoever pays no heed to the offer that met its own one loses nothing
    (§8.9)."""
    alice, bob = await party("alice", sounds=True, dialect=first), await party("bob", sounds=True, dialect=second)
    at_alice, at_bob = await connected(alice, bob)
    await asyncio.gather(at_alice.hold(), at_bob.hold())
    for call in (at_alice, at_bob):
        assert [
            leg["callState"] for leg in (await call.party.state(call.session)).succeeded()["callSession"]["legs"]
        ] == ["ON_DOUBLE_HOLD"] * 2
    # Where an answer leaves it unsaid, an offer of the gateway tells that the other side holds, too.
    for call in (at_alice, at_bob):
        await call.until(lambda call=call: call.state == "ON_DOUBLE_HOLD", "on double hold")
    await hear_now({at_alice: set(), at_bob: set()})

    await at_alice.unhold()
    assert at_alice.state == "REMOTELY_HELD"
    await at_bob.until(lambda: at_bob.state == "ON_HOLD", "on hold")
    await at_bob.unhold()
    await at_alice.until(lambda: at_alice.state == "IN_CALL", "in call")
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


async def test_an_offer_that_the_other_side_does_not_answer_is_answered_in_its_place(party):
    """A client that is slow, or silent, keeps nobody waiting; it is told what it missed once it answers."""
    alice, bob = await party("alice", sounds=True, dialect=FCS), await party("bob", sounds=True, dialect=L5)
    at_alice, at_bob = await connected(alice, bob)
    at_bob.answers_updates = False
    await at_alice.hold()
    update = await bob.expect("startCallUpdate", at_bob.session)
    await at_alice.unhold()
    await alice.heard_exactly(("respondCallUpdate", at_alice), ("respondCallUpdate", at_alice))
    assert at_alice.state == "IN_CALL"

    at_bob.answers_updates = True
    (await at_bob.respond(update)).succeeded()
    assert at_bob.state == "REMOTELY_HELD"
    await at_bob.until(lambda: at_bob.state == "IN_CALL", "told that nobody holds any more")
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    for call in (at_alice, at_bob):
        assert [
            leg["callState"] for leg in (await call.party.state(call.session)).succeeded()["callSession"]["legs"]
        ] == ["IN_CALL"] * 2


async def test_the_end_comes_through_an_open_offer(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    at_bob.answers_updates = False
    (await at_alice.offer_update("inactive")).succeeded()
    update = await bob.expect("startCallUpdate", at_bob.session)
    (await at_alice.end("never mind")).succeeded()
    assert (await bob.expect("callEnd", at_bob.session)).reason[1] == "never mind"
    # His answer is taken for as long as he may not know of the end.
    (await bob.operate(at_bob.session, "respondCallUpdate", sdp=update.sdp)).succeeded()
    await bob.audit_until_forgotten(at_bob.session)
    (await bob.operate(at_bob.session, "respondCallUpdate", sdp=update.sdp)).refused(
        404, 42, "callControlResponse", "call.not_found"
    )
    await alice.heard_exactly()


async def test_an_answer_without_an_offer_is_refused(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    for call in (at_alice, at_bob):
        sdp = await call.media.offer({"audio": "sendrecv"})
        refusal = (await call.party.operate(call.session, "respondCallUpdate", sdp=sdp)).refused(
            409, 37, "callControlResponse", "call.not_allowed"
        )
        assert "IN_CALL" in refusal["reason"]
    await alice.heard_exactly()
    await bob.heard_exactly()


async def test_a_call_that_rings_cannot_be_held(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    await alice.expect("ringing")
    alice.forget()
    for call, state in ((at_alice, "RINGING"), (at_bob, "RINGING")):
        sdp = await alice.new_media().offer({"audio": "inactive"})
        refusal = (await call.party.operate(call.session, "startCallUpdate", sdp=sdp)).refused(
            409, 37, "callControlResponse", "call.not_allowed"
        )
        assert state in refusal["reason"]
    await alice.heard_exactly()
    (await at_bob.answer()).succeeded()
    await at_alice.answered()


async def test_a_bad_description_leaves_the_call_as_it_is(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    (await alice.operate(at_alice.session, "startCallUpdate", sdp="v=0\r\nm=nonsense\r\n")).refused(
        400, 16, "callControlResponse", "call.malformed_sdp"
    )
    await bob.heard_exactly()
    await held(at_alice, at_bob)
    await resumed(at_alice, at_bob)

    # The same in the answer: the offer stays open, and can still be answered.
    at_bob.answers_updates = False
    (await at_alice.offer_update("inactive")).succeeded()
    update = await bob.expect("startCallUpdate", at_bob.session)
    (await bob.operate(at_bob.session, "respondCallUpdate", sdp="v=0\r\nm=nonsense\r\n")).refused(
        400, 16, "callControlResponse", "call.malformed_sdp"
    )
    (await at_bob.respond(update)).succeeded()
    await at_alice.updated()


async def test_held_calls_end_like_others(party):
    alice, bob = await party("alice"), await party("bob", dialect=FCS)
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    (await at_bob.end("tired of music")).succeeded()
    assert (await at_alice.over()).text == "tired of music"
    await alice.heard_exactly(("callEnd", at_alice))
    await bob.heard_exactly()


def ufrag(description: str) -> str:
    return description.split("a=ice-ufrag:")[1].split("\r\n")[0]

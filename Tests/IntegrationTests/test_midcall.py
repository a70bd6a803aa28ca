"""Video, candidates, new media paths and audits in the middle of a call (spidr-wire §6.8, §6.9, §8)."""
import asyncio

import pytest

from call_records import events_of, session_of, states
from party import FCS, L5, MUSIC, PartyCall, direction_of, hear_now
from peers.detour import Detour
from peers.sdp import DATA_ONLY
from peers.spidr import Answer, Notification
from situations import connected, forget, held, resumed

# Video (§8.2)


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_video_is_added_seen_answered_and_stopped(party, dialect):
    alice, bob = await party("alice", dialect=dialect), await party("bob", dialect=dialect)
    at_alice, at_bob = await connected(alice, bob)
    assert direction_of(at_bob.invitation.sdp, "video") is None

    at_bob.video = "recvonly"  # looks, without a camera of its own
    await at_alice.show_video()
    assert (direction_of(at_bob.descriptions[-1], "video"), direction_of(at_alice.descriptions[-1], "video")) == (
        "sendrecv",
        "recvonly",
    )
    assert (at_alice.media.direction, at_bob.media.direction) == (
        {"audio": "sendrecv", "video": "sendonly"},
        {"audio": "sendrecv", "video": "recvonly"},
    )

    at_alice.video = "sendrecv"
    await at_bob.show_video()
    assert (at_alice.media.direction["video"], at_bob.media.direction["video"]) == ("sendrecv", "sendrecv")

    await at_alice.show_video("recvonly")
    assert direction_of(at_bob.descriptions[-1], "video") == "recvonly"
    assert (at_alice.media.direction["video"], at_bob.media.direction["video"]) == ("recvonly", "sendonly")
    assert (at_alice.state, at_bob.state) == ("IN_CALL", "IN_CALL")


async def test_video_towards_somebody_without_it_stays_silent_but_there(party):
    """The section stays for the rest of the call, and can be used later (RFC 3264 §8)."""
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    await at_alice.show_video()
    assert direction_of(at_alice.descriptions[-1], "video") == "inactive"
    await held(at_bob, at_alice)
    await resumed(at_bob, at_alice)
    at_bob.video = "recvonly"
    await at_alice.show_video()
    assert direction_of(at_alice.descriptions[-1], "video") == "recvonly"


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_hold_concerns_video_too(party, dialect):
    alice, bob = await party("alice", dialect=dialect), await party("bob", dialect=dialect)
    at_alice, at_bob = await connected(alice, bob)
    at_bob.video = "sendrecv"
    await at_alice.show_video()
    assert at_bob.media.direction["video"] == "sendrecv"
    await at_alice.hold()
    assert [direction_of(at_bob.descriptions[-1], kind) for kind in ("audio", "video")] == [dialect.hold_offer] * 2
    assert at_bob.state == "REMOTELY_HELD"
    await at_alice.unhold()
    assert at_alice.media.direction == at_bob.media.direction == {"audio": "sendrecv", "video": "sendrecv"}


async def test_an_offer_of_nothing_usable_changes_nothing(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    answer = await alice.operate(at_alice.session, "startCallUpdate", sdp=DATA_ONLY)
    assert answer.status == 400 and answer.body["statusCode"] in (16, 37), answer.text
    await bob.heard_exactly()
    await held(at_alice, at_bob)
    await resumed(at_alice, at_bob)


# Slow start (§8.1)


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_one_side_asks_the_other_for_an_offer(party, dialect):
    alice, bob = await party("alice", sounds=True, dialect=dialect), await party("bob", sounds=True, dialect=dialect)
    at_alice, at_bob = await connected(alice, bob)
    (await alice.operate(at_alice.session, "startCallUpdate")).succeeded()
    await bob.heard_exactly(("startCallUpdate", at_bob), ("respondCallUpdate", at_bob))
    assert bob.heard[-2].sdp in (None, "") and bob.heard[-1].sdp
    await alice.heard_exactly(("startCallUpdate", at_alice))
    assert at_alice.descriptions[-1]
    assert (at_alice.direction, at_bob.direction) == ("sendrecv", "sendrecv")
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    await held(at_bob, at_alice)
    await resumed(at_bob, at_alice)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_a_call_without_a_description_is_answered_with_an_offer(party, dialect):
    alice, bob = await party("alice", sounds=True, dialect=dialect), await party("bob", sounds=True, dialect=dialect)
    at_alice = await alice.dial("bob", slow=True)
    at_alice.answers_updates = False
    at_bob = await bob.incoming()
    assert at_bob.invitation.sdp is None
    await alice.heard_exactly(("ringing", at_alice))

    (await at_bob.answer()).succeeded()
    offer = await alice.expect("startCallUpdate", at_alice.session)
    await bob.heard_exactly(("call", at_bob), ("callCancel", at_bob))
    assert [leg["callState"] for leg in (await bob.state(at_bob.session)).succeeded()["callSession"]["legs"]] == [
        "ANSWERING",
        "RINGING",
    ]
    (await bob.operate(at_bob.session, "startCallUpdate")).refused(409, 37, "callControlResponse", "call.not_allowed")

    at_alice.answers_updates = True
    (await at_alice.respond(offer)).succeeded()
    await bob.heard_exactly(("respondCallUpdate", at_bob))
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    assert [leg["callState"] for leg in (await bob.state(at_bob.session)).succeeded()["callSession"]["legs"]] == [
        "IN_CALL",
        "IN_CALL",
    ]

    await held(at_alice, at_bob)
    assert at_bob.state == "REMOTELY_HELD"
    await resumed(at_alice, at_bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


async def test_a_caller_without_a_description_hears_of_forwarding_and_refusal_as_others_do(party):
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_alice = await alice.dial("bob", slow=True)
    at_bob = await bob.incoming()
    (await at_bob.forward("carol")).succeeded()
    at_carol = await carol.incoming()
    assert at_carol.invitation.sdp is None
    (await carol.operate(at_carol.session, "callAnswer", sdp="hello")).refused(
        400, 16, "callControlResponse", "call.malformed_sdp"
    )
    (await at_carol.answer()).succeeded()
    await at_alice.answered()
    await at_carol.until(lambda: at_carol.descriptions, "told the answer")
    assert (at_alice.direction, at_carol.direction) == ("sendrecv", "sendrecv")
    (await at_alice.end()).succeeded()
    await at_carol.over()


# Candidates and paths (§8.10)


async def test_the_gateway_bridges_trickle_to_vanilla(party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    at_alice, at_bob = await connected(alice, bob)
    (
        await at_alice.send_candidates("candidate:1 1 udp 2122260223 127.0.0.1 50000 typ host generation 0 ufrag Ab12")
    ).succeeded()
    await bob.heard_exactly()  # a vanilla client could do nothing with it
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


@pytest.mark.parametrize("who", ["caller", "callee", "both"])
async def test_whoever_describes_itself_without_candidates_sends_them_later_and_is_heard(party, who):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    alice.trickles, bob.trickles = who != "callee", who != "caller"
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    if alice.trickles:
        assert at_alice.media.candidates
        await at_alice.trickle()
    (await at_bob.answer()).succeeded()
    if bob.trickles:
        assert at_bob.media.candidates
        await at_bob.trickle()
    await at_alice.answered()
    for call in (at_alice, at_bob):
        await call.connected()
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    # The other one has all it needs in the gateway's description.
    assert "IceCandidate" not in [news.event for news in alice.heard + bob.heard]
    await held(at_alice, at_bob)
    await resumed(at_alice, at_bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


@pytest.mark.parametrize("body", [{}, {"iceCandidates": "none"}, {"iceCandidates": [{"sdpMid": "0"}]}], ids=str)
async def test_candidates_that_cannot_be_read_are_refused(party, body):
    alice, bob = await party("alice"), await party("bob")
    at_alice, _ = await connected(alice, bob)
    answer = await alice.operate(at_alice.session, "updateIceCandidate", **body)
    assert answer.status == 400, answer.text


@pytest.mark.parametrize("who", ["caller", "callee"])
async def test_an_end_comes_back_with_new_media_and_the_other_does_not_notice(party, who):
    """A page that was loaded again: new credentials, new certificate, new session id; the same session."""
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    at_alice, at_bob = await connected(alice, bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    comer, other = (at_alice, at_bob) if who == "caller" else (at_bob, at_alice)
    await comer.come_back()
    await comer.connected()
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    await comer.party.heard_exactly(("respondCallUpdate", comer))
    await other.party.heard_exactly()
    assert "self mediaRestarted" in await events_of(comer) and "peer mediaRestarted" in await events_of(other)
    await held(other, comer)
    await resumed(other, comer)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


async def test_a_media_path_that_is_lost_for_a_while_is_told_and_recovers(gateway, party, monkeypatch):
    """Of a NAT that lets nothing through, then all again; and of one that gives out new addresses."""
    for name, value in {"CONSENT_INTERVAL": 1, "CONSENT_FAILURES": 30}.items():  # as persistent as ever, and quicker
        monkeypatch.setattr(f"aioice.ice.{name}", value)
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True, dialect=FCS)
    with Detour(gateway.media_ports) as detour:
        alice.detour = detour
        at_alice, at_bob = await connected(alice, bob)
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})

        detour.is_open = False
        await path_is(at_alice, at_bob, "lost")
        await hear_now({at_alice: set(), at_bob: set()})
        # The call is as it was: what concerns Bob alone is done at once.
        (await at_bob.audit()).succeeded()
        assert (at_alice.ended, at_bob.ended) == (None, None)

        detour.is_open = True
        await path_is(at_alice, at_bob, "recovered")
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
        for call, side in ((at_alice, "self"), (at_bob, "peer")):
            assert [step for step in await events_of(call) if "mediaPath" in step] == [
                f"{side} mediaPathLost",
                f"{side} mediaPathRecovered",
            ]

        detour.forget()
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
        await held(at_bob, at_alice)
        await hear_now({at_alice: {MUSIC}, at_bob: set()})
        (await at_bob.end()).succeeded()
        await at_alice.over()


async def path_is(of: PartyCall, other: PartyCall, state: str):
    """Both are told, and both can ask."""
    for call, side in ((of, "self"), (other, "peer")):
        told = await call.party.expect("mediaPath", call.session, timeout=30)
        assert told.message["mediaPath"] == {"leg": side, "state": state}
        legs = (await session_of(call))["legs"]
        (path,) = [leg["mediaPath"] for leg in legs if leg["address"] == of.party.user]
        assert (path == "lost") == (state == "lost"), legs


# Which description is the newest (RFC 3264 §8)


async def test_an_offer_older_than_the_last_is_refused_and_the_last_is_answered_once_more(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)

    async def offers(description: str) -> Answer:
        return await alice.operate(at_alice.session, "startCallUpdate", sdp=description)

    hold, resume = [await at_alice.media.offer({"audio": direction}) for direction in ("inactive", "sendrecv")]
    for description in (hold, resume):
        (await offers(description)).succeeded()
        await alice.heard_exactly(("respondCallUpdate", at_alice))
        await bob.heard_exactly(("startCallUpdate", at_bob))
    (await offers(hold)).refused(409, 37, "callControlResponse", "call.not_allowed")
    await alice.heard_exactly()
    (await offers(resume)).succeeded()
    await alice.heard_exactly(("respondCallUpdate", at_alice))
    await bob.heard_exactly()
    assert [leg["callState"] for leg in (await session_of(at_alice))["legs"]] == ["IN_CALL", "IN_CALL"]


# Offers that nobody answers (§8.1)


async def test_an_offer_that_is_not_answered_is_answered_by_the_gateway_and_made_again(own_gateway, party):
    own = own_gateway("--set", "calls.offer_time=3s")
    alice, bob = [
        await party(name, base=own.http, sounds=True, dialect=dialect)
        for name, dialect in (("alice", FCS), ("bob", L5))
    ]
    at_alice, at_bob = await connected(alice, bob)
    at_bob.answers_updates = False
    await at_alice.hold()
    assert await states(at_alice, at_bob) == ("ON_HOLD", "REMOTELY_HELD")
    await hear_now({at_alice: set(), at_bob: {MUSIC}})

    # His client has missed it. It is told again after the time for an answer has passed twice, and answers then.
    await bob.expect("startCallUpdate", at_bob.session)
    at_bob.answers_updates = True
    await bob.expect("startCallUpdate", at_bob.session, timeout=60)
    await at_bob.until(lambda: at_bob.state == "REMOTELY_HELD", "held")
    assert at_alice.state == "ON_HOLD"
    await alice.heard_exactly(("respondCallUpdate", at_alice))

    await resumed(at_alice, at_bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    await held(at_bob, at_alice)
    await resumed(at_bob, at_alice)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    steps = ["self held", "self resumed", "peer held", "peer resumed"]
    assert [step for step in await events_of(at_alice) if step in steps] == steps


# Audit and state (§6.8, §6.9)


async def test_audits_are_answered_in_every_state(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    for step in (at_alice.hold, at_bob.hold, at_alice.unhold, at_bob.unhold):
        await step()
        for call in (at_alice, at_bob):
            (await call.audit()).succeeded()
            assert (await call.party.state(call.session)).succeeded()["state"] == "ANSWERED"
    (await at_alice.end()).succeeded()
    await at_bob.over()
    for call in (at_alice, at_bob):
        await call.party.audit_until_forgotten(call.session)


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_a_client_that_was_away_finds_its_call_and_what_it_missed(party, dialect):
    alice, bob = await party("alice", dialect=dialect), await party("bob", dialect=dialect)
    at_alice, at_bob = await connected(alice, bob)
    await bob.lose_channel()
    held_by_alice = asyncio.create_task(at_alice.hold())
    await asyncio.sleep(0.5)
    await bob.open_channel()
    await held_by_alice
    await bob.heard_exactly(("startCallUpdate", at_bob))
    assert at_bob.state == "REMOTELY_HELD"
    assert (await bob.state(at_bob.session)).succeeded()["state"] == "ANSWERED"


async def test_an_offer_that_is_open_keeps_nobody_from_a_transfer_or_the_end(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    at_bob.answers_updates = False
    (await at_alice.offer_update("inactive")).succeeded()
    await bob.expect("startCallUpdate")
    (await at_alice.transfer("carol")).succeeded()  # to nobody
    await alice.expect("respondCallUpdate", at_alice.session)
    await alice.expect("sessionFail", at_alice.session)
    (await at_alice.audit()).succeeded()
    (await at_bob.end("enough")).succeeded()
    assert (await at_alice.over()).text == "enough"


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_a_client_whose_call_ended_while_it_was_away_may_audit_before_it_is_told(party, dialect):
    """4.x audits as soon as it is back, takes a refusal for the end, and then tells its user of a failure."""
    alice, bob = await party("alice", dialect=dialect), await party("bob", dialect=dialect)
    at_alice, at_bob = await connected(alice, bob)
    await bob.lose_channel()
    (await at_alice.end("enough")).succeeded()
    (await at_bob.audit()).succeeded()
    await bob.open_channel()
    ended = await at_bob.over()
    assert (ended.by, ended.text) == ("callEnd", "enough")
    await bob.heard_exactly(("callEnd", at_bob))
    await bob.audit_until_forgotten(at_bob.session)
    later = await connected(alice, bob)
    (await later[0].end()).succeeded()
    await later[1].over()

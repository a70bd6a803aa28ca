"""What an application can ask about calls: while they go on, and afterwards (spidr-wire §6.8, §10; docs/client.md)."""
import asyncio
import re

import pytest

from call_records import events, record_of, session_of, sessions_of
from party import FCS, L5, PartyCall
from situations import connected, held, resumed, two_held_calls


async def log_of(party, query: str = "") -> list[dict]:
    items = (await party.request("GET", f"/logHistory{query}")).succeeded()["logItems"]
    assert all(item["type"] == "CallLog" for item in items)
    return [item["params"] for item in items]


def ending(record: dict) -> tuple:
    end = record["params"]["ending"]
    return record["params"]["direction"], end["statusCode"], end["cause"], end["endedBy"]


async def test_the_state_query_answers_as_ever_and_tells_more(party):
    alice, bob = await party("alice"), await party("bob", ringing_feedback=True)
    at_alice = await alice.dial("bob", customParameters=[{"name": "X-GPS", "value": "1,2"}])
    at_bob = await bob.incoming()
    answer = (await alice.state(at_alice.session)).succeeded()
    assert (answer["statusCode"], answer["state"]) == (0, "RINGING")
    ringing = await session_of(at_bob)
    assert (ringing["callState"], ringing["direction"]) == ("RINGING", "incoming")
    assert ringing["startParameters"] == [{"name": "X-GPS", "value": "1,2"}]
    assert (await session_of(at_alice))["callState"] == "DIALING"

    (await at_bob.ring()).succeeded()
    (await at_bob.answer(customParameters=[{"name": "X-Floor", "value": "3"}])).succeeded()
    await at_alice.answered()
    session = await session_of(at_alice)
    assert (session["state"], session["callState"], session["mediaMode"]) == ("ANSWERED", "IN_CALL", "anchored")
    assert session["answerParameters"] == [{"name": "X-Floor", "value": "3"}]
    assert [(leg["leg"], leg["address"], leg["direction"]) for leg in session["legs"]] == [
        ("self", "alice@dev.local", "outgoing"),
        ("peer", "bob@dev.local", "incoming"),
    ]
    assert session["legs"][0]["media"][0] | {"mid": ""} == {"mid": "", "kind": "audio", "direction": "sendrecv"}
    assert events(session["timeline"]) == ["self created", "peer offered", "peer ringing", "peer answered"]
    (await at_alice.end()).succeeded()


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_hold_shows_at_both_ends_and_in_the_timeline(party, dialect):
    alice, bob = await party("alice", dialect=dialect), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    assert (await session_of(at_alice))["callState"] == "ON_HOLD"
    session = await session_of(at_bob)
    assert session["callState"] == "REMOTELY_HELD"
    assert [leg["holds"] for leg in session["legs"]] == [False, True]
    await resumed(at_alice, at_bob)
    assert events((await session_of(at_bob))["timeline"])[-2:] == ["peer held", "peer resumed"]
    (await at_bob.end()).succeeded()


async def test_all_calls_of_a_user_are_listed_in_the_order_of_their_coming(party):
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    assert await sessions_of(alice) == []
    to_bob, _, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    listed = await sessions_of(alice)
    assert [each["sessionData"] for each in listed] == [to_bob.session, to_carol.session]
    assert [each["callState"] for each in listed] == ["ON_HOLD", "ON_HOLD"]
    assert [each["sessionData"] for each in await sessions_of(carol)] == [at_carol.session]
    (await to_bob.end()).succeeded()
    assert [each["sessionData"] for each in await sessions_of(alice)] == [to_carol.session]
    (await to_carol.end()).succeeded()


async def test_media_is_noted_step_by_step_at_each_end(party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    at_alice, at_bob = await connected(alice, bob)

    async def flows():
        return [leg["mediaPath"] for leg in (await session_of(at_alice))["legs"]] == ["flowing", "flowing"]

    async with asyncio.timeout(20):
        while not await flows():
            await asyncio.sleep(0.1)
    (await at_bob.end("bye")).succeeded()
    await at_alice.over()
    record = await record_of(at_alice)
    steps = events(record["timeline"])
    for end in ("self", "peer"):
        own = [step.split()[1] for step in steps if step.startswith(end)]
        assert [each for each in own if each in ("iceConnected", "dtlsConnected", "firstPacket")] == [
            "iceConnected",
            "dtlsConnected",
            "firstPacket",
        ]
    assert steps[-1] == "peer ended"
    assert record["timeline"][-1] | {"time": 0} == {
        "time": 0, "event": "ended", "leg": "peer", "address": "bob@dev.local", "device": 1, "statusCode": 200,
        "reasonText": "bye", "cause": "normal_clearing",
    }  # fmt: skip
    assert record["answerTime"] <= record["endTime"]


async def test_a_lost_media_path_is_told_to_both_and_ends_the_call_with_its_own_reason(own_gateway, party):
    gateway = own_gateway("--set", "media.consent_timeout=15s")
    alice, bob = [await party(name, base=gateway.http, sounds=True) for name in ("alice", "bob")]
    at_alice, at_bob = await connected(alice, bob)
    await at_bob.media.close()
    lost = await alice.expect("mediaPath", at_alice.session, timeout=30)
    assert lost.message["mediaPath"] == {"leg": "peer", "state": "lost"}
    assert (await bob.expect("mediaPath", at_bob.session)).message["mediaPath"] == {"leg": "self", "state": "lost"}
    assert [leg["mediaPath"] for leg in (await session_of(at_alice))["legs"]][1] == "lost"
    end = await alice.expect("callEnd", at_alice.session, timeout=30)
    assert (end.message["sessionParams"]["statusCode"], end.message["sessionParams"]["cause"]) == (408, "media_timeout")
    assert "peer mediaPathLost" in events((await record_of(at_alice))["timeline"])


async def test_whoever_has_another_certificate_than_it_described_is_not_talked_to(gateway, party):
    """The handshake is with the one that was described or with nobody (RFC 5763 §5, RFC 8122 §6.2)."""
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    before = gateway.metric("orbweaver_calls_total", cause="incompatible_destination")
    answer = await at_bob.media.answer(at_bob.invitation.sdp, {"audio": "sendrecv"})
    at_bob.is_answered = True
    forged = re.sub(r"(a=fingerprint:\S+ )(..)", lambda found: f"{found[1]}{255 - int(found[2], 16):02X}", answer)
    (await bob.answer(at_bob.session, forged)).succeeded()
    for call in (at_alice, at_bob):
        await call.over()
        end = call.party.heard[-1].message["sessionParams"]
        assert (end["statusCode"], end["cause"], end["endedBy"]) == (
            488,
            "incompatible_destination",
            "gateway",
        ) and end["reasonText"]
        assert ending(await record_of(call))[1:] == (488, "incompatible_destination", "gateway")
        assert call.hears() == set()
    assert gateway.metric("orbweaver_calls_total", cause="incompatible_destination") == before + 1


async def reject(at_alice, at_bob):
    (await at_bob.reject()).succeeded()


async def cancel(at_alice, at_bob):
    (await at_alice.end()).succeeded()


async def talk(at_alice, at_bob):
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    (await at_alice.end()).succeeded()


@pytest.mark.parametrize(
    ("course", "code", "cause", "by", "directions"),
    [
        (reject, 603, "call_rejected", ("peer", "self"), ("outgoing", "incoming")),
        (cancel, 487, "originator_cancel", ("self", "peer"), ("outgoing", "missed")),
        (talk, 200, "normal_clearing", ("self", "peer"), ("outgoing", "incoming")),
    ],
)
async def test_notification_record_and_metric_say_the_same(party, gateway, course, code, cause, by, directions):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    before = gateway.metric("orbweaver_calls_total", cause=cause)
    await course(at_alice, at_bob)
    for call, side, direction in ((at_alice, by[0], directions[0]), (at_bob, by[1], directions[1])):
        await call.over()
        assert ending(await record_of(call)) == (direction, code, cause, side)
        for news in call.party.heard:
            if news.event == "callEnd" and news.session == call.session:
                assert (news.message["sessionParams"]["cause"], news.message["sessionParams"]["endedBy"]) == (
                    cause,
                    side,
                )
    assert gateway.metric("orbweaver_calls_total", cause=cause) == before + 1


async def test_devices_that_stop_ringing_learn_why(party):
    alice, bob, second = await party("alice"), await party("bob"), await party("bob", alone=False)
    await alice.dial("bob")
    at_bob = await bob.incoming()
    await second.incoming()
    (await at_bob.answer()).succeeded()
    cancelled = await second.expect("callCancel", at_bob.session)
    assert cancelled.message["sessionParams"]["cause"] == "answered_elsewhere"
    own = await bob.expect("callCancel", at_bob.session)
    assert own.message["sessionParams"]["cause"] in (
        "answered_here",
        "answered_elsewhere",
    ), "which one has answered is not always known"
    (await at_bob.end()).succeeded()


async def test_a_caller_of_nobody_learns_which_nobody(party):
    alice = await party("alice")
    for name, code, cause in (("nobody", 404, "unallocated_number"), ("dave", 480, "subscriber_absent")):
        at_alice = await alice.dial(name)
        end = (await alice.expect("callEnd", at_alice.session)).message["sessionParams"]
        assert (end["statusCode"], end["cause"], end["endedBy"]) == (code, cause, "gateway")
        assert ending(await record_of(at_alice)) == ("outgoing", code, cause, "gateway")


async def test_a_forwarded_call_is_in_three_logs(party):
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    (await at_bob.forward("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await at_alice.answered()
    assert ending(await record_of(at_bob)) == ("incoming", 302, "forwarded", "self")
    (await at_alice.end()).succeeded()
    await at_carol.over()
    assert ending(await record_of(at_carol)) == ("incoming", 200, "normal_clearing", "peer")
    forwarded = next(entry for entry in (await record_of(at_alice))["timeline"] if entry["event"] == "forwarded")
    assert (forwarded["leg"], forwarded["address"]) == ("peer", "carol@dev.local")


async def test_a_transfer_shows_its_steps_and_each_user_has_one_record(party):
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await at_alice.over()
    steps = events((await session_of(at_bob))["timeline"])
    assert [each for each in steps if "transfer" in each or "completed" in each] == [
        "peer transferStarted",
        "peer completed",
    ]
    assert ending(await record_of(at_alice)) == ("outgoing", 200, "normal_clearing", "self")
    (await at_bob.end()).succeeded()
    await at_carol.over()
    for call in (at_bob, at_carol):
        assert ending(await record_of(call))[:3] == ("incoming", 200, "normal_clearing")


async def test_a_party_that_changed_calls_has_one_record_of_all_of_it(party):
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    (await to_bob.transfer(to_carol)).succeeded()
    await to_bob.over()
    await to_carol.over()
    assert (await carol.request("GET", f"/logRecord/{at_carol.session}")).status == 404, "it goes on"
    (await at_bob.end()).succeeded()
    await at_carol.over()
    record = await record_of(at_carol)
    assert ending(record) == ("incoming", 200, "normal_clearing", "peer")
    assert {leg["address"] for leg in record["legs"]} == {"carol@dev.local", "alice@dev.local", "bob@dev.local"}
    own = (await record_of(to_bob))["timeline"]
    assert [entry["address"] for entry in own if entry["event"] == "transferStarted"] == ["carol@dev.local"]
    steps = [entry["event"] for entry in record["timeline"]]
    assert steps.index("offered") < steps.index("moved") < len(steps) - 1 and steps[-1] == "ended"
    assert len([each for each in await log_of(carol) if each["recordId"] == at_carol.session]) == 1


async def test_the_log_is_read_in_parts_and_deleted(party):
    alice, bob = await party("alice"), await party("bob")
    (await bob.request("DELETE", "/logHistory")).succeeded()
    calls = []
    for _ in range(3):
        at_alice = await alice.dial("bob")
        calls.append(await bob.incoming())
        (await at_alice.end()).succeeded()
        await calls[-1].over()
    latest = [call.session for call in reversed(calls)]
    log = await log_of(bob)
    assert [each["recordId"] for each in log] == latest
    assert {(each["direction"], each["duration"], each["callerDisplayNumber"]) for each in log} == {
        ("missed", "0", "alice@dev.local")
    }
    assert [each["recordId"] for each in await log_of(bob, "?startIndex=1&count=1")] == latest[1:2]
    location = log[0]["resourceLocation"]
    assert (await bob.request("GET", location)).succeeded()["params"] == log[0]
    (await bob.request("DELETE", location)).succeeded()
    assert (await bob.request("DELETE", location)).status == 404
    assert [each["recordId"] for each in await log_of(bob)] == latest[1:]
    assert (await alice.request("GET", f"/logRecord/{latest[1]}")).status == 404, "a record is its user's alone"
    (await bob.request("DELETE", "/logHistory")).succeeded()
    assert await log_of(bob) == []


async def test_a_busy_user_is_not_rung_where_that_is_configured(own_gateway, party):
    gateway = own_gateway("--set", "calls.busy=reject")
    alice, bob, carol, dave = [await party(name, base=gateway.http) for name in ("alice", "bob", "carol", "dave")]
    at_alice, at_bob = await connected(alice, bob)
    at_carol = await carol.dial("bob")
    end = (await carol.expect("callEnd", at_carol.session)).message["sessionParams"]
    assert (end["statusCode"], end["cause"]) == (486, "user_busy")
    await bob.heard_exactly()
    assert (await log_of(bob))[0]["direction"] == "missed"
    (await at_alice.transfer("dave")).succeeded()
    at_dave = await dave.incoming()
    (await at_dave.reject()).succeeded()
    (await at_alice.end()).succeeded()
    await at_bob.over()
    await carol.dial("bob")
    (await (await bob.incoming()).reject()).succeeded()


async def test_nor_is_a_busy_user_rung_by_a_transfer_or_by_forwarding(own_gateway, party):
    gateway = own_gateway("--set", "calls.busy=reject")
    alice, bob, carol, dave = [await party(name, base=gateway.http) for name in ("alice", "bob", "carol", "dave")]
    at_alice, at_bob = await connected(alice, bob)
    at_carol = await carol.dial("dave")
    at_dave = await dave.incoming()
    await carol.heard_exactly(("ringing", at_carol))
    (await at_alice.transfer("carol")).succeeded()
    await alice.heard_exactly(("sessionFail", at_alice))
    assert at_alice.failure[0] == 486
    failed = (await session_of(at_alice))["timeline"][-1]
    assert (failed["event"], failed["statusCode"], failed["cause"]) == ("transferFailed", 486, "transfer_failed")
    (await at_dave.forward("bob")).refused(404, 10, "callDispositionResponse", "call.unreachable")
    await bob.heard_exactly()
    # Nothing has changed for anybody.
    assert (await session_of(at_alice))["callState"] == "IN_CALL"
    (await at_dave.answer()).succeeded()
    await at_carol.answered()
    await carol.heard_exactly(("respondCallUpdate", at_carol))

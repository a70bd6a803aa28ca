"""Conferences (spidr-wire §8.7): two calls become one in which everybody hears everybody else."""
import asyncio
from contextlib import AsyncExitStack

import pytest

from call_records import events_of, record_of, session_of
from party import FCS, L5, OLD, TONES, Party, hear_now
from party.call import parameters
from peers.gateway import Gateway, orbweaver, write_configuration
from peers.sdp import stereo_in
from situations import connected, forget, held, two_held_calls

SUCCESS = "Join Successful"


async def conference(hub, first, second):
    """The new call of `hub`, and the calls of the two others."""
    to_first, at_first, to_second, at_second = await two_held_calls(hub, first, second)
    joined = await hub.join(to_first, to_second)
    await joined.answered()
    for call in (to_first, to_second):
        await call.over()
    for call in (at_first, at_second):
        await call.until(lambda call=call: call.remote[1].startswith("conference@"), "shown the conference")
    forget(hub, first, second)
    return joined, at_first, at_second


async def test_two_held_calls_become_one(party):
    alice = await party("alice", sounds=True)
    bob, carol = await party("bob", dialect=FCS, sounds=True), await party("carol", sounds=True)
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)

    joined = await alice.join(to_bob, to_carol)
    assert joined.session not in (to_bob.session, to_carol.session)
    await joined.answered()
    assert joined.remote[1].startswith("conference@")
    for old in (to_bob, to_carol):
        ended = await old.over()
        assert (ended.by, ended.text) == ("sessionComplete", SUCCESS)
        old.farewell.succeeded()
    await hear_now({joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}})
    await alice.heard_exactly(
        ("respondCallUpdate", joined), ("sessionComplete", to_bob), ("sessionComplete", to_carol), unordered=2
    )
    await bob.heard_exactly(("startCallUpdate", at_bob))
    await carol.heard_exactly(("startCallUpdate", at_carol))
    assert (at_bob.state, at_carol.state) == ("IN_CALL", "IN_CALL")
    for call in (joined, at_bob, at_carol):
        (await call.audit()).succeeded()
        assert (await call.party.state(call.session)).succeeded()["state"] == "ANSWERED"
    for old in (to_bob, to_carol):
        await alice.audit_until_forgotten(old.session)


async def test_each_side_of_a_stereo_peer_is_heard_on_that_side(party):
    """RFC 7587 §7.1. `erin` and `frank` stand for the right sides of alice and bob; carol has one channel, and is in
    the middle."""
    alice, bob = await party("alice", sounds=True, right="erin"), await party("bob", sounds=True, right="frank")
    carol = await party("carol", sounds=True)
    joined, at_bob, at_carol = await conference(alice, bob, carol)
    middle = {"left carol", "right carol"}
    await hear_now(
        {
            joined: {"left bob", "right frank"} | middle,
            at_bob: {"left alice", "right erin"} | middle,
            at_carol: {"alice", "erin", "bob", "frank"},
        }
    )
    for call in (joined, at_bob):
        assert stereo_in(call.descriptions[-1]) == {"stereo": "1", "sprop-stereo": "1"}
    assert stereo_in(at_carol.descriptions[-1]) == {}
    # Whoever stays behind with one channel hears one.
    (await at_bob.end()).succeeded()
    await hear_now({joined: middle, at_carol: {"alice", "erin"}})


async def test_one_leaves_and_the_others_go_on(party):
    alice, bob, carol = [await party(name, sounds=True) for name in ("alice", "bob", "carol")]
    joined, at_bob, at_carol = await conference(alice, bob, carol)
    await hear_now({joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}})
    assert [(await session_of(call))["conference"] for call in (joined, at_bob, at_carol)] == [True, True, True]
    assert [each for each in await events_of(joined) if each.endswith("joined")] == ["peer joined"] * 2
    assert sorted(each for each in await events_of(at_carol) if each.endswith("joined")) == [
        "peer joined",
        "self joined",
    ]
    (await at_bob.end("have to go")).succeeded()
    await hear_now({joined: {"carol"}, at_carol: {"alice"}})
    left = [entry for entry in (await session_of(joined))["timeline"] if entry["event"] == "left"]
    assert [(entry["leg"], entry["address"]) for entry in left] == [("peer", "bob@dev.local")]
    assert (await events_of(at_carol))[-1] == "peer left"
    for each in (alice, bob, carol):
        await each.heard_exactly()
    (await at_carol.end("me too")).succeeded()
    assert (await joined.over()).text == "me too"
    await alice.heard_exactly(("callEnd", joined))


async def test_whoever_joined_leaves_and_the_others_go_on(party):
    alice, bob, carol = [await party(name, sounds=True) for name in ("alice", "bob", "carol")]
    joined, at_bob, at_carol = await conference(alice, bob, carol)
    (await joined.end()).succeeded()
    await hear_now({at_bob: {"carol"}, at_carol: {"bob"}})
    await bob.heard_exactly()
    (await at_bob.end()).succeeded()
    assert (await at_carol.over()).by == "callEnd"


@pytest.mark.parametrize("dialect", [L5, FCS, OLD], ids=str)
async def test_hold_in_a_conference_concerns_only_who_holds(party, dialect):
    """No music: the others go on talking. With `sendonly` the microphone of whoever holds goes on, and is heard by
    nobody."""
    alice, bob, carol = [await party(name, sounds=True, dialect=dialect) for name in ("alice", "bob", "carol")]
    joined, at_bob, at_carol = await conference(alice, bob, carol)
    await at_bob.hold()
    await hear_now({joined: {"carol"}, at_bob: set(), at_carol: {"alice"}})
    await alice.heard_exactly()
    await carol.heard_exactly()
    await bob.heard_exactly(("respondCallUpdate", at_bob))
    await at_bob.unhold()
    await hear_now({joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}})


@pytest.mark.parametrize("dialect", [L5, FCS, OLD], ids=str)
async def test_somebody_who_holds_stays_on_hold_until_they_resume(party, dialect):
    alice, bob, carol = [await party(name, sounds=True, dialect=dialect) for name in ("alice", "bob", "carol")]
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    await held(at_bob, to_bob)
    joined = await alice.join(to_bob, to_carol)
    await joined.answered()
    await hear_now({joined: {"carol"}, at_bob: set(), at_carol: {"alice"}})
    await at_bob.unhold()
    await hear_now({joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}})


async def test_calls_that_are_not_on_hold_can_be_joined_too(party):
    """The mobile guide allows "merge" in IN_CALL (Appendix B)."""
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    to_bob, at_bob = await connected(alice, bob)
    to_carol, at_carol = await connected(alice, carol)
    joined = await alice.join(to_bob, to_carol)
    await joined.answered()
    for call in (to_bob, to_carol):
        await call.over()
        call.farewell.succeeded()
    for call in (at_bob, at_carol):
        await call.until(lambda call=call: call.remote[1].startswith("conference@"), "shown the conference")


async def test_what_is_said_with_a_join_comes_back_to_whoever_joins(party):
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    said = {"customParameters": parameters(X_Room="7"), "customBodies": [{"contentType": "text/plain", "body": "☎"}]}
    joined = await alice.join(to_bob, to_carol, **said)
    told = (await alice.expect("respondCallUpdate", joined.session)).message
    assert told["customParameters"] == said["customParameters"]
    assert [(each["contentType"], each["body"]) for each in told["customBodies"]] == [("text/plain", "☎")]
    for call in (at_bob, at_carol):
        news = (await call.party.expect("startCallUpdate", call.session)).message
        assert "customParameters" not in news and "customBodies" not in news


async def test_a_call_that_is_not_answered_cannot_be_joined(party):
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    to_bob, at_bob = await connected(alice, bob)
    await held(to_bob, at_bob)
    to_carol = await alice.dial("carol")
    at_carol = await carol.incoming()
    await alice.expect("ringing", to_carol.session)
    forget(alice, bob, carol)
    joined = await alice.join(to_bob, to_carol)
    await alice.heard_exactly(("sessionFail", joined))
    assert joined.failure[0] == 480 and joined.failure[1]
    assert (await record_of(joined))["params"]["ending"]["cause"] == "join_failed"
    await alice.audit_until_forgotten(joined.session)
    await bob.heard_exactly()
    await carol.heard_exactly()
    (await at_carol.answer()).succeeded()
    await to_carol.answered()
    await to_bob.unhold()
    await at_bob.until(lambda: not at_bob.remotely_held, "resumed")


async def test_joins_that_cannot_be_meant(party):
    alice, bob, carol = [await party(name) for name in ("alice", "bob", "carol")]
    to_bob, at_bob = await connected(alice, bob)
    to_carol, at_carol = await connected(alice, carol)
    sdp = await alice.new_media().offer({"audio": "sendrecv"})

    async def joins(first: str, second: str, **fields):
        request = {"type": "join", "firstSessionData": first, "secondSessionData": second, "sdp": sdp, **fields}
        return await alice.request("POST", "/callControl", {"callControlRequest": request})

    (await joins(to_bob.session, "0000")).refused(404, 42, "callControlResponse", "call.not_found")
    (await joins(at_bob.session, to_carol.session)).refused(404, 42, "callControlResponse", "call.not_found")
    answer = await joins(to_bob.session, to_bob.session)
    assert answer.status in (400, 409) and answer.body["statusCode"] == 37, answer.text
    (await joins(to_bob.session, to_carol.session, sdp="v=0\r\nm=nonsense\r\n")).refused(
        400, 16, "callControlResponse", "call.malformed_sdp"
    )
    missing = {"type": "join", "firstSessionData": to_bob.session, "sdp": sdp}
    answer = await alice.request("POST", "/callControl", {"callControlRequest": missing})
    answer.refused(400, 5, "callControlResponse", "request.missing_field")
    for each in (alice, bob, carol):
        await each.heard_exactly()


@pytest.mark.parametrize("count", [5, 8])
async def test_conferences_grow_by_repeated_joins(tmp_path, contract, count):
    """Users of their own, because `--dev` has only four."""
    names = list(TONES)[:count]
    configuration = write_configuration(tmp_path)
    for name in names:
        arguments = ("user", "add", f"{name}@dev.local", *configuration, "--password-stdin")
        ended = await asyncio.to_thread(orbweaver, *arguments, directory=tmp_path, standard_input="dev\n")
        assert ended.returncode == 0, ended.stderr
    own = Gateway.configured(*configuration).start()
    try:
        async with AsyncExitStack() as stack:
            parties = [
                await stack.enter_async_context(Party(own.http, name, sounds=True, contract=contract)) for name in names
            ]
            for each in parties:
                await each.register()
            hub, second, third, *others = parties
            joined, at_second, at_third = await conference(hub, second, third)
            ends = {hub.name: joined, second.name: at_second, third.name: at_third}
            for joiner in others:
                await joined.hold()
                to_next, ends[joiner.name] = await connected(hub, joiner)
                await to_next.hold()
                before, joined = joined, await hub.join(joined, to_next)
                await joined.answered()
                assert (await before.over()).text == SUCCESS
                ends[hub.name] = joined
            await hear_now({ends[name]: set(names) - {name} for name in names}, timeout=40)
            legs = (await hub.statistics(joined.session))["legs"]
            assert [leg["media"][0]["source"] for leg in legs] == ["mix"] * count

            # They leave one by one, and none of the rest is disturbed.
            for name in names[: count - 3]:
                (await ends.pop(name).end()).succeeded()
            await hear_now({ends[name]: set(ends) - {name} for name in ends})
            assert not any(call.ended for call in ends.values())
    finally:
        own.stop()
        own.discard()

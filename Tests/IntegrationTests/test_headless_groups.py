"""Transfers and conferences with headless parties in each role (see test_headless_parties.py): who hears whom, and the
state that each is in.

By day each choice of roles is taken through one state, and the pairings take turns; at night through all of them."""
import asyncio
import itertools

import pytest

from party import FCS, HEADLESS, L5, hear_now
from situations import brought_to, connected, held, resumed, two_held_calls
from test_headless_parties import NOBODY, STATES, are, each_other, ended_by, through

ROLES = [roles for roles in itertools.product([False, True], repeat=3) if any(roles)]
"""Which of alice, bob and carol are headless."""


def dialects(roles: tuple[bool, ...], client=L5) -> tuple:
    return tuple(HEADLESS if is_headless else client for is_headless in roles)


def named(roles: tuple[bool, ...]) -> str:
    return "+".join(name for name, is_headless in zip(("alice", "bob", "carol"), roles) if is_headless)


REMOTE = {"IN_CALL": "IN_CALL", "ON_HOLD": "REMOTELY_HELD", "REMOTELY_HELD": "ON_HOLD"}
REMOTE |= {"ON_DOUBLE_HOLD": "ON_DOUBLE_HOLD"}
"""The state of the other party, by that of one."""

ALL = [(roles, state, client) for roles in ROLES for state in STATES for client in (L5, FCS)]
BY_DAY = [(roles, STATES[place % 4], (L5, FCS)[place % 2]) for place, roles in enumerate(ROLES)]


def cases(chosen: list[tuple], among: list[tuple] = ALL) -> list:
    """The rest are for the night."""
    return [
        pytest.param(
            roles, state, client, id=f"{named(roles)}-{state}-{client}",
            marks=() if (roles, state, client) in chosen else pytest.mark.nightly,
        )
        for roles, state, client in among
    ]  # fmt: skip


async def cast(anybody, roles, client=L5, sounds=True):
    names = ("alice", "bob", "carol")
    chosen = dialects(roles, client)
    return [await anybody(name, dialect, sounds) for name, dialect in zip(names, chosen, strict=True)]


@pytest.mark.parametrize(("roles", "state", "client"), cases(BY_DAY))
async def test_blind_transfer_connects_the_other_party_with_the_target(anybody, roles, state, client):
    alice, bob, carol = await cast(anybody, roles, client)
    at_alice, at_bob = await connected(alice, bob)
    await brought_to(state, at_alice, at_bob)
    (await at_alice.transfer(carol.user)).succeeded()
    at_carol = await carol.incoming()
    await at_carol.until(lambda: at_carol.remote[1] == bob.user, "shown who is transferred, not who transfers")
    (await at_carol.answer()).succeeded()
    assert (await at_alice.over()).by == ("left" if alice.is_headless else "sessionComplete")
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    await they_talk(at_bob, at_carol, after=state)


async def they_talk(at_bob, at_carol, after: str):
    """Bob holds whoever he is connected with, if he has held alice, whose call with him was in this state."""
    await at_carol.connected()
    if after in ("REMOTELY_HELD", "ON_DOUBLE_HOLD"):
        await are({at_bob: "ON_HOLD", at_carol: "REMOTELY_HELD"})
        await hear_now({at_bob: NOBODY, at_carol: through(at_bob.party.dialect.while_holding, at_bob, at_carol)})
        await resumed(at_bob, at_carol)
    await are({at_bob: "IN_CALL", at_carol: "IN_CALL"})
    await each_other(at_bob, at_carol)
    await ended_by(at_bob, at_carol)


@pytest.mark.parametrize(("roles", "state", "client"), cases(BY_DAY[1::2]))
async def test_a_target_that_rejects_leaves_everything_as_it_was(anybody, roles, state, client):
    alice, bob, carol = await cast(anybody, roles, client)
    at_alice, at_bob = await connected(alice, bob)
    await brought_to(state, at_alice, at_bob)
    (await at_alice.transfer(carol.user)).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.reject()).succeeded()
    if not alice.is_headless:
        await at_alice.until(lambda: at_alice.failure, "told that the transfer failed")
    await at_carol.over()
    await are({at_alice: state})
    if at_alice.holding:
        await resumed(at_alice, at_bob)
    if at_bob.holding:
        await resumed(at_bob, at_alice)
    await each_other(at_alice, at_bob)
    # It can be tried again.
    (await at_alice.transfer(carol.user)).succeeded()
    (await (await carol.incoming()).answer()).succeeded()
    await at_alice.over()
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    (await at_bob.end()).succeeded()


@pytest.mark.parametrize("roles", ROLES, ids=named)
async def test_whoever_was_called_transfers_the_caller(anybody, roles):
    alice, bob, carol = await cast(anybody, roles)
    at_bob, at_alice = await connected(bob, alice)
    (await at_alice.transfer(carol.user)).succeeded()
    at_carol = await carol.incoming()
    await at_carol.until(lambda: at_carol.remote[1] == bob.user, "shown who is transferred, not who transfers")
    (await at_carol.answer()).succeeded()
    assert (await at_alice.over()).by == ("left" if alice.is_headless else "sessionComplete")
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    await at_carol.connected()
    await are({at_bob: "IN_CALL", at_carol: "IN_CALL"})
    await each_other(at_bob, at_carol)
    await held(at_carol, at_bob)
    await resumed(at_carol, at_bob)
    await each_other(at_bob, at_carol)
    await ended_by(at_carol, at_bob)


@pytest.mark.parametrize("roles", ROLES[::3], ids=named)
async def test_while_the_target_rings_the_others_hold_and_resume(anybody, roles):
    alice, bob, carol = await cast(anybody, roles, sounds=False)
    at_alice, at_bob = await connected(alice, bob)
    await held(at_alice, at_bob)
    (await at_alice.transfer(carol.user)).succeeded()
    at_carol = await carol.incoming()
    await held(at_bob, at_alice)
    await are({at_alice: "ON_DOUBLE_HOLD", at_bob: "ON_DOUBLE_HOLD"})
    await resumed(at_bob, at_alice)
    (await at_carol.answer()).succeeded()
    await at_alice.over()
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    await are({at_bob: "IN_CALL", at_carol: "IN_CALL"})
    await ended_by(at_carol, at_bob)


@pytest.mark.parametrize("roles", ROLES[::3], ids=named)
async def test_the_transferred_party_does_not_wait_any_longer(anybody, roles):
    alice, bob, carol = await cast(anybody, roles, sounds=False)
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.transfer(carol.user)).succeeded()
    at_carol = await carol.incoming()
    await ended_by(at_bob, at_alice, "no patience")
    await at_carol.over()


@pytest.mark.parametrize("roles", [(False, False, True), (False, True, True), (True, True, True)], ids=named)
async def test_a_hold_that_meets_the_handover_of_its_leg_stands(anybody, roles):
    """Carol holds while the gateway moves her to the call with Bob, sooner or later."""
    alice, bob, carol = await cast(anybody, roles)
    for milliseconds in range(0, 9, 4):
        to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
        if not alice.is_headless:  # a hold that comes before the transfer is offered to her, whose end is then over
            to_carol.answers_updates = False

        async def hold(after=milliseconds, call=at_carol):
            await asyncio.sleep(after / 1000)
            await call.hold()

        transferred, _ = await asyncio.gather(to_bob.transfer(to_carol), hold())
        transferred.succeeded()
        await to_bob.over()
        await at_bob.until(lambda call=at_bob: call.remote[1] == carol.user, "shown the target")
        await are({at_bob: "REMOTELY_HELD", at_carol: "ON_HOLD"})
        await hear_now({at_bob: through(HEADLESS.hold_offer, at_carol, at_bob), at_carol: NOBODY})
        await resumed(at_carol, at_bob)
        await each_other(at_bob, at_carol)
        (await at_carol.end()).succeeded()
        await at_bob.over()
        await to_carol.over()


@pytest.mark.parametrize("roles", ROLES, ids=named)
async def test_consultative_transfer(anybody, roles):
    alice, bob, carol = await cast(anybody, roles)
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    (await to_bob.transfer(to_carol)).succeeded()
    for call, by in ((to_bob, "sessionComplete"), (to_carol, "callEnd")):
        assert (await call.over()).by == ("left" if alice.is_headless else by)
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    await at_carol.until(lambda: at_carol.remote[1] == bob.user, "shown the transferred party")
    await are({at_bob: "IN_CALL", at_carol: "IN_CALL"})
    await each_other(at_bob, at_carol)
    await held(at_carol, at_bob)
    await resumed(at_carol, at_bob)
    await each_other(at_bob, at_carol)
    await ended_by(at_carol, at_bob)


async def called_and_calling(alice, bob, carol):
    """As `two_held_calls`; but Bob has called Alice."""
    at_bob, to_bob = await connected(bob, alice)
    await held(to_bob, at_bob)
    to_carol, at_carol = await connected(alice, carol)
    await held(to_carol, at_carol)
    return to_bob, at_bob, to_carol, at_carol


@pytest.mark.parametrize("roles", ROLES, ids=named)
async def test_consultative_transfer_of_whoever_has_called(anybody, roles):
    alice, bob, carol = await cast(anybody, roles)
    to_bob, at_bob, to_carol, at_carol = await called_and_calling(alice, bob, carol)
    (await to_bob.transfer(to_carol)).succeeded()
    for call in (to_bob, to_carol):
        await call.over()
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    await at_carol.until(lambda: at_carol.remote[1] == bob.user, "shown the transferred party")
    await are({at_bob: "IN_CALL", at_carol: "IN_CALL"})
    await each_other(at_bob, at_carol)
    await ended_by(at_bob, at_carol)


@pytest.mark.parametrize("roles", ROLES[::2], ids=named)
async def test_two_who_hold_know_that_the_other_does(anybody, roles):
    alice, bob, carol = await cast(anybody, roles, sounds=False)
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    await held(at_bob, to_bob)
    await held(at_carol, to_carol)
    (await to_bob.transfer(to_carol)).succeeded()
    await to_bob.over()
    await are({at_bob: "ON_DOUBLE_HOLD", at_carol: "ON_DOUBLE_HOLD"})
    await resumed(at_bob, at_carol)
    await are({at_bob: "REMOTELY_HELD", at_carol: "ON_HOLD"})
    await resumed(at_carol, at_bob)
    await are({at_bob: "IN_CALL", at_carol: "IN_CALL"})
    await ended_by(at_bob, at_carol)


# Call replace (spidr-wire §8.8): a call of clients that list it takes the place of another


async def two_calls(alice, bob, carol):
    """Alice has called bob and carol; whoever is a client lists `replacecall`, for which an application has no word."""

    def lists(party) -> dict:
        return {} if party.is_headless else {"supported": ["replacecall"]}

    to_bob, at_bob = await connected(alice, bob, answering=lists(bob), **lists(alice))
    to_carol, at_carol = await connected(alice, carol, answering=lists(carol), **lists(alice))
    return to_bob, at_bob, to_carol, at_carol


BY_STATE = [(state, (L5, FCS)[place % 2]) for place, state in enumerate(STATES)]
ONLY_ALICE = (True, False, False)


@pytest.mark.parametrize(("state", "client"), BY_STATE, ids=str)
async def test_an_application_connects_clients_and_one_of_them_replaces_the_call_with_it(anybody, state, client):
    alice, bob, carol = await cast(anybody, ONLY_ALICE, client)
    to_bob, at_bob, to_carol, at_carol = await two_calls(alice, bob, carol)
    await brought_to(state, to_bob, at_bob)
    (await to_bob.transfer(to_carol)).succeeded()
    replacing = await carol.incoming()
    told = replacing.invitation.message
    assert (replacing.is_replacing, told["replaces"], told["remoteParty"]) == (True, at_carol.session, bob.user)
    await are({to_bob: state, at_bob: REMOTE[state], to_carol: "IN_CALL", at_carol: "IN_CALL"})
    (await replacing.answer()).succeeded()
    for call, by in ((to_bob, "left"), (to_carol, "left"), (at_carol, "callEnd")):
        assert (await call.over()).by == by
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    await they_talk(at_bob, replacing, after=state)


@pytest.mark.parametrize(("state", "client"), BY_STATE, ids=str)
async def test_a_client_that_declines_keeps_its_call_with_the_application(anybody, state, client):
    alice, bob, carol = await cast(anybody, ONLY_ALICE, client)
    to_bob, at_bob, to_carol, at_carol = await two_calls(alice, bob, carol)
    await brought_to(state, to_bob, at_bob)
    (await to_bob.transfer(to_carol)).succeeded()
    declined = await carol.incoming()
    (await declined.reject()).succeeded()
    await declined.over()
    await are({to_bob: state, at_bob: REMOTE[state], to_carol: "IN_CALL", at_carol: "IN_CALL"})
    if to_bob.holding:
        await resumed(to_bob, at_bob)
    if at_bob.holding:
        await resumed(at_bob, to_bob)
    await each_other(to_bob, at_bob)
    await each_other(to_carol, at_carol)
    # It can be tried again.
    (await to_bob.transfer(to_carol)).succeeded()
    replacing = await carol.incoming()
    (await replacing.answer()).succeeded()
    for call in (to_bob, to_carol, at_carol):
        await call.over()
    await each_other(at_bob, replacing)
    await ended_by(replacing, at_bob)


BESIDE_AN_APPLICATION = [each for each in ALL if each[0][1:] != (False, False)]
"""Bob or carol is headless."""


@pytest.mark.parametrize(
    ("roles", "state", "client"),
    cases([each for each in BY_DAY if each in BESIDE_AN_APPLICATION], among=BESIDE_AN_APPLICATION),
)
async def test_a_call_with_an_application_is_not_replaced_but_its_leg_changes_calls(anybody, roles, state, client):
    """Whatever the client lists that it is connected with."""
    alice, bob, carol = await cast(anybody, roles, client)
    to_bob, at_bob, to_carol, at_carol = await two_calls(alice, bob, carol)
    await brought_to(state, to_bob, at_bob)
    (await to_bob.transfer(to_carol)).succeeded()
    for call, by in ((to_bob, "sessionComplete"), (to_carol, "callEnd")):
        assert (await call.over()).by == ("left" if alice.is_headless else by)
    await at_bob.until(lambda: at_bob.remote[1] == carol.user, "shown the target")
    await at_carol.until(lambda: at_carol.remote[1] == bob.user, "shown the transferred party")
    if carol.is_headless:
        await carol.look()  # a call that is new would ring
    assert list(carol.calls) == [at_carol.session]
    await they_talk(at_bob, at_carol, after=state)


# Conferences


async def conference(alice, bob, carol, begin=two_held_calls):
    to_bob, at_bob, to_carol, at_carol = await begin(alice, bob, carol)
    joined = await alice.join(to_bob, to_carol)
    await joined.answered()
    for call in (to_bob, to_carol):
        assert (await call.over()).by == ("left" if alice.is_headless else "sessionComplete")
    for call in (at_bob, at_carol):
        await call.until(lambda call=call: call.is_in_conference, "shown the conference")
    if alice.is_headless:
        await joined.connected()
    return joined, at_bob, at_carol


@pytest.mark.parametrize("roles", ROLES, ids=named)
async def test_a_conference_in_which_each_holds_and_leaves(anybody, roles):
    alice, bob, carol = await cast(anybody, roles)
    joined, at_bob, at_carol = await conference(alice, bob, carol)
    everybody = {joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}}
    await hear_now(everybody)
    await at_bob.hold()
    await hear_now({joined: {"carol"}, at_bob: NOBODY, at_carol: {"alice"}})
    await at_bob.unhold()
    await joined.hold()
    await hear_now({joined: NOBODY, at_bob: {"carol"}, at_carol: {"bob"}})
    await joined.unhold()
    await hear_now(everybody)
    (await at_carol.end()).succeeded()
    await hear_now({joined: {"bob"}, at_bob: {"alice"}})
    (await joined.end()).succeeded()
    await at_bob.over()


@pytest.mark.parametrize("roles", ROLES[::2], ids=named)
async def test_a_conference_with_whoever_has_called(anybody, roles):
    alice, bob, carol = await cast(anybody, roles)
    joined, at_bob, at_carol = await conference(alice, bob, carol, called_and_calling)
    await hear_now({joined: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}})
    (await at_bob.end()).succeeded()
    await hear_now({joined: {"carol"}, at_carol: {"alice"}})
    (await at_carol.end()).succeeded()
    await joined.over()


@pytest.mark.parametrize("roles", ROLES, ids=named)
async def test_an_application_is_muted_in_a_conference_and_leaves_it_to_the_others(anybody, roles):
    """It may leave as long as there are two others, whoever made the conference."""
    alice, bob, carol = await cast(anybody, roles)
    calls = dict(zip(("alice", "bob", "carol"), await conference(alice, bob, carol), strict=True))
    everybody = {call: set(calls) - {name} for name, call in calls.items()}
    await hear_now(everybody)
    muted, own = next((name, call) for name, call in calls.items() if call.party.is_headless)
    await own.mute()
    await hear_now({call: names - {muted} for call, names in everybody.items()})
    await own.unmute()
    await hear_now(everybody)
    (await own.leave()).succeeded()
    await own.over()
    one, other = (call for name, call in calls.items() if name != muted)
    await each_other(one, other)
    (await one.end()).succeeded()
    await other.over()


@pytest.mark.parametrize("roles", [(True, False, True), (False, True, False)], ids=named)
async def test_whoever_joined_leaves_and_the_others_go_on(anybody, roles):
    alice, bob, carol = await cast(anybody, roles)
    joined, at_bob, at_carol = await conference(alice, bob, carol)
    (await joined.end()).succeeded()
    await each_other(at_bob, at_carol)
    await ended_by(at_bob, at_carol)


@pytest.mark.parametrize("roles", [(True, True, False), (False, True, True)], ids=named)
async def test_a_conference_grows(anybody, roles):
    """The fourth is a client where alice is headless, and headless where she is none."""
    alice, bob, carol = await cast(anybody, roles)
    dave = await anybody("dave", L5 if alice.is_headless else HEADLESS)
    joined, at_bob, at_carol = await conference(alice, bob, carol)
    to_dave, at_dave = await connected(alice, dave)
    grown = await alice.join(joined, to_dave)
    await grown.answered()
    await joined.over()
    await grown.connected()
    names = {"alice", "bob", "carol", "dave"}
    calls = {"alice": grown, "bob": at_bob, "carol": at_carol, "dave": at_dave}
    await hear_now({call: names - {name} for name, call in calls.items()})
    (await at_bob.end()).succeeded()
    await hear_now({call: names - {name, "bob"} for name, call in calls.items() if name != "bob"})
    (await grown.end()).succeeded()
    await each_other(at_carol, at_dave)
    await ended_by(at_dave, at_carol)

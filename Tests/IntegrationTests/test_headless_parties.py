"""What can happen in a call, with headless parties in place of clients in each role: who hears whom, and the state that
each is in (docs/bots.md, docs/adr/0019).

Names are those of the roles: alice calls or acts, bob is called, carol is the third. The dialect of a role is
`HEADLESS` if an application has it."""
import asyncio
import inspect
import re

import pytest
import yaml

from party import FCS, HEADLESS, L5, MUSIC, HeadlessCall, HeadlessParty, PartyCall, direction_of, hear_now
from party import headless
from party.call import parameters
from party.dialects import sends
from party.headless import LACKS, UNUSED
from peers.gateway import REPOSITORY
from situations import brought_to, connected, held, resumed

PAIRS = [(HEADLESS, L5), (HEADLESS, FCS), (L5, HEADLESS), (FCS, HEADLESS), (HEADLESS, HEADLESS)]
"""Of alice and bob."""
STATES = ["IN_CALL", "ON_HOLD", "REMOTELY_HELD", "ON_DOUBLE_HOLD"]
NOBODY: set[str] = set()


def pairs(*chosen) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("ones", "others"), chosen or PAIRS, ids=str)


def through(direction: str, holder, other) -> set[str]:
    """Who is heard by whom is held: a client hears music. An application hears what the holder's client goes on to
    send, and nothing of another application, which stands still."""
    if not sends(direction):
        return NOBODY
    if not other.party.is_headless:
        return {MUSIC}
    return NOBODY if holder.party.is_headless else {holder.party.name}


async def are(states: dict):
    for call, state in states.items():
        await call.until(lambda call=call, state=state: call.state == state, state)


async def each_other(at_alice, at_bob):
    await hear_now({at_alice: {at_bob.party.name}, at_bob: {at_alice.party.name}})


async def ended_by(one, other, words: str = "that was all"):
    """A client is told the words; an application is shown the cause."""
    (await one.end(words)).succeeded()
    ended = await other.over()
    if other.party.is_headless:
        assert ended.by == "normal_clearing"
    else:
        assert ended.text == words
    await one.over()


# From the start to the answer


@pairs()
async def test_two_talk(anybody, ones, others):
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    at_alice, at_bob = await connected(alice, bob)
    assert (at_alice.remote[1], at_bob.remote[1]) == (bob.user, alice.user)
    await each_other(at_alice, at_bob)
    await ended_by(at_bob, at_alice)


@pairs(*PAIRS[::2])
async def test_parameters_go_along_with_the_start_and_the_answer(anybody, ones, others):
    alice, bob = await anybody("alice", ones, sounds=False), await anybody("bob", others, sounds=False)
    names = {True: "parameters", False: "customParameters"}
    asked, said = parameters(X_GPS="1,2"), parameters(X_Mood="fine")
    at_alice = await alice.dial(bob.user, **{names[alice.is_headless]: asked})
    at_bob = await bob.incoming()
    if bob.is_headless:
        await at_bob.until(lambda: at_bob.shown["parameters"] == asked, "shown the parameters")
    else:
        assert at_bob.invitation.message["customParameters"] == asked
    (await at_bob.answer(**{names[bob.is_headless]: said})).succeeded()
    await at_alice.answered()
    if not alice.is_headless:
        assert alice.heard[-1].message["customParameters"] == said
    await ended_by(at_alice, at_bob)


@pairs(*PAIRS[::2])
async def test_a_call_is_rejected_or_cancelled(anybody, ones, others):
    alice, bob = await anybody("alice", ones, sounds=False), await anybody("bob", others, sounds=False)
    at_alice, at_bob = await alice.dial(bob.user), await bob.incoming()
    if bob.is_headless:  # of a client the gateway knows it by itself
        (await at_bob.ring()).succeeded()
    (await at_bob.reject()).succeeded()
    assert (await at_alice.over()).code == 603
    at_alice, at_bob = await alice.dial(bob.user), await bob.incoming()
    (await at_alice.end()).succeeded()
    ended = await at_bob.over()
    assert not bob.is_headless or (ended.by, ended.code) == ("originator_cancel", 487)


@pairs(*PAIRS[::2])
@pytest.mark.parametrize("third", [L5, HEADLESS], ids=str)
async def test_a_call_is_forwarded(anybody, ones, others, third):
    alice, bob, carol = await anybody("alice", ones), await anybody("bob", others), await anybody("carol", third)
    at_alice, at_bob = await alice.dial(bob.user), await bob.incoming()
    (await at_bob.forward(carol.user)).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await at_alice.answered()
    await at_bob.over()
    for call in (at_alice, at_carol):
        await call.connected()
    await each_other(at_alice, at_carol)
    await ended_by(at_alice, at_carol)


@pairs((L5, HEADLESS), (FCS, HEADLESS), (HEADLESS, HEADLESS))
async def test_the_callee_is_heard_before_the_answer(anybody, ones, others):
    """Of a client the gateway lets nothing through before the answer; of an application what it says, and its caller is
    heard by it."""
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    wish = {"earlyMedia": True} if alice.is_headless else {"supported": ["earlymedia"]}
    at_alice, at_bob = await alice.dial(bob.user, **wish), await bob.incoming()
    (await at_bob.progress()).succeeded()
    await at_bob.connected()
    if alice.is_headless:  # which speaks and hears when it talks
        await at_alice.until(lambda: at_alice.shown["state"] == "progressing", "progressing")
    else:
        await at_alice.until(lambda: at_alice.hears() == {"bob"}, "hearing bob before the answer")
        await hear_now({at_bob: {"alice"}})
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await at_alice.connected()
    await each_other(at_alice, at_bob)
    await ended_by(at_alice, at_bob)


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_a_client_without_an_offer_calls_an_application_and_asks_it_for_one(anybody, dialect):
    """The gateway offers in its place."""
    alice, bob = await anybody("alice", dialect), await anybody("bob", HEADLESS)
    at_alice, at_bob = await alice.dial(bob.user, slow=True), await bob.incoming()
    (await at_bob.answer()).succeeded()
    await at_alice.until(lambda: at_alice.descriptions, "offered audio")
    await at_alice.connected()
    await at_bob.connected()
    await each_other(at_alice, at_bob)
    before = len(at_alice.descriptions)
    (await at_alice.ask_for_an_offer()).succeeded()
    await at_alice.until(lambda: len(at_alice.descriptions) > before, "offered audio again")
    await each_other(at_alice, at_bob)
    await at_alice.come_back()
    await at_alice.connected()
    await each_other(at_alice, at_bob)
    await ended_by(at_bob, at_alice)


# Hold


@pairs()
async def test_hold_double_hold_and_resume(anybody, ones, others):
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)

    await at_alice.hold()
    await are({at_alice: "ON_HOLD", at_bob: "REMOTELY_HELD"})
    await hear_now({at_alice: NOBODY, at_bob: through(ones.hold_offer, at_alice, at_bob)})

    await at_bob.hold()
    await are({at_alice: "ON_DOUBLE_HOLD", at_bob: "ON_DOUBLE_HOLD"})
    await hear_now({at_alice: NOBODY, at_bob: NOBODY})

    await at_alice.unhold()
    await are({at_alice: "REMOTELY_HELD", at_bob: "ON_HOLD"})
    await hear_now({at_alice: through(others.while_holding, at_bob, at_alice), at_bob: NOBODY})

    await at_bob.unhold()
    await are({at_alice: "IN_CALL", at_bob: "IN_CALL"})
    await each_other(at_alice, at_bob)
    await ended_by(at_alice, at_bob)


@pairs()
async def test_two_holds_that_cross_are_a_double_hold_and_so_are_two_resumes(anybody, ones, others):
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    at_alice, at_bob = await connected(alice, bob)
    for _ in range(3):
        await asyncio.gather(at_alice.hold(), at_bob.hold())
        await are({at_alice: "ON_DOUBLE_HOLD", at_bob: "ON_DOUBLE_HOLD"})
        await asyncio.gather(at_alice.unhold(), at_bob.unhold())
        await are({at_alice: "IN_CALL", at_bob: "IN_CALL"})
    await each_other(at_alice, at_bob)
    await asyncio.gather(at_alice.hold(), at_bob.hold())
    await hear_now({at_alice: NOBODY, at_bob: NOBODY})
    (await at_bob.end()).succeeded()
    await at_alice.over()


@pairs()
@pytest.mark.parametrize("state", STATES[1:])
@pytest.mark.parametrize("who", ["caller", "callee"])
async def test_a_call_ends_in_each_state(anybody, ones, others, state, who):
    alice, bob = await anybody("alice", ones, sounds=False), await anybody("bob", others, sounds=False)
    at_alice, at_bob = await connected(alice, bob)
    await brought_to(state, at_alice, at_bob)
    ends = (at_alice, at_bob) if who == "caller" else (at_bob, at_alice)
    await ended_by(*ends)


# Mute


@pairs((HEADLESS, L5), (FCS, HEADLESS), (HEADLESS, HEADLESS))
async def test_an_application_that_is_muted_is_not_heard_until_it_unmutes_whoever_holds_meanwhile(
    anybody, ones, others
):
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    muted, other = (at_alice, at_bob) if alice.is_headless else (at_bob, at_alice)
    await muted.mute()
    await hear_now({muted: {other.party.name}, other: NOBODY})
    for holder, waits in ((muted, other), (other, muted)):
        await holder.hold()
        await are({holder: "ON_HOLD", waits: "REMOTELY_HELD"})
        await holder.unhold()
        await are({holder: "IN_CALL", waits: "IN_CALL"})
        await hear_now({muted: {other.party.name}, other: NOBODY})
    # What it says while it holds is heard when it does no longer.
    await muted.hold()
    await muted.unmute()
    await muted.unhold()
    await are({muted: "IN_CALL", other: "IN_CALL"})
    await each_other(at_alice, at_bob)
    await ended_by(muted, other)


# Keys


@pairs((HEADLESS, L5), (HEADLESS, HEADLESS))
async def test_keys_arrive(anybody, ones, others):
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    at_alice, at_bob = await connected(alice, bob)
    if bob.is_headless:
        (await at_bob.press("59")).succeeded()
    else:
        (await bob.media(at_bob.session, type="dtmf", digits="59")).succeeded()
    await at_alice.until(lambda: at_alice.voice.heard_keys() == "59", "told the keys")
    await at_bob.hold()
    await at_bob.unhold()
    await are({at_alice: "IN_CALL", at_bob: "IN_CALL"})
    await each_other(at_alice, at_bob)
    assert at_alice.voice.heard_keys() == "59"
    await ended_by(at_alice, at_bob)


@pairs((L5, HEADLESS), (FCS, HEADLESS), (HEADLESS, HEADLESS))
async def test_an_application_that_was_called_is_told_keys_and_presses_none_while_it_holds(anybody, ones, others):
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    if alice.is_headless:
        (await at_alice.press("40#")).succeeded()
    else:
        (await alice.media(at_alice.session, type="dtmf", digits="40#")).succeeded()
    await at_bob.until(lambda: at_bob.voice.heard_keys() == "40#", "told the keys")
    await at_bob.hold()
    await are({at_bob: "ON_HOLD", at_alice: "REMOTELY_HELD"})
    (await at_bob.press("1")).refused(409, "call.not_allowed")
    await at_bob.unhold()
    await are({at_bob: "IN_CALL", at_alice: "IN_CALL"})
    (await at_bob.press("2")).succeeded()
    if alice.is_headless:
        await at_alice.until(lambda: at_alice.voice.heard_keys() == "2", "told the key that was pressed")
    await each_other(at_alice, at_bob)
    await ended_by(at_bob, at_alice)


# What a client does by a description, which an application has not

CLIENTS = PAIRS[:4]
"""One of alice and bob is a client."""


def client_and_application(at_alice, at_bob):
    return (at_bob, at_alice) if at_alice.party.is_headless else (at_alice, at_bob)


@pairs(*CLIENTS)
async def test_a_client_adds_video_that_an_application_has_not_and_takes_it_away(anybody, ones, others):
    alice, bob = await anybody("alice", ones, sounds=False), await anybody("bob", others, sounds=False)
    at_alice, at_bob = await connected(alice, bob)
    client, application = client_and_application(at_alice, at_bob)
    for wish in ("sendrecv", "inactive", "sendonly"):
        await client.show_video(wish)
        directions = [direction_of(client.descriptions[-1], kind) for kind in ("audio", "video")]
        assert directions == ["sendrecv", "inactive"]
        await are({client: "IN_CALL", application: "IN_CALL"})
    for holder, other in ((client, application), (application, client)):
        await held(holder, other)
        await are({holder: "ON_HOLD", other: "REMOTELY_HELD"})
        await resumed(holder, other)
        await are({holder: "IN_CALL", other: "IN_CALL"})
    await ended_by(application, client)


@pairs(*CLIENTS)
async def test_a_client_restarts_ice_and_the_application_does_not_notice(anybody, ones, others):
    alice, bob = await anybody("alice", ones, sounds=False), await anybody("bob", others, sounds=False)
    at_alice, at_bob = await connected(alice, bob)
    client, application = client_and_application(at_alice, at_bob)

    def credentials() -> str:
        return re.search(r"^a=ice-ufrag:(\S+)", client.descriptions[-1], re.MULTILINE)[1]

    for state in ("IN_CALL", "REMOTELY_HELD"):
        await brought_to(state, client, application)
        await client.update()
        before = credentials()
        client.media.restart_ice()
        await client.update()
        assert credentials() != before
        await are({client: state})
        assert application.holding == (state == "REMOTELY_HELD")
    await resumed(application, client)
    await are({client: "IN_CALL", application: "IN_CALL"})
    await ended_by(client, application)


@pairs(*CLIENTS)
async def test_a_client_goes_on_with_other_media_also_while_an_application_holds(anybody, ones, others):
    """As when its page was loaded again, or another of its devices takes the call."""
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    at_alice, at_bob = await connected(alice, bob)
    client, application = client_and_application(at_alice, at_bob)
    await each_other(at_alice, at_bob)
    await client.come_back()
    await client.connected()
    await each_other(at_alice, at_bob)
    await held(application, client)
    await client.come_back()
    await client.connected()
    await are({client: "REMOTELY_HELD", application: "ON_HOLD"})
    await hear_now({client: {MUSIC}, application: NOBODY})
    await resumed(application, client)
    await each_other(at_alice, at_bob)
    await ended_by(application, client)


async def taken_along(call: PartyCall, device) -> PartyCall:
    """The call goes on at this device of the same user, and the one that had it is told so."""
    own = PartyCall(device, call.is_incoming)
    own.begin(call.session)
    await own.unhold()
    ended = await call.over()
    assert (ended.by, ended.text) == ("callEnd", "Continued on another device")
    assert call.party.heard[-1].message["sessionParams"]["cause"] == "continued_elsewhere"
    await call.party.heard_exactly(("callEnd", call))
    await call.close()
    await own.connected()
    return own


@pairs(*CLIENTS)
async def test_a_client_is_taken_along_to_another_device_and_the_stream_of_the_application_goes_on(
    anybody, ones, others
):
    alice, bob = await anybody("alice", ones), await anybody("bob", others)
    phone = bob if alice.is_headless else alice
    phone.names_itself = True
    at_alice, at_bob = await connected(alice, bob)
    at_phone, application = client_and_application(at_alice, at_bob)
    await each_other(at_alice, at_bob)
    voice, robot = application.voice, application.party.name

    tablet = await anybody(phone.name, phone.dialect, voice="dave", alone=False)
    tablet.names_itself = True
    at_tablet = await taken_along(at_phone, tablet)
    await are({at_tablet: "IN_CALL", application: "IN_CALL"})
    await hear_now({at_tablet: {robot}, application: {"dave"}})

    # Back again, while the application holds.
    await held(application, at_tablet)
    at_phone = await taken_along(at_tablet, phone)
    await are({at_phone: "REMOTELY_HELD", application: "ON_HOLD"})
    await hear_now({at_phone: {MUSIC}, application: NOBODY})
    await resumed(application, at_phone)
    await hear_now({at_phone: {robot}, application: {phone.name}})

    assert application.voice is voice and voice.is_open
    assert [each["reconnected"] for each in voice.starts] == [False]
    await ended_by(application, at_phone)


# What an application has not


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_what_a_headless_party_lacks_is_listed_with_its_reason():
    assert public(PartyCall) - public(HeadlessCall) - public(HeadlessParty) == set(LACKS)
    assert all(len(reason.split()) > 4 for reason in LACKS.values())


def test_every_command_of_an_application_is_given_here_or_named_with_the_test_that_has_it():
    document = yaml.safe_load((REPOSITORY / "openapi/v1.yaml").read_text())
    commands = set(document["components"]["schemas"]["CommandName"]["enum"])
    given = set(re.findall(r'ask\("([a-z]+)"', inspect.getsource(headless)))
    assert given | set(UNUSED) == commands and not given & set(UNUSED)
    for reason in UNUSED.values():
        for name in re.findall(r"\btest_\w+\.py", reason):
            assert (REPOSITORY / "Tests/IntegrationTests" / name).exists(), name

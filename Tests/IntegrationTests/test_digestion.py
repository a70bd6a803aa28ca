"""A browser knows what the answer to its request says only some time after it has come (spidr-wire §12.1), and drops
what overtakes it.

Each course of calls is run at three gateways. The first gives its clients much more time than they need, and they need
more than browsers do: a busy machine changes nothing. The second has the default times, and its clients need as long as
L5 at its slowest. The third gives no time at all, which shows what would come too early."""
import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
import pytest_asyncio
import yaml

from party import Guest, Party, PartyCall
from peers.gateway import REPOSITORY, Gateway
from situations import connected, held, resumed, two_held_calls


@dataclass(frozen=True)
class Times:
    name: str
    given: tuple[str, str] | None
    """What the gateway gives its clients: `registration.answer_time` and `registration.session_time`."""
    answer: float
    """What the clients need to digest an answer, in seconds."""
    session: float
    """The same of an answer that names a new session."""
    tries: int = 1
    """What comes too early in each of so many runs is too early; this process may be late itself."""

    def __str__(self):
        return self.name

    @property
    def options(self) -> tuple[str, ...]:
        keys = ("registration.answer_time", "registration.session_time")
        return tuple(part for key, time in zip(keys, self.given or ()) for part in ("--set", f"{key}={time}"))


AMPLE = Times("ample time", ("1500ms", "1500ms"), answer=0.4, session=0.4)
DEFAULT = Times("default times", None, answer=0.05, session=0.2, tries=3)
NONE = Times("no time", ("0s", "0s"), answer=1, session=1)


def at(*times: Times):
    return pytest.mark.parametrize("times", times, indirect=True, ids=str)


@pytest.fixture(scope="module")
def times(request: pytest.FixtureRequest) -> Times:
    return request.param


@pytest.fixture(scope="module")
def gateway(times) -> Iterator[Gateway]:
    """It takes guests."""
    gateway = Gateway("--set", "anonymous.mode=open", "--set", "registration.close_delay=2s", *times.options).start()
    yield gateway
    gateway.stop()
    gateway.discard()


@pytest_asyncio.fixture
async def clients(gateway, times, contract) -> AsyncIterator[Callable]:
    """`await clients("alice", "guest")`: registered clients that digest. The guest calls Alice; the desk is a device of
    Bob's that reports by itself that it rings."""
    async with AsyncExitStack() as stack:

        async def make(*names: str) -> list[Party]:
            kinds = {"guest": (Guest, "alice", {}), "desk": (Party, "bob", {"ringing_feedback": True})}
            own = []
            for kind, user, wishes in (kinds.get(name, (Party, name, {})) for name in names):
                each = await stack.enter_async_context(kind(gateway.http, user, contract=contract))
                await each.register(**wishes)
                own.append(each)
                each.digestion, each.session_digestion = times.answer, times.session
            return own

        yield make


# Courses

COURSES: dict[Callable, dict[str, Counter[str]]] = {}
"""What would come too early in each of them, and how often, to whom, if the clients were given no time."""


def overtaken_by(**events: dict[str, int]):
    def add(course: Callable) -> Callable:
        COURSES[course] = {name: Counter(counts) for name, counts in events.items()}
        return course

    return add


@overtaken_by(alice={"ringing": 2, "callEnd": 1}, bob={"callCancel": 1})
async def a_call_and_one_that_is_cancelled(alice, bob):
    outgoing = await alice.dial("bob", supported=["earlymedia"])
    incoming = await bob.incoming()
    (await incoming.answer()).succeeded()
    await outgoing.answered()
    (await outgoing.end()).succeeded()
    await incoming.over()
    await cancelled(alice, bob)


@overtaken_by(alice={"ringing": 1}, bob={"callCancel": 1})
async def a_rejection(alice, bob):
    outgoing, incoming = await alice.dial("bob"), await bob.incoming()
    (await incoming.reject()).succeeded()
    for call in (incoming, outgoing):
        await call.over()


@overtaken_by(alice={"callEnd": 4, "ringing": 1}, bob={"callCancel": 1})
async def a_call_to_nobody(alice, bob):
    """To whom there is not, and to Dave, who is offline; Bob is there."""
    for callee in ("nobody", "dave"):
        for audits in (True, False):
            outgoing = await alice.dial(callee)
            if audits:  # as soon as it knows the session; 5.x takes a refusal for the end (spidr-wire §12.1)
                await alice.digested(outgoing.session)
                audit = await outgoing.audit()
                assert audit.status == 200 or alice.too_early, f"{audit.status}: {audit.text}"
            assert (await outgoing.over()).by == "callEnd"
    await ended(*await connected(alice, bob))


@overtaken_by(bob={"callCancel": 1}, carol={"callCancel": 1})
async def forwarding(alice, bob, carol):
    outgoing, incoming = await alice.dial("bob"), await bob.incoming()
    (await incoming.forward("carol")).succeeded()
    at_carol = await carol.incoming()
    await incoming.over()
    (await at_carol.answer()).succeeded()
    await outgoing.answered()
    await ended(outgoing, at_carol)


@overtaken_by(alice={"respondCallUpdate": 3, "sessionFail": 1}, bob={"respondCallUpdate": 2})
async def double_hold_and_a_transfer_that_fails(alice, bob):
    outgoing, incoming = await connected(alice, bob)
    await held(outgoing, incoming)
    await held(incoming, outgoing)
    await outgoing.unhold()
    await incoming.unhold()
    (await outgoing.transfer("nobody")).succeeded()
    await alice.expect("sessionFail", outgoing.session)
    await ended(incoming, outgoing)


@overtaken_by(alice={"sessionComplete": 1}, carol={"callCancel": 1})
async def blind_transfer(alice, bob, carol):
    outgoing, incoming = await connected(alice, bob)
    (await outgoing.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    assert (await outgoing.over()).by == "sessionComplete"
    await shown(incoming, "carol")
    await ended(incoming, at_carol)


@overtaken_by(alice={"sessionComplete": 1, "callEnd": 1})
async def consultative_transfer(alice, bob, carol):
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    (await to_bob.transfer(to_carol)).succeeded()
    for call in (to_bob, to_carol):
        await call.over()
    await shown(at_bob, "carol")
    await shown(at_carol, "bob")
    await ended(at_bob, at_carol)


@overtaken_by(
    alice={"sessionFail": 1, "sessionComplete": 1, "callEnd": 1}, carol={"callCancel": 2, "customParameters": 1}
)
async def call_replace_declined_and_accepted(alice, bob, carol):
    replacing = {"supported": ["replacecall"]}
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol, answering=replacing, **replacing)
    (await to_bob.transfer(to_carol)).succeeded()
    declined = await carol.incoming()
    (await declined.reject()).succeeded()
    await alice.expect("sessionFail", to_bob.session)

    (await to_bob.transfer(to_carol)).succeeded()
    accepted = await carol.incoming()
    assert accepted.is_replacing
    (await accepted.answer()).succeeded()
    await shown(at_bob, "carol")
    (await at_bob.send_custom_headers(X_GPS="1,2")).succeeded()
    await carol.expect("customParameters", accepted.session)
    for call in (to_bob, to_carol, at_carol):
        await call.over()
    await ended(at_bob, accepted)


@overtaken_by(alice={"respondCallUpdate": 7, "sessionComplete": 2})
async def a_conference_that_is_held(alice, bob, carol):
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    joined = await alice.join(to_bob, to_carol)
    await joined.answered()
    for old in (to_bob, to_carol):
        await old.over()
    for other in (at_bob, at_carol):
        await shown(other, "conference")
    await joined.hold()
    await joined.unhold()
    await ended(joined)
    await ended(at_bob, at_carol)


@overtaken_by(alice={"startCallUpdate": 2}, bob={"callCancel": 1, "respondCallUpdate": 2})
async def slow_start(alice, bob):
    outgoing, incoming = await connected(alice, bob, slow=True)
    await incoming.until(lambda: len(incoming.descriptions) == 1, "told the answer")
    (await outgoing.ask_for_an_offer()).succeeded()
    await incoming.until(lambda: len(incoming.descriptions) == 2, "told the second answer")
    await ended(outgoing, incoming)


@overtaken_by(alice={"respondCallUpdate": 3}, bob={"callCancel": 2, "respondCallUpdate": 1})
async def cameras(alice, bob):
    """Each adds one during the first call; the second call has one from the beginning."""
    outgoing, incoming = await connected(alice, bob)
    incoming.video = "recvonly"
    await outgoing.show_video()
    await incoming.show_video()
    await ended(outgoing, incoming)
    alice.shows = True
    await ended(*await connected(alice, bob))
    alice.shows = False


@overtaken_by(guest={"sessionProgress": 1, "ringing": 2, "respondCallUpdate": 3, "callEnd": 1})
async def a_guest_that_holds(alice, guest):
    at_guest, at_alice = await connected(guest, alice, supported=["earlymedia"])
    await held(at_guest, at_alice)
    await resumed(at_guest, at_alice)
    await ended(at_guest, at_alice)
    await cancelled(guest, alice)


@overtaken_by(alice={"respondCallUpdate": 2}, bob={"callCancel": 1, "respondCallUpdate": 1})
async def new_paths_for_media(alice, bob):
    """Each restarts ICE, and one comes back with other media, as a page that was loaded again."""
    outgoing, incoming = await connected(alice, bob)
    for call in (outgoing, incoming):
        call.media.restart_ice()
        await call.update()
    await outgoing.come_back()
    await ended(outgoing, incoming)


@overtaken_by(alice={"respondCallUpdate": 4}, bob={"callCancel": 1, "respondCallUpdate": 4})
async def holds_and_resumes_that_cross(alice, bob):
    """The gateway answers each of two offers that meet by itself."""
    outgoing, incoming = await connected(alice, bob)
    for _ in range(2):
        await asyncio.gather(outgoing.hold(), incoming.hold())
        await are(("ON_DOUBLE_HOLD", outgoing), ("ON_DOUBLE_HOLD", incoming))
        await asyncio.gather(outgoing.unhold(), incoming.unhold())
        await are(("IN_CALL", outgoing), ("IN_CALL", incoming))
    await ended(outgoing, incoming)


@overtaken_by(alice={"callCancel": 2}, bob={"callCancel": 1})
async def click_to_call(alice, bob):
    """Accepted by Bob, and declined by him."""
    for accepts in (True, False):
        request = {"callingParty": alice.user, "calledParty": bob.user}
        (await alice.request("POST", "/clicktocall", {"clickToCallRequest": request})).succeeded()
        at_alice = await alice.incoming()
        (await at_alice.answer()).succeeded()
        at_bob = await bob.incoming()
        if accepts:
            (await at_bob.answer()).succeeded()
            await at_alice.until(lambda: at_alice.descriptions and at_alice.is_settled, "connected")
            await ended(at_alice, at_bob)
        else:
            (await at_bob.reject()).succeeded()
            await at_bob.over()
            assert (await at_alice.over()).by == "callEnd"


@overtaken_by(alice={"ringing": 1}, desk={"callCancel": 1})
async def what_leaves_a_call_as_it_is(alice, desk):
    """The device reports that it rings; candidates, digits and music."""
    outgoing = await alice.dial("bob")
    incoming = await desk.incoming()
    (await incoming.ring()).succeeded()
    await alice.digested(outgoing.session)  # no client can name it before
    await outgoing.trickle()
    await alice.expect("ringing", outgoing.session)
    (await incoming.answer()).succeeded()
    await outgoing.answered()
    await incoming.trickle()
    (await alice.media(outgoing.session, type="dtmf", digits="12")).succeeded()
    (await alice.media(outgoing.session, type="play", source="music", to="peer")).succeeded()
    (await alice.media(outgoing.session, type="stop", to="peer")).succeeded()
    await ended(outgoing, incoming)


async def cancelled(caller: Party, callee: Party):
    outgoing, incoming = await caller.dial(callee.name), await callee.incoming()
    await caller.expect("ringing", outgoing.session)
    (await outgoing.end()).succeeded()
    await caller.expect("callEnd", outgoing.session)
    await incoming.over()


async def are(*calls: tuple[str, PartyCall]):
    for state, call in calls:
        await call.until(lambda state=state, call=call: call.state == state and call.is_settled, state)


async def shown(call: PartyCall, who: str):
    """Waits until it is a call with somebody else, and the client has answered what it was told of that."""
    await call.until(lambda: call.remote[1].startswith(f"{who}@") and call.is_settled, f"shown {who}")


async def ended(own: PartyCall, other: PartyCall | None = None):
    (await own.end()).succeeded()
    if other:
        await other.over()


OPERATIONS = {
    "callStart": a_call_and_one_that_is_cancelled,
    "callAnswer": a_call_and_one_that_is_cancelled,
    "ringing": what_leaves_a_call_as_it_is,
    "audit": a_call_to_nobody,
    "reject": a_rejection,
    "forward": forwarding,
    "startCallUpdate": double_hold_and_a_transfer_that_fails,
    "respondCallUpdate": slow_start,
    "transfer": blind_transfer,
    "acceptCallReplace": call_replace_declined_and_accepted,
    "rejectCallReplace": call_replace_declined_and_accepted,
    "join": a_conference_that_is_held,
    "sendCustomHeaders": call_replace_declined_and_accepted,
    "updateIceCandidate": what_leaves_a_call_as_it_is,
    "play": what_leaves_a_call_as_it_is,
    "stop": what_leaves_a_call_as_it_is,
    "dtmf": what_leaves_a_call_as_it_is,
}
"""A course that makes each of them. `DELETE`, click-to-call and `callMe` have resources of their own."""


# What the clients are told when


def in_each_course(test: Callable) -> Callable:
    return pytest.mark.parametrize("course", COURSES, ids=lambda course: course.__name__)(test)


@at(AMPLE, DEFAULT)
@in_each_course
async def test_nothing_overtakes_an_answer(clients, times, course):
    own = await clients(*inspect.signature(course).parameters)
    for _ in range(times.tries):
        await course(*own)
        too_early = {each.name: each.too_early for each in own if each.too_early}
        if not too_early:
            break
        for each in own:
            each.too_early = []
    assert not too_early


@at(NONE)
@in_each_course
async def test_without_time_to_digest_clients_would_miss_what_happens(clients, course):
    """The test before this one can fail: a gateway that notifies at once is too early for these clients."""
    names = list(inspect.signature(course).parameters)
    own = await clients(*names)
    await course(*own)
    told = {name: Counter(news.split("(")[0] for news in each.too_early) for name, each in zip(names, own)}
    missing = {name: counts - told[name] for name, counts in COURSES[course].items()}
    assert not any(missing.values()), f"in time: {missing}; too early: {told}"
    asked = set().union(*(each.operations for each in own))
    assert {operation for operation, of_it in OPERATIONS.items() if of_it is course} <= asked


def test_every_operation_about_a_call_has_a_course():
    schemas = yaml.safe_load((REPOSITORY / "openapi/orbweaver.yaml").read_text())["components"]["schemas"]
    bodies = "CallCreation", "CallOperation", "CallDispositionRequest", "MediaRequest"
    described = set().union(*(words_of(schemas[f"{body}Envelope"], schemas) for body in bodies))
    assert described - {"refer"} == OPERATIONS.keys(), "refer is refused whatever the state of the call"


def words_of(schema: dict, schemas: dict) -> set[str]:
    """What `type` or `action` may say in a body."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    fields = schema.get("properties", {})
    words = [word for name in ("type", "action") if name in fields for word in fields[name].get("enum", [])]
    words += [fields[name]["const"] for name in ("type", "action") if "const" in fields.get(name, {})]
    inner = [*schema.get("anyOf", []), *(each for name, each in fields.items() if name.endswith("Request"))]
    return set(words).union(*(words_of(each, schemas) for each in inner))


@at(AMPLE)
async def test_the_first_request_about_a_new_session_ends_the_wait(clients):
    """5.x audits at once: it knows the session then."""
    alice, bob = await clients("alice", "bob")
    alice.digestion = alice.session_digestion = 0
    for audits in (False, True):
        loop = asyncio.get_running_loop()
        started = loop.time()
        outgoing = await alice.dial("bob")
        await bob.incoming()
        if audits:
            (await outgoing.audit()).succeeded()
            await alice.expect("ringing", outgoing.session, timeout=1.2)
        else:
            await alice.expect("ringing", outgoing.session)
            assert loop.time() - started >= 1.4
        (await outgoing.end()).succeeded()
        await alice.expect("callEnd", outgoing.session)


@at(AMPLE)
async def test_the_socket_outlives_the_answer_to_its_own_log_out(clients):
    alice, bob = await clients("alice", "bob")
    loop = asyncio.get_running_loop()
    (await alice.unregister()).succeeded()
    answered = loop.time()
    assert await alice.closed() == 1000
    assert loop.time() - answered >= 1.5
    # Whoever closes by itself does not wait.
    (await bob.unregister()).succeeded()
    await asyncio.wait_for(bob.close_channel(), 1.5)

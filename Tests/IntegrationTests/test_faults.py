"""Messages that are lost, doubled or late, and WebSockets that break, at every step: in the end everybody agrees with the gateway.

Each course is first run as it should be, and its messages are counted; then once for each thing that can go wrong with each of them.
Clients do what real ones do on a bad network (`SturdyParty`): they repeat a request that was not answered, or give up; they open their
channel again, and are told what they missed.
"""
import asyncio
import os
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from party import FCS, L5, Dialect, GaveUp, PartyCall, SturdyParty
from peers.contract import Contract
from peers.gateway import Gateway, orbweaver, write_configuration
from peers.spidr import SpidrPeer
from peers.tap import Fault, Kind, Message, Mishap, Tap, Wire

AT_ONCE = 12
"""Runs side by side, each with users of its own."""
ATTEMPTS = 3
ROLES = {"alice": "alice", "bob": "bob", "desk": "bob", "carol": "carol"}
"""The devices of a run, and whose they are."""
MISHAPS = {
    Kind.REQUEST: [Mishap.LOST, Mishap.DOUBLED, Mishap.LATE],
    Kind.ANSWER: [Mishap.LOST, Mishap.LATE],
    Kind.NOTIFICATION: [Mishap.LOST, Mishap.DOUBLED, Mishap.LATE],
}
RARE_MISHAPS = {Kind.REQUEST: [Mishap.STALE], Kind.ANSWER: [Mishap.UNREPEATED], Kind.NOTIFICATION: []}
PAIRINGS = [(L5, FCS), (FCS, L5), (L5, L5), (FCS, FCS)]
"""The dialects of alice, and of everybody else."""


class Disagreement(AssertionError):
    pass


class NothingHappened(AssertionError):
    """The message did not come by: two that cross are merged when they are quick, and are two when they are not."""


@dataclass
class Cast:
    """The devices of one run."""

    wire: Wire
    devices: dict[str, SturdyParty] = field(default_factory=dict)
    observers: dict[str, SpidrPeer] = field(default_factory=dict)
    """Of each user; they ask the gateway past all wires."""

    def __getattr__(self, role: str) -> SturdyParty:
        return self.devices[role]

    async def connected(self, caller: str, callee: str) -> tuple[PartyCall, PartyCall]:
        outgoing = await self.devices[caller].dial(self.devices[callee].name)
        incoming = await self.devices[callee].invited()
        (await incoming.answer()).succeeded()
        await outgoing.answered()
        for role in self.devices:
            if ROLES[role] == callee != role:
                await (await self.devices[role].incoming()).over()
        return outgoing, incoming

    async def agree(self, **expected: str):
        """Everybody is in these states, one per call, and the gateway says the same."""
        wanted = {user: sorted(expected.get(user, "").split()) for user in set(ROLES.values())}
        await self._become(lambda seen: {user: sorted(calls.values()) for user, calls in seen.items()} == wanted, wanted)

    async def agree_in_anything(self):
        await self._become(lambda seen: True, "anything they agree on")

    async def _become(self, fits: Callable[[dict], bool], wanted: object):
        await self.wire.deliver_delayed()
        end = asyncio.get_running_loop().time() + 30
        while True:
            self.check()
            known = {role: {s: call.state for s, call in device.calls.items() if not call.ended} for role, device in self.devices.items()}
            listed = {user: await self._listed(user) for user in self.observers}
            told = {user: [own for role, own in known.items() if ROLES[role] == user] for user in listed}
            agrees = all(Counter(s for own in told[user] for s in own.items()) == Counter(listed[user].items()) for user in listed)
            if agrees and fits(listed):
                return
            if asyncio.get_running_loop().time() > end:
                raise Disagreement(f"devices say {known}, the gateway {listed}, and it should be {wanted}")
            await asyncio.sleep(0.05)

    async def _listed(self, user: str) -> dict[str, str]:
        sessions = (await self.observers[user].request("GET", "/callControl/callSessions")).succeeded()["callSessions"]
        return {each["sessionData"]: each["callState"] for each in sessions}

    def check(self):
        for device in self.devices.values():
            device.check()

    async def recover(self, role: str):
        """A device gave up: it looks what there is, and then everybody hangs up."""
        await self.devices[role].end_what_is_unknown()
        await self.agree_in_anything()
        for device in self.devices.values():
            for call in list(device.calls.values()):
                if not call.ended:
                    await call.end()
        await self.agree()


# Courses


async def held_and_transferred(cast: Cast):
    """Start, ring at two devices, answer, hold, double hold, resume, blind transfer, end."""
    at_alice = await cast.alice.dial(cast.bob.name)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    (await at_bob.ring()).succeeded()
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await at_desk.over()
    await at_alice.hold()
    await at_bob.hold()
    await at_alice.unhold()
    await cast.agree(alice="REMOTELY_HELD", bob="ON_HOLD")
    await at_bob.unhold()
    (await at_alice.transfer(cast.carol.name)).succeeded()
    at_carol = await cast.carol.invited()
    (await at_carol.answer()).succeeded()
    await at_alice.over()
    await cast.agree(bob="IN_CALL", carol="IN_CALL")
    await at_bob.end()
    await at_carol.over()


async def joined(cast: Cast):
    """Two held calls become a conference, which its members leave."""
    to_bob, at_bob = await cast.connected("alice", "bob")
    await to_bob.hold()
    to_carol, at_carol = await cast.connected("alice", "carol")
    await to_carol.hold()
    cast.wire.begin()
    conference = await cast.alice.join(to_bob, to_carol)
    await conference.answered()
    await to_bob.over()
    await to_carol.over()
    await cast.agree(alice="IN_CALL", bob="IN_CALL", carol="IN_CALL")
    await at_bob.hold()
    await cast.agree(alice="IN_CALL", bob="ON_HOLD", carol="IN_CALL")
    await at_carol.end()
    await cast.agree(alice="IN_CALL", bob="ON_HOLD")
    await conference.end()
    await at_bob.over()


async def consulted(cast: Cast):
    """A consultative transfer between two calls."""
    to_bob, at_bob = await cast.connected("alice", "bob")
    to_carol, at_carol = await cast.connected("alice", "carol")
    cast.wire.begin()
    gone(await to_bob.transfer(to_carol))
    await to_bob.over()
    await to_carol.over()
    await cast.agree(bob="IN_CALL", carol="IN_CALL")
    await at_carol.end()
    await at_bob.over()


async def refused(cast: Cast):
    """Early media, forwarding, rejection, cancellation, a transfer that fails, and what changes nothing."""
    at_alice = await cast.alice.dial(cast.bob.name, supported=["earlymedia"])
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    gone(await at_bob.forward(cast.carol.name))
    at_carol = await cast.carol.invited()
    await at_bob.over()
    await at_desk.over()
    gone(await at_carol.reject())
    await at_alice.over()
    await cast.agree()

    at_alice = await cast.alice.dial(cast.bob.name)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    await at_alice.end("never mind")
    await at_bob.over()
    await at_desk.over()
    await cast.agree()

    at_alice, at_bob = await cast.connected("alice", "carol")
    (await at_alice.audit()).succeeded()
    (await at_alice.send_custom_headers(X_Test="1")).succeeded()
    (await at_alice.transfer(cast.bob.name)).succeeded()
    target = await cast.bob.invited()
    gone(await target.reject())
    await at_alice.until(lambda: at_alice.failure, "told that the transfer failed")
    await cast.agree(alice="IN_CALL", carol="IN_CALL")
    await at_bob.end("enough")
    await at_alice.over()


EACH_COURSE = pytest.mark.parametrize("course", [held_and_transferred, joined, consulted, refused], ids=lambda course: course.__name__)


def gone(answer):
    """The same for whoever asked: it is done, or nobody knows the call any more."""
    if answer.status not in (404, 409):
        answer.succeeded()


# Running them


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A gateway with users for all runs that go on side by side."""
    folder = tmp_path_factory.mktemp("faults")
    configuration = write_configuration(folder, calls={"ring_time": "15s"})
    ended = orbweaver("user", "add", "first@dev.local", *configuration, "--password-stdin", directory=folder, standard_input="dev\n")
    assert ended.returncode == 0, ended.stderr
    # One password for all: its hash takes longer than a run.
    with sqlite3.connect(folder / "users.sqlite") as database:
        for number in range(AT_ONCE):
            for user in set(ROLES.values()):
                database.execute("INSERT INTO user SELECT ?, passwordRecord, '' FROM user WHERE address = 'first@dev.local'", [f"{user}{number}@dev.local"])
    database.close()
    own = Gateway.configured(*configuration).start()
    yield own
    own.stop()
    own.discard()


@asynccontextmanager
async def cast_on(wire: Wire, gateway: Gateway, number: int, dialects: tuple[Dialect, Dialect], contract: Contract | None) -> AsyncIterator[Cast]:
    async with AsyncExitStack() as stack:
        cast = Cast(wire)
        for user in sorted(set(ROLES.values())):
            cast.observers[user] = await stack.enter_async_context(SpidrPeer(gateway.http, f"{user}{number}"))
        for role, user in ROLES.items():
            tap = await stack.enter_async_context(Tap(wire, role, gateway.http_port))
            device = SturdyParty(tap.base, f"{user}{number}", dialect=dialects[user != "alice"], contract=contract)
            await stack.enter_async_context(device)
            await device.register(alone=user == role, ringing_feedback=role == "bob")
            cast.devices[role] = device
        yield cast


async def run(course, fault: Fault | None, gateway: Gateway, number: int, dialects, contract: Contract | None = None) -> list[Message]:
    wire = Wire(fault)
    async with cast_on(wire, gateway, number, dialects, contract) as cast:
        try:
            await course(cast)
        except GaveUp:
            await cast.recover(fault.message.device)
        await cast.agree()
    if fault and not wire.happened:
        raise NothingHappened
    return wire.messages


async def run_with(fault: Fault, course, gateway: Gateway, number: int, dialects: tuple[Dialect, Dialect]):
    """Until the fault has happened."""
    for attempt in range(ATTEMPTS):
        try:
            await run(course, fault, gateway, number, dialects)
            return
        except NothingHappened:
            if attempt == ATTEMPTS - 1:
                raise


def faults_of(messages: list[Message], is_thorough: bool) -> list[Fault]:
    """What can go wrong with each message; and as each request passes, the WebSocket of its device breaks, or that of anybody."""
    faults = [Fault(message, mishap) for message in messages for mishap in MISHAPS[message.kind]]
    if is_thorough:
        faults += [Fault(message, mishap) for message in messages for mishap in RARE_MISHAPS[message.kind]]
    for message in messages:
        if message.kind == Kind.REQUEST:
            faults += [Fault(message, Mishap.CUT, role) for role in ROLES if is_thorough or role == message.device]
    return faults


async def run_all(course, runs: list[tuple[Fault, tuple[Dialect, Dialect]]], gateway: Gateway) -> list[str]:
    """What failed."""
    left, failures = iter(runs), []

    async def one_after_the_other(number: int):
        for fault, dialects in left:
            try:
                await run_with(fault, course, gateway, number, dialects)
            except Exception as error:  # all of them are wanted, not the first
                failures.append(f"{fault}, {dialects[0]} and {dialects[1]}: {type(error).__name__} {error}")

    await asyncio.gather(*[one_after_the_other(number) for number in range(AT_ONCE)])
    return failures


async def hold_up_to_faults(course, gateway: Gateway, contract: Contract, capsys, is_thorough: bool):
    messages = await run(course, None, gateway, 0, PAIRINGS[0], contract)
    faults = faults_of(messages, is_thorough)
    if is_thorough:
        runs = [(fault, dialects) for fault in faults for dialects in PAIRINGS]
    else:
        runs = [(fault, PAIRINGS[place % len(PAIRINGS)]) for place, fault in enumerate(faults)]
    failures = await run_all(course, runs, gateway)
    with capsys.disabled():
        print(f" {len(messages)} messages, {len(runs)} faults", end="")
    assert not failures, "\n".join(failures)
    for metric in ("orbweaver_calls_active", "orbweaver_media_sessions_active"):
        assert gateway.metric(metric) == 0


@EACH_COURSE
async def test_whatever_happens_to_one_message_everybody_agrees_in_the_end(crowded, contract, capsys, course):
    await hold_up_to_faults(course, crowded, contract, capsys, is_thorough=False)


@pytest.mark.nightly
@EACH_COURSE
async def test_the_same_in_all_dialects_and_with_the_rarest_of_mishaps(crowded, contract, capsys, course):
    await hold_up_to_faults(course, crowded, contract, capsys, is_thorough=True)

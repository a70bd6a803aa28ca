"""Plays courses, and lets one thing go wrong in each run."""
import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from party import FCS, L5, Dialect, GaveUp
from peers.contract import Contract
from peers.gateway import Gateway
from peers.tap import Fault, Kind, Message, Mishap, Wire

from .cast import ROLES, Cast

AT_ONCE = 12
"""Runs side by side, each with users of its own."""
AT_ONCE_WITH_SOUNDS = 3
"""One process plays and hears all tones, and shakes hands for all of them."""
AT_ONCE_HEADLESS = 4
"""Each application of a run has to be added by commands."""
ATTEMPTS = 3
MISHAPS = {
    Kind.REQUEST: [Mishap.LOST, Mishap.DOUBLED, Mishap.LATE],
    Kind.ANSWER: [Mishap.LOST, Mishap.LATE],
    Kind.NOTIFICATION: [Mishap.LOST, Mishap.DOUBLED, Mishap.LATE],
}
RARE_MISHAPS = {Kind.REQUEST: [Mishap.STALE], Kind.ANSWER: [Mishap.UNREPEATED], Kind.NOTIFICATION: []}
PAIRINGS = [(L5, FCS), (FCS, L5), (L5, L5), (FCS, FCS)]
"""The dialects of alice, and of everybody else."""

Course = Callable[[Cast], Awaitable]
Pairing = tuple[Dialect, Dialect]


class NothingHappened(AssertionError):
    """The message did not come by: two that cross are merged when they are quick, and are two when they are not."""


@dataclass(frozen=True)
class Stage:
    """Where courses are played."""

    gateway: Gateway
    is_direct: bool = False
    """Media goes from peer to peer."""
    sounds: bool = False
    keys: dict[str, str] = field(default_factory=dict)
    """Of the users who are applications, by name."""

    @property
    def at_once(self) -> int:
        if self.sounds:
            return AT_ONCE_WITH_SOUNDS
        return AT_ONCE_HEADLESS if self.keys else AT_ONCE


async def run(
    course: Course,
    fault: Fault | None,
    stage: Stage,
    number: int,
    dialects: Pairing = PAIRINGS[0],
    contract: Contract | None = None,
) -> list[Message]:
    wire = Wire(fault)
    async with Cast(
        wire, stage.gateway, number, dialects, contract, stage.sounds, stage.is_direct, stage.keys
    ) as cast:  # fmt: skip
        try:
            await course(cast)
        except GaveUp:
            await cast.recover(fault.message.device)
        except AssertionError:
            cast.check()  # what went wrong at another device says more
            raise
        await cast.conclude()
    if fault and not wire.happened:
        raise NothingHappened
    return wire.messages


async def run_with(fault: Fault, course: Course, stage: Stage, number: int, dialects: Pairing):
    """Until the fault has happened."""
    for attempt in range(ATTEMPTS):
        try:
            await run(course, fault, stage, number, dialects)
            return
        except NothingHappened:
            if attempt == ATTEMPTS - 1:
                raise


def faults_of(messages: list[Message], is_thorough: bool) -> list[Fault]:
    """What can go wrong with each message; and as each request passes, the WebSocket of its device breaks, or that of
    anybody."""
    faults = [Fault(message, mishap) for message in messages for mishap in MISHAPS[message.kind]]
    if is_thorough:
        faults += [Fault(message, mishap) for message in messages for mishap in RARE_MISHAPS[message.kind]]
    devices = dict.fromkeys([*ROLES, *(message.device for message in messages)])
    for message in messages:
        if message.kind == Kind.REQUEST:
            faults += [
                Fault(message, Mishap.CUT, device) for device in devices if is_thorough or device == message.device
            ]
    return faults


def one_of_each(messages: list[Message]) -> list[Fault]:
    """Each message has one of the things that can go wrong with it, in turns."""
    turns = {
        kind: itertools.cycle([*mishaps, *([Mishap.CUT] if kind == Kind.REQUEST else [])])
        for kind, mishaps in MISHAPS.items()
    }
    chosen = [(message, next(turns[message.kind])) for message in messages]
    return [Fault(message, mishap, message.device if mishap == Mishap.CUT else None) for message, mishap in chosen]


async def run_all(course: Course, runs: Iterable[tuple[Fault, Pairing]], stage: Stage) -> list[str]:
    """What failed."""
    left, failures = iter(runs), []

    async def one_after_the_other(number: int):
        for fault, dialects in left:
            try:
                await run_with(fault, course, stage, number, dialects)
            except Exception as error:  # all of them are wanted, not the first
                failures.append(f"{fault}, {dialects[0]} and {dialects[1]}: {type(error).__name__} {error}")

    await asyncio.gather(*[one_after_the_other(number) for number in range(stage.at_once)])
    return failures

"""Messages that are lost, doubled or late, and WebSockets that break, at every step: in the end everybody agrees with
the gateway.

Each course of `faults` is first run as it should be, and its messages are counted; then once for each thing that can go
wrong with each of them. Clients do what real ones do on a bad network (`SturdyParty`): they repeat a request that was
not answered, or give up; they open their channel again, and are told what they missed.
"""
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults import AT_ONCE, AT_ONCE_HEADLESS, PAIRINGS, Stage, faults_of, one_of_each, run, run_all
from faults.cast import USERS
from faults.courses_of_three import consulted, held_and_transferred, joined, not_joined, replaced
from faults.courses_of_two import announced, refused, shown, slowly_started, trickled, visited
from peers import sound
from peers.contract import Contract
from peers.fleet import add_accounts
from peers.gateway import Gateway, orbweaver, write_configuration
from robots import add_robots

BROAD = [held_and_transferred, joined, consulted, refused]
"""They take every kind of message through what can go wrong with it; of the others it is enough, by day, that each
message has a mishap."""
NARROW = [slowly_started, announced, shown, trickled, visited, not_joined, replaced]


@contextmanager
def gateway_for_crowds(folder: Path, media: str, keys: dict[str, str] | None = None) -> Iterator[Gateway]:
    """With users for all runs that go on side by side. `keys`: gets the keys of as many applications, if they are
    wanted."""
    sound.tone(folder / "welcome.wav", 600, seconds=1)
    # What rings or is offered for nothing is over long before a call without sounds is given up, 30 seconds after its
    # answer.
    calls = {"ring_time": "15s", "offer_time": "10s", "early_media": "file:welcome.wav"}
    configuration = write_configuration(
        folder, calls=calls,
        anonymous={"mode": "open", "network_requests": 10_000, "max_per_network": 10_000, "first_call": "1h"},
        media={"mode": media, "bind": "127.0.0.1", "folder": folder},
    )  # fmt: skip
    created = orbweaver("user", "list", *configuration, directory=folder)
    assert created.returncode == 0, created.stderr
    # One password for all: its hash takes longer than a run.
    addresses = (f"{user}{number}@dev.local" for number in range(AT_ONCE) for user in USERS)
    add_accounts(folder / "users.sqlite", addresses, "dev")
    if keys is not None:
        keys |= add_robots([f"{user}{number}" for number in range(AT_ONCE_HEADLESS) for user in USERS], configuration)
    own = Gateway.configured(*configuration).start()
    yield own
    own.stop()
    own.discard()


@pytest.fixture(scope="module")
def robots_stage(tmp_path_factory) -> Iterator[Stage]:
    keys: dict[str, str] = {}
    with gateway_for_crowds(tmp_path_factory.mktemp("faults"), "anchored", keys) as gateway:
        yield Stage(gateway, keys=keys)


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> Iterator[Stage]:
    with gateway_for_crowds(tmp_path_factory.mktemp("faults"), "anchored") as gateway:
        yield Stage(gateway)


@pytest.fixture(scope="module")
def direct_stage(tmp_path_factory) -> Iterator[Stage]:
    with gateway_for_crowds(tmp_path_factory.mktemp("faults"), "direct") as gateway:
        yield Stage(gateway, is_direct=True)


def each(*courses):
    return pytest.mark.parametrize("course", courses, ids=lambda course: course.__name__)


async def holds_up(course, stage: Stage, contract: Contract, capsys, choose, in_all_dialects: bool = False):
    """Whatever happens, and nothing is left over."""
    messages = await run(course, None, stage, 0, contract=contract)
    faults = choose(messages)
    if in_all_dialects:
        runs = [(fault, dialects) for fault in faults for dialects in PAIRINGS]
    else:
        runs = [(fault, PAIRINGS[place % len(PAIRINGS)]) for place, fault in enumerate(faults)]
    failures = await run_all(course, runs, stage)
    with capsys.disabled():
        print(f" {len(messages)} messages, {len(runs)} faults", end="")
    assert not failures, "\n".join(failures)
    for metric in ("orbweaver_calls_active", "orbweaver_media_sessions_active"):
        assert stage.gateway.metric(metric) == 0


def every_common_mishap(messages):
    return faults_of(messages, is_thorough=False)


def every_mishap(messages):
    return faults_of(messages, is_thorough=True)


@each(*BROAD)
async def test_whatever_happens_to_one_message_everybody_agrees_in_the_end(stage, contract, capsys, course):
    await holds_up(course, stage, contract, capsys, every_common_mishap)


@each(*NARROW)
async def test_each_message_may_have_a_mishap(stage, contract, capsys, course):
    await holds_up(course, stage, contract, capsys, one_of_each)


async def test_candidates_come_through_from_peer_to_peer(direct_stage, contract, capsys):
    await holds_up(trickled, direct_stage, contract, capsys, one_of_each)


async def test_whoever_is_left_hears_exactly_those_who_are_left(stage, contract, capsys):
    await holds_up(
        joined, Stage(stage.gateway, sounds=True), contract, capsys, lambda messages: one_of_each(messages)[::5]
    )


BESIDE_APPLICATIONS = [
    (joined, "bob"), (consulted, "carol"), (held_and_transferred, "carol"), (joined, "alice"), (joined, "bob carol"),
    (consulted, "bob"), (consulted, "alice"), (not_joined, "carol"), (refused, "carol"),
]  # fmt: skip
"""Courses, and who of their people are applications. The others want what applications have not: several devices,
video, call replace, an announcement, candidates."""


def beside(choices) -> pytest.MarkDecorator:
    names = [f"{course.__name__}-{who.replace(' ', '+')}" for course, who in choices]
    return pytest.mark.parametrize(("course", "who"), choices, ids=names)


def with_applications(stage: Stage, who: str, **wishes) -> Stage:
    keys = {name: key for name, key in stage.keys.items() if name.rstrip("0123456789") in who.split()}
    return Stage(stage.gateway, keys=keys, **wishes)


@beside(BESIDE_APPLICATIONS[:3])
async def test_messages_of_clients_may_have_a_mishap_beside_applications(robots_stage, contract, capsys, course, who):
    chosen = with_applications(robots_stage, who)
    await holds_up(course, chosen, contract, capsys, lambda messages: one_of_each(messages)[::3])


@pytest.mark.nightly
@beside(BESIDE_APPLICATIONS)
async def test_each_message_beside_applications(robots_stage, contract, capsys, course, who):
    await holds_up(course, with_applications(robots_stage, who), contract, capsys, every_common_mishap)


@pytest.mark.nightly
@beside(BESIDE_APPLICATIONS[:4])
async def test_the_same_beside_applications_with_sounds(robots_stage, contract, capsys, course, who):
    chosen = with_applications(robots_stage, who, sounds=True)
    await holds_up(course, chosen, contract, capsys, lambda messages: one_of_each(messages)[::2])


@pytest.mark.nightly
@each(*BROAD, *NARROW)
async def test_the_same_in_all_dialects_and_with_the_rarest_of_mishaps(stage, contract, capsys, course):
    await holds_up(course, stage, contract, capsys, every_mishap, in_all_dialects=True)


@pytest.mark.nightly
async def test_candidates_come_through_in_all_dialects_and_with_the_rarest_of_mishaps(direct_stage, contract, capsys):
    await holds_up(trickled, direct_stage, contract, capsys, every_mishap, in_all_dialects=True)


@pytest.mark.nightly
@each(joined, held_and_transferred, replaced, slowly_started, announced, trickled, visited, not_joined)
async def test_the_same_with_sounds(stage, contract, capsys, course):
    choose = every_common_mishap if course is joined else one_of_each
    await holds_up(course, Stage(stage.gateway, sounds=True), contract, capsys, choose)

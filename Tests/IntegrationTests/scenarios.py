"""What every media stack must do in a call, whoever is at the other end. Its own tests say which of it, with whom.

Alice calls. Each scenario gets parties whose media plays the tone and shows the colour of their names."""
import asyncio
from collections.abc import Awaitable, Callable

import pytest

from party import FCS, L5, MUSIC, Party, PartyCall, hear_now, see_now
from situations import connected, two_held_calls

NOBODY: set[str] = set()


async def each_other(at_alice: PartyCall, at_bob: PartyCall, perceive: Callable[..., Awaitable] = hear_now):
    await perceive({at_alice: {at_bob.party.name}, at_bob: {at_alice.party.name}})


async def talk(alice: Party, bob: Party):
    """Both hear each other, and the reason of the end arrives."""
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    (await at_bob.end("that was all")).succeeded()
    assert (await at_alice.over()).text == "that was all"


async def hold_and_double_hold(alice: Party, bob: Party):
    """Alice's dialect lets music through to whom she holds, Bob's lets nothing through."""
    alice.dialect, bob.dialect = FCS, L5
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    await at_alice.hold()
    await hear_now({at_alice: NOBODY, at_bob: {MUSIC}})
    await at_bob.hold()
    assert (at_alice.state, at_bob.state) == ("ON_DOUBLE_HOLD", "ON_DOUBLE_HOLD")
    await hear_now({at_alice: NOBODY, at_bob: NOBODY})
    await at_alice.unhold()
    await hear_now({at_alice: NOBODY, at_bob: NOBODY})
    await at_bob.unhold()
    await each_other(at_alice, at_bob)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def ring_early(alice: Party, bob: Party):
    """The caller hears the gateway before the answer, and then whoever answers; its picture is not lost by that."""
    at_alice = await alice.dial(bob.name, supported=["earlymedia"])
    at_bob = await bob.incoming()
    await alice.expect("sessionProgress", at_alice.session)
    await at_alice.connected()
    await at_alice.until(lambda: MUSIC in at_alice.hears(), "hearing ringback")
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await each_other(at_alice, at_bob)
    if alice.shows and bob.shows:
        await each_other(at_alice, at_bob, see_now)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def pass_over_early_media(alice: Party, bob: Party):
    """A caller that is told of it and cannot start its media before the final answer."""
    at_alice = await alice.dial("bob", supported=["earlymedia"])
    at_bob = await bob.incoming()
    await alice.expect("sessionProgress", at_alice.session)
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await each_other(at_alice, at_bob)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def press_digits(alice: Party, bob: Party):
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    for presser, other in ((at_alice, at_bob), (at_bob, at_alice)):
        await presser.media.press("15#")
        await other.until(lambda other=other: len(other.media.digits) >= 3, "told three digits")
        assert other.media.digits == list("15#"), f"{other} heard the digits {other.media.digits}"
    await each_other(at_alice, at_bob)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def restart_ice(alice: Party, bob: Party):
    """Either side looks for a new path; the other one is asked nothing."""
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    for one, other in ((at_alice, at_bob), (at_bob, at_alice)):
        before, told = credentials((one.descriptions or [one.invitation.sdp])[-1]), len(other.descriptions)
        one.media.wants_new_path = True
        await one.update()
        assert credentials(one.descriptions[-1]) != before, "the gateway did not follow"
        await one.connected()
        await each_other(at_alice, at_bob)
        assert len(other.descriptions) == told
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def transfer(alice: Party, bob: Party, carol: Party):
    """Alice is the transferor, Bob is transferred, Carol is the target."""
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    (await at_alice.transfer("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    assert (await at_alice.over()).by == "sessionComplete"
    await each_other(at_bob, at_carol)
    (await at_bob.end()).succeeded()
    await at_carol.over()


async def meet(alice: Party, bob: Party, carol: Party):
    """Alice makes one call of two that she holds. Each hears the others, and not itself."""
    to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
    await _meet(to_bob, at_bob, to_carol, at_carol)


async def meet_without_hold(alice: Party, bob: Party, carol: Party):
    """The same of two calls that go on: no direction changes."""
    await _meet(*await connected(alice, bob), *await connected(alice, carol))


async def _meet(to_bob: PartyCall, at_bob: PartyCall, to_carol: PartyCall, at_carol: PartyCall):
    at_alice = await to_bob.party.join(to_bob, to_carol)
    await at_alice.answered()
    await hear_now({at_alice: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}})
    (await at_alice.end()).succeeded()
    await each_other(at_bob, at_carol)
    (await at_bob.end()).succeeded()
    await at_carol.over()


async def show(alice: Party, bob: Party):
    """Pictures from the beginning, through a hold, and after video was stopped and started again."""
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob, see_now)
    await at_bob.hold()
    await see_now({at_alice: NOBODY, at_bob: NOBODY})
    await at_bob.unhold()
    await each_other(at_alice, at_bob, see_now)
    await at_alice.show_video("inactive")
    await see_now({at_alice: NOBODY, at_bob: NOBODY})
    await at_alice.show_video()
    await each_other(at_alice, at_bob, see_now)
    await each_other(at_alice, at_bob)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def add_video(alice: Party, bob: Party):
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    at_bob.video = "sendrecv"
    await at_alice.show_video()
    await each_other(at_alice, at_bob, see_now)
    await each_other(at_alice, at_bob)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def add_video_when_called(alice: Party, bob: Party) -> PartyCall:
    """The first offer of whoever was called has the video; returns the end that made it."""
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    at_alice.video = "sendrecv"
    await at_bob.show_video()
    await each_other(at_alice, at_bob, see_now)
    await each_other(at_alice, at_bob)
    (await at_bob.end()).succeeded()
    await at_alice.over()
    return at_bob


async def see(alice: Party, bob: Party):
    """Pictures and sound both ways, for stacks that cannot change a call afterwards."""
    at_alice, at_bob = await connected(alice, bob)
    await asyncio.gather(each_other(at_alice, at_bob, see_now), each_other(at_alice, at_bob))
    (await at_alice.end()).succeeded()
    await at_bob.over()


def credentials(description: str) -> str:
    return description.split("a=ice-ufrag:")[1].split("\r\n")[0]


def table(*rows: tuple) -> pytest.MarkDecorator:
    """`(scenario, stack of alice, stack of bob[, stack of carol])`; no stack is aiortc."""
    names = ["-".join([row[0].__name__, *(name_of(each) for each in row[1:])]) for row in rows]
    return pytest.mark.parametrize(("scenario", "stacks"), [(row[0], row[1:]) for row in rows], ids=names)


def name_of(stack: Callable | None) -> str:
    return stack.__name__ if stack else "aiortc"


async def run(party: Callable, scenario: Callable[..., Awaitable], stacks: tuple):
    """A stack shows a picture if the scenario is about that."""
    shows = scenario in (show, see)
    names = ("alice", "bob", "carol")
    await scenario(*[await party(name, sounds=True, stack=each, shows=shows) for name, each in zip(names, stacks)])

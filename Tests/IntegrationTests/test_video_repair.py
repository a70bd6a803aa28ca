"""What is left of video when packets get lost on the way to the gateway and on the way from it.

The gateway has to repeat what it has acknowledged itself: libwebrtc forgets what it knows to have arrived. Each pair of
stacks must decode a share of its pictures, and about as many as without a gateway when all of the loss is between the
two."""
import asyncio
import functools
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack

import pytest

from peers.chromium import Chromium
from peers.detour import LOOPBACK, Detour, routable, udp_ports, without_candidates
from peers.firefox import Firefox
from peers.frames import between, frames_of, shares
from peers.phone_page import PhonePage
from peers.wrtc import Wrtc
from situations import connected, two_held_calls

pytestmark = pytest.mark.alone

LOSSES = [(0.02, 0.95), (0.05, 0.85)]
"""On each hop, and the share of pictures that must be decoded."""
DELAY = 0.02
"""Seconds on each hop."""
CLOSE = 0.05
"""So much less than without the gateway may be decoded."""
CALLS = 3
"""A machine that is too busy to encode and decode in time loses pictures, too: a pair that falls short calls again."""
BOTH = {"audio": "sendrecv", "video": "sendrecv"}
Outcome = tuple[dict[str, float], str]
Call = Callable[[float, int], Awaitable[Outcome]]
"""Made with a loss and a seed; returns what `shares` does."""


async def hold(through_gateway: Call, directly: Call, loss: float, share: float):
    told = []
    for attempt in range(CALLS):
        through = await through_gateway(loss, attempt)
        told.append(say(f"call {attempt + 1} through the gateway", through))
        direct = await directly(1 - (1 - loss) ** 2, attempt)
        told.append(say(f"call {attempt + 1} directly", direct))
        if all(seen >= max(share, direct[0][name] - CLOSE) for name, seen in through[0].items()):
            return
    raise AssertionError("\n".join(told))


def say(call: str, outcome: Outcome) -> str:
    """Returns the line that it prints, which `pytest -rA` shows."""
    seen, counted = outcome
    line = f"{call}: {', '.join(f'{name} {share:.1%}' for name, share in seen.items())}; {counted}"
    print(line)
    return line


class WithoutRTX(Wrtc):
    """Finds no rtx in an offer, and so takes the same packets again."""

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        return await super().answer(without_rtx(offer), wishes)


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    with Firefox() as browser:
        yield browser


@pytest.mark.parametrize(("loss", "share"), LOSSES)
async def test_chromium_sees_what_was_lost_on_either_hop(gateway, browser, loss, share):
    chromium = browser()
    await hold(*calls_of_pages(gateway, chromium, chromium, LOOPBACK), loss, share)


@pytest.mark.parametrize(("loss", "share"), LOSSES)
async def test_firefox_and_chromium_see_what_was_lost_on_either_hop(gateway, browser, firefox, loss, share):
    await hold(*calls_of_pages(gateway, firefox, browser(), routable()), loss, share)


@pytest.mark.parametrize(("loss", "share"), LOSSES)
async def test_libwebrtc_sees_what_was_lost_on_either_hop(gateway, party, loss, share):
    async def through_gateway(loss: float, attempt: int):
        with ExitStack() as open_ways:
            ways = open_detours(open_ways, gateway.media_ports, attempt, LOOPBACK)
            parties = [
                await party(name, stack=functools.partial(Wrtc, video="VP8", detour=way), shows=True)
                for name, way in zip(("alice", "bob"), ways, strict=True)
            ]
            at_alice, at_bob = await connected(*parties)
            outcome = await shares({"alice": at_alice.media.frames, "bob": at_bob.media.frames}, ways, loss)
            (await at_alice.end()).succeeded()
            await at_bob.over()
            for each in parties:
                await each.unregister()
            return outcome

    async def directly(loss: float, attempt: int):
        alice, bob = Wrtc("alice", video="VP8"), Wrtc("bob", video="VP8")
        offer = await alice.offer(BOTH)
        with Detour(udp_ports(offer), seed=attempt) as way:
            way.delay = 2 * DELAY
            await alice.accept(without_candidates(await bob.answer(way.leads(offer), BOTH)))
            outcome = await shares({"alice": alice.frames, "bob": bob.frames}, [way], loss)
            for each in (alice, bob):
                await each.close()
            return outcome

    await hold(through_gateway, directly, loss, share)


async def test_what_is_repeated_over_rtx_is_seen_without_rtx(gateway, party):
    """Two who have come together out of two calls, of whom only the sender takes rtx: it repeats what was lost before
    the gateway."""
    told = []
    for attempt in range(CALLS):
        with Detour(gateway.media_ports, attempt) as way:
            way.delay = DELAY
            alice = await party("alice", stack=functools.partial(Wrtc, video="VP8"), shows=True)
            bob = await party("bob", stack=functools.partial(Wrtc, video="VP8", detour=way), shows=True)
            carol = await party("carol", stack=functools.partial(WithoutRTX, video="VP8"), shows=True)
            to_bob, at_bob, to_carol, at_carol = await two_held_calls(alice, bob, carol)
            joined = await alice.join(to_bob, to_carol)
            await joined.answered()
            (await joined.end()).succeeded()
            assert [" rtx/90000" in call.descriptions[-1] for call in (at_bob, at_carol)] == [True, False]
            outcome = await shares({"bob": at_bob.media.frames, "carol": at_carol.media.frames}, [way], 0.05)
            told.append(say(f"call {attempt + 1}", outcome))
            (await at_bob.end()).succeeded()
            await at_carol.over()
            for each in (alice, bob, carol):
                await each.unregister()
        if outcome[0]["carol"] >= 0.85:
            return
    raise AssertionError("\n".join(told))


def without_rtx(description: str) -> str:
    for number in re.findall(r"^a=rtpmap:(\d+) rtx/", description, re.MULTILINE):
        description = re.sub(rf"^a=(?:rtpmap|fmtp|rtcp-fb):{number} .*\r\n", "", description, flags=re.MULTILINE)
        description = re.sub(rf"^(m=.*?) {number}(?=[ \r])", r"\1", description, flags=re.MULTILINE)
    return re.sub(r"^a=ssrc-group:FID .*\r\n", "", description, flags=re.MULTILINE)


def calls_of_pages(gateway, caller: Chromium | Firefox, callee: Chromium | Firefox, host: str) -> tuple[Call, Call]:
    """Of two browsers, or two pages of one, whose media needs this address."""

    async def through_gateway(loss: float, attempt: int):
        phones = [
            await asyncio.to_thread(PhonePage.open, browser, gateway.http, name)
            for browser, name in ((caller, "alice"), (callee, "bob"))
        ]
        with ExitStack() as open_ways:
            ways = open_detours(open_ways, gateway.media_ports, attempt, host)
            await asyncio.to_thread(dial, *phones, *ways)
            ends = {each.name: frames_of(each.page, f"orbweaver.phones.{each.name}.call.pc") for each in phones}
            outcome = await shares(ends, ways, loss)
            await asyncio.to_thread(hang_up, *phones)
            return outcome

    async def directly(loss: float, attempt: int):
        pages = [await asyncio.to_thread(browser.page, f"{gateway.http}/?phones=alice") for browser in (caller, callee)]
        async with between(*pages, host, seed=attempt) as (ends, way):
            way.delay = 2 * DELAY
            outcome = await shares(ends, [way], loss)
        for page in pages:
            await asyncio.to_thread(page.close)
        return outcome

    return through_gateway, directly


def open_detours(stack: ExitStack, ports: range, attempt: int, host: str) -> list[Detour]:
    """One for each end."""
    ways = [stack.enter_context(Detour(ports, 2 * attempt + place, host)) for place in (1, 2)]
    for way in ways:
        way.delay = DELAY
    return ways


def dial(caller: PhonePage, callee: PhonePage, callers: Detour, callees: Detour):
    caller.takes(callers)
    callee.takes(callees)
    caller.run("dial()")
    callee.wait_for_view("incoming")
    callee.run("answer()")
    for phone in (caller, callee):
        phone.wait_for_view("connected")


def hang_up(*phones: PhonePage):
    phones[0].run("hangUp()")
    for phone in phones:
        phone.wait_for_view("ended")
        phone.unregister()
        phone.page.close()

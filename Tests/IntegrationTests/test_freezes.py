"""The freezes of a receiver, as it counts them itself and as the gateway does, which does not decode (`seen` in the
statistics)."""
import asyncio
import functools
import re
import time

import pytest

from peers.detour import Detour
from peers.wrtc import Wrtc
from situations import connected

pytestmark = pytest.mark.alone

OUTAGE = 1.6
"""Seconds: longer than the gateway keeps pictures to repeat them."""
LONG = 4_000
"""Milliseconds of a freeze, after which it goes on: longer than libwebrtc waits until it asks for a key frame."""
CALLS = 3
"""A machine that is too busy to decode in time freezes pictures, too: a call that does not fit is made again."""


class Unbending(Wrtc):
    """Is never asked for a key frame, because its offers say that it would not heed that."""

    async def offer(self, wishes: dict[str, str]) -> str:
        return re.sub(r"^a=rtcp-fb:\d+ (?:nack pli|ccm fir)\r\n", "", await super().offer(wishes), flags=re.MULTILINE)


async def test_a_freeze_counts_while_it_goes_on_and_is_as_long_as_for_the_receiver(gateway, party):
    """Nothing comes to Bob for a while. The gateway has forgotten the first pictures of it when he asks for them, so he
    freezes until the next key frame; and that comes only when Alice's pictures have another size."""
    told = []
    for _ in range(CALLS):
        with Detour(gateway.media_ports) as way:
            alice = await party("alice", stack=functools.partial(Unbending, video="VP8"), shows=True)
            bob = await party("bob", stack=functools.partial(Wrtc, video="VP8", detour=way), shows=True)
            at_alice, at_bob = await connected(alice, bob)

            async def seen() -> dict:
                lines = (await bob.statistics(at_bob.session))["legs"][0]["media"]
                return next(line for line in lines if line["kind"] == "video").get("seen", {"freezes": 0, "frozen": 0})

            async def decoded() -> int:
                return (await at_bob.media.frames())["decoded"]

            await reached(decoded, lambda count: count > 60, "pictures arrive")
            before, own_before = await seen(), await at_bob.media.freezes()
            way.is_open = False
            await asyncio.sleep(OUTAGE)
            shown = await decoded()
            way.is_open = True
            under_way = await reached(
                seen, lambda now: now["frozen"] - before["frozen"] > LONG, "a freeze that goes on counts"
            )
            assert under_way["freezes"] == before["freezes"] + 1
            assert await decoded() == shown, "he has not seen anything since"
            at_alice.media.size = 160, 128
            await reached(decoded, lambda count: count > shown + 30, "pictures go on")
            after, own = await seen(), await at_bob.media.freezes()
            (await at_alice.end()).succeeded()
            await at_bob.over()
            for each in (alice, bob):
                await each.unregister()
        frozen, own_frozen = after["frozen"] - before["frozen"], own["frozen"] - own_before["frozen"]
        count, own_count = after["freezes"] - before["freezes"], own["freezes"] - own_before["freezes"]
        told.append(f"{count} in {frozen:.0f} ms, he says {own_count} in {own_frozen:.0f} ms")
        if abs(frozen - own_frozen) < 0.1 * own_frozen and count == own_count:
            print("\n".join(told))
            return
    raise AssertionError("\n".join(told))


async def reached(look, is_so, what: str, timeout: float = 60):
    end = time.monotonic() + timeout
    while not is_so(now := await look()):
        assert time.monotonic() < end, f"not true in {timeout} s that {what}: {now}"
        await asyncio.sleep(0.2)
    return now

"""What one user may take of the gateway, and of another user's patience."""
import asyncio
from collections import Counter

from peers.gateway import Gateway
from situations import connected


async def flood(party, callee: str, count: int) -> Counter:
    """Calls as fast as they are answered, and how they are answered."""
    sdp = await party.new_media().offer({"audio": "sendrecv"})
    outcomes = Counter()

    async def some(numbers: range):
        for number in numbers:
            # No two descriptions are alike; the same one would be the same call.
            answer = await party.start(f"{callee}@dev.local", sdp.replace("a=ice-pwd:", f"a=ice-pwd:{number:06}"))
            outcomes[(answer.status, answer.body.get("code"))] += 1

    await asyncio.gather(*(some(range(first, count, 20)) for first in range(20)))
    return outcomes


async def test_a_flood_of_calls_rings_a_few_times_and_stops_nobody_else(own_gateway, party):
    own: Gateway = own_gateway("--set", "calls.maximum=100")
    alice, bob, carol, dave = [await party(name, base=own.http) for name in ("alice", "bob", "carol", "dave")]
    outcomes = await flood(alice, "bob", 1_000)
    assert set(outcomes) <= {(201, None), (429, "call.user_limit_reached")}, outcomes
    # Calls to somebody who is busy end a moment later.
    async with asyncio.timeout(20):
        while own.metric("orbweaver_calls_active") != 5:  # half of what may ring at Bob
            await asyncio.sleep(0.1)
    assert own.metric("orbweaver_calls_total", cause="user_busy") + outcomes[(429, "call.user_limit_reached")] == 995
    assert own.metric("orbweaver_calls_refused_total", limit="callee_ringing") == own.metric(
        "orbweaver_calls_total", cause="user_busy"
    )
    at_carol, at_dave = await connected(carol, dave)
    (await at_carol.end()).succeeded()
    await at_dave.over()
    await carol.dial("bob")
    await asyncio.sleep(0.5)
    assert own.metric("orbweaver_calls_active") == 6


async def test_a_user_who_begins_too_many_calls_is_told_when_to_come_back(own_gateway, party):
    own: Gateway = own_gateway("--set", "calls.starts_per_user=3", "--set", "calls.start_interval=1h")
    alice, carol = [await party(name, base=own.http) for name in ("alice", "carol")]
    sdp = await alice.new_media().offer({"audio": "sendrecv"})
    for number in range(3):
        started = await alice.start("bob@dev.local", sdp.replace("a=ice-pwd:", f"a=ice-pwd:{number}"))
        await alice.expect("callEnd", started.succeeded()["sessionData"])  # nobody is there
    answer = await alice.start("bob@dev.local", sdp)
    refusal = answer.refused(429, 19, "callControlResponse")
    assert refusal["code"] == "call.rate_limited" and 0 < refusal["retryAfter"] <= 3_600_000
    assert own.metric("orbweaver_calls_refused_total", limit="user_rate") == 1
    (await carol.start("bob@dev.local", sdp)).succeeded()

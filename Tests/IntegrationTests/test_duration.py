"""Calls that last longer than the gateway lets them."""
import asyncio

from call_records import record_of
from situations import connected

CAUSE = "normal_temporary_failure"


async def test_a_call_ends_after_the_longest_duration_for_every_device(own_gateway, party):
    own = own_gateway("--set", "calls.max_duration=3s")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    began = asyncio.get_running_loop().time()
    calls = await connected(alice, bob)
    for call in calls:
        ended = await call.over()
        assert (ended.code, ended.text) == (503, "Call reached its longest duration")
    assert asyncio.get_running_loop().time() - began > 2.5
    for call in calls:
        end = (await record_of(call))["timeline"][-1]
        assert (end["event"], end["leg"], end["cause"]) == ("ended", "gateway", CAUSE), end
    assert own.metric("orbweaver_calls_total", cause=CAUSE) == 1


async def test_two_robots_that_were_left_alone_are_hung_up_on(own_gateway, party):
    """Alice calls the echo twice, connects both calls, and leaves."""
    own = own_gateway("--set", "calls.headless_duration=10s", "--set", "calls.completion_time=1s")
    alice = await party("alice", base=own.http)
    first, second = await alice.dial("echo"), await alice.dial("echo")
    for call in (first, second):
        await call.answered()
    (await first.transfer(second)).succeeded()
    async with asyncio.timeout(5):
        while own.metric("orbweaver_calls_active") != 1:
            await asyncio.sleep(0.05)
    assert own.metric("orbweaver_calls_total", cause=CAUSE) == 0
    async with asyncio.timeout(60):
        while own.metric("orbweaver_calls_active") != 0:
            await asyncio.sleep(0.05)
    assert own.metric("orbweaver_calls_total", cause=CAUSE) == 1

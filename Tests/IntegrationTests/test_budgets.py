"""What one user or one network may take of the gateway, and of another user's patience."""
import asyncio
from collections import Counter

from durability import configured
from peers.gateway import Gateway
from peers.spidr import SpidrPeer
from situations import connected

WISHES = {"subscribeRequest": {"service": ["call"]}}


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


async def test_one_network_takes_no_more_than_its_share_of_subscriptions(own_gateway, tmp_path, contract):
    """The network is that of the client, not of the proxy: an IPv4 address or an IPv6 /64."""
    settings = {"domain": "dev.local", "max_per_network": 3, "network_requests": 5, "network_interval": "1h"}
    options = configured(
        tmp_path, ["alice", "bob"], registration=settings, listen={"host": "127.0.0.1", "trusted_proxies": "127.0.0.1"}
    )  # fmt: skip
    own = await asyncio.to_thread(own_gateway.configured, *options)
    async with SpidrPeer(own.http, "alice", contract=contract) as alice, SpidrPeer(own.http, "bob") as bob:

        async def asks(method: str, resource: str, client: SpidrPeer, source: str):
            body = None if method == "DELETE" else WISHES
            return await client.request(method, resource, body, headers={"X-Forwarded-For": source})

        first = await asks("POST", "/subscription", alice, "2001:db8:1:1::1")
        # Two accounts, and two addresses of one /64.
        for client, host in ((bob, 1), (alice, 2)):
            (await asks("POST", "/subscription", client, f"2001:db8:1:1::{host}")).succeeded()
        refused = await asks("POST", "/subscription", bob, "2001:db8:1:1:ffff::3")
        refused.refused(429, 19, "subscribeResponse", "subscription.rate_limited")
        assert refused.headers["retry-after"] == "5", refused
        assert own.metric("orbweaver_authentication_failures_total", reason="throttled") == 1
        # Extending is not refused, and others are not concerned.
        path = first.succeeded()["subscription"].split("/")[-1]
        (await asks("PUT", f"/subscription/{path}", alice, "2001:db8:1:1::1")).succeeded()
        for source in ("2001:db8:1:2::1", "203.0.113.7"):
            (await asks("POST", "/subscription", alice, source)).succeeded()
        # A place that is free again is taken again, until the network has made too many.
        (await asks("DELETE", f"/subscription/{path}", alice, "2001:db8:1:1::1")).succeeded()
        for _ in range(2):
            async with asyncio.timeout(10):
                while (made := await asks("POST", "/subscription", alice, "2001:db8:1:1::1")).status == 429:
                    assert made.body["retryAfter"] == 5_000, made
            path = made.succeeded()["subscription"].split("/")[-1]
            (await asks("DELETE", f"/subscription/{path}", alice, "2001:db8:1:1::1")).succeeded()
        async with asyncio.timeout(10):
            while (late := await asks("POST", "/subscription", bob, "2001:db8:1:1::1")).body["retryAfter"] == 5_000:
                pass
        late.refused(429, 19, "subscribeResponse", "subscription.rate_limited")
        assert 3_500_000 < late.body["retryAfter"] <= 3_600_000
        (await asks("POST", "/subscription", bob, "2001:db8:1:2::1")).succeeded()

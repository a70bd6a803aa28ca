"""Clients that are gone without a word (spidr-wire §6.9), and those that come back in time."""
import asyncio

from peers import sdp
from peers.spidr import SpidrPeer
from situations import connected

TIMEOUT = 2.0


async def sessions(peer: SpidrPeer) -> list[str]:
    return [
        each["sessionData"]
        for each in (await peer.request("GET", "/callControl/callSessions")).succeeded()["callSessions"]
    ]


async def test_a_client_that_is_gone_loses_its_call_and_one_that_comes_back_in_time_finds_it(own_gateway, party):
    own = own_gateway("--set", f"calls.client_timeout={TIMEOUT:.0f}s")
    alice, bob, carol, dave = [await party(name, base=own.http) for name in ("alice", "bob", "carol", "dave")]
    at_alice, at_bob = await connected(alice, bob)
    at_carol, at_dave = await connected(carol, dave)

    # Dave's channel breaks and comes back; what was said meanwhile is told to him, and nothing else happened.
    await dave.lose_channel()
    (await at_carol.offer_update("inactive")).succeeded()
    assert not at_dave.remotely_held
    await dave.open_channel()
    await at_carol.updated()
    assert at_dave.state == "REMOTELY_HELD"
    await dave.heard_exactly(("startCallUpdate", at_dave))

    # Bob's does not come back. As long as he asks after his call, it goes on.
    await bob.lose_channel()
    end = asyncio.get_running_loop().time() + 1.5 * TIMEOUT
    while asyncio.get_running_loop().time() < end:
        (await at_bob.audit()).succeeded()
        await asyncio.sleep(TIMEOUT / 8)
    assert not at_alice.ended
    ended = await at_alice.over()
    assert (ended.code, ended.text) == (480, "Client is gone")
    farewell = alice.heard[-1].message["sessionParams"]
    assert (farewell["cause"], farewell["endedBy"]) == ("client_lost", "peer")
    assert await sessions(alice) == await sessions(bob) == []
    (await at_bob.audit()).succeeded()
    description = at_alice.descriptions[-1]
    (await bob.operate(at_bob.session, "respondCallUpdate", sdp=description)).succeeded()
    refused = await bob.operate(at_bob.session, "startCallUpdate", sdp=description)
    refused.refused(404, 42, "callControlResponse", "call.not_found")
    assert own.metric("orbweaver_calls_total", cause="client_lost") == 1

    # When he is back he learns what became of it, and not from an audit that fails.
    await bob.open_channel()
    assert (await at_bob.over()).code == 480
    await bob.audit_until_forgotten(at_bob.session)
    assert (await sessions(carol), await sessions(dave)) == ([at_carol.session], [at_dave.session])
    assert own.metric("orbweaver_media_sessions_active") == 2
    await at_carol.unhold()


async def test_a_client_that_stops_auditing_is_missed_although_its_channel_is_open(own_gateway, party):
    own = own_gateway("--set", f"calls.client_timeout={TIMEOUT:.0f}s")
    alice, bob, carol, dave = [await party(name, base=own.http) for name in ("alice", "bob", "carol", "dave")]
    at_alice, at_bob = await connected(alice, bob)
    at_carol, at_dave = await connected(carol, dave)

    # Bob's page audits, and forgets the call. Carol asks once, Alice and Dave never do.
    (await at_carol.audit()).succeeded()
    for _ in range(2):
        (await at_bob.audit()).succeeded()
    for call in (at_alice, at_bob):
        ended = await call.over()
        assert (ended.code, ended.text) == (480, "Client is gone")
    causes = [each.heard[-1].message["sessionParams"] for each in (alice, bob)]
    assert [(each["cause"], each["endedBy"]) for each in causes] == [("client_lost", "peer"), ("client_lost", "self")]
    assert own.metric("orbweaver_calls_total", cause="client_lost") == 1
    assert (await sessions(carol), await sessions(dave)) == ([at_carol.session], [at_dave.session])


async def test_a_session_that_was_handed_over_is_forgotten_if_its_client_does_not_end_it(own_gateway, peer, party):
    own = own_gateway("--set", "calls.completion_time=1s")
    alice, bob, carol = (
        await peer("alice", base=own.http),
        await party("bob", base=own.http),
        await party("carol", base=own.http),
    )
    session = await alice.call("bob", sdp.offer())
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    await alice.expect("respondCallUpdate", session)
    (await alice.operate(session, "transfer", address="sip:carol@dev.local")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await alice.expect("sessionComplete", session)
    await alice.audit_until_forgotten(session)
    assert await sessions(alice) == []
    (await at_bob.audit()).succeeded()
    (await at_carol.audit()).succeeded()

"""Peers that send no connectivity checks while their media flows, as Pion's ice 2.3 and libnice do."""
import asyncio
import functools
from contextlib import suppress

from party import PartyCall, hear_now
from peers.detour import Detour, routable
from peers.gstreamer import GStreamer
from peers.pion import Pion
from scenarios import each_other
from situations import connected

CONSENT = 15
"""Seconds, the least that can be set; it is 30 by default."""


async def stop_checks(call: PartyCall):
    """aioice goes on answering, as any agent does, and asks no more."""
    (transport,) = {each.transport.transport for each in call.media.connection.getSenders()}
    task = transport._connection._query_consent_task
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_peer_without_checks_stays_in_its_call_from_another_port_too_until_it_falls_silent(own_gateway, party):
    gateway = own_gateway("--set", f"media.consent_timeout={CONSENT}s")
    names = ("alice", "bob", "carol", "dave")
    alice, bob, carol, dave = [await party(name, base=gateway.http, sounds=True) for name in names]
    with Detour(gateway.media_ports) as detour:
        bob.detour = detour
        at_alice, at_bob = await connected(alice, bob)
        at_carol, at_dave = await connected(carol, dave)
        await stop_checks(at_bob)
        # Whose last sign of life comes later, and who ends earlier.
        await at_dave.media.close()
        await at_carol.over(timeout=60)
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
        assert not at_alice.ended and not at_bob.ended
        lost = [each for each in (*alice.heard, *bob.heard) if each.event == "mediaPath"]
        assert not lost, "a path that was not lost was told as lost"

        detour.forget()
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})

        await at_bob.media.close()
        lost = await alice.expect("mediaPath", at_alice.session, timeout=60)
        assert lost.message["mediaPath"] == {"leg": "peer", "state": "lost"}
        ended = (await alice.expect("callEnd", at_alice.session, timeout=60)).message["sessionParams"]
        assert (ended["statusCode"], ended["cause"]) == (408, "media_timeout")


async def test_pion_and_gstreamer_talk_for_longer_than_consent_lasts_and_then_from_other_ports(own_gateway, party):
    """The gateway sees no checks from the other ports, so that their packets alone show where they are."""
    gateway = own_gateway("--set", f"media.consent_timeout={CONSENT}s")
    with Detour(gateway.media_ports) as pions, Detour(gateway.media_ports, host=routable()) as gstreamers:
        alice = await party("alice", base=gateway.http, stack=functools.partial(Pion, detour=pions))
        bob = await party("bob", base=gateway.http, stack=functools.partial(GStreamer, detour=gstreamers))
        at_alice, at_bob = await connected(alice, bob)
        await each_other(at_alice, at_bob)
        await asyncio.sleep(CONSENT + 5)
        assert (at_alice.ended, at_bob.ended) == (None, None)
        await each_other(at_alice, at_bob)

        for detour in (pions, gstreamers):
            detour.carries_checks = False
            detour.forget()
            await each_other(at_alice, at_bob)

        for each in (alice, bob):
            await each.heard_exactly()  # nor is a path called lost in between
        (await at_alice.end("that was all")).succeeded()
        assert (await at_bob.over()).text == "that was all"

"""A peer that is no browser, and a browser: each hears exactly what the other plays."""
import asyncio
import functools
import itertools
import re

import pytest
from aiortc import VideoStreamTrack
from aiortc.rtcdtlstransport import SRTP_AEAD_AES_128_GCM, SRTP_AES128_CM_SHA1_80, SRTPProtectionProfile

from party.media import ToneMedia
from party.tones import TONES
from peers import sound
from peers.media import MediaPeer
from peers.phone_page import PhonePage
from scenarios import each_other
from situations import connected, held, resumed

BROWSER_TONE, PEER_TONE = 600, 1_000


async def assert_both_hear(phone: PhonePage, media: MediaPeer, media_ports: range):
    await media.connected()
    await asyncio.to_thread(phone.wait_for_view, "connected")
    await asyncio.to_thread(phone.wait_for, "report?.audio?.energy > 0")
    frequency = await asyncio.to_thread(phone.loudest_frequency)
    assert abs(frequency - PEER_TONE) < 30, f"the browser hears {frequency} Hz"

    heard = await media.listen(seconds=2)
    assert sound.tone_share(heard, BROWSER_TONE) > 0.8
    assert sound.tone_share(heard, PEER_TONE) < 0.05  # not an echo of its own
    leg = await asyncio.to_thread(phone.leg)
    assert int(leg["pair"]["remote"].rsplit(":", 1)[1]) in media_ports


def ungrouped(description: str) -> str:
    return re.sub(r"^a=group:BUNDLE.*\r\n", "", description, flags=re.M)


async def test_aiortc_without_bundle_hears_and_sees(gateway, browser, peer, tmp_path):
    """It makes a transport for each line, and bundles them only if both descriptions have the group."""
    chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / "tone.wav", BROWSER_TONE))
    bob = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "bob")
    alice, media = await peer("alice"), MediaPeer(PEER_TONE)
    media.connection.addTrack(VideoStreamTrack())
    session = await alice.call("bob", ungrouped(await media.offer()))
    await asyncio.to_thread(bob.wait_for_view, "incoming")
    await asyncio.to_thread(bob.run, "answer()")
    answer = (await alice.expect("respondCallUpdate", session)).sdp
    assert "a=group" not in answer
    await media.accept(answer)
    await assert_both_hear(bob, media, gateway.media_ports)
    transceivers = {each.kind: each for each in media.connection.getTransceivers()}
    assert transceivers["audio"].sender.transport is not transceivers["video"].sender.transport
    await asyncio.to_thread(bob.wait_for, "report?.video?.framesDecoded > 10")
    async with asyncio.timeout(60):
        for _ in range(10):
            assert (await transceivers["video"].receiver.track.recv()).width > 0
    (await alice.end(session)).succeeded()
    await asyncio.to_thread(bob.wait_for_view, "ended")
    await media.close()
    await asyncio.to_thread(bob.unregister)


async def test_aiortc_calls_a_browser(gateway, browser, peer, tmp_path):
    chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / "tone.wav", BROWSER_TONE))
    bob = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "bob")
    alice, media = await peer("alice"), MediaPeer(PEER_TONE)

    session = await alice.call("bob", await media.offer())
    await alice.expect("ringing", session)
    await asyncio.to_thread(bob.wait_for_view, "incoming")
    await asyncio.to_thread(bob.run, "answer()")
    await media.accept((await alice.expect("respondCallUpdate", session)).sdp)
    await assert_both_hear(bob, media, gateway.media_ports)

    (await alice.end(session, "?reasonText=aiortc%20has%20heard%20enough")).succeeded()
    await asyncio.to_thread(bob.wait_for_view, "ended")
    assert "Aiortc has heard enough." in await asyncio.to_thread(bob.says)
    await media.close()
    await asyncio.to_thread(bob.unregister)


async def test_a_browser_calls_aiortc(gateway, browser, peer, tmp_path):
    chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / "tone.wav", BROWSER_TONE))
    alice = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "alice")
    bob, media = await peer("bob"), MediaPeer(PEER_TONE)

    await asyncio.to_thread(alice.page.run, "document.querySelector('input[name=video]').checked = false")
    await asyncio.to_thread(alice.run, "dial()")
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, await media.answer(invitation.sdp))).succeeded()
    await assert_both_hear(alice, media, gateway.media_ports)

    await asyncio.to_thread(alice.run, "hangUp('the browser has heard enough')")
    assert (await bob.expect("callEnd", invitation.session)).reason[1] == "the browser has heard enough"
    await media.close()
    await asyncio.to_thread(alice.unregister)


async def test_a_browser_makes_the_offer_of_a_call_that_came_without_one(gateway, browser, peer, tmp_path):
    """Slow start (spidr-wire §8.1): it is answering until the caller has answered that."""
    chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / "tone.wav", BROWSER_TONE))
    bob = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "bob")
    alice, media = await peer("alice"), MediaPeer(PEER_TONE)

    session = await alice.call("bob", None)
    await alice.expect("ringing", session)
    await asyncio.to_thread(bob.wait_for_view, "incoming")
    await asyncio.to_thread(bob.run, "answer()")
    offer = await alice.expect("startCallUpdate", session)
    assert await asyncio.to_thread(bob.page.run, "orbweaver.phones.bob.call.state") == "ANSWERING"
    (await alice.operate(session, "respondCallUpdate", sdp=await media.answer(offer.sdp))).succeeded()
    await assert_both_hear(bob, media, gateway.media_ports)

    (await alice.end(session)).succeeded()
    await asyncio.to_thread(bob.wait_for_view, "ended")
    await media.close()
    await asyncio.to_thread(bob.unregister)


class OneProfile(ToneMedia):
    """aiortc with one SRTP profile, and one role in the DTLS handshake."""

    def __init__(self, name: str, profile: SRTPProtectionProfile, setup: str):
        """`setup`: its `a=setup` in offers and answers, `active` or `passive`."""
        super().__init__(TONES[name])
        self._setup = setup
        self._transport = self._transceiver.sender.transport
        self._transport._srtp_profiles = [profile]

    @property
    def agreed(self) -> tuple[str, str]:
        """The role that it took, and the SRTP profile."""
        return self._transport._role, self._transport._ssl.get_selected_srtp_profile().decode()

    async def offer(self, wishes: dict[str, str]) -> str:
        """aiortc leaves the choice in its first offer, and takes what the answer says of it."""
        return re.sub(r"^a=setup:\w+", f"a=setup:{self._setup}", await super().offer(wishes), flags=re.M)

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        self._transport._set_role({"active": "client", "passive": "server"}[self._setup])
        return await super().answer(offer, wishes)


@pytest.mark.parametrize(
    "profiles",
    [(SRTP_AEAD_AES_128_GCM, SRTP_AES128_CM_SHA1_80), (SRTP_AES128_CM_SHA1_80, SRTP_AEAD_AES_128_GCM)],
    ids=["GCM-calls-CM", "CM-calls-GCM"],
)
@pytest.mark.parametrize("setups", list(itertools.product(("active", "passive"), repeat=2)), ids="-".join)
async def test_peers_without_a_common_srtp_profile_hear_each_other(party, profiles, setups):
    """AEAD_AES_128_GCM alone on one leg (RFC 7714), AES_CM_128_HMAC_SHA1_80 alone on the other (RFC 5764 section
    4.1.2). The gateway is the DTLS server of who is active, and the client of who is passive."""
    alice, bob = [
        await party(name, stack=functools.partial(OneProfile, profile=profile, setup=setup))
        for name, profile, setup in zip(("alice", "bob"), profiles, setups)
    ]
    at_alice, at_bob = await connected(alice, bob)
    await each_other(at_alice, at_bob)
    for call, profile, setup in zip((at_alice, at_bob), profiles, setups):
        role = {"active": "client", "passive": "server"}[setup]
        assert call.media.agreed == (role, profile.openssl_profile.decode())
    for holder, other in ((at_alice, at_bob), (at_bob, at_alice)):
        await held(holder, other)
        await resumed(holder, other)
        await each_other(at_alice, at_bob)
    (await at_alice.end()).succeeded()
    await at_bob.over()

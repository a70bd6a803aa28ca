"""A browser whose network lets no UDP through connects over ICE-TCP (RFC 6544) and talks to one on UDP."""
import asyncio
import os

from peers import sound
from peers.firefox import FAKE_MICROPHONE, Firefox
from peers.gateway import Gateway, free_ports
from peers.media import MediaPeer
from peers.phone_page import PhonePage
from peers.spidr import Notification, SpidrPeer

BROWSER_TONE, PEER_TONE = 600, 1_000

TCP_ONLY = """(() => {
  const set = RTCPeerConnection.prototype.setRemoteDescription;
  RTCPeerConnection.prototype.setRemoteDescription = function (description) {
    const sdp = description.sdp.replace(/^a=candidate:\\S+ \\d+ udp .*\\r\\n/gim, '');
    return set.call(this, { type: description.type, sdp });
  };
  const devices = navigator.mediaDevices, getUserMedia = devices.getUserMedia.bind(devices);
  const untouched = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  devices.getUserMedia = (wishes) => getUserMedia({ ...wishes, audio: wishes.audio && untouched });
})()"""
"""The page sees no UDP candidate of the gateway's; and takes the microphone as it is."""


def gateway_with_tcp(own_gateway) -> tuple[Gateway, range]:
    """One TCP port per media worker, in a row."""
    workers = os.cpu_count() or 1
    port = free_ports(workers)
    return own_gateway("--set", f"media.tcp_port={port}"), range(port, port + workers)


async def call_that_is_heard(alice: PhonePage, bob: SpidrPeer, media: MediaPeer) -> Notification:
    """A page calls a peer, and its browser plays what the peer says; returns what the peer was told of the call."""
    await bob.register()
    await asyncio.to_thread(alice.run, "dial()")
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, await media.answer(invitation.sdp))).succeeded()
    await media.connected()
    await asyncio.to_thread(alice.wait_for_view, "connected")
    await asyncio.to_thread(alice.wait_for, "report?.audio?.energy > 0")
    return invitation


async def test_a_browser_without_udp_and_a_peer_with_it_hear_each_other(own_gateway, browser, contract, tmp_path):
    gateway, tcp_ports = gateway_with_tcp(own_gateway)
    chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / "tone.wav", BROWSER_TONE))
    alice = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "alice")
    await asyncio.to_thread(alice.page.run, TCP_ONLY)
    await asyncio.to_thread(alice.page.run, "document.querySelector('input[name=video]').checked = false")
    media = MediaPeer(PEER_TONE)
    async with SpidrPeer(gateway.http, "bob", contract=contract) as bob:
        invitation = await call_that_is_heard(alice, bob, media)
        pair = (await asyncio.to_thread(alice.leg))["pair"]
        assert pair["protocol"] == "tcp"
        assert int(pair["remote"].rsplit(":", 1)[1]) in tcp_ports
        frequency = await asyncio.to_thread(alice.loudest_frequency)
        assert abs(frequency - PEER_TONE) < 30, f"the browser hears {frequency} Hz"
        heard = await media.listen(seconds=2)
        assert sound.tone_share(heard, BROWSER_TONE) > 0.8

        await asyncio.to_thread(alice.run, "hangUp()")
        await bob.expect("callEnd", invitation.session)
    await media.close()
    await asyncio.to_thread(alice.unregister)


async def test_two_browsers_without_udp_hear_and_see_each_other(own_gateway, browser, tmp_path):
    gateway, tcp_ports = gateway_with_tcp(own_gateway)
    phones = []
    for name, tone in (("alice", BROWSER_TONE), ("bob", PEER_TONE)):
        chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / f"{name}.wav", tone))
        phones.append(await asyncio.to_thread(PhonePage.open, chromium, gateway.http, name))
        await asyncio.to_thread(phones[-1].page.run, TCP_ONLY)
    alice, bob = phones
    await asyncio.to_thread(alice.run, "dial()")
    await asyncio.to_thread(bob.wait_for_view, "incoming")
    await asyncio.to_thread(bob.run, "answer()")
    for phone, tone in ((alice, PEER_TONE), (bob, BROWSER_TONE)):
        await asyncio.to_thread(phone.wait_for_view, "connected")
        await asyncio.to_thread(phone.wait_for, "report?.video?.framesDecoded > 0")
        await asyncio.to_thread(phone.wait_for, "report?.audio?.energy > 0")
        pair = (await asyncio.to_thread(phone.leg))["pair"]
        assert pair["protocol"] == "tcp"
        assert int(pair["remote"].rsplit(":", 1)[1]) in tcp_ports
        frequency = await asyncio.to_thread(phone.loudest_frequency)
        assert abs(frequency - tone) < 30, f"{phone.name} hears {frequency} Hz"
    await asyncio.to_thread(alice.run, "hangUp()")
    await asyncio.to_thread(bob.wait_for_view, "ended")
    for phone in phones:
        await asyncio.to_thread(phone.unregister)


async def test_firefox_without_udp_and_a_peer_with_it_hear_each_other(own_gateway, contract):
    gateway, tcp_ports = gateway_with_tcp(own_gateway)
    media = MediaPeer(PEER_TONE)
    with await asyncio.to_thread(Firefox) as firefox:
        alice = await asyncio.to_thread(PhonePage.open, firefox, gateway.http, "alice")
        await asyncio.to_thread(alice.page.run, TCP_ONLY)
        await asyncio.to_thread(alice.page.run, "void (document.querySelector('input[name=video]').checked = false)")
        async with SpidrPeer(gateway.http, "bob", contract=contract) as bob:
            invitation = await call_that_is_heard(alice, bob, media)
            remote = await asyncio.to_thread(alice.page.run, REMOTE_CANDIDATE)
            assert remote["protocol"] == "tcp" and remote["port"] in tcp_ports
            heard = await media.listen(seconds=2)
            assert sound.tone_share(heard, FAKE_MICROPHONE) > 0.8
            await asyncio.to_thread(alice.run, "hangUp()")
            await bob.expect("callEnd", invitation.session)
        await asyncio.to_thread(alice.unregister)
    await media.close()


REMOTE_CANDIDATE = """(async () => {
  const stats = await orbweaver.phones.alice.call.pc.getStats();
  const pair = [...stats.values()].find(({ type, selected }) => type === 'candidate-pair' && selected);
  return stats.get(pair.remoteCandidateId);
})()"""
"""Firefox's transports do not say which pair is selected; its pairs do."""

"""What the gateway plays, presses and measures itself, as a browser and scripted peers hear it."""
import asyncio
import re
from contextlib import asynccontextmanager
from pathlib import Path

import numpy
import pytest

from peers import loss, sound
from peers.codecs import OPUS, PCMU, Codec
from peers.gateway import Gateway
from peers.media import MediaPeer
from peers.page_sound import PageEar, give_voice, keep_packets, say_it
from peers.phone_page import PhonePage
from peers.speech import Speech, SpeakingPeer
from peers.spidr import SpidrPeer

ALICE_TONE, BOB_TONE, BROWSER_TONE, DIAL_TONE = 1_000, 700, 600, 425


@asynccontextmanager
async def connected(peer, alices: MediaPeer, bobs: MediaPeer):
    """A call between two scripted peers."""
    alice, bob = await peer("alice"), await peer("bob")
    session = await alice.call("bob", await alices.offer())
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, await bobs.answer(invitation.sdp))).succeeded()
    await alices.accept((await alice.expect("respondCallUpdate", session)).sdp)
    await asyncio.gather(alices.connected(), bobs.connected())
    yield alice, session, bob, invitation.session
    (await alice.end(session)).succeeded()
    await asyncio.gather(alices.close(), bobs.close())


async def test_a_browser_is_switched_from_its_peer_to_music_and_to_a_tone_and_back_without_a_gap(
    gateway, browser, peer
):
    chromium = await asyncio.to_thread(browser)
    bob = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "bob")
    await asyncio.to_thread(keep_packets, bob)
    alice, media = await peer("alice"), MediaPeer(ALICE_TONE)
    session = await alice.call("bob", await media.offer())
    await asyncio.to_thread(bob.wait_for_view, "incoming")
    await asyncio.to_thread(bob.run, "answer()")
    await media.accept((await alice.expect("respondCallUpdate", session)).sdp)
    await media.connected()
    await asyncio.to_thread(bob.wait_for, "report?.audio?.energy > 0")
    ear = await asyncio.to_thread(PageEar, bob)

    async def plays(source: str):
        (await alice.media(session, type="play", source=source)).succeeded()
        assert [leg["media"][0]["source"] for leg in (await alice.statistics(session))["legs"]] == ["relayed", "player"]

    async def hears(*, tone: float | None = None):
        """Nothing but this tone; without one, something else than any that is played here."""
        recognise = {
            "silence": lambda samples: numpy.abs(samples).max() < 100,
            **{
                f"{each} Hz": lambda samples, each=each: sound.tone_share(samples, each) > 0.8
                for each in (ALICE_TONE, DIAL_TONE)
            },
        }
        expected = {f"{tone} Hz"} if tone else set()
        await asyncio.to_thread(
            ear.hears, lambda samples: {name for name, found in recognise.items() if found(samples)}, expected
        )

    await hears(tone=ALICE_TONE)
    before = (await asyncio.to_thread(bob.leg))["audio"]
    for source, tone in (("music", None), ("tone:dial", DIAL_TONE)):
        await plays(source)
        await hears(tone=tone)
        (await alice.media(session, type="stop")).succeeded()
        await hears(tone=ALICE_TONE)
    after = (await asyncio.to_thread(bob.leg))["audio"]
    # One stream: the numbers went on through all changes, and each of them arrived.
    assert after["ssrc"] == before["ssrc"]
    assert before["lost"] == after["lost"] == 0
    assert after["packets"] - before["packets"] > 100
    packets = await asyncio.to_thread(bob.page.run, "packets")
    assert {packet["source"] for packet in packets} == {after["ssrc"]}
    numbers = [packet["number"] for packet in packets]
    assert [(number - numbers[0]) % 65_536 for number in numbers] == list(range(len(numbers)))
    timestamps = [packet["timestamp"] for packet in packets]
    assert all(0 < (later - earlier) % 2**32 < sound.RATE for earlier, later in zip(timestamps, timestamps[1:]))

    (await alice.end(session)).succeeded()
    await media.close()
    await asyncio.to_thread(bob.unregister)


async def test_a_file_plays_to_both_and_its_end_is_told(own_gateway, contract, tmp_path):
    sound.tone(tmp_path / "welcome.wav", 1_500, seconds=1)
    own: Gateway = own_gateway("--set", f"media.folder={tmp_path}")
    async with SpidrPeer(own.http, "alice", contract=contract) as alice, SpidrPeer(
        own.http, "bob", contract=contract
    ) as bob:

        async def registered(name: str):
            one = alice if name == "alice" else bob
            await one.register()
            return one

        alices, bobs = MediaPeer(ALICE_TONE), MediaPeer(BOB_TONE)
        async with connected(registered, alices, bobs) as (_, session, _, _):
            for name in ("nothing.wav", "../welcome.wav", ".hidden", "a/b.wav"):
                (await alice.media(session, type="play", source=f"file:{name}")).refused(
                    404, 18, "mediaResponse", "media.unplayable"
                )
            await alices.listen(0.5)
            (await alice.media(session, type="play", source="file:welcome.wav", to="both")).succeeded()
            heard = await asyncio.gather(alices.listen(1.5), bobs.listen(1.5))
            for samples in heard:
                assert sound.tone_share(samples[sound.RATE // 2 : sound.RATE], 1_500) > 0.8
            await alice.expect("mediaEnded", session)
            await bobs.listen(0.5)
            assert sound.tone_share(await bobs.listen(0.5), ALICE_TONE) > 0.8


@pytest.mark.parametrize("stereo", [True, False])
async def test_a_file_with_two_channels_is_heard_in_as_many_as_the_peer_takes(own_gateway, contract, stereo):
    folder = Path(__file__).parents[2] / "fixtures" / "audio"
    own: Gateway = own_gateway("--set", f"media.folder={folder}")
    async with SpidrPeer(own.http, "alice", contract=contract) as alice, SpidrPeer(
        own.http, "bob", contract=contract
    ) as bob:

        async def registered(name: str):
            one = alice if name == "alice" else bob
            await one.register()
            return one

        alices, bobs = MediaPeer(ALICE_TONE), MediaPeer(BOB_TONE, stereo=stereo)
        async with connected(registered, alices, bobs) as (_, session, _, _):
            await bobs.listen(0.5)
            (await alice.media(session, type="play", source="file:stereo.ogg", to="peer", repeat=True)).succeeded()
            await bobs.listen(1)
            heard = await bobs.listen(1)
            left, right = bobs.sides[-sound.RATE:].T if stereo else (heard, heard)
            # 500 Hz on the left, 1,000 Hz on the right (fixtures/audio/README.md).
            shares = [[sound.tone_share(side, tone) for tone in (500, 1_000)] for side in (left, right)]
            if stereo:
                assert shares[0][0] > 0.8 and shares[0][1] < 0.05 and shares[1][1] > 0.8 and shares[1][0] < 0.05, shares
            else:
                assert min(shares[0]) > 0.3, shares


async def test_digits_are_heard_by_a_peer_that_knows_no_events(peer):
    alices, bobs = MediaPeer(ALICE_TONE), MediaPeer(BOB_TONE)
    async with connected(peer, alices, bobs) as (alice, session, _, _):
        await bobs.listen(0.5)
        (await alice.media(session, type="dtmf", digits="5", duration=800)).succeeded()
        heard = await bobs.listen(1.5)
        loudest = max(
            (
                heard[start : start + sound.RATE // 5]
                for start in range(0, len(heard) - sound.RATE // 5, sound.RATE // 10)
            ),
            key=lambda part: sound.tone_share(part, 770),
        )
        # ITU-T Q.23: digit 5.
        assert sound.tone_share(loudest, 770) > 0.25 and sound.tone_share(loudest, 1_336) > 0.4
        await bobs.listen(1)
        assert sound.tone_share(await bobs.listen(0.5), ALICE_TONE) > 0.8


@pytest.mark.parametrize(("ones", "others"), [("opus", "PCMU"), ("PCMA", "opus"), ("PCMU", "PCMA"), ("G722", "opus")])
async def test_peers_without_a_common_codec_hear_each_other(peer, ones, others):
    alices, bobs = MediaPeer(ALICE_TONE, ones), MediaPeer(BOB_TONE, others)
    async with connected(peer, alices, bobs) as (alice, session, _, _):
        await asyncio.gather(alices.listen(1), bobs.listen(1))
        heard_by_alice, heard_by_bob = await asyncio.gather(alices.listen(2), bobs.listen(2))
        assert sound.tone_share(heard_by_bob, ALICE_TONE) > 0.9
        assert sound.tone_share(heard_by_alice, BOB_TONE) > 0.9
        own, other = (await alice.statistics(session))["legs"]
        assert [leg["media"][0]["source"] for leg in (own, other)] == ["transcoded", "transcoded"]
        assert own["media"][0]["inbound"]["codec"] == own["media"][0]["outbound"]["codec"] == ones
        assert other["media"][0]["inbound"]["codec"] == other["media"][0]["outbound"]["codec"] == others
        # A machine that stands still makes the playout deeper; once sound comes steadily again, it gets shallower.
        for _second in range(30):
            if own["media"][0]["playout"]["depth"] < 200:
                break
            await asyncio.gather(alices.listen(1), bobs.listen(1))
            own, _ = (await alice.statistics(session))["legs"]
        assert own["media"][0]["playout"]["depth"] < 200


async def test_an_opus_page_and_a_peer_that_speaks_g711_only(gateway, browser, peer, tmp_path):
    chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / "tone.wav", BROWSER_TONE))
    alice = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "alice")
    bob, media = await peer("bob"), MediaPeer(BOB_TONE, "PCMU")
    await asyncio.to_thread(alice.page.run, OPUS_ONLY)
    await asyncio.to_thread(alice.run, "dial()")
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, await media.answer(invitation.sdp))).succeeded()
    await media.connected()
    await asyncio.to_thread(alice.wait_for, "report?.audio?.energy > 0")
    assert (await asyncio.to_thread(alice.leg))["audio"]["codec"] == "opus"
    await media.listen(1)
    assert sound.tone_share(await media.listen(2), BROWSER_TONE) > 0.8
    assert abs(await asyncio.to_thread(alice.loudest_frequency) - BOB_TONE) < 30

    # A digit of the page comes as an event at 48 kHz, and leaves once, as a tone.
    start = len(media.heard)
    await asyncio.to_thread(
        alice.page.run,
        "orbweaver.phones.alice.call.pc.getSenders().find((each) => each.dtmf).dtmf.insertDTMF('5', 300, 200)",
    )
    await media.listen(2)
    heard = media.heard[start:]
    pieces = [heard[at : at + sound.RATE // 20] for at in range(0, len(heard) - sound.RATE // 20, sound.RATE // 50)]
    digits = [min(sound.tone_share(piece, 770), sound.tone_share(piece, 1_336)) > 0.2 for piece in pieces]
    assert sum(now and not before for before, now in zip([False, *digits], digits)) == 1, digits
    # For as long as it was pressed: 300 ms in pieces of 50 that begin every 20.
    assert 260 <= 20 * sum(digits) <= 400, digits
    await asyncio.to_thread(alice.run, "hangUp()")
    await bob.expect("callEnd", invitation.session)
    await media.close()
    await asyncio.to_thread(alice.unregister)


async def test_an_opus_page_and_a_peer_that_speaks_g711_only_understand_each_other(gateway, browser, peer):
    """Both say two sentences, at once."""
    speech = await asyncio.to_thread(Speech, 1)
    payloads = speech.payloads(PCMU, 0)
    bob, media = await peer("bob"), SpeakingPeer(speech, PCMU, payloads, [False] * len(payloads))
    chromium = await asyncio.to_thread(browser)
    alice = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "alice")
    await asyncio.to_thread(alice.page.run, OPUS_ONLY)
    await asyncio.to_thread(give_voice, alice, speech.samples)
    await asyncio.to_thread(alice.page.run, "document.querySelector('#phone-alice input[name=video]').checked = false")
    await asyncio.to_thread(alice.run, "dial()")
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, await media.answer(invitation.sdp))).succeeded()
    await media.connected()
    await asyncio.to_thread(alice.wait_for, "report?.audio?.packets > 0")
    assert (await asyncio.to_thread(alice.leg))["audio"]["codec"] == "opus"
    ear = await asyncio.to_thread(PageEar, alice)
    await asyncio.gather(media.speak(), asyncio.to_thread(say_it, alice))
    heard = await asyncio.to_thread(ear.heard)
    assert await asyncio.to_thread(speech.likeness, heard, sound.RATE) > 0.7
    assert await asyncio.to_thread(speech.likeness, media.hear(), PCMU.rate) > 0.7
    await asyncio.to_thread(alice.run, "hangUp()")
    await bob.expect("callEnd", invitation.session)
    await media.close()
    await asyncio.to_thread(alice.unregister)


# And takes the microphone as it is: a browser suppresses steady tones sooner or later.
OPUS_ONLY = """(() => {
  const devices = navigator.mediaDevices, getUserMedia = devices.getUserMedia.bind(devices);
  const untouched = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  devices.getUserMedia = (wishes) => getUserMedia({ ...wishes, audio: wishes.audio && untouched });
  const offer = RTCPeerConnection.prototype.createOffer;
  RTCPeerConnection.prototype.createOffer = function (...options) {
    for (const transceiver of this.getTransceivers()) {
      if (transceiver.receiver.track.kind !== 'audio') continue;
      const { codecs } = RTCRtpReceiver.getCapabilities('audio');
      transceiver.setCodecPreferences(codecs.filter((codec) => /opus|telephone-event/.test(codec.mimeType)));
    }
    return offer.apply(this, options);
  };
})()"""


async def test_statistics_of_both_ends(peer):
    alices, bobs = MediaPeer(ALICE_TONE), MediaPeer(BOB_TONE)
    async with connected(peer, alices, bobs) as (_, _, bob, session):
        await bobs.listen(2)
        own, other = (await bob.statistics(session))["legs"]
        assert (own["leg"], other["leg"]) == ("self", "peer")
        for leg in (own, other):
            audio = leg["media"][0]
            assert audio["kind"] == "audio" and audio["source"] == "relayed"
            assert audio["inbound"]["codec"] == audio["outbound"]["codec"] == "opus"
            assert audio["inbound"]["packets"] > 50 and audio["outbound"]["packets"] > 50
            # Both say how loud they are (RFC 6464): a sine of 8,000, 15 dB below full scale.
            assert -18 <= audio["inbound"]["level"] <= -12 and -18 <= audio["outbound"]["level"] <= -12


async def test_the_level_of_a_peer_that_does_not_say_it_is_not_told_unless_it_is_decoded(peer):
    for others, source in (("opus", "relayed"), ("PCMU", "transcoded")):
        alices, bobs = Levelless(ALICE_TONE, "opus"), MediaPeer(BOB_TONE, others)
        async with connected(peer, alices, bobs) as (alice, session, _, _):
            async with asyncio.timeout(30):
                while True:  # levels are of the last second, in which the machine may have paused
                    await asyncio.gather(alices.listen(1), bobs.listen(1))
                    own, other = (leg["media"][0] for leg in (await alice.statistics(session))["legs"])
                    assert own["source"] == other["source"] == source
                    alices_level = own["inbound"].get("level"), other["outbound"].get("level")
                    # The gateway asks for levels that the other side has no use for.
                    bobs_level = other["inbound"].get("level"), own["outbound"].get("level")
                    if source == "relayed":
                        assert alices_level == (None, None)
                    told = bobs_level if source == "relayed" else bobs_level + alices_level
                    if all(level is not None and -18 <= level <= -12 for level in told):
                        break


class Levelless(MediaPeer):
    """Has never heard of RFC 6464."""

    async def offer(self) -> str:
        return re.sub(r"^a=extmap:.*ssrc-audio-level\r\n", "", await super().offer(), flags=re.MULTILINE)


async def test_quality_is_told_to_those_who_asked_for_it(peer):
    alices, bobs = MediaPeer(ALICE_TONE), MediaPeer(BOB_TONE)

    async def asking(name: str):
        return await peer(name, services=["call", "quality"] if name == "bob" else ["call"])

    async with connected(asking, alices, bobs) as (alice, _, bob, session):
        report = await bob.expect("callQuality", session)
        sent = report.message["quality"]["sent"]
        assert 4 < sent["mos"] < 4.5 and sent["band"] == "excellent" and sent["loss"] == 0
        own = (await bob.statistics(session))["legs"][0]["media"][0]
        assert own["inbound"]["quality"]["band"] == "excellent"
        await alice.expect_silence("callQuality")


async def test_loss_that_begins_is_told_as_another_band_and_seen_in_what_was_concealed_and_recovered(peer):
    """Alice's Opus has redundancy for what she loses, Bob's G.711 has none."""
    speech = await asyncio.to_thread(Speech, 1)

    def speaking(codec: Codec, percent: int) -> SpeakingPeer:
        payloads = speech.payloads(codec, percent)
        return SpeakingPeer(speech, codec, payloads, loss.independent(percent / 100)(len(payloads), 5))

    async def asking(name: str):
        return await peer(name, services=["call", "quality"])

    alices, bobs = speaking(OPUS, 20), speaking(PCMU, 20)
    async with connected(asking, alices, bobs) as (alice, session, bob, bobs_session):
        first = await bob.expect("callQuality", bobs_session)
        assert first.message["quality"]["sent"]["band"] == "excellent"
        speaks = asyncio.create_task(asyncio.wait([asyncio.create_task(each.speak()) for each in (alices, bobs)]))
        bands = ["excellent"]
        while bands[-1] == "excellent":
            bands.append((await bob.expect("callQuality", bobs_session)).message["quality"]["sent"]["band"])
        await speaks
        own, other = (leg["media"][0] for leg in (await alice.statistics(session))["legs"])
        assert own["source"] == other["source"] == "transcoded"
        assert own["playout"]["recovered"] > 0.02 and own["playout"]["concealed"] > 0
        assert other["playout"]["recovered"] == 0 and other["playout"]["concealed"] > 0.02


async def test_media_of_a_call_that_rings_cannot_be_chosen(peer):
    alice, bob = await peer("alice"), await peer("bob")
    media = MediaPeer(ALICE_TONE)
    session = await alice.call("bob", await media.offer())
    await bob.expect("call")
    (await alice.media(session, type="play", source="music")).refused(409, 37, "mediaResponse", "call.not_allowed")
    (await bob.media(session, type="stop")).refused(404, 42, "mediaResponse", "call.not_found")
    (await alice.end(session)).succeeded()
    await media.close()

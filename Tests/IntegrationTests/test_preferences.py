"""What clients want to receive: configured, and asked for with a call."""
import asyncio
import time

from peers import sdp, sound
from peers.gateway import Gateway
from peers.media import MediaPeer
from peers.phone_page import PhonePage
from peers.spidr import SpidrPeer
from test_browser_call import assert_media_flows


def lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def remote(phone: PhonePage) -> list[str]:
    return lines(phone.run("call.pc.remoteDescription.sdp"))


def payload_types(phone: PhonePage) -> dict[str, int]:
    """Of what arrives and what leaves, by direction and kind."""
    return phone.page.run(
        f"""(async () => {{
          const report = await orbweaver.phones.{phone.name}.call.pc.getStats(), found = {{}};
          for (const stream of report.values()) {{
            if (!['inbound-rtp', 'outbound-rtp'].includes(stream.type) || !stream.codecId) continue;
            const direction = stream.type === 'inbound-rtp' ? 'in' : 'out';
            found[`${{direction}} ${{stream.kind}}`] = report.get(stream.codecId).payloadType;
          }}
          return found;
        }})()"""
    )


def audio_packets_sent(phone: PhonePage) -> int:
    return phone.page.run(
        f"""(async () => {{
          const report = await orbweaver.phones.{phone.name}.call.pc.getStats();
          const isSent = (stream) => stream.type === 'outbound-rtp' && stream.kind === 'audio';
          return [...report.values()].find(isSent).packetsSent;
        }})()"""
    )


def test_browsers_with_different_payload_types_hear_and_see_each_other(own_gateway, browser, tmp_path):
    """VP8 and its retransmissions change places on the callee's side; nothing is transcoded."""
    own: Gateway = own_gateway(
        "--set", "media.payload_numbers=114 opus/48000/2, 97 VP8/90000", "--set", "media.video_codecs=VP8",
        "--set", "media.audio_codecs=opus", "--set", "media.video_bandwidth=800", "--set", "media.opus_set=mobile",
    )  # fmt: skip
    chromium = browser(
        sound.speech(
            tmp_path / "words.wav", "Every thread of the web has a number, and not the same at both of its ends."
        )
    )
    alice, bob = PhonePage.open(chromium, own.http, "alice"), PhonePage.open(chromium, own.http, "bob")
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")

    offer = remote(bob)
    assert "a=rtpmap:114 opus/48000/2" in offer and "a=rtpmap:97 VP8/90000" in offer
    assert "a=rtpmap:96 rtx/90000" in offer and "a=fmtp:96 apt=97" in offer
    answer = remote(alice)
    assert "a=rtpmap:111 opus/48000/2" in answer and "a=rtpmap:96 VP8/90000" in answer
    for description in (offer, answer):
        assert "b=TIAS:800000" in description  # Chromium repeats one of the two
        assert any("maxaveragebitrate=20000" in line and "usedtx=1" in line for line in description)
        assert "a=ptime:60" in description

    for phone in (alice, bob):
        assert_media_flows(phone, own.media_ports)
    assert payload_types(alice) == {"in audio": 111, "out audio": 111, "in video": 96, "out video": 96}
    assert payload_types(bob) == {"in audio": 114, "out audio": 114, "in video": 97, "out video": 97}
    sent = audio_packets_sent(bob)
    time.sleep(3)
    assert audio_packets_sent(bob) - sent < 3 * 50 * 0.6  # 60 ms a packet, or less often in pauses, instead of 20
    alice.run("hangUp()")
    bob.wait_for_view("ended")


async def test_a_caller_asks_for_its_own_numbers_and_limits(gateway, peer):
    alice, bob = await peer("alice"), await peer("bob")
    answer = await alice.start(
        "bob", sdp.offer(),
        mediaPreferences={
            "payloadNumbers": [{"codec": "opus/48000/2", "number": 114}], "audioReceiveBandwidth": 300,
            "opus": {"set": "webrtc", "maxPlaybackRate": 96000, "ptime": 40},
        },
    )  # fmt: skip
    body = answer.succeeded()
    assert [warning.split(":")[0] for warning in body["warnings"]] == [
        "callControlRequest.mediaPreferences.opus.maxPlaybackRate"
    ]
    invitation = await bob.expect("call")
    offered = lines(invitation.sdp)
    assert (
        "a=rtpmap:114 opus/48000/2" in offered
        and "b=AS:300" in offered
        and "b=TIAS:300000" in offered
        and "a=ptime:40" in offered
    )
    assert any("maxplaybackrate=24000" in line and "maxaveragebitrate=40000" in line for line in offered)
    (await alice.end(body["sessionData"])).succeeded()


async def test_preferences_that_cannot_be_used_are_refused_by_name(gateway, peer):
    alice = await peer("alice")
    for preferences, path in [
        ({"audioCodec": ["opus"]}, "mediaPreferences.audioCodec"),
        ({"payloadNumbers": [{"codec": "opus/48000/2", "number": 7}]}, "mediaPreferences.payloadNumbers.0.number"),
        ({"opus": {"set": "phone"}}, "mediaPreferences.opus.set"),
    ]:
        refused = (await alice.start("bob", sdp.offer(), mediaPreferences=preferences)).refused(
            400, 37, "callControlResponse", "request.invalid_value"
        )
        assert path in refused["reason"]


async def test_renumbered_ends_of_other_makes_hear_each_other(own_gateway, contract):
    """aiortc on both sides, opus as 114 towards the callee."""
    own: Gateway = own_gateway("--set", "media.payload_numbers=114 opus/48000/2")
    async with SpidrPeer(own.http, "alice", contract=contract) as alice, SpidrPeer(
        own.http, "bob", contract=contract
    ) as bob:
        await alice.register()
        await bob.register()
        one, other = MediaPeer(600, "opus"), MediaPeer(1_000, "opus")
        session = await alice.call("bob", await one.offer())
        invitation = await bob.expect("call")
        assert "a=rtpmap:114 opus/48000/2" in lines(invitation.sdp)
        (await bob.answer(invitation.session, await other.answer(invitation.sdp))).succeeded()
        await one.accept((await alice.expect("respondCallUpdate", session)).sdp)
        await asyncio.gather(one.connected(), other.connected())
        assert sound.tone_share(await one.listen(seconds=2), 1_000) > 0.8
        assert sound.tone_share(await other.listen(seconds=2), 600) > 0.8
        statistics = await alice.statistics(session)
        assert {leg["media"][0]["source"] for leg in statistics["legs"]} == {"relayed"}
        (await alice.end(session)).succeeded()
        await one.close()
        await other.close()

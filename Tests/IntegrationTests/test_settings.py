"""Settings that change what clients see, on gateways of their own."""
import urllib.request

import pytest

from call_records import session_of
from party import FCS, L5, OLD, audio_direction, hear_now
from peers.gateway import REPOSITORY, Gateway, orbweaver, write_configuration
from peers.phone_page import PhonePage, in_both_browsers
from peers.spidr import SpidrPeer
from situations import connected, held, resumed


@in_both_browsers
def test_with_direct_media_two_browsers_talk_to_each_other_past_the_gateway(own_gateway, browser):
    own: Gateway = own_gateway("--set", "media.mode=direct")
    one = browser()
    alice, bob = PhonePage.open(one, own.http, "alice"), PhonePage.open(one, own.http, "bob")
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone in (alice, bob):
        phone.wait_for_view("connected")
        phone.wait_for("report?.video?.framesDecoded > 0")
        port = int(phone.leg()["pair"]["remote"].rsplit(":", 1)[1])
        assert port not in own.media_ports
    assert own.metric("orbweaver_calls_active") == 1
    assert own.metric("orbweaver_media_sessions_active") == 0
    alice.run("hangUp()")
    bob.wait_for_view("ended")


async def test_with_direct_media_candidates_reach_the_other_end_as_they_were_sent(own_gateway, party):
    own: Gateway = own_gateway("--set", "media.mode=direct")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    host = "candidate:1 1 udp 2122260223 192.0.2.7 50000 typ host generation 0 ufrag Ab12"
    (await at_alice.send_candidates(host, "")).succeeded()
    told = [{"candidate": each, "sdpMid": "0", "sdpMLineIndex": 0} for each in (host, "")]
    assert (await bob.expect("IceCandidate", at_bob.session)).message["sessionParams"]["iceCandidates"] == told
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    (await at_bob.send_candidates(host)).succeeded()
    assert (await alice.expect("IceCandidate", at_alice.session)).message["sessionParams"]["iceCandidates"] == told[:1]


@pytest.mark.parametrize("dialect", [L5, FCS, OLD], ids=str)
async def test_with_direct_media_hold_passes_as_it_was_written_and_shows(own_gateway, party, dialect):
    own: Gateway = own_gateway("--set", "media.mode=direct")
    alice, bob = await party("alice", base=own.http, dialect=dialect), await party("bob", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    await at_alice.hold()
    offer = at_bob.descriptions[-1]
    assert ("c=IN IP4 0.0.0.0" in offer, audio_direction(offer)) == (
        dialect is OLD,
        "sendrecv" if dialect is OLD else dialect.hold_offer,
    )
    for call, state in ((at_alice, "ON_HOLD"), (at_bob, "REMOTELY_HELD")):
        assert (await session_of(call))["callState"] == state
    await at_alice.unhold()
    for call in (at_alice, at_bob):
        assert (await session_of(call))["callState"] == "IN_CALL"


async def test_a_reason_is_as_long_as_is_configured(own_gateway, party):
    own: Gateway = own_gateway("--set", "calls.max_text_length=7")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.end("Grüße an alle")).succeeded()
    assert (await at_bob.over()).text == "Grüße a"


async def test_a_reason_can_be_longer_than_usual(own_gateway, party):
    own: Gateway = own_gateway("--set", "calls.max_text_length=600")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    (await at_alice.end("ü" * 700)).succeeded()
    assert (await at_bob.over()).text == "ü" * 600


async def test_without_music_on_hold_whoever_is_kept_waiting_hears_what_the_holder_sends(own_gateway, party):
    """With `sendonly` that is the holder's own choice (RFC 3264 §8.4)."""
    own: Gateway = own_gateway("--set", "calls.music_on_hold=off")
    alice, bob = [await party(name, base=own.http, dialect=FCS, sounds=True) for name in ("alice", "bob")]
    at_alice, at_bob = await connected(alice, bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    await held(at_alice, at_bob)
    assert audio_direction(at_bob.descriptions[-1]) == "sendonly", "there could be music"
    await hear_now({at_alice: set(), at_bob: {"alice"}})
    await resumed(at_alice, at_bob)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


async def test_a_subscription_that_expires_is_gone_and_so_is_its_channel(own_gateway, contract):
    own: Gateway = own_gateway("--set", "registration.minimum_expires=1s", "--set", "registration.grace=1s")
    async with SpidrPeer(own.http, "alice", contract=contract) as alice:
        await alice.register(expires=1)
        await alice.expect("gone")
        assert await alice.closed() == 1000
        answer = await alice.extend()
        answer.refused(404, 39, "subscribeResponse", "subscription.not_found")
        alice.subscription = None


async def test_a_client_that_waits_for_pings_keeps_its_subscription(own_gateway, contract):
    """As clients on phones do: they extend when they are told, and not before."""
    own: Gateway = own_gateway("--set", "registration.minimum_expires=1s", "--set", "registration.grace=1s")
    async with SpidrPeer(own.http, "alice", contract=contract) as alice:
        await alice.register(expires=4)
        for _ in range(2):
            await alice.expect("ping")
            (await alice.extend(expires=4)).succeeded()
        await alice.expect_silence("gone", during=1)


async def test_users_made_by_the_command_line_can_log_in_until_they_are_removed(tmp_path, contract):
    configuration = write_configuration(tmp_path, media={"mode": "direct"})

    def user(*arguments: str, password: str | None = None) -> str:
        ended = orbweaver(
            "user", *arguments, *configuration, directory=tmp_path, standard_input=password and password + "\n"
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    user("add", "ann@example.com", "--display-name", "Ann", "--password-stdin", password="first word")
    assert "ann@example.com" in user("list")
    own = Gateway.configured(*configuration).start()
    try:
        async with SpidrPeer(own.http, "ann@example.com", "first word", contract) as ann:
            await ann.register()
            user("passwd", "ann@example.com", "--password-stdin", password="second word")
        async with SpidrPeer(own.http, "ann@example.com", "second word", contract) as ann:
            await ann.register()
        user("auth-name", "ann@example.com", "Liddell")
        assert "ann@example.com\tAnn\tliddell" in user("list")
        async with SpidrPeer(own.http, "ann@example.com", "second word", contract, auth_name="liddell") as ann:
            await ann.register()
            user("auth-name", "ann@example.com")
        user("remove", "ann@example.com")
        assert "ann@example.com" not in user("list")
    finally:
        own.stop()
        own.discard()


def test_every_metric_is_documented(gateway):
    with urllib.request.urlopen(f"{gateway.http}/metrics", timeout=10) as answer:
        told = {line.split()[2] for line in answer.read().decode().splitlines() if line.startswith("# TYPE ")}
    table = (REPOSITORY / "docs/operations.md").read_text()
    assert told and not {name for name in told if f"`{name}`" not in table}

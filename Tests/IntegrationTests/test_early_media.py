"""What a caller hears before the answer (spidr-wire §8.3)."""
import asyncio

import pytest

from call_records import events_of
from party import FCS, L5, MUSIC, audio_direction, hear_now
from party.dialects import origin
from peers import sound

RINGBACK = 425
"""Hertz, ITU-T E.180."""


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_a_caller_that_can_hears_ringback_until_the_answer(party, dialect):
    alice, bob = await party("alice", dialect=dialect, sounds=True), await party("bob", sounds=True)
    at_alice = await alice.dial("bob", supported=["earlymedia"])
    at_bob = await bob.incoming()
    await alice.heard_exactly(("sessionProgress", at_alice), ("ringing", at_alice))
    await at_alice.connected()
    await rings(at_alice)
    assert "self progress" in await events_of(at_alice) and "peer progress" in await events_of(at_bob)

    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    await alice.heard_exactly(("respondCallUpdate", at_alice))
    early, final = at_alice.descriptions
    assert origin(early)[0] == origin(final)[0]
    assert early.split("a=ice-ufrag:")[1][:8] == final.split("a=ice-ufrag:")[1][:8], "the path of early media is kept"
    assert audio_direction(final) == "sendrecv"
    (await at_bob.end()).succeeded()
    await at_alice.over()


async def rings(call, frequency: float = RINGBACK, timeout: float = 10):
    """One second on, four off: it is there at some time."""
    end = asyncio.get_running_loop().time() + timeout
    while call.media.loudness(frequency) < 300:
        assert asyncio.get_running_loop().time() < end, f"no tone of {frequency} Hz"
        await asyncio.sleep(0.05)


async def test_an_announcement_is_heard_over_and_over_until_the_answer(own_gateway, party, tmp_path):
    sound.tone(tmp_path / "welcome.wav", 600, seconds=1)
    own = own_gateway("--set", f"media.folder={tmp_path}", "--set", "calls.early_media=file:welcome.wav")
    alice, bob = [await party(name, base=own.http, sounds=True) for name in ("alice", "bob")]
    at_alice = await alice.dial("bob", supported=["earlymedia"])
    at_bob = await bob.incoming()
    await alice.heard_exactly(("sessionProgress", at_alice), ("ringing", at_alice))
    await at_alice.connected()
    await rings(at_alice, 600)
    await hear_now({at_alice: {MUSIC}}, still=1.5)  # longer than the file
    assert at_alice.media.loudness(RINGBACK) < at_alice.media.loudness(600) / 20
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})


async def test_without_early_media_a_caller_that_could_is_only_told_that_it_rings(own_gateway, party):
    own = own_gateway("--set", "calls.early_media=off")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice = await alice.dial("bob", supported=["earlymedia"])
    at_bob = await bob.incoming()
    await alice.heard_exactly(("ringing", at_alice))
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await alice.heard_exactly(("respondCallUpdate", at_alice))


async def seen_by_the_gateway(call) -> str:
    return (await call.party.state(call.session)).succeeded()["callSession"]["callState"]


async def test_a_caller_that_cannot_is_only_told_that_it_rings(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    await alice.heard_exactly(("ringing", at_alice))
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await alice.heard_exactly(("respondCallUpdate", at_alice))


async def test_the_ringback_tone_waits_for_a_device_that_says_when_it_rings(party):
    """SESSION_PROGRESS until then: there is a path, and nothing on it."""
    alice, bob = await party("alice", sounds=True), await party("bob", ringing_feedback=True)
    at_alice = await alice.dial("bob", supported=["earlymedia"])
    at_bob = await bob.incoming()
    await alice.heard_exactly(("sessionProgress", at_alice))
    await at_alice.connected()
    assert await seen_by_the_gateway(at_alice) == "SESSION_PROGRESS"
    assert at_alice.media.loudness(RINGBACK) < 300
    (await at_bob.ring()).succeeded()
    await alice.heard_exactly(("ringing", at_alice))
    assert await seen_by_the_gateway(at_alice) == "RINGING"
    await rings(at_alice)
    (await at_alice.end()).succeeded()
    await at_bob.over()


async def test_a_rejected_call_ends_its_early_media(party):
    alice, bob = await party("alice", sounds=True), await party("bob")
    at_alice = await alice.dial("bob", supported=["earlymedia"])
    at_bob = await bob.incoming()
    await at_alice.connected()
    (await at_bob.reject()).succeeded()
    assert (await at_alice.over()).code == 603
    await bob.heard_exactly(("call", at_bob), ("callCancel", at_bob))


async def test_a_forwarded_caller_keeps_its_early_media(party):
    alice, bob, carol = await party("alice", sounds=True), await party("bob"), await party("carol", sounds=True)
    at_alice = await alice.dial("bob", supported=["earlymedia"])
    at_bob = await bob.incoming()
    await at_alice.connected()
    (await at_bob.forward("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await at_alice.answered()
    await hear_now({at_alice: {"carol"}, at_carol: {"alice"}})
    assert [n.event for n in alice.heard].count("sessionProgress") == 1

"""Speech through the gateway next to the same speech without it, as ITU-T P.862 (PESQ) hears them.

Every peer plays the same encoded speech and keeps the packets that reach it; what they hold is decoded after the call, so that the
far side adds nothing of its own to the score. A busy machine can hold a peer or the gateway up for longer than any buffer: calls that
fall short are made anew, at most twice. If even the peers could not send their packets in time, there is nothing to be judged.
"""
import asyncio

import pytest
import speech_quality
from peers.speech import Speech
from speech_quality import CLEAN, CODECS, G722, GATEWAY, LOSSES, MIX, MIXED, OPUS, PCMU, TENTH, TRANSCODED, Laboratory, Talk

ATTEMPTS = 3
BUSY = 0.05
"""Seconds. A packet that leaves so late says that the machine has no time for tests."""


@pytest.fixture
async def laboratory(peer, party):
    """Made for so many utterances."""

    async def make(utterances: int) -> Laboratory:
        caller, callee = await peer("alice"), await peer("bob")
        # Alice has another device, for the users of `--dev` are four.
        mixed = await party("alice", sounds=True, alone=False), await party("carol", sounds=True), await party("dave", sounds=True)
        return Laboratory(await asyncio.to_thread(Speech, utterances), caller, callee, mixed)

    return make


async def hold_to_the_limits(laboratory: Laboratory, *batches: list[Talk]):
    """Makes these calls, those of a batch at the same time."""
    for attempt in range(1, ATTEMPTS + 1):
        for batch in batches:
            await laboratory.talk(*(laboratory.make(call) for call in batch))
        # On another thread: whoever does not listen to its channel for so long is thought to be gone.
        complaints = await asyncio.to_thread(speech_quality.complaints, laboratory)
        latest = max(laboratory.latest.values()) * 1_000
        print(f"\nattempt {attempt}, loss with seed {speech_quality.SEED}, packets sent at most {latest:.0f} ms late")
        print(await asyncio.to_thread(speech_quality.table, laboratory))
        if not complaints:
            return
        short = {(way.through, frozenset((way.speaks, way.hears)), way.loss) for way in complaints}
        batches = [[call for call in batch if (call.through, frozenset((call.ones, call.others)), call.loss) in short] for batch in batches]
    if all(laboratory.latest[way] > BUSY for way in complaints):
        pytest.skip(f"the machine is too busy: packets were sent {max(map(laboratory.latest.get, complaints)) * 1_000:.0f} ms late")
    pytest.fail("\n".join(complaints.values()))


async def test_clean_speech_is_as_good_as_directly_and_losses_are_concealed_as_by_libopus(laboratory):
    laboratory = await laboratory(3)
    await laboratory.talk(
        *(laboratory.direct(codec, CLEAN) for codec in CODECS), *(laboratory.direct(codec, TENTH) for codec in (OPUS, G722)),
        laboratory.gateway(OPUS, OPUS, CLEAN),
    )  # fmt: skip
    calls = [Talk(GATEWAY, OPUS, PCMU, CLEAN), Talk(GATEWAY, OPUS, G722, CLEAN), Talk(GATEWAY, OPUS, G722, TENTH), Talk(MIX, OPUS, G722, TENTH)]
    await hold_to_the_limits(laboratory, calls)


@pytest.mark.nightly
async def test_the_whole_table(laboratory, artifacts):
    laboratory = await laboratory(4)
    try:
        for lossy in LOSSES:
            await laboratory.talk(*(laboratory.direct(codec, lossy) for codec in CODECS))
            await hold_to_the_limits(
                laboratory, [Talk(GATEWAY, codec, codec, lossy) for codec in CODECS], [Talk(GATEWAY, *pair, lossy) for pair in TRANSCODED],
                *([Talk(MIX, *pair, lossy)] for pair in MIXED))
    finally:
        (artifacts / "speech-quality.md").write_text(speech_quality.table(laboratory))

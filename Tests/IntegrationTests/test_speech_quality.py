"""Speech through the gateway next to the same speech without it, as ITU-T P.862 (PESQ) hears them.

Every peer plays the same encoded speech and keeps the packets that reach it; what they hold is decoded after the call,
so that the far side adds nothing of its own to the score. A busy machine can hold a peer or the gateway up for longer
than any buffer: calls begin when it is calm, and those that fall short are made anew, at most twice and one at a time.
What falls short then is a failure, which says so if the peers could not send their packets in time. How many ways were
judged is counted.
"""
import asyncio
from pathlib import Path

import pytest
import speech_quality
from peers.speech import Speech
from speech_quality import (
    CLEAN,
    CODECS,
    G722,
    GATEWAY,
    LOSSES,
    MIX,
    MIXED,
    OPUS,
    PCMU,
    TENTH,
    TRANSCODED,
    Laboratory,
    Talk,
)

pytestmark = pytest.mark.alone

ATTEMPTS = 3
BUSY = 0.05
"""Seconds. A packet that leaves so late says that the machine has no time for tests."""
PATIENCE = 180
"""Seconds to wait for a calm machine."""


@pytest.fixture
async def laboratory(peer, party):
    """Made for so many utterances."""

    async def make(utterances: int) -> Laboratory:
        caller, callee = await peer("alice"), await peer("bob")
        # Alice has another device, for the users of `--dev` are four.
        mixed = (
            await party("alice", sounds=True, alone=False),
            await party("carol", sounds=True),
            await party("dave", sounds=True),
        )
        return Laboratory(await asyncio.to_thread(Speech, utterances), caller, callee, mixed)

    return make


async def hold_to_the_limits(laboratory: Laboratory, *batches: list[Talk]):
    """Makes these calls, those of a batch at the same time; again, those that fall short do it one at a time."""
    for attempt in range(1, ATTEMPTS + 1):
        for batch in batches:
            await calm()
            await laboratory.talk(*(laboratory.make(call) for call in batch))
        # On another thread: whoever does not listen to its channel for so long is thought to be gone.
        complaints = await asyncio.to_thread(speech_quality.complaints, laboratory)
        latest = max(laboratory.latest.values()) * 1_000
        print(f"\nattempt {attempt}, loss with seed {speech_quality.SEED}, packets sent at most {latest:.0f} ms late")
        print(await asyncio.to_thread(speech_quality.table, laboratory))
        if not complaints:
            return
        short = {(way.through, frozenset((way.speaks, way.hears)), way.loss) for way in complaints}
        batches = [
            [call]
            for batch in batches
            for call in batch
            if (call.through, frozenset((call.ones, call.others)), call.loss) in short
        ]
    late = {way: laboratory.latest[way] * 1_000 for way in complaints if laboratory.latest[way] > BUSY}
    said = [
        f"{text}{f' (the machine is busy: packets left {late[way]:.0f} ms late)' if way in late else ''}"
        for way, text in complaints.items()
    ]
    pytest.fail("\n".join(said))


def hold_to_their_number(laboratory: Laboratory, *, ways: int):
    """So many ways were held against a limit, each with at least two utterances."""
    judged = [way for way in laboratory.ways() if laboratory.has_limit(way)]
    assert len(judged) == ways, "\n".join(map(str, judged))
    assert all(laboratory.utterances_judged(way) >= 2 for way in judged)


async def calm():
    """Waits until half of the machine's time is left over, for as long as `PATIENCE`; whoever fails after that says
    that it is busy."""
    begun = asyncio.get_running_loop().time()
    while (idle := await idle_share()) < 0.5:
        if asyncio.get_running_loop().time() - begun > PATIENCE:
            print(f"\nthe machine has not become calm in {PATIENCE} s: {idle:.0%} of its time is left over")
            return


async def idle_share() -> float:
    """Of all processors' time in the next second."""
    idle, whole = cpu_times()
    await asyncio.sleep(1)
    idle_after, whole_after = cpu_times()
    return (idle_after - idle) / max(1, whole_after - whole)


def cpu_times() -> tuple[int, int]:
    """Idle, and all, since the machine began (proc(5))."""
    times = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]))
    return times[3] + times[4], sum(times)


async def test_clean_speech_is_as_good_as_directly_and_losses_are_concealed_as_by_libopus(laboratory):
    laboratory = await laboratory(3)
    await laboratory.talk(
        *(laboratory.direct(codec, CLEAN) for codec in CODECS),
        *(laboratory.direct(codec, TENTH) for codec in (OPUS, G722)),
        laboratory.gateway(OPUS, OPUS, CLEAN),
    )  # fmt: skip
    calls = [
        Talk(GATEWAY, OPUS, PCMU, CLEAN),
        Talk(GATEWAY, OPUS, G722, CLEAN),
        Talk(GATEWAY, OPUS, G722, TENTH),
        Talk(MIX, OPUS, G722, TENTH),
    ]
    await hold_to_the_limits(laboratory, calls)
    # Without loss: one with a codec, and two pairs both ways. With loss: those that Opus speaks, and something else
    # hears.
    hold_to_their_number(laboratory, ways=5 + 2)


@pytest.mark.nightly
async def test_the_whole_table(laboratory, artifacts):
    laboratory = await laboratory(4)
    try:
        for lossy in LOSSES:
            await laboratory.talk(*(laboratory.direct(codec, lossy) for codec in CODECS))
            await hold_to_the_limits(
                laboratory,
                [Talk(GATEWAY, codec, codec, lossy) for codec in CODECS],
                [Talk(GATEWAY, *pair, lossy) for pair in TRANSCODED],
                *([Talk(MIX, *pair, lossy)] for pair in MIXED),
            )
        hold_to_their_number(laboratory, ways=len(CODECS) + 2 * len(TRANSCODED) + (len(LOSSES) - 1) * 2 * len(MIXED))
    finally:
        (artifacts / "speech-quality.md").write_text(speech_quality.table(laboratory))

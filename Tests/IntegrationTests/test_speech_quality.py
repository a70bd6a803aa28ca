"""Speech through the gateway next to the same speech without it, as ITU-T P.862 (PESQ) hears them.

Every peer plays the same encoded speech and keeps the packets that reach it; what they hold is decoded after the call, so that the
far side adds nothing of its own to the score. A busy machine can hold a gateway up for longer than any buffer: when something falls
short, the calls are made once more, and no more often.
"""
import pytest
import speech_quality
from peers.speech import Speech
from speech_quality import CLEAN, CODECS, G722, LOSSES, OPUS, PCMU, TENTH, TRANSCODED, Laboratory

ATTEMPTS = 2


async def hold_to_the_limits(laboratory: Laboratory, make_calls):
    for attempt in range(1, ATTEMPTS + 1):
        await make_calls()
        print(f"\nattempt {attempt}, loss with seed {speech_quality.SEED}", speech_quality.table(laboratory), sep="\n")
        complaints = speech_quality.complaints(laboratory)
        if not complaints:
            return
    pytest.fail("\n".join(complaints))


async def test_clean_speech_is_as_good_as_directly_and_losses_are_concealed_as_by_libopus(peer):
    laboratory = Laboratory(Speech(3), await peer("alice"), await peer("bob"))
    await laboratory.talk(
        *(laboratory.direct(codec, CLEAN) for codec in CODECS), *(laboratory.direct(codec, TENTH) for codec in (OPUS, G722)),
        laboratory.gateway(OPUS, OPUS, CLEAN),
    )  # fmt: skip

    async def make_calls():
        await laboratory.talk(
            laboratory.gateway(OPUS, PCMU, CLEAN), laboratory.gateway(OPUS, G722, CLEAN), laboratory.gateway(OPUS, G722, TENTH),
        )  # fmt: skip

    await hold_to_the_limits(laboratory, make_calls)


@pytest.mark.nightly
async def test_the_whole_table(peer, artifacts):
    laboratory = Laboratory(Speech(4), await peer("alice"), await peer("bob"))
    for lossy in LOSSES:
        await laboratory.talk(*(laboratory.direct(codec, lossy) for codec in CODECS))

    async def make_calls():
        for lossy in LOSSES:
            for pairs in ([(codec, codec) for codec in CODECS], TRANSCODED):
                await laboratory.talk(*(laboratory.gateway(*pair, lossy) for pair in pairs))

    try:
        await hold_to_the_limits(laboratory, make_calls)
    finally:
        (artifacts / "speech-quality.md").write_text(speech_quality.table(laboratory))

"""The parties themselves, before anything is built on them: two of them talk, and their notifications are told
exactly."""
import numpy
import pytest

from party import FCS, L5, MUSIC, TONES, hear_now
from party.dialects import answering
from party.tones import heard_in
from peers.sound import RATE, sine


async def test_two_parties_talk(party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True, dialect=FCS)
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    assert (at_alice.state, at_bob.state) == ("IN_CALL", "IN_CALL")
    assert at_alice.remote[1] == "bob@dev.local" and at_bob.remote[1] == "alice@dev.local"
    (await at_alice.end("enough")).succeeded()
    assert (await at_bob.over()).text == "enough"
    await alice.heard_exactly(("ringing", at_alice), ("respondCallUpdate", at_alice))
    await bob.heard_exactly(("call", at_bob), ("callCancel", at_bob), ("callEnd", at_bob))


@pytest.mark.parametrize(
    "names", [[], ["alice"], ["bob", "carol"], list(TONES), [MUSIC], ["dave", MUSIC]], ids="+".join
)
def test_tones_are_told_apart(names):
    frequencies = [TONES.get(name, 440) for name in names]
    samples = sum((sine(each, 0, RATE // 2) // max(1, len(names)) for each in frequencies), numpy.zeros(RATE // 2))
    assert heard_in(samples + numpy.random.default_rng(7).normal(0, 30, RATE // 2)) == set(names)


@pytest.mark.parametrize(
    ("dialect", "holding", "offered", "answer"),
    [
        (L5, False, "sendrecv", "sendrecv"), (L5, False, "sendonly", "recvonly"), (L5, False, "inactive", "inactive"),
        (L5, True, "sendrecv", "inactive"), (L5, True, "sendonly", "inactive"), (L5, True, "inactive", "inactive"),
        (FCS, False, "sendrecv", "sendrecv"), (FCS, False, "sendonly", "recvonly"),
        (FCS, False, "inactive", "inactive"),
        (FCS, True, "sendrecv", "sendonly"), (FCS, True, "sendonly", "inactive"), (FCS, True, "inactive", "inactive"),
    ],
)  # fmt: skip
def test_dialects_answer_by_the_table(dialect, holding, offered, answer):
    """spidr-wire §8.2."""
    assert answering(offered, dialect.wish(holding)) == answer

"""The ways that speech takes between two scripted peers, through the gateway and directly, and how each of them scores."""
import asyncio
import gc
import statistics
from dataclasses import dataclass

import numpy
from peers import loss
from peers.codecs import G722, OPUS, PCMU, Codec, decode, encode, resample
from peers.spidr import SpidrPeer
from peers.speech import SpeakingPeer, Speech

SEED = 5
"""Of the patterns of loss: the same packets get lost in every call."""


@dataclass(frozen=True)
class Loss:
    name: str
    percent: int
    pattern: loss.Pattern


CLEAN = Loss("none", 0, loss.none)
TENTH = Loss("10 % random", 10, loss.independent(0.1))
LOSSES = [CLEAN, Loss("5 % random", 5, loss.independent(0.05)), TENTH, Loss("3 % in bursts", 3, loss.bursts(0.03, 3))]

CODECS = [OPUS, PCMU, G722]
TRANSCODED = [(OPUS, PCMU), (OPUS, G722), (PCMU, G722)]
"""Each is measured both ways."""


@dataclass(frozen=True)
class Way:
    """From the codec of the one who speaks to that of the one who listens."""

    speaks: Codec
    hears: Codec
    through: str
    loss: Loss

    @property
    def band(self) -> str:
        """Narrow-band speech is judged as such, by a telephone's ear (ITU-T P.862.1); the rest by P.862.2."""
        return "nb" if 8_000 in (self.speaks.rate, self.hears.rate) else "wb"

    def __str__(self) -> str:
        codecs = self.speaks.name if self.speaks is self.hears else f"{self.speaks.name} → {self.hears.name}"
        return f"{codecs}, {self.through}, loss {self.loss.name}"


class Laboratory:
    """Makes calls, keeps what was heard, and judges it when the calls are over: judging takes the CPU that calls need."""

    def __init__(self, speech: Speech, caller: SpidrPeer, callee: SpidrPeer):
        self.speech, self._caller, self._callee = speech, caller, callee
        self._one_at_a_time = asyncio.Lock()
        self._heard: dict[Way, numpy.ndarray] = {}
        self.latest: dict[Way, float] = {}
        """Seconds by which the latest packet of a way was sent too late."""
        self._scores: dict[tuple[Way, str], list[float]] = {}

    async def talk(self, *calls):
        """Runs these calls at the same time, and without a stop for garbage: packets would wait for its end."""
        gc.collect()
        gc.disable()
        try:
            await asyncio.gather(*calls)
        finally:
            gc.enable()

    async def direct(self, codec: Codec, lossy: Loss):
        """One peer speaks to another over ICE, DTLS and SRTP of their own."""
        alice, bob = self._peer(codec, lossy), self._peer(codec, lossy)
        await alice.accept(await bob.answer(await alice.offer()))
        await asyncio.gather(alice.connected(), bob.connected())
        await alice.speak()
        await asyncio.gather(alice.close(), bob.close())
        self._keep(Way(codec, codec, "direct", lossy), alice, bob)

    async def gateway(self, ones: Codec, others: Codec, lossy: Loss):
        """A call in which both speak at once. Each peer loses its packets on their way to the gateway."""
        alice, bob = self._peer(ones, lossy), self._peer(others, lossy)
        async with self._one_at_a_time:
            session = await self._caller.call("bob", await alice.offer())
            invitation = await self._callee.expect("call")
            (await self._callee.answer(invitation.session, await bob.answer(invitation.sdp))).succeeded()
            await alice.accept((await self._caller.expect("respondCallUpdate", session)).sdp)
        await asyncio.gather(alice.connected(), bob.connected())
        await asyncio.gather(alice.speak(), bob.speak())
        for leg in (await self._caller.statistics(session))["legs"]:
            assert leg["media"][0]["source"] == ("relayed" if ones is others else "transcoded")
        (await self._caller.end(session)).succeeded()
        await asyncio.gather(alice.close(), bob.close())
        self._keep(Way(ones, others, "gateway", lossy), alice, bob)
        self._keep(Way(others, ones, "gateway", lossy), bob, alice)

    def score(self, way: Way, band: str | None = None) -> float:
        """MOS-LQO, the median of the utterances."""
        key = way, band or way.band
        if key not in self._scores:
            self._scores[key] = self.speech.scores(self._heard[way], way.hears.rate, key[1])
        return statistics.median(self._scores[key])

    def ways(self) -> list[Way]:
        """Those through the gateway."""
        return [way for way in self._heard if way.through == "gateway"]

    def direct_score(self, way: Way) -> float:
        """What the way is held against, judged in the same band: the peers directly connected.

        Two peers that share no codec can be connected directly only if one of them takes the other's. Of both possibilities it is
        the lesser: speech that went through both codecs cannot be better than through one of them.
        """
        return min(self.score(Way(codec, codec, "direct", way.loss), way.band) for codec in (way.speaks, way.hears))

    def chain_score(self, way: Way) -> float:
        """The same packets, the same ones lost, through the bare codecs one after the other: no gateway, no network, no clock."""
        bare = Way(way.speaks, way.hears, "bare codecs", way.loss)
        if bare not in self._heard:
            payloads, lost = self._packets(way.speaks, way.loss)
            surviving = [None if gone else payload for payload, gone in zip(payloads, lost)]
            heard = resample(decode(surviving, way.speaks), way.speaks.rate, way.hears.rate)
            self._heard[bare] = decode(encode(heard, way.hears), way.hears)
        return self.score(bare)

    def _peer(self, codec: Codec, lossy: Loss) -> SpeakingPeer:
        return SpeakingPeer(self.speech, codec, *self._packets(codec, lossy))

    def _packets(self, codec: Codec, lossy: Loss) -> tuple[list[bytes], list[bool]]:
        payloads = self.speech.payloads(codec, lossy.percent)
        return payloads, lossy.pattern(len(payloads), SEED)

    def _keep(self, way: Way, speaker: SpeakingPeer, listener: SpeakingPeer):
        self.latest[way] = speaker.track.latest
        self._heard[way] = listener.hear()
        for key in [key for key in self._scores if key[0] == way]:
            del self._scores[key]


PASSING_MARGIN = 0.1
TRANSCODED_MARGIN = 0.35
NOISE = 0.1
"""What a score changes by if the same call is made again: a frame of the gateway's begins elsewhere in a packet of the peer's."""


def complaints(laboratory: Laboratory) -> dict[Way, str]:
    """What falls short, and by how much."""
    found = {}
    for way in laboratory.ways():
        score, direct = laboratory.score(way), laboratory.direct_score(way)
        if way.loss is CLEAN:
            margin = PASSING_MARGIN if way.speaks is way.hears else TRANSCODED_MARGIN
            if score < direct - margin:
                found[way] = f"{way}: {score:.2f} is more than {margin} below {direct:.2f}, the direct connection"
        elif way.speaks is OPUS and way.hears is not OPUS:
            bare = laboratory.chain_score(way)
            if score < bare - NOISE:
                found[way] = f"{way}: {score:.2f} is below {bare:.2f}, libopus by itself"
    return found


def table(laboratory: Laboratory) -> str:
    """For docs/performance.md."""
    lines = ["| codecs | band | loss | direct | bare codecs | gateway |", "|---|---|---|---|---|---|"]
    for way in sorted(laboratory.ways(), key=lambda way: LOSSES.index(way.loss)):
        same = way.speaks is way.hears
        codecs = way.speaks.name if same else f"{way.speaks.name} → {way.hears.name}"
        bare = "" if same else f"{laboratory.chain_score(way):.2f}"
        lines.append(f"| {codecs} | {way.band} | {way.loss.name} | {laboratory.direct_score(way):.2f} | {bare} | {laboratory.score(way):.2f} |")
    return "\n".join(lines) + "\n"

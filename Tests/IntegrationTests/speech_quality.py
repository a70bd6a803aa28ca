"""The ways that speech takes between two scripted peers, through the gateway and directly, and how each of them
scores."""
import asyncio
import gc
import math
import statistics
from dataclasses import dataclass

import numpy
from party import Party
from party.media import ToneMedia
from peers import loss
from peers.codecs import G722, OPUS, PCMU, Codec, decode, encode, resample
from peers.spidr import SpidrPeer
from peers.speech import Speaking, SpeakingPeer, Speech
from situations import two_held_calls

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
MIXED = [(OPUS, PCMU), (OPUS, G722)]
"""Whoever speaks in a mix speaks the first of them, whoever listens the other one."""
GATEWAY, MIX, DIRECT = "gateway", "mix", "direct"


@dataclass(frozen=True)
class Talk:
    """A call through the gateway, or three ends in a mix."""

    through: str
    ones: Codec
    others: Codec
    loss: Loss


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


class SpeakingMedia(Speaking, ToneMedia):
    """That of a party, which is held and put into a mix."""


class Laboratory:
    """Makes calls, keeps what was heard, and judges it when the calls are over: judging takes the CPU that calls
    need."""

    def __init__(self, speech: Speech, caller: SpidrPeer, callee: SpidrPeer, mixed: tuple[Party, Party, Party]):
        """`mixed`: who makes a mix, who speaks in it and who listens."""
        self.speech, self._caller, self._callee, self._mixed = speech, caller, callee, mixed
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

    async def make(self, talk: Talk):
        await (self.mix if talk.through == MIX else self.gateway)(talk.ones, talk.others, talk.loss)

    async def direct(self, codec: Codec, lossy: Loss):
        """One peer speaks to another over ICE, DTLS and SRTP of their own."""
        alice, bob = self._peer(codec, lossy), self._peer(codec, lossy)
        await alice.accept(await bob.answer(await alice.offer()))
        await asyncio.gather(alice.connected(), bob.connected())
        await alice.speak()
        await asyncio.gather(alice.close(), bob.close())
        self._keep(Way(codec, codec, DIRECT, lossy), alice, bob)

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
        self._keep(Way(ones, others, GATEWAY, lossy), alice, bob)
        self._keep(Way(others, ones, GATEWAY, lossy), bob, alice)

    async def mix(self, speaks: Codec, hears: Codec, lossy: Loss):
        """Three in a mix, two of whom say nothing. The one who speaks loses its packets on their way to the gateway."""
        hub, speaker, listener = self._mixed
        says = {hub: (OPUS, [], []), speaker: (speaks, *self._packets(speaks, lossy)), listener: (hears, [], [])}
        for each, words in says.items():
            each.new_media = lambda words=words: SpeakingMedia(self.speech, *words)
        to_speaker, at_speaker, to_listener, at_listener = await two_held_calls(hub, speaker, listener)
        joined = await hub.join(to_speaker, to_listener)
        await joined.answered()
        await asyncio.gather(*(call.connected() for call in (joined, at_speaker, at_listener)))
        for call in (at_speaker, at_listener):
            await call.until(lambda call=call: call.direction == "sendrecv", "in the mix")
        at_listener.media.received.clear()
        await at_speaker.media.speak()
        for leg in (await hub.statistics(joined.session))["legs"]:
            assert leg["media"][0]["source"] == "mix"
        for call in (at_speaker, at_listener, joined):
            await call.end()
        self._keep(Way(speaks, hears, MIX, lossy), at_speaker.media, at_listener.media)

    def score(self, way: Way, band: str | None = None) -> float:
        """MOS-LQO, the median of the utterances."""
        key = way, band or way.band
        if key not in self._scores:
            self._scores[key] = self.speech.scores(self._heard[way], way.hears.rate, key[1])
        return statistics.median(self._scores[key])

    def ways(self) -> list[Way]:
        """Those through the gateway."""
        return [way for way in self._heard if way.through in (GATEWAY, MIX)]

    def utterances_judged(self, way: Way) -> int:
        """How many of them the score is the median of."""
        self.score(way)
        return len(self._scores[way, way.band])

    @staticmethod
    def has_limit(way: Way) -> bool:
        """Whether it is held against anything: the other ways are in the table only."""
        return way.through == GATEWAY if way.loss is CLEAN else way.speaks is OPUS and way.hears is not OPUS

    def direct_score(self, way: Way) -> float:
        """What the way is held against, judged in the same band: the peers directly connected.

        Two peers that share no codec can be connected directly only if one of them takes the other's. Of both
        possibilities it is the lesser: speech that went through both codecs cannot be better than through one of them.
        """
        return min(self.score(Way(codec, codec, DIRECT, way.loss), way.band) for codec in (way.speaks, way.hears))

    def chain_score(self, way: Way) -> float:
        """The same packets, the same ones lost, through the bare codecs one after the other: no gateway, no network, no
        clock."""
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

    def _keep(self, way: Way, speaker: Speaking, listener: Speaking):
        self.latest[way] = speaker.track.latest
        self._heard[way] = listener.hear()
        for key in [key for key in self._scores if key[0] == way]:
            del self._scores[key]


PASSING_MARGIN = 0.1
TRANSCODED_MARGIN = 0.35
NOISE = 0.1
"""What a score changes by if the same call is made again: a frame of the gateway's begins elsewhere in a packet of the
peer's. The mean of several calls changes by less, as the root of their number says."""


def complaints(laboratory: Laboratory) -> dict[Way, str]:
    """What falls short, and by how much."""
    found = {}
    for way in laboratory.ways():
        score, direct = laboratory.score(way), laboratory.direct_score(way)
        if way.loss is CLEAN and laboratory.has_limit(way):
            margin = PASSING_MARGIN if way.speaks is way.hears else TRANSCODED_MARGIN
            if score < direct - margin:
                found[way] = f"{way}: {score:.2f} is more than {margin} below {direct:.2f}, the direct connection"
    concealed = [way for way in laboratory.ways() if way.loss is not CLEAN and laboratory.has_limit(way)]
    for lossy in LOSSES:
        gains = {way: laboratory.score(way) - laboratory.chain_score(way) for way in concealed if way.loss is lossy}
        mean = statistics.mean(gains.values()) if gains else 0
        for way, gain in gains.items():
            if gain < -NOISE:
                found[way] = (
                    f"{way}: {laboratory.score(way):.2f} is below {laboratory.chain_score(way):.2f}, libopus by itself"
                )
            elif gain < 0 and mean < -NOISE / math.sqrt(len(gains)):
                found[way] = f"{way}: with this loss scores are {-mean:.2f} below libopus by itself on average"
    return found


def table(laboratory: Laboratory) -> str:
    """For docs/performance.md."""
    lines = ["| codecs | band | loss | direct | bare codecs | gateway |", "|---|---|---|---|---|---|"]
    for way in sorted(laboratory.ways(), key=lambda way: LOSSES.index(way.loss)):
        same = way.speaks is way.hears
        codecs = (
            way.speaks.name if same else f"{way.speaks.name} → {'mix → ' if way.through == MIX else ''}{way.hears.name}"
        )
        bare = "" if same else f"{laboratory.chain_score(way):.2f}"
        lines.append(
            f"| {codecs} | {way.band} | {way.loss.name} "
            f"| {laboratory.direct_score(way):.2f} | {bare} | {laboratory.score(way):.2f} |"
        )
    return "\n".join(lines) + "\n"

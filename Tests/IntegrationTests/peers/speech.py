"""Spoken sentences, how well they came through, and peers that say and record them packet by packet."""
import asyncio
import fractions
import tempfile
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy
from aiortc import MediaStreamTrack, RTCPeerConnection
from av import Packet
from pesq import pesq

from . import sound
from .codecs import FRAMES_PER_SECOND, Codec, decode, encode, resample
from .media import MediaPeer

RATE = sound.RATE

# Two voices take turns; the sentences are from the Harvard list (IEEE Recommended Practice for Speech Quality
# Measurements, 1969).
UTTERANCES = [
    ("en-gb+m3", "The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background."),
    ("en-us+f2", "It is easy to tell the depth of a well. Rice is often served in round bowls."),
    ("en-gb+m3", "The box was thrown beside the parked truck. The hogs were fed chopped corn and garbage."),
    ("en-us+f2", "A large size in stockings is hard to sell. The boy was there when the sun rose."),
]
PAUSE = RATE * 3 // 5


class Speech:
    """Some utterances with pauses around them: 16 bit, mono, 48 kHz."""

    def __init__(self, count: int):
        pause, parts, at = numpy.zeros(PAUSE, numpy.int16), [], 0
        self.utterances: list[slice] = []
        for voice, text in UTTERANCES[:count]:
            spoken = _spoken(voice, text)
            self.utterances.append(slice(at + PAUSE, at + PAUSE + len(spoken)))
            parts += [pause, spoken]
            at += PAUSE + len(spoken)
        self.samples = numpy.concatenate([*parts, pause])

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE

    def payloads(self, codec: Codec, expected_loss: int) -> list[bytes]:
        return encode(resample(self.samples, RATE, codec.rate), codec, expected_loss)

    def scores(self, heard: numpy.ndarray, rate: int, band: str) -> list[float]:
        """MOS-LQO of each utterance but the first, in which buffers find their depth: ITU-T P.862.2 for `wb`, P.862.1
        for `nb`."""
        wanted = {"wb": 16_000, "nb": 8_000}[band]
        original, degraded = resample(self.samples, RATE, wanted), resample(heard, rate, wanted)
        begin = _delay(original, degraded)
        scores = []
        for part in self.utterances[1:]:
            # With half of the pauses around it. How long a packet waits may have changed on the way: every utterance is
            # found anew.
            start, stop = ((part.start - PAUSE // 2) * wanted // RATE, (part.stop + PAUSE // 2) * wanted // RATE)
            reference = original[start:stop]
            margin = wanted // 2
            around = _cut(degraded, start + begin - margin, stop + begin + margin)
            shift = _delay(reference, around)
            scores.append(_pesq(reference, _cut(around, shift, shift + len(reference)), wanted, band))
        return scores

    def likeness(self, heard: numpy.ndarray, rate: int) -> float:
        """How like the speech what was heard is, 0 … 1, whoever stretches its pauses: the median over pieces of 0.2 s,
        each found where its correlation with what was heard is strongest. Of other speech it is below 0.5.
        """
        original, degraded = (
            resample(each, given, 8_000).astype(numpy.float64) for each, given in ((self.samples, RATE), (heard, rate))
        )
        length = 8_000 // 5
        pieces = original[: len(original) // length * length].reshape(-1, length)
        powers = numpy.sum(pieces**2, axis=1)
        spoken = powers > powers.mean() / 4
        energy = numpy.concatenate([[0], numpy.cumsum(degraded**2)])
        around = numpy.maximum(energy[length:] - energy[:-length], 1)
        best = []
        for piece, power in zip(pieces[spoken], powers[spoken], strict=True):
            size = 1 << (len(degraded) + length).bit_length()
            found = numpy.fft.irfft(numpy.fft.rfft(degraded, size) * numpy.conj(numpy.fft.rfft(piece, size)), size)[
                : len(around)
            ]
            best.append(numpy.max(found / numpy.sqrt(around * power)))
        return float(numpy.median(best))


def _spoken(voice: str, text: str) -> numpy.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        with wave.open(str(sound.speech(Path(folder) / "speech.wav", text, voice))) as file:
            samples = numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16).astype(numpy.float64)
    # 26 dB below the loudest there can be (ITU-T P.56 asks for a level, and codecs are tested at this one).
    level = 32_768 * 10 ** (-26 / 20) / numpy.sqrt(numpy.mean(samples**2))
    return numpy.clip(samples * level, -32_768, 32_767).astype(numpy.int16)


def _pesq(reference: numpy.ndarray, heard: numpy.ndarray, rate: int, band: str) -> float:
    # Of silence the algorithm makes no number: it is as bad as it can be.
    return float(pesq(rate, reference, heard, band)) if numpy.any(heard) else 1.0


def _delay(reference: numpy.ndarray, heard: numpy.ndarray) -> int:
    """Where in `heard` the reference begins: the peak of their cross-correlation."""
    size = 1 << (len(reference) + len(heard)).bit_length()
    spectrum = numpy.fft.rfft(heard, size) * numpy.conj(numpy.fft.rfft(reference, size))
    peak = int(numpy.argmax(numpy.fft.irfft(spectrum, size)))
    return peak if peak < size // 2 else peak - size


def _cut(samples: numpy.ndarray, start: int, stop: int) -> numpy.ndarray:
    """With silence where there are no samples."""
    padded = numpy.pad(samples[max(0, start) : max(0, stop)], (max(0, -start), 0))
    return numpy.pad(padded, (0, stop - start - len(padded)))


PAUSE_OF_A_TRACK = 0.2
"""Seconds."""


class PacketTrack(MediaStreamTrack):
    """Sends silence until it is told to speak, then these payloads, then silence again; one every 20 ms."""

    kind = "audio"

    def __init__(self, codec: Codec, payloads: list[bytes]):
        super().__init__()
        self._codec, self._payloads = codec, payloads
        self._silence = encode(numpy.zeros(codec.frame * 2, numpy.int16), codec)[-1]
        self._sent, self._began = 0, 0.0
        self._first: int | None = None
        self.latest = 0.0
        """Seconds by which the latest packet of what it says left too late: those of this process, not of anybody who
        relays it."""
        self.spoken = asyncio.Event()

    def speak(self):
        self._first = self._sent

    def position(self, number: int) -> int | None:
        """Which of the payloads the packet is, counted from the first of the track; None for silence."""
        return (
            number - self._first
            if self._first is not None and 0 <= number - self._first < len(self._payloads)
            else None
        )

    async def recv(self) -> Packet:
        clock = asyncio.get_running_loop()
        self._began = self._began or clock.time()
        due = self._began + self._sent / FRAMES_PER_SECOND
        if self._first is None and clock.time() - due > PAUSE_OF_A_TRACK:
            # Nobody took it for a while: it goes on with the present instead of catching up.
            self._sent = int((clock.time() - self._began) * FRAMES_PER_SECOND)
            due = self._began + self._sent / FRAMES_PER_SECOND
        await asyncio.sleep(max(0, due - clock.time()))
        position = self.position(self._sent)
        if position is not None:
            self.latest = max(self.latest, clock.time() - due)
        packet = Packet(self._silence if position is None else self._payloads[position])
        packet.pts, packet.time_base = self._sent * self._codec.ticks, fractions.Fraction(1, self._codec.clock_rate)
        self._sent += 1
        if self._first is not None and self._sent >= self._first + len(self._payloads):
            self.spoken.set()
        return packet


@dataclass(frozen=True)
class Received:
    timestamp: int
    payload: bytes


class Speaking:
    """A media end that says something, losing some of its packets before they are encrypted, and keeps every packet
    that it receives."""

    connection: RTCPeerConnection

    def __init__(self, speech: Speech, codec: Codec, payloads: list[bytes], lost: list[bool], **end):
        """`end`: what the media end behind this one takes besides its track."""
        self.speech, self.spoken_codec, self.lost = speech, codec, lost
        self.track = PacketTrack(codec, payloads)
        self.received: list[Received] = []
        super().__init__(source=self.track, codec=codec.name, **end)
        self.connection.on("track", self._tap)

    async def speak(self):
        """From now to the end, and until the last of it must have arrived."""
        self._lose()
        self.received.clear()
        self.track.speak()
        async with asyncio.timeout(self.speech.seconds + 30):
            await self.track.spoken.wait()
        await asyncio.sleep(1)

    def hear(self) -> numpy.ndarray:
        """All that was received since the peers began to speak, each packet where its timestamp puts it."""
        packets: list[bytes | None] = []
        first = None
        for packet in sorted(
            self.received, key=lambda each: _unwrapped(each.timestamp, self.received[0].timestamp, 32)
        ):
            offset = _unwrapped(packet.timestamp, self.received[0].timestamp, 32)
            first = offset if first is None else first
            place = (offset - first) // self.spoken_codec.ticks
            packets += [None] * (place - len(packets) + 1)
            packets[place] = packet.payload
        return decode(packets, self.spoken_codec)

    def _lose(self):
        """aiortc hands every packet to its DTLS transport; those to be lost go no further."""
        transport = self.connection.getSenders()[0].transport
        send, first_of_speech = transport._send_rtp, self.track

        async def lossy(data: bytes):
            position = first_of_speech.position(first_of_speech._sent - 1)
            is_rtcp = 192 <= data[1] <= 223
            if is_rtcp or position is None or not self.lost[position]:
                await send(data)

        transport._send_rtp = lossy

    def _tap(self, track: MediaStreamTrack):
        receiver = next(each for each in self.connection.getReceivers() if each.track is track)

        async def tapped(packet, arrival_time_ms: int):
            # Not decoded as well: that would take the time in which others have to send.
            self.received.append(Received(packet.timestamp, packet.payload))

        receiver._handle_rtp_packet = tapped


class SpeakingPeer(Speaking, MediaPeer):
    """One that is told what to do step by step."""


def _unwrapped(number: int, near: int, bits: int) -> int:
    """Its distance to a number not half the circle away."""
    return ((number - near + (1 << bits - 1)) % (1 << bits)) - (1 << bits - 1)

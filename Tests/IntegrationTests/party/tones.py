"""One tone per person, and the means to tell who can be heard right now."""
import asyncio
import fractions
import functools
import time
from collections import deque
from collections.abc import Callable, Mapping

import numpy
from aiortc import MediaStreamTrack
from av import AudioFrame, CodecContext, Packet

from peers.sound import RATE, sine

# Hertz; above every note of the gateway's music and its octave, far apart, and none where two others would distort to.
TONES = {
    "alice": 1_150,
    "bob": 1_334,
    "carol": 1_547,
    "dave": 1_795,
    "erin": 2_082,
    "frank": 2_415,
    "grace": 2_801,
    "heidi": 3_250,
}
MUSIC = "music"
"""What `hears` calls sound below the tones: music on hold, or a tone of the network."""

FRAME = RATE // 50
WINDOW = 0.5
_LOWEST = 1_100
_LONGEST = int(WINDOW * RATE)
_FAINT = 250  # amplitude of a tone in 16 bit; senders use 8,000


class PausableTone(MediaStreamTrack):
    """A tone, or one on the left and one on the right, in real time, encoded beforehand.

    After a pause it goes on with the present instead of catching up."""

    kind = "audio"

    def __init__(self, *frequencies: int):
        super().__init__()
        self._packets, self._position, self._began = encoded(*frequencies), 0, None

    async def recv(self) -> Packet:
        clock = asyncio.get_running_loop()
        self._began = self._began or clock.time()
        ahead = self._began + self._position / RATE - clock.time()
        if ahead > 0:
            await asyncio.sleep(ahead)
        elif ahead < -0.2:
            self._position += int(-ahead * RATE) // FRAME * FRAME
        packet = Packet(self._packets[self._position // FRAME % len(self._packets)])
        packet.pts, packet.time_base = self._position, fractions.Fraction(1, RATE)
        self._position += FRAME
        return packet


@functools.cache
def encoded(*frequencies: int) -> list[bytes]:
    """One second of a tone, or of one on each side, in Opus, to be played in a loop: all who play it share it, and it
    costs nothing but its sending."""
    encoder = CodecContext.create("libopus", "w")
    layout = "mono" if len(frequencies) == 1 else "stereo"
    encoder.bit_rate, encoder.format, encoder.layout = 32_000 * len(frequencies) ** 2, "s16", layout
    encoder.sample_rate, encoder.time_base = RATE, fractions.Fraction(1, RATE)
    packets = []
    for start in range(0, 2 * RATE, FRAME):
        frame = AudioFrame(format="s16", layout=layout, samples=FRAME)
        frame.planes[0].update(numpy.stack([sine(each, start, FRAME) for each in frequencies], axis=1).tobytes())
        frame.sample_rate, frame.pts, frame.time_base = RATE, start, fractions.Fraction(1, RATE)
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    return packets[-RATE // FRAME :]  # the beginning is not yet steady


class Ear:
    """Keeps the last half second of what arrived."""

    def __init__(self):
        self._pieces: deque[tuple[float, numpy.ndarray]] = deque()

    def take(self, samples: numpy.ndarray):
        self._pieces.append((time.monotonic(), samples))
        self._forget()

    def hears(self) -> set[str]:
        """Names out of `TONES`, and `MUSIC`; nothing if sound came for less than half of the time."""
        samples = self._latest()
        return heard_in(samples) if len(samples) > WINDOW * RATE / 2 else set()

    def loudness(self, frequency: int) -> float:
        """Amplitude of a tone, in 16 bit."""
        samples = self._latest()
        return amplitudes(samples, (frequency,))[0] if len(samples) else 0.0

    def _latest(self) -> numpy.ndarray:
        self._forget()
        pieces = [samples for _, samples in self._pieces]
        return numpy.concatenate(pieces) if pieces else numpy.zeros(0)

    def _forget(self):
        while self._pieces and self._pieces[0][0] < time.monotonic() - WINDOW:
            self._pieces.popleft()


class KeepingEar(Ear):
    """Keeps everything."""

    def __init__(self):
        super().__init__()
        self._all: list[numpy.ndarray] = []

    def take(self, samples: numpy.ndarray):
        super().take(samples)
        self._all.append(samples)

    def milliseconds(self, frequency: float) -> int:
        """For how long this tone was heard so far, whatever was between, to a frame at each of its ends."""
        samples = numpy.concatenate([numpy.zeros(0), *self._all])
        frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
        wave = numpy.exp(-2j * numpy.pi * frequency / RATE * numpy.arange(FRAME))
        levels = abs(frames @ wave)
        return 20 * int(numpy.count_nonzero(levels > levels.max(initial=0) / 2))


# Everybody's ears are asked many times a second in the one process that plays all tones as well: what can be kept is
# kept.


def amplitudes(samples: numpy.ndarray, frequencies: tuple[int, ...]) -> numpy.ndarray:
    """Of tones in the last half second, by Goertzel's algorithm under a Hann window, so that one tone does not leak
    into the next."""
    samples = samples[-_LONGEST:]
    window = hann(len(samples))
    in_phase, quadrature = waves(frequencies)[:, :, : len(samples)] @ (samples * window)
    return 2 * numpy.hypot(in_phase, quadrature) / window.sum()


@functools.cache
def waves(frequencies: tuple[int, ...]) -> numpy.ndarray:
    """Half a second of the cosine and the sine of each frequency."""
    turns = 2 * numpy.pi * numpy.outer(frequencies, numpy.arange(_LONGEST) / RATE)
    return numpy.array([numpy.cos(turns), numpy.sin(turns)], numpy.float32)


@functools.cache
def hann(length: int) -> numpy.ndarray:
    return numpy.hanning(length).astype(numpy.float32)


def heard_in(samples: numpy.ndarray) -> set[str]:
    """In the last half second."""
    samples = samples[-_LONGEST:]
    levels = amplitudes(samples, tuple(TONES.values()))
    enough = max(_FAINT, levels.max() / 20)
    heard = {name for name, level in zip(TONES, levels, strict=True) if level > enough}
    spectrum = numpy.abs(numpy.fft.rfft(samples * hann(len(samples))))
    low = spectrum[: int(_LOWEST * len(samples) / RATE)]
    if 4 * low.max() / len(samples) > enough:
        heard.add(MUSIC)
    return heard


async def hear_now(expected: Mapping, timeout: float = 20, still: float = WINDOW):
    """Waits until each call hears exactly who it should (`{call: {"bob"}}`), and goes on doing so for a while."""
    await perceive(expected, lambda call: call.hears(), "hears", timeout, still)


async def perceive(expected: Mapping, sense: Callable, verb: str, timeout: float, still: float):
    """Waits until `sense` of each call is what is expected of it, and stays so for `still` seconds."""
    end = time.monotonic() + timeout
    since = None
    while True:
        found = {call: sense(call) for call in expected}
        if all(found[call] == set(names) for call, names in expected.items()):
            since = since or time.monotonic()
            if time.monotonic() - since > still:
                return
        else:
            since = None
        assert time.monotonic() < end, "; ".join(
            f"{call} {verb} {sorted(found[call])}, should be {sorted(names)}"
            for call, names in expected.items()
            if found[call] != set(names)
        )
        await asyncio.sleep(0.05)

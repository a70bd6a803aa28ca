"""One tone per person, and the means to tell who can be heard right now."""
import asyncio
import fractions
import time
from collections import deque
from collections.abc import Mapping

import numpy
from aiortc import MediaStreamTrack
from av import AudioFrame

from peers.sound import RATE, sine

# Hertz; above every note of the gateway's music and its octave, far apart, and none where two others would distort to.
TONES = {"alice": 1_150, "bob": 1_334, "carol": 1_547, "dave": 1_795, "erin": 2_082, "frank": 2_415, "grace": 2_801, "heidi": 3_250}
MUSIC = "music"
"""What `hears` calls sound below the tones: music on hold, or a tone of the network."""

FRAME = RATE // 50
WINDOW = 0.5
_LOWEST = 1_100
_FAINT = 250  # amplitude of a tone in 16 bit; senders use 8,000


class PausableTone(MediaStreamTrack):
    """A tone in real time. After a pause it goes on with the present instead of catching up."""

    kind = "audio"

    def __init__(self, frequency: float):
        super().__init__()
        self._frequency, self._position, self._began = frequency, 0, None

    async def recv(self) -> AudioFrame:
        clock = asyncio.get_running_loop()
        self._began = self._began or clock.time()
        ahead = self._began + self._position / RATE - clock.time()
        if ahead > 0:
            await asyncio.sleep(ahead)
        elif ahead < -0.2:
            self._position += int(-ahead * RATE) // FRAME * FRAME
        frame = AudioFrame(format="s16", layout="mono", samples=FRAME)
        frame.planes[0].update(sine(self._frequency, self._position, FRAME).tobytes())
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._position, fractions.Fraction(1, RATE)
        self._position += FRAME
        return frame


class Ear:
    """Keeps the last half second of what arrived."""

    def __init__(self):
        self._pieces: deque[tuple[float, numpy.ndarray]] = deque()

    def take(self, samples: numpy.ndarray):
        self._pieces.append((time.monotonic(), samples))
        self._forget()

    def hears(self) -> set[str]:
        """Names out of `TONES`, and `MUSIC`; nothing if sound came for less than half of the time."""
        self._forget()
        pieces = [samples for _, samples in self._pieces]
        samples = numpy.concatenate(pieces) if pieces else numpy.zeros(0)
        return heard_in(samples) if len(samples) > WINDOW * RATE / 2 else set()

    def loudness(self, frequency: float) -> float:
        """Amplitude of a tone, in 16 bit."""
        self._forget()
        pieces = [samples for _, samples in self._pieces]
        return amplitude(numpy.concatenate(pieces), frequency) if pieces else 0.0

    def _forget(self):
        while self._pieces and self._pieces[0][0] < time.monotonic() - WINDOW:
            self._pieces.popleft()


def amplitude(samples: numpy.ndarray, frequency: float) -> float:
    """Goertzel's algorithm under a Hann window, so that one tone does not leak into the next."""
    window = numpy.hanning(len(samples))
    phase = numpy.exp(-2j * numpy.pi * frequency / RATE * numpy.arange(len(samples)))
    return float(2 * abs(numpy.dot(samples * window, phase)) / window.sum())


def heard_in(samples: numpy.ndarray) -> set[str]:
    levels = {name: amplitude(samples, frequency) for name, frequency in TONES.items()}
    loudest = max(levels.values())
    heard = {name for name, level in levels.items() if level > max(_FAINT, loudest / 20)}
    spectrum = numpy.abs(numpy.fft.rfft(samples * numpy.hanning(len(samples))))
    low = spectrum[: int(_LOWEST * len(samples) / RATE)]
    if 4 * low.max() / len(samples) > max(_FAINT, loudest / 20):
        heard.add(MUSIC)
    return heard


async def hear_now(expected: Mapping, timeout: float = 20, still: float = WINDOW):
    """Waits until each call hears exactly who it should (`{call: {"bob"}}`), and goes on doing so for a while."""
    end = time.monotonic() + timeout
    since = None
    while True:
        heard = {call: call.hears() for call in expected}
        if all(heard[call] == set(names) for call, names in expected.items()):
            since = since or time.monotonic()
            if time.monotonic() - since > still:
                return
        else:
            since = None
        assert time.monotonic() < end, "; ".join(
            f"{call} hears {sorted(heard[call])}, should hear {sorted(names)}" for call, names in expected.items() if heard[call] != set(names)
        )
        await asyncio.sleep(0.05)

"""Speech and tones to play, and the means to recognise them again."""
import math
import subprocess
import wave
from fractions import Fraction
from pathlib import Path

import av
import numpy

RATE = 48_000


def speech(path: Path, text: str, voice: str = "en") -> Path:
    """Spoken text as a 16-bit mono WAV, the form Chromium takes for a microphone."""
    raw = path.with_suffix(".espeak.wav")
    subprocess.run(["espeak-ng", "-v", voice, "-w", raw, text], check=True, capture_output=True)
    subprocess.run(["sox", raw, "-r", str(RATE), "-c", "1", "-b", "16", path], check=True, capture_output=True)
    raw.unlink()
    return path


def tone(path: Path, frequency: float, seconds: float = 2) -> Path:
    """A sine that can be played in a loop without a click."""
    periods = round(seconds * frequency)
    samples = sine(frequency, 0, round(periods / frequency * RATE))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return path


def mp3(
    path: Path | str, *frequencies: float, seconds: float = 2, rate: int = 44_100, bits_per_second: int = 32_000
) -> Path:
    """A sine, or one on the left and one on the right, as LAME encodes it, with an average bit rate. It can be played
    in a loop like `tone`, since the file says what the encoder has put in front and behind."""
    layout = "mono" if len(frequencies) == 1 else "stereo"
    count = round(round(seconds * frequencies[0]) / frequencies[0] * rate)
    frame = av.AudioFrame(format="s16p", layout=layout, samples=count)
    for plane, frequency in zip(frame.planes, frequencies, strict=True):
        plane.update(sine(frequency, 0, count, rate).tobytes())
    frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
    with av.open(str(path), "w", format="mp3") as file:
        stream = file.add_stream("libmp3lame", rate=rate, options={"abr": "1"})
        encoder = stream.codec_context
        encoder.bit_rate, encoder.format, encoder.layout = bits_per_second, "s16p", layout
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            file.mux(packet)
    return Path(path)


def sine(frequency: float, start: int, count: int, rate: int = RATE) -> numpy.ndarray:
    """16-bit samples `start` … `start + count` of a tone."""
    times = (start + numpy.arange(count)) / rate
    return (8_000 * numpy.sin(2 * math.pi * frequency * times)).astype(numpy.int16)


def tone_share(samples: numpy.ndarray, frequency: float, rate: int = RATE) -> float:
    """How much of the power is this tone, 0 … 1: Goertzel's algorithm over pieces of 50 ms, the median of them."""
    length = rate // 20
    shares = []
    for start in range(0, len(samples) - length + 1, length):
        piece = samples[start : start + length].astype(numpy.float64)
        power = float(numpy.dot(piece, piece))
        if power < length:  # digital silence
            shares.append(0.0)
            continue
        phase = numpy.exp(-2j * math.pi * frequency / rate * numpy.arange(length))
        shares.append(2 * abs(numpy.dot(piece, phase)) ** 2 / (length * power))
    return float(numpy.median(shares)) if shares else 0.0


class Pauses:
    """Listens for a tone, piece after piece of one sound."""

    _FRAME = RATE // 50

    def __init__(self, frequency: float, faintest: float = 500):
        """`faintest`: the least amplitude at which it counts as heard, in 16 bit."""
        self._wave = numpy.exp(-2j * math.pi * frequency / RATE * numpy.arange(self._FRAME))
        self._faintest, self._rest = faintest, numpy.zeros(0, numpy.int16)
        self._frames = self._longest = self._latest = 0

    @property
    def seconds(self) -> float:
        """Of sound so far."""
        return self._frames * self._FRAME / RATE

    @property
    def longest(self) -> float:
        """Seconds of the sound in which the tone was missing without a break, to 20 ms."""
        return self._longest * self._FRAME / RATE

    def take(self, samples: numpy.ndarray):
        """16 bit mono at `RATE`."""
        samples = numpy.concatenate([self._rest, samples])
        whole = len(samples) // self._FRAME
        self._rest = samples[whole * self._FRAME :]
        for amplitude in 2 * abs(samples[: whole * self._FRAME].reshape(whole, self._FRAME) @ self._wave) / self._FRAME:
            self._frames += 1
            self._latest = 0 if amplitude > self._faintest else self._latest + 1
            self._longest = max(self._longest, self._latest)

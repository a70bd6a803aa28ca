"""Speech into payloads and back, apart from any call: what a phone's codecs do, in one go.

Opus is the system's libopus, the library that the gateway is linked to, so that its concealment can be compared with
the bare one.
"""
import ctypes
import ctypes.util
from dataclasses import dataclass

import numpy
from av import AudioFrame, CodecContext, Packet

FRAMES_PER_SECOND = 50


@dataclass(frozen=True)
class Codec:
    name: str
    """As aiortc and SDP spell it."""
    rate: int
    """Of its samples."""
    clock_rate: int
    """Of its RTP timestamps; that of G.722 is 8 kHz (RFC 3551 §4.5.2)."""
    library_name: str | None = None

    @property
    def ticks(self) -> int:
        """RTP timestamps per frame of 20 ms."""
        return self.clock_rate // FRAMES_PER_SECOND

    @property
    def frame(self) -> int:
        """Samples per frame."""
        return self.rate // FRAMES_PER_SECOND


OPUS = Codec("opus", 48_000, 48_000)
PCMU = Codec("PCMU", 8_000, 8_000, "pcm_mulaw")
PCMA = Codec("PCMA", 8_000, 8_000, "pcm_alaw")
G722 = Codec("G722", 16_000, 8_000, "g722")


def encode(samples: numpy.ndarray, codec: Codec, expected_loss: int = 0) -> list[bytes]:
    """The payloads of 16-bit samples at the codec's rate, 20 ms each; what does not fill the last one is dropped.

    `expected_loss`, percent: what receivers report; Opus adds redundancy for it.
    """
    frames = [samples[at : at + codec.frame] for at in range(0, len(samples) - codec.frame + 1, codec.frame)]
    if codec is OPUS:
        encoder = OpusEncoder(expected_loss)
        return [encoder.encode(frame) for frame in frames]
    context = CodecContext.create(codec.library_name, "w")
    context.format, context.layout, context.sample_rate = "s16", "mono", codec.rate
    payloads = []
    for frame in frames:
        packet = AudioFrame.from_ndarray(frame.reshape(1, -1), format="s16", layout="mono")
        packet.sample_rate = codec.rate
        payloads += [bytes(each) for each in context.encode(packet)]
    return payloads


def decode(payloads: list[bytes | None], codec: Codec) -> numpy.ndarray:
    """16-bit samples at the codec's rate. `None` is a packet that was lost.

    Opus: the redundancy in the packet after it if that one has come, libopus' own concealment otherwise. The others are
    silent.
    """
    if codec is OPUS:
        return OpusDecoder().decode_all(payloads)
    context = CodecContext.create(codec.library_name, "r")
    context.format, context.layout, context.sample_rate = "s16", "mono", codec.rate
    heard = []
    for payload in payloads:
        if payload is None:
            heard.append(numpy.zeros(codec.frame, numpy.int16))
        else:
            heard += [frame.to_ndarray().reshape(-1) for frame in context.decode(Packet(payload))]
    return numpy.concatenate(heard)


def resample(samples: numpy.ndarray, rate: int, wanted: int) -> numpy.ndarray:
    """All of it at once, by its spectrum: the steepest filter there is."""
    if rate == wanted:
        return samples
    count = len(samples) * wanted // rate
    spectrum = numpy.fft.rfft(samples.astype(numpy.float64))
    kept = numpy.zeros(count // 2 + 1, complex)
    common = min(len(spectrum), len(kept))
    kept[:common] = spectrum[:common]
    return numpy.clip(numpy.fft.irfft(kept, count) * (count / len(samples)), -32_768, 32_767).astype(numpy.int16)


library = ctypes.CDLL(ctypes.util.find_library("opus"))
library.opus_encoder_create.restype = library.opus_decoder_create.restype = ctypes.c_void_p
library.opus_encoder_destroy.argtypes = library.opus_decoder_destroy.argtypes = [ctypes.c_void_p]
library.opus_encode.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int32]
library.opus_decode.argtypes = [
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_int,
]


class OpusEncoder:
    """Set as a browser sets its own for speech, mono with in-band FEC, but at 64 kbit/s: espeak-ng is hard to code."""

    def __init__(self, expected_loss: int):
        error = ctypes.c_int()
        self._state = library.opus_encoder_create(OPUS.rate, 1, 2048, ctypes.byref(error))
        assert error.value == 0
        settings = {4002: 64_000, 4012: 1, 4014: expected_loss}  # bit rate, in-band FEC, expected loss (opus_defines.h)
        for request, value in settings.items():
            assert library.opus_encoder_ctl(ctypes.c_void_p(self._state), request, ctypes.c_int(value)) == 0

    def __del__(self):
        library.opus_encoder_destroy(self._state)

    def encode(self, frame: numpy.ndarray) -> bytes:
        payload = ctypes.create_string_buffer(1_500)
        frame = numpy.ascontiguousarray(frame, numpy.int16)
        count = library.opus_encode(self._state, frame.ctypes.data, len(frame), payload, len(payload))
        assert count > 0
        return payload.raw[:count]


class OpusDecoder:
    def __init__(self):
        error = ctypes.c_int()
        self._state = library.opus_decoder_create(OPUS.rate, 1, ctypes.byref(error))
        assert error.value == 0

    def __del__(self):
        library.opus_decoder_destroy(self._state)

    def decode_all(self, payloads: list[bytes | None]) -> numpy.ndarray:
        heard = []
        for payload, following in zip(payloads, [*payloads[1:], None]):
            if payload is not None:
                heard.append(self._decode(payload, False))
            elif following is not None:
                heard.append(self._decode(following, True))
            else:
                heard.append(self._decode(None, False))
        return numpy.concatenate(heard)

    def _decode(self, payload: bytes | None, recovers: bool) -> numpy.ndarray:
        samples = numpy.zeros(OPUS.frame, numpy.int16)
        count = library.opus_decode(
            self._state, payload, len(payload or b""), samples.ctypes.data, OPUS.frame, recovers
        )
        assert count == OPUS.frame, count
        return samples

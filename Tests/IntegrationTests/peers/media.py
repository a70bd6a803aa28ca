"""A media end of its own: aiortc, which shares no code with a browser or with the gateway."""
import asyncio
import fractions

import aioice.ice
import numpy
from aiortc import MediaStreamTrack, RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame, AudioResampler

from .sdp import with_stereo
from .sound import RATE, sine

FRAME = RATE // 50


def use_loopback_where_it_is_all_there_is():
    """aioice leaves loopback out, which is right unless the host has nothing else."""
    find = aioice.ice.get_host_addresses

    def addresses(use_ipv4: bool, use_ipv6: bool) -> list[str]:
        return find(use_ipv4, use_ipv6) or ["127.0.0.1"]

    aioice.ice.get_host_addresses = addresses


use_loopback_where_it_is_all_there_is()


class ToneTrack(MediaStreamTrack):
    """Plays a tone in real time."""

    kind = "audio"

    def __init__(self, frequency: float):
        super().__init__()
        self._frequency, self._sent, self._began = frequency, 0, None

    async def recv(self) -> AudioFrame:
        clock = asyncio.get_running_loop()
        self._began = self._began or clock.time()
        await asyncio.sleep(max(0, self._began + self._sent / RATE - clock.time()))
        frame = AudioFrame(format="s16", layout="mono", samples=FRAME)
        frame.planes[0].update(sine(self._frequency, self._sent, FRAME).tobytes())
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._sent, fractions.Fraction(1, RATE)
        self._sent += FRAME
        return frame


class MediaPeer:
    """Plays a tone or another track, keeps what it hears in `heard` (mono, 16 bit, 48 kHz)."""

    def __init__(self, source: float | MediaStreamTrack, codec: str | None = None, stereo: bool = False):
        """`codec`: the only one it speaks, such as `PCMU`. `stereo`: it asks for two channels of Opus, and keeps them
        in `sides`."""
        self.codec, self.stereo = codec, stereo
        self.sides = numpy.zeros((0, 2), numpy.int16)
        self.connection = RTCPeerConnection()
        self.heard = numpy.zeros(0, numpy.int16)
        self.connection.addTrack(source if isinstance(source, MediaStreamTrack) else ToneTrack(source))
        self._tasks: list[asyncio.Task] = []
        self.connection.on("track", lambda track: self._tasks.append(asyncio.ensure_future(self._record(track))))

    async def offer(self) -> str:
        """With its candidates: aiortc gathers them before it returns."""
        self._choose_codec()
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def accept(self, answer: str):
        await self.connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    async def answer(self, offer: str) -> str:
        self._choose_codec()
        await self.connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        answer = self.connection.localDescription.sdp
        # RFC 7587 §7; aiortc decodes to two channels, and does not say so.
        return with_stereo(answer, "stereo=1") if self.stereo else answer

    def _choose_codec(self):
        if self.codec:
            known = RTCRtpSender.getCapabilities("audio").codecs
            for transceiver in self.connection.getTransceivers():
                transceiver.setCodecPreferences([each for each in known if each.mimeType == f"audio/{self.codec}"])

    async def connected(self, timeout: float = 30):
        async with asyncio.timeout(timeout):
            while self.connection.connectionState != "connected":
                assert self.connection.connectionState != "failed", "aiortc found no media path"
                await asyncio.sleep(0.05)

    async def listen(self, seconds: float, timeout: float = 30) -> numpy.ndarray:
        """The next `seconds` of sound."""
        start = len(self.heard)
        async with asyncio.timeout(timeout):
            while len(self.heard) < start + seconds * RATE:
                await asyncio.sleep(0.05)
        return self.heard[start:]

    async def close(self):
        await self.connection.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _record(self, track: MediaStreamTrack):
        mono = AudioResampler(format="s16", layout="mono", rate=RATE)
        both = AudioResampler(format="s16", layout="stereo", rate=RATE)
        while track.kind == "audio":
            try:
                frame = await track.recv()
            except MediaStreamError:  # the connection was closed
                return
            for part in both.resample(frame) if self.stereo else ():
                self.sides = numpy.concatenate([self.sides, part.to_ndarray().reshape(-1, 2)])
            for part in mono.resample(frame):
                self.heard = numpy.concatenate([self.heard, part.to_ndarray().reshape(-1)])

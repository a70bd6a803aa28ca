"""libwebrtc, the engine inside Chrome, as a Python module (PyPI `wrtc`): the media end of a party."""
import asyncio
from collections.abc import Callable

import numpy
import webrtc

from party.colours import HEIGHT, WIDTH, Eye, picture
from party.colours import RATE as PICTURES
from party.dialects import INACTIVE
from party.digits import DigitEar
from party.tones import FRAME, TONES, Ear

from .detour import Detour
from .frames import COUNTED
from .sound import RATE, sine

webrtc.allow_loopback()


class Wrtc:
    """Has no H.264. Hears DTMF digits as tones, because its jitter buffer plays them (RFC 4733 §2.1)."""

    def __init__(self, name: str, video: str | None = None, audio: str | None = None, detour: Detour | None = None):
        """`video`, `audio`: the only codec it speaks, such as `AV1` or `PCMU`; `detour`: what stands between it and the
        gateway."""
        self._detour = detour
        self.connection = webrtc.RTCPeerConnection()
        self.wants_new_path = False
        """Whether the next offer restarts ICE."""
        self.size = WIDTH, HEIGHT
        """Of the pictures it shows; another one begins with a key frame."""
        self._name, self._codecs = name, {"audio": audio, "video": video}
        self._ear, self._eye, self._digit_ear = Ear(), Eye(), DigitEar()
        self._tasks: list[asyncio.Task] = []
        self._transceivers: dict[str, webrtc.RTCRtpTransceiver] = {}
        self._received: set[str] = set()
        self.connection.on("track", lambda event: self._meet(event.track))

    # What a call asks of its media

    @property
    def kinds(self) -> list[str]:
        return list(self._transceivers)

    @property
    def direction(self) -> dict[str, str]:
        """As agreed."""
        agreed = {kind: each.current_direction for kind, each in self._transceivers.items()}
        return {kind: agreed[kind].value if agreed.get(kind) else INACTIVE for kind in ("audio", "video")}

    def hears(self) -> set[str]:
        return self._ear.hears()

    def sees(self) -> set[str]:
        return self._eye.sees()

    def loudness(self, frequency: float) -> float:
        return self._ear.loudness(frequency)

    @property
    def digits(self) -> list[str]:
        return self._digit_ear.digits

    @property
    def pictures(self) -> int:
        """How many have been decoded."""
        return self._eye.count

    async def frames(self) -> dict[str, int]:
        """What `peers/frames.py` counts."""
        total = await self._totals()
        return {key: total(*place) for key, place in COUNTED.items()}

    async def freezes(self) -> dict[str, float]:
        """Of what it sees: how many there were (W3C webrtc-stats), and their milliseconds."""
        total = await self._totals()
        frozen = 1_000 * total("inbound-rtp", "totalFreezesDuration")
        return {"freezes": total("inbound-rtp", "freezeCount"), "frozen": frozen}

    async def received(self) -> dict[str, int]:
        """Of the sound that it hears: the packets that came, and those that were lost on the way to it."""
        streams = (await self.connection.get_stats()).values()
        (heard,) = (each for each in streams if each.type == "inbound-rtp" and each.kind == "audio")
        return {"packets": heard.packets_received, "lost": heard.packets_lost}

    async def _totals(self) -> Callable[[str, str], float]:
        """By type and member, the sum over the streams of video."""
        streams = [
            each for each in (await self.connection.get_stats()).values() if getattr(each, "kind", None) == "video"
        ]
        return lambda kind, name: sum(getattr(each, name, None) or 0 for each in streams if each.type == kind)

    async def press(self, digits: str):
        self._transceivers["audio"].sender.dtmf.insert_dtmf(digits, 400, 100)

    async def offer(self, wishes: dict[str, str]) -> str:
        for kind, direction in wishes.items():
            if kind not in self._transceivers:
                init = webrtc.RTCRtpTransceiverInit(direction=direction)
                self._adopt(kind, self.connection.add_transceiver(self._source(kind), init))
            self._transceivers[kind].direction = direction
        if self.wants_new_path:
            self.connection.restart_ice()
            self.wants_new_path = False
        await self.connection.set_local_description(await self.connection.create_offer())
        return await self._described()

    async def accept(self, answer: str, provisional: bool = False):
        """An answer that comes once more, because its offer was sent once more, finds nothing to be answered."""
        if self.connection.signaling_state != "stable":
            await self._take("pranswer" if provisional else "answer", answer)

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        await self._take("offer", offer)
        for transceiver in self.connection.get_transceivers():
            kind = transceiver.receiver.track.kind
            if kind not in self._transceivers and not transceiver.stopped:
                self._adopt(kind, transceiver)
                await transceiver.sender.replace_track(self._source(kind))
        for kind, transceiver in self._transceivers.items():
            transceiver.direction = wishes.get(kind, INACTIVE)
        await self.connection.set_local_description(await self._make_answer())
        return await self._described()

    async def connected(self, timeout: float = 30):
        async with asyncio.timeout(timeout):
            while self.connection.connection_state != "connected":
                assert self.connection.connection_state != "failed", "libwebrtc found no media path"
                await asyncio.sleep(0.02)

    async def close(self):
        self.connection.close()
        for task in self._tasks:
            task.cancel()
        for failure in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(failure, Exception):
                raise failure

    # Descriptions

    async def _take(self, kind: str, sdp: str):
        sdp = self._detour.leads(sdp) if self._detour else sdp
        await self.connection.set_remote_description(webrtc.RTCSessionDescriptionInit(type=kind, sdp=sdp))

    async def _make_answer(self) -> webrtc.RTCSessionDescriptionInit:
        return await self.connection.create_answer()

    async def _described(self) -> str:
        """With all candidates."""
        async with asyncio.timeout(20):
            while self.connection.ice_gathering_state != "complete":
                await asyncio.sleep(0.01)
        return self.connection.local_description.sdp

    def _adopt(self, kind: str, transceiver: webrtc.RTCRtpTransceiver):
        self._transceivers[kind] = transceiver
        if wanted := self._codecs[kind]:
            known = webrtc.RTCRtpReceiver.get_capabilities(kind).codecs
            helpers = ("video/rtx", "audio/telephone-event")
            chosen = [each for each in known if each.mime_type in (f"{kind}/{wanted}", *helpers)]
            assert any(each.mime_type not in helpers for each in chosen), f"libwebrtc has no {wanted}"
            transceiver.set_codec_preferences(chosen)

    # Media

    def _start(self, work):
        self._tasks.append(asyncio.ensure_future(work))

    def _source(self, kind: str) -> webrtc.MediaStreamTrack:
        track = webrtc.MediaStreamTrackGenerator(kind)
        self._start(self._play(track) if kind == "audio" else self._show(track))
        return track

    async def _play(self, track: webrtc.MediaStreamTrackGenerator):
        """A tone in real time; after a pause it goes on with the present."""
        writer = track.writable.get_writer()
        async for position in ticks(FRAME / RATE):
            samples = sine(TONES[self._name], position * FRAME, FRAME)
            init = webrtc.AudioDataInit(
                format="s16", sample_rate=RATE, number_of_frames=FRAME, number_of_channels=1,
                timestamp=position * 20_000, data=samples.tobytes(),
            )  # fmt: skip
            await writer.write(webrtc.AudioData(init))

    async def _show(self, track: webrtc.MediaStreamTrackGenerator):
        writer = track.writable.get_writer()
        async for number in ticks(1 / PICTURES):
            width, height = self.size
            init = webrtc.VideoFrameBufferInit(
                format="I420", coded_width=width, coded_height=height, timestamp=number * 1_000_000 // PICTURES
            )
            await writer.write(webrtc.VideoFrame(picture(self._name, number, width, height), init))

    def _meet(self, track: webrtc.MediaStreamTrack):
        """The same one is announced again after a hold."""
        if track.id not in self._received:
            self._received.add(track.id)
            self._start(self._receive(track))

    async def _receive(self, track: webrtc.MediaStreamTrack):
        processor = webrtc.MediaStreamTrackProcessor(webrtc.MediaStreamTrackProcessorInit(track))
        async for piece in processor.readable:
            with piece:
                if track.kind == "audio":
                    self._hear(piece)
                else:
                    self._look(piece)

    def _hear(self, data: webrtc.AudioData):
        both = bytearray(2 * data.number_of_frames * data.number_of_channels)
        data.copy_to(both, webrtc.AudioDataCopyToOptions(plane_index=0, format="s16"))
        samples = numpy.frombuffer(both, numpy.int16).reshape(-1, data.number_of_channels)[:, 0]
        # G.711 comes with 8 kHz. What repetition adds lies above all tones.
        self._listen(numpy.repeat(samples, int(RATE // data.sample_rate)))

    def _listen(self, samples: numpy.ndarray):
        self._ear.take(samples)
        self._digit_ear.take(samples)

    def _look(self, frame: webrtc.VideoFrame):
        planes = bytearray(frame.allocation_size())
        frame.copy_to(planes)
        self._eye.take_planes(bytes(planes), frame.coded_width, frame.coded_height)


async def ticks(interval: float):
    """Counts in real time; what was slept through is left out."""
    clock = asyncio.get_running_loop()
    began, number = clock.time(), 0
    while True:
        yield number
        number = max(number + 1, int((clock.time() - began) / interval) - 5)
        await asyncio.sleep(max(0, began + number * interval - clock.time()))

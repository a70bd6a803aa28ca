"""The two kinds of media end of a call: one that only writes descriptions, and one that really plays and listens."""
import asyncio
import re
from itertools import count

from aiortc import MediaStreamTrack, RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from av import AudioResampler

import peers.media  # noqa: F401  where loopback is all there is, aioice must use it
from peers import sdp
from peers.detour import Detour
from peers.sound import RATE

from .dialects import INACTIVE, answering, direction_of, kind_of, sections, sends, with_directions
from .tones import Ear, PausableTone

_numbers = count(1)
_ORIGIN = re.compile(r"^o=\S+ \S+ \S+", re.MULTILINE)


class PaperMedia:
    """Well-formed descriptions without anything behind them, for tests of what is said."""

    def __init__(self):
        number = next(_numbers)
        self._session_id, self._version = 7_000_000_000 + number, 0
        self._ufrag, self._ssrc, self._restarts = f"Pa{number:04d}", 1000 * number, 0
        self.kinds: list[str] = []
        """Of the sections so far, in order; they only ever get more (RFC 3264 §8)."""
        self.direction = {"audio": INACTIVE, "video": INACTIVE}
        """What has been agreed on, seen from here."""
        self.candidates = [
            f"candidate:{place} 1 udp {2122260223 - place} 127.0.0.1 {50_000 + place} typ host ufrag {self._ufrag}"
            for place in (1, 2)
        ]
        """Lines as they stand after `a=` in a description."""
        self.hears = set

    def restart_ice(self):
        """From the next description on it has other credentials (RFC 8839 §4.4.1.1.1)."""
        self._restarts += 1

    async def offer(self, wishes: dict[str, str]) -> str:
        """`wishes`: the direction of each kind; a new kind gets a new section."""
        self.kinds += [kind for kind in wishes if kind not in self.kinds]
        text = sdp.offer(video="video" in self.kinds)
        return self._own(with_directions(text, lambda kind: wishes.get(kind, INACTIVE)))

    async def accept(self, answer: str, provisional: bool = False):
        for kind in self.kinds:
            offered = direction_of(answer, kind) or INACTIVE
            self.direction[kind] = {"sendonly": "recvonly", "recvonly": "sendonly"}.get(offered, offered)

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        self.kinds = [kind_of(part) for part in sections(offer)[1:]]
        chosen = {
            kind: answering(direction_of(offer, kind) or INACTIVE, wishes.get(kind, INACTIVE)) for kind in self.kinds
        }
        self.direction.update(chosen)
        return self._own(with_directions(sdp.answer(offer), chosen.__getitem__))

    async def connected(self, timeout: float = 30):
        raise AssertionError("this party has no media; make it with sounds=True")

    async def close(self):
        pass

    def _own(self, text: str) -> str:
        """The same session, credentials and sources in all descriptions of one end."""
        self._version += 1
        text = _ORIGIN.sub(f"o=- {self._session_id} {self._version}", text)
        restarts = f"{self._restarts:02d}" if self._restarts else ""
        text = re.sub(r"^a=ice-ufrag:\S+", f"a=ice-ufrag:{self._ufrag}{restarts}", text, flags=re.MULTILINE)
        text = re.sub(r"^(a=ice-pwd:\S+)", rf"\g<1>{restarts}", text, flags=re.MULTILINE)
        return re.sub(
            r"^a=ssrc:\d(\d+)", lambda found: f"a=ssrc:{self._ssrc + int(found[1])}", text, flags=re.MULTILINE
        )


class ToneMedia:
    """aiortc: plays a tone while it may, and keeps an ear on what arrives; with two tones, one on each side, an ear for
    each side."""

    def __init__(self, *frequencies: int, source: MediaStreamTrack | None = None, codec: str | None = None):
        """`source`: played instead of a tone, by an end without ears; `codec`: the only one it speaks, such as
        `G722`."""
        self.connection = RTCPeerConnection()
        self._opus: str | None = None  # the payload type in the other side's offers
        self._session_id, self._version = 8_000_000_000 + next(_numbers), 0
        self._ears, self._tasks, self._closing = [Ear() for _ in frequencies], [], None
        self._operations = asyncio.Lock()
        """One description after the other, as in a browser (the operations chain of W3C webrtc §4.4.1.2); aiortc lets
        them overtake."""
        self._tone = source or PausableTone(*frequencies)
        self.detour: Detour | None = None
        """What stands between it and the gateway."""
        self._transceiver = self.connection.addTransceiver(self._tone, direction="sendrecv")
        if codec:
            known = RTCRtpSender.getCapabilities("audio").codecs
            self._transceiver.setCodecPreferences([each for each in known if each.mimeType == f"audio/{codec}"])
        self.connection.on("track", lambda track: self._tasks.append(asyncio.ensure_future(self._listen(track))))

    @property
    def direction(self) -> dict[str, str]:
        return {"audio": self._transceiver.currentDirection or INACTIVE, "video": INACTIVE}

    @property
    def kinds(self) -> list[str]:
        return ["audio"]

    def hears(self) -> set[str]:
        """`bob`; with two ears `left bob`, `right bob`."""
        if len(self._ears) < 2:
            return {name for ear in self._ears for name in ear.hears()}
        return {
            f"{side} {name}" for side, ear in zip(("left", "right"), self._ears, strict=True) for name in ear.hears()
        }

    def loudness(self, frequency: float) -> float:
        return max(ear.loudness(frequency) for ear in self._ears)

    async def offer(self, wishes: dict[str, str]) -> str:
        async with self._operations:
            self._transceiver.direction = wishes["audio"]
            await self.connection.setLocalDescription(await self.connection.createOffer())
            return self._own()

    async def accept(self, answer: str, provisional: bool = False):
        """An answer that comes once more, because its offer was sent once more, finds nothing to be answered."""
        async with self._operations:
            if self.connection.signalingState == "stable":
                return
            answer = self._reached(answer)
            if provisional:
                # aiortc reads a=setup in final answers only; the gateway answers `passive`, so that this side begins.
                self._transceiver.sender.transport._set_role("client")
            await self.connection.setRemoteDescription(
                RTCSessionDescription(answer, "pranswer" if provisional else "answer")
            )
            self._let_through()

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        async with self._operations:
            await self.connection.setRemoteDescription(RTCSessionDescription(self._reached(offer), "offer"))
            self._opus = sdp.opus_type(offer) or self._opus
            self._transceiver.direction = wishes["audio"]
            await self.connection.setLocalDescription(await self.connection.createAnswer())
            self._let_through()
            return self._own()

    def _reached(self, description: str) -> str:
        return self.detour.leads(description) if self.detour else description

    def _own(self) -> str:
        """aiortc takes a new session id every time, and in offers another payload type than before, in which it then
        neither sends nor hears; RFC 3264 §8 and browsers keep both. It codes two channels, and does not say so."""
        self._version += 1
        text = _ORIGIN.sub(f"o=- {self._session_id} {self._version}", self.connection.localDescription.sdp)
        if self._opus:
            text = sdp.with_opus_type(text, self._opus)
        return sdp.with_stereo(text) if len(self._ears) == 2 else text

    def _let_through(self):
        """aiortc keeps on sending when the direction says that it may not."""
        self._transceiver.sender.replaceTrack(self._tone if sends(self.direction["audio"]) else None)

    async def connected(self, timeout: float = 30):
        async with asyncio.timeout(timeout):
            while self.connection.connectionState != "connected":
                assert self.connection.connectionState != "failed", "aiortc found no media path"
                await asyncio.sleep(0.02)

    async def close(self):
        """Whoever is cancelled while waiting for it, it is done once and to its end."""
        self._closing = self._closing or asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self):
        await self.connection.close()
        self._tone.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _listen(self, track):
        resampler = AudioResampler(format="s16", layout="mono" if len(self._ears) == 1 else "stereo", rate=RATE)
        while track.kind == "audio":
            try:
                frame = await track.recv()
            except MediaStreamError:  # the connection was closed
                return
            for part in resampler.resample(frame):
                for ear, samples in zip(self._ears, part.to_ndarray().reshape(-1, len(self._ears)).T, strict=True):
                    ear.take(samples)


class TricklingMedia(ToneMedia):
    """Describes itself before it knows its candidates, which are left to be sent (RFC 8838 §4, RFC 8840 §4)."""

    def __init__(self, *frequencies: int):
        super().__init__(*frequencies)
        self.candidates: list[str] = []
        """Lines as they stand after `a=` in a description."""

    def _own(self) -> str:
        text = super()._own()
        self.candidates = re.findall(r"^a=(candidate:.*?)\r?$", text, re.MULTILINE)
        text = re.sub(r"^a=(?:candidate:.*|end-of-candidates)\r?\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^m=audio \d+", "m=audio 9", text, flags=re.MULTILINE)
        text = re.sub(r"^c=IN IP[46] \S+", "c=IN IP4 0.0.0.0", text, flags=re.MULTILINE)
        text = re.sub(r"^a=rtcp:\d+ .*?(?=\r?$)", "a=rtcp:9 IN IP4 0.0.0.0", text, flags=re.MULTILINE)
        return re.sub(r"^(t=0 0\r?\n)", r"\1a=ice-options:trickle\r\n", text, flags=re.MULTILINE)

"""Pion, of Debian's Go packages: the media end of a party.

What it sends is encoded here beforehand, what it gets is decoded here."""
import asyncio
import base64
import fcntl
import fractions
import functools
import os
import subprocess
from pathlib import Path

import av
import numpy

from party.colours import HEIGHT, RATE, WIDTH, picture
from party.dialects import INACTIVE, answering, direction_of, with_directions
from party.tones import TONES, encoded

from ..gateway import REPOSITORY
from ..process_media import ProcessMedia

_SOURCES = Path(__file__).parent
_PACKAGES = Path("/usr/share/gocode")
_BUILT = REPOSITORY / ".artifacts" / "pion"
_ENCODERS = {
    "VP8": ("libvpx", {"deadline": "realtime", "cpu-used": "8"}),
    "VP9": ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}),
    "H264": ("libx264", {"preset": "ultrafast", "tune": "zerolatency", "profile": "baseline"}),
}


class Pion(ProcessMedia):
    """webrtc 3.1.56 stops a transceiver for good when it is offered `inactive`, and cannot ask for another direction.

    It is left to believe in `sendrecv`; its descriptions say what is agreed, and it sends accordingly."""

    name = "Pion"

    async def command(self) -> list[str]:
        return [str(await asyncio.to_thread(program))]

    def __init__(
        self,
        person: str,
        audio: str = "opus",
        video: str = "VP8",
        event_rates: tuple[int, ...] = (48_000, 8_000),
        setup: str = "actpass",
        **others,
    ):
        """`event_rates`: at which it knows telephone events; it sends those that count like Opus, if it may. `setup`:
        its `a=setup` in offers, and in answers unless it leaves the choice."""
        super().__init__(person, audio, video, **others)
        self._event_rates, self._setup = event_rates, setup
        self._opus = av.CodecContext.create("opus", "r")
        self._mono = av.AudioResampler(format="s16", layout="mono", rate=48_000)
        self._pictures = av.CodecContext.create(video.lower(), "r")

    def what_it_plays(self) -> dict:
        both = encoded(TONES[self._person]), frames(self._person, self._codecs["video"])
        played = dict(zip(("packets", "frames"), ([base64.b64encode(each).decode() for each in part] for part in both)))
        return played | {"event_rates": self._event_rates, "setup": self._setup}

    async def offer(self, wishes: dict[str, str]) -> str:
        self.kinds += [kind for kind in wishes if kind not in self.kinds]
        restart, self.wants_new_path = self.wants_new_path, False
        sdp = (await self._ask("offer", kinds=list(wishes), restart=restart))["sdp"]
        # It leaves the choice in every offer, and takes what the answer says of it.
        sdp = sdp.replace("a=setup:actpass\r\n", f"a=setup:{self._setup}\r\n")
        return with_directions(sdp, lambda kind: wishes.get(kind, INACTIVE))

    async def accept(self, answer: str, provisional: bool = False):
        await self._ask("accept", sdp=_with_all_directions(answer), provisional=provisional)
        await self._agree({kind: _reverse(direction_of(answer, kind) or INACTIVE) for kind in self.kinds})

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        self.kinds = [line[2:].split()[0] for line in offer.split("\r\n") if line.startswith("m=")]
        wanted = [kind for kind in dict.fromkeys(self.kinds) if kind in wishes]
        sdp = (await self._ask("answer", sdp=_with_all_directions(offer), kinds=wanted))["sdp"]
        offered = {kind: direction_of(offer, kind) or INACTIVE for kind in self.kinds}
        chosen = {kind: answering(offered[kind], wishes.get(kind, INACTIVE)) for kind in self.kinds}
        await self._agree(chosen)
        return with_directions(sdp, lambda kind: chosen[kind])

    async def _agree(self, directions: dict[str, str]):
        self.direction |= directions
        await self._ask("send", directions=directions)

    def _take(self, told: dict):
        match told["event"]:
            case "packet":
                for frame in _decoded(self._opus, told["data"]):
                    for part in self._mono.resample(frame):
                        self._ear.take(part.to_ndarray().reshape(-1))
            case "frame":
                for frame in _decoded(self._pictures, told["data"]):
                    planes = frame.to_ndarray(format="yuv420p").astype(numpy.uint8)
                    self._eye.take_planes(planes.tobytes(), frame.width, frame.height)
            case _:
                super()._take(told)


def _decoded(context: av.CodecContext, data: str) -> list:
    """Nothing of packets that are all padding, and nothing as long as it has not seen the beginning."""
    if not data:
        return []
    try:
        return context.decode(av.Packet(base64.b64decode(data)))
    except av.FFmpegError:
        return []


def _with_all_directions(description: str) -> str:
    return with_directions(description, lambda kind: "sendrecv")


def _reverse(direction: str) -> str:
    return {"sendonly": "recvonly", "recvonly": "sendonly"}.get(direction, direction)


@functools.cache
def frames(person: str, codec: str) -> list[bytes]:
    """Two seconds of somebody's pictures, each of which can be decoded by itself, to be played in a loop."""
    name, options = _ENCODERS[codec]
    encoder = av.CodecContext.create(name, "w")
    encoder.width, encoder.height, encoder.pix_fmt, encoder.gop_size = WIDTH, HEIGHT, "yuv420p", 1
    encoder.framerate, encoder.time_base, encoder.options = RATE, fractions.Fraction(1, RATE), options
    packets = []
    for number in range(2 * RATE):
        planes = numpy.frombuffer(picture(person, number), numpy.uint8).reshape(-1, WIDTH)
        frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.pts, frame.time_base = number, encoder.time_base
        packets += encoder.encode(frame)
    return [bytes(each) for each in packets + encoder.encode(None)]


@functools.cache
def program() -> Path:
    """Built when its sources have changed; Go keeps what it has compiled of Pion."""
    _BUILT.parent.mkdir(exist_ok=True)
    with open(_BUILT.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # pytest's workers build it once
        if not _BUILT.exists() or _BUILT.stat().st_mtime < max(each.stat().st_mtime for each in _SOURCES.glob("*.go")):
            _build()
    return _BUILT


def _build():
    # Debian's packages lie where import paths without a version lead to.
    path = REPOSITORY / ".artifacts" / "gopath"
    link = path / "src/github.com/pion/webrtc/v3"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(_PACKAGES / "src/github.com/pion/webrtc")
    own = {"GO111MODULE": "off", "GOPATH": f"{path}:{_PACKAGES}", "GOFLAGS": "", "GOCACHE": str(path / "cache")}
    command = ["go", "build", "-o", str(_BUILT), "."]
    done = subprocess.run(command, cwd=_SOURCES, env={**os.environ, **own}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

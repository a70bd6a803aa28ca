"""The media end of a party as a process of its own, told what to do by lines of JSON.

A request is `{"id": 1, "do": "offer", …}`, its answer `{"id": 1, …}`, or `{"id": 1, "error": "why not"}`. What
happens is told as `{"event": "sound", …}`. Each line stands in one write, and the process ends when its input does.

| request | with | answer |
|---|---|---|
| `begin` | `tone` (Hz), `colour` (Y, U, V), `audio`, `video` (codecs) | |
| `offer` | `directions` of each kind, `restart` (ICE) | `sdp` |
| `answer` | `sdp`, `directions` | `sdp` |
| `accept` | `sdp`, `provisional` | |
| `press` | `digits` | |

| event | with |
|---|---|
| `state` | `is`: that of the connection, as in W3C's `RTCPeerConnectionState` |
| `agreed` | `directions` of each kind |
| `digit` | `is` |
| `sound` | `data`: mono, 16 bit, 48 kHz, in Base64 |
| `picture` | `blue`, `red`: the means of U and V |
"""
import asyncio
import base64
import itertools
import json
import tempfile

import numpy

from party.colours import COLOURS, Eye
from party.dialects import INACTIVE
from party.tones import TONES, Ear

from .detour import Detour


class ProcessMedia:
    """Subclasses say how their process is started."""

    name = "a process"

    def __init__(self, person: str, audio: str = "opus", video: str = "VP8", detour: Detour | None = None):
        """`audio`, `video`: the codecs it speaks, named as in `a=rtpmap`; `detour`: what stands between it and the
        gateway."""
        self._detour = detour
        self.direction = {"audio": INACTIVE, "video": INACTIVE}
        self.kinds: list[str] = []
        self.digits: list[str] = []
        self.wants_new_path = False
        self.state = "new"
        self._person, self._codecs = person, {"audio": audio, "video": video}
        self._ear, self._eye = Ear(), Eye()
        self._numbers, self._open = itertools.count(1), {}
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task | None = None
        self._log = tempfile.TemporaryFile()

    async def command(self) -> list[str]:
        raise NotImplementedError

    def what_it_plays(self) -> dict:
        return {"tone": TONES[self._person], "colour": COLOURS[self._person]}

    # What a call asks of its media

    def hears(self) -> set[str]:
        return self._ear.hears()

    def sees(self) -> set[str]:
        return self._eye.sees()

    @property
    def pictures(self) -> int:
        """How many have been decoded."""
        return self._eye.count

    def loudness(self, frequency: float) -> float:
        return self._ear.loudness(frequency)

    async def press(self, digits: str):
        await self._ask("press", digits=digits)

    async def offer(self, wishes: dict[str, str]) -> str:
        self.kinds += [kind for kind in wishes if kind not in self.kinds]
        restart, self.wants_new_path = self.wants_new_path, False
        return (await self._ask("offer", directions=wishes, restart=restart))["sdp"]

    async def accept(self, answer: str, provisional: bool = False):
        await self._ask("accept", sdp=answer, provisional=provisional)

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        self.kinds = [line[2:].split()[0] for line in offer.split("\r\n") if line.startswith("m=")]
        return (await self._ask("answer", sdp=offer, directions=wishes))["sdp"]

    async def connected(self, timeout: float = 30):
        async with asyncio.timeout(timeout):
            while self.state != "connected":
                assert self.state != "failed", f"{self.name} found no media path: {self.log()}"
                await asyncio.sleep(0.02)

    async def close(self):
        if not self._process:
            return
        self._process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await asyncio.gather(self._reading, return_exceptions=True)

    def log(self) -> str:
        """The end of what it wrote to its standard error."""
        self._log.seek(0)
        return self._log.read()[-2_000:].decode("utf-8", "replace")

    # The process

    async def _ask(self, do: str, **fields) -> dict:
        if not self._process:
            await self._begin()
        if self._detour and "sdp" in fields:
            fields["sdp"] = self._detour.leads(fields["sdp"])
        number = next(self._numbers)
        answer = self._open[number] = asyncio.get_running_loop().create_future()
        self._process.stdin.write(json.dumps({"id": number, "do": do, **fields}).encode() + b"\n")
        try:
            async with asyncio.timeout(30):
                told = await answer
        except TimeoutError:
            raise AssertionError(f"{self.name} does not answer {do}: {self.log()}") from None
        assert "error" not in told, f"{self.name} refuses {do}: {told['error']}\n{fields.get('sdp', '')}"
        return told

    async def _begin(self):
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, "stderr": self._log}
        self._process = await asyncio.create_subprocess_exec(*await self.command(), **pipes, limit=1 << 24)
        self._reading = asyncio.create_task(self._read())
        await self._ask("begin", **self._codecs, **self.what_it_plays())

    async def _read(self):
        async for line in self._process.stdout:
            told = json.loads(line)
            if "event" in told:
                self._take(told)
            else:
                self._open.pop(told["id"]).set_result(told)
        for each in self._open.values():
            if not each.done():
                each.set_result({"error": f"it has ended: {self.log()}"})

    def _take(self, told: dict):
        match told["event"]:
            case "state":
                self.state = told["is"]
            case "agreed":
                self.direction |= told["directions"]
            case "digit":
                self.digits.append(told["is"])
            case "sound":
                self._ear.take(numpy.frombuffer(base64.b64decode(told["data"]), numpy.int16))
            case "picture":
                self._eye.take(told["blue"], told["red"])

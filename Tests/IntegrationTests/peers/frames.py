"""Counts the pictures of calls while packets get lost, with the gateway between the peers and without it."""
import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from .chromium import Page
from .detour import Detour, udp_ports, without_candidates

COUNTED = {
    "encoded": ("outbound-rtp", "framesEncoded"),
    "repeated": ("outbound-rtp", "retransmittedPacketsSent"),
    "decoded": ("inbound-rtp", "framesDecoded"),
    "asked": ("inbound-rtp", "nackCount"),
    "keyFramesAsked": ("inbound-rtp", "pliCount"),
}
"""Type and member of W3C's webrtc-stats; each is the sum over the streams of video."""
ENOUGH = 240
"""Pictures that each end encodes while packets get lost."""
Counter = Callable[[], Awaitable[dict[str, int]]]

_COUNT = """(async () => {
  const streams = [...(await %s.getStats()).values()].filter((entry) => entry.kind === 'video');
  const sum = (type, name) => streams.reduce((total, entry) => total + ((entry.type === type && entry[name]) || 0), 0);
  return Object.fromEntries(Object.entries(%s).map(([key, [type, name]]) => [key, sum(type, name)]));
})()"""

_DESCRIBE = """(async (offer) => {
  const pc = (window.direct = new RTCPeerConnection());
  pc.ontrack = ({ track, streams: [stream] }) => {
    if (track.kind !== 'video') return;
    const video = document.createElement('video');
    document.body.append(Object.assign(video, { muted: true, autoplay: true, srcObject: stream }));
  };
  const camera = await navigator.mediaDevices.getUserMedia({ audio: true, video: true });
  for (const track of camera.getTracks()) pc.addTrack(track, camera);
  if (offer) await pc.setRemoteDescription({ type: 'offer', sdp: offer });
  const gathered = new Promise((resolve) => {
    pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && resolve();
  });
  await pc.setLocalDescription();
  await gathered;
  return pc.localDescription.sdp;
})(%s)"""


def frames_of(page: Page, connection: str) -> Counter:
    """`connection`: what a script of the page calls it."""
    return lambda: asyncio.to_thread(page.run, _COUNT % (connection, json.dumps(COUNTED)))


async def shares(ends: dict[str, Counter], ways: Iterable[Detour], loss: float) -> tuple[dict[str, float], str]:
    """Of the pictures that the other end encodes, the share that each of two ends decodes while packets get lost; and
    all that was counted."""

    async def counts() -> dict[str, dict[str, int]]:
        return {name: await count() for name, count in ends.items()}

    before = await _until(counts, lambda now: all(each["decoded"] > 30 for each in now.values()), "pictures arrive")
    for way in ways:
        way.loss = loss

    async def grown() -> dict[str, dict[str, int]]:
        now = await counts()
        return {name: {key: now[name][key] - before[name][key] for key in COUNTED} for name in ends}

    seen = await _until(grown, lambda now: all(each["encoded"] >= ENOUGH for each in now.values()), "enough is encoded")
    for way in ways:
        way.loss = 0.0
    for each in seen.values():
        assert each["asked"] > 0, f"nothing was lost, so nothing was shown: {seen}"
    one, other = ends
    return {
        one: seen[one]["decoded"] / seen[other]["encoded"],
        other: seen[other]["decoded"] / seen[one]["encoded"],
    }, str(seen)


async def _until(look: Callable[[], Awaitable], is_so: Callable[..., bool], what: str, timeout: float = 120):
    end = time.monotonic() + timeout
    while not is_so(seen := await look()):
        assert time.monotonic() < end, f"not true in {timeout} s that {what}: {seen}"
        await asyncio.sleep(0.5)
    return seen


@asynccontextmanager
async def between(caller: Page, callee: Page, host: str, seed: int) -> AsyncIterator[tuple[dict[str, Counter], Detour]]:
    """A call of two pages over a detour, without a gateway."""
    offer = await asyncio.to_thread(caller.run, _DESCRIBE % "null")
    with Detour(udp_ports(offer, host), seed=seed, host=host) as way:
        answer = await asyncio.to_thread(callee.run, _DESCRIBE % json.dumps(way.leads(offer)))
        taken = json.dumps({"type": "answer", "sdp": without_candidates(answer)})
        await asyncio.to_thread(caller.run, f"window.direct.setRemoteDescription({taken})")
        yield {"alice": frames_of(caller, "window.direct"), "bob": frames_of(callee, "window.direct")}, way
        for page in (caller, callee):
            await asyncio.to_thread(page.run, "window.direct.close()")

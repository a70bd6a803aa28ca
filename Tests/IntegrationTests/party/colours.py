"""One colour per person, and the means to tell whose picture is seen right now."""
import time
from collections import deque
from collections.abc import Mapping

import numpy

from .tones import perceive

COLOURS = {
    "alice": (120, 60, 190),
    "bob": (90, 200, 80),
    "carol": (150, 60, 60),
    "dave": (160, 180, 180),
    "erin": (130, 60, 125),
}
"""Y, U and V of a picture that is nothing else, limited range; far apart in U and V, and none of them grey."""
WIDTH, HEIGHT, RATE = 320, 240, 10
"""Of pictures sent: pixels, and pictures per second."""
WINDOW = 1.0
_NEAR = 30


def picture(name: str, number: int, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """The planes Y, U and V (I420) of somebody's picture. A bright bar goes through it: no two in a row are alike."""
    luma, blue, red = COLOURS[name]
    bright = numpy.full((height, width), luma, numpy.uint8)
    start = 16 * (number % (width // 16))
    bright[:, start : start + 16] = luma + 40
    chroma = [numpy.full(width * height // 4, value, numpy.uint8) for value in (blue, red)]
    return b"".join(plane.tobytes() for plane in (bright, *chroma))


class Eye:
    """Knows whose pictures came within the last second. `count`: how many have come at all."""

    def __init__(self):
        self._seen: deque[tuple[float, str]] = deque()
        self.count = 0

    def take(self, blue: float, red: float):
        """The mean U and V of a decoded picture."""
        near = [name for name, (_, u, v) in COLOURS.items() if abs(u - blue) < _NEAR and abs(v - red) < _NEAR]
        self.count += 1
        self._seen.append((time.monotonic(), near[0] if near else f"U {blue:.0f}, V {red:.0f}"))
        self._forget()

    def take_planes(self, planes: bytes, width: int, height: int):
        """A decoded picture in I420 without gaps."""
        chroma = (width + 1) // 2 * ((height + 1) // 2)
        both = numpy.frombuffer(planes, numpy.uint8, 2 * chroma, width * height)
        self.take(both[:chroma].mean(), both[chroma:].mean())

    def sees(self) -> set[str]:
        self._forget()
        return {name for _, name in self._seen}

    def _forget(self):
        while self._seen and self._seen[0][0] < time.monotonic() - WINDOW:
            self._seen.popleft()


async def see_now(expected: Mapping, timeout: float = 30, still: float = WINDOW):
    """Waits until each call sees exactly whom it should (`{call: {"bob"}}`), and goes on doing so for a while."""
    await perceive(expected, lambda call: call.media.sees(), "sees", timeout, still)

"""One stream of events for everything that a program waits for."""
import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from .errors import Unreachable
from .events import Event, EventStream

_CONNECTING = 30.0
"""Seconds until a stream must have been opened."""

Wanted: TypeAlias = Callable[[Event], bool]


class Listener:
    """Gets the events that it wants, from the moment that it was made."""

    def __init__(self, wants: Wanted):
        self.wants = wants
        self.arrived: asyncio.Queue[Event | BaseException] = asyncio.Queue()

    async def next(self, timeout: float | None = None) -> Event | None:
        """`None` after so many seconds without one. Raises what ended the stream."""
        try:
            async with asyncio.timeout(timeout):
                event = await self.arrived.get()
        except TimeoutError:
            return None
        if isinstance(event, BaseException):
            raise event
        return event

    def forget(self) -> None:
        """Takes what has arrived as seen. Raises what ended the stream."""
        while not self.arrived.empty():
            event = self.arrived.get_nowait()
            if isinstance(event, BaseException):
                raise event


class Waiting:
    """Reads the stream while somebody listens for the first time, and from then on."""

    def __init__(self, follow: Callable[[], EventStream]):
        self._follow = follow
        self._listeners: set[Listener] = set()
        self._stream: EventStream | None = None
        self._reading: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listen(self, wants: Wanted) -> AsyncIterator[Listener]:
        """What happens once it is entered is not missed."""
        listener = Listener(wants)
        self._listeners.add(listener)
        try:
            await self._started()
            yield listener
        finally:
            self._listeners.discard(listener)

    async def _started(self) -> None:
        if self._reading is None or self._stream is None or self._reading.done():
            self._stream = self._follow()
            self._reading = asyncio.create_task(self._read(self._stream))
        connected = asyncio.ensure_future(self._stream.connected.wait())
        try:
            started, _ = await asyncio.wait(
                [connected, self._reading], timeout=_CONNECTING, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            connected.cancel()
        if not started:
            raise Unreachable(f"no stream of events could be opened in {_CONNECTING:.0f} s")

    async def _read(self, stream: EventStream) -> None:
        try:
            async for event in stream:
                for listener in self._listeners:
                    if event.type == "stream.gap" or listener.wants(event):
                        listener.arrived.put_nowait(event)
        except Exception as failure:  # whoever waits is told
            for listener in self._listeners:
                listener.arrived.put_nowait(failure)

    async def stop(self) -> None:
        if self._reading:
            self._reading.cancel()
            await asyncio.wait([self._reading])

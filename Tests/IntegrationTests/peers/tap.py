"""A tapped wire: names every message of a call that passes between clients and the gateway, and lets one thing go wrong
with it.

    wire = Wire()                                   # of one run; every device has a `Tap` on it
    async with Tap(wire, "bob", gateway.http_port) as tap:
        bob = Party(tap.base, "bob")

Requests and answers have the name of what is asked for (`callStart`, `end`), notifications that of their event. A
message is known by its device, kind, name and count, so that it is found again in another run, in which things happen
in another order.
"""
import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from . import event_log

PATIENCE = 0.25
"""Seconds that a late message waits for another one to overtake it."""


class Kind(StrEnum):
    REQUEST, ANSWER, NOTIFICATION = "request", "answer", "notification"


class Mishap(StrEnum):
    LOST = "lost"
    """Never arrives, and the connection with it: TCP loses nothing else. The gateway's end of a WebSocket stays open,
    as behind a NAT that has forgotten it."""
    DOUBLED = "doubled"
    LATE = "late"
    """Arrives behind the next message; a request behind its own repetition, for its client takes it for lost."""
    STALE = "stale"
    """A request that arrives when its client has long had the answer to its repetition, and to the request after
    that."""
    UNREPEATED = "lost, and so is the repetition of its request"
    CUT = "the moment of a cut"
    """As the message comes by, the WebSocket of `Fault.victim` breaks, on both sides."""


@dataclass(frozen=True)
class Message:
    device: str
    kind: Kind
    name: str
    count: int

    def __str__(self):
        return f"{self.kind} {self.name} {self.count} of {self.device}"


@dataclass(frozen=True)
class Fault:
    message: Message
    mishap: Mishap
    victim: str | None = None

    def __str__(self):
        return f"{self.message}: {self.mishap}" + (f" of {self.victim}'s WebSocket" if self.victim else "")


class Wire:
    """What all devices of one run have in common: which messages came by, in order, and what befalls one of them."""

    def __init__(self, fault: Fault | None = None):
        self.fault, self.happened = fault, False
        self.messages: list[Message] = []
        self.taps: dict[str, "Tap"] = {}
        self._counts = Counter()
        self._passed = asyncio.Condition()
        self._delayed: tuple[Message, Callable[[], Awaitable]] | None = None

    def begin(self):
        """What came so far was only the way to what is looked at. It is counted all the same: the last of it may be
        still to come."""
        self.messages.clear()

    def befalls(self, message: Message | None) -> Mishap | None:
        if message is None or self.fault is None or self.fault.message != message or self.happened:
            return None
        self.happened = True
        if self.fault.mishap == Mishap.CUT:
            self.taps[self.fault.victim].cut()
            return None
        return self.fault.mishap

    async def note(self, device: str, kind: Kind, name: str | None) -> Message | None:
        if name is None:
            return None
        self._counts[device, kind, name] += 1
        message = Message(device, kind, name, self._counts[device, kind, name])
        async with self._passed:
            self.messages.append(message)
            self._passed.notify_all()
        return message

    async def overtaken(self):
        """Waits until another message has passed, for a moment at most."""
        before = len(self.messages)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE), self._passed:
                await self._passed.wait_for(lambda: len(self.messages) > before)

    def delay(self, message: Message, deliver: Callable[[], Awaitable]):
        self._delayed = message, deliver

    async def deliver_delayed(self, behind: Message | None = None):
        """A request arrives that was held up, if it may be behind this answer; at the end of a run in any case."""
        if self._delayed is None:
            return
        message, deliver = self._delayed
        is_due = behind is None or behind.device == message.device
        if is_due and behind and self.fault.mishap == Mishap.STALE:
            is_due = behind.name != message.name
        if is_due:
            self._delayed = None
            await deliver()


class Tap:
    """The wire of one device."""

    def __init__(self, wire: Wire, device: str, gateway_port: int):
        self.wire, self.device, self._gateway_port = wire, device, gateway_port
        self._connections: set[asyncio.Task] = set()
        self._sockets: list[asyncio.StreamWriter] = []
        self._unanswerable: bytes | None = None
        wire.taps[device] = self

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._begin, "127.0.0.1", 0, limit=1 << 20)
        self._port = self._server.sockets[0].getsockname()[1]
        event_log.stands_in(self._port, self._gateway_port)
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for each in self._connections:
            each.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def cut(self):
        """Breaks the WebSocket."""
        for writer in self._sockets:
            writer.transport.abort()

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._connections.add(task := asyncio.create_task(self._accept(reader, writer)))
        task.add_done_callback(self._connections.discard)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if b"\r\nupgrade: websocket" in head.lower():
                await self._relay_socket(head, reader, writer)
            else:
                await self._relay_request(head, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # an end went away, which is what this is for
        finally:
            writer.close()

    # REST: one request per connection

    async def _relay_request(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        request = head + await reader.readexactly(body_length(head))
        name = name_of_request(request)
        if request == self._unanswerable:
            self._unanswerable = None  # a client asks once more; after that it means it anew
            writer.transport.abort()
            return
        message = await self.wire.note(self.device, Kind.REQUEST, name)
        mishap = self.wire.befalls(message)
        if mishap in (Mishap.LATE, Mishap.STALE):
            self.wire.delay(message, lambda: self._ask(request))
        if mishap in (Mishap.LOST, Mishap.LATE, Mishap.STALE):
            writer.transport.abort()
            return
        answer, *_ = await asyncio.gather(*[self._ask(request) for _ in range(2 if mishap == Mishap.DOUBLED else 1)])

        message = await self.wire.note(self.device, Kind.ANSWER, name)
        mishap = self.wire.befalls(message)
        if mishap in (Mishap.LOST, Mishap.UNREPEATED):
            self._unanswerable = request if mishap == Mishap.UNREPEATED else None
            writer.transport.abort()
            return
        if mishap == Mishap.LATE:
            await self.wire.overtaken()
        writer.write(answer)
        await writer.drain()
        if message:
            await self.wire.deliver_delayed(behind=message)

    async def _ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._gateway_port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer

    # The WebSocket

    async def _relay_socket(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        gateways_reader, gateways = await asyncio.open_connection("127.0.0.1", self._gateway_port, limit=1 << 20)
        self._sockets = [writer, gateways]
        gateways.write(head)
        writer.write(await gateways_reader.readuntil(b"\r\n\r\n"))
        upwards = asyncio.create_task(self._pump(reader, gateways))
        try:
            while await self._relay_frame(await read_frame(gateways_reader), writer):
                pass
            while await gateways_reader.read(1 << 16):
                pass
        finally:
            upwards.cancel()
            gateways.close()

    async def _relay_frame(self, frame: tuple[bytes, bytes], writer: asyncio.StreamWriter) -> bool:
        """Whether there is still somebody for the next one."""
        head, payload = frame
        message = await self.wire.note(self.device, Kind.NOTIFICATION, name_of_notification(payload))
        mishap = self.wire.befalls(message)
        if mishap == Mishap.LOST:
            writer.transport.abort()
            return False
        if mishap == Mishap.LATE:
            await self.wire.overtaken()
        writer.write((head + payload) * (2 if mishap == Mishap.DOUBLED else 1))
        return True

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        with suppress(ConnectionError):  # the gateway finds out by itself, or not
            while data := await reader.read(1 << 16):
                writer.write(data)


def body_length(head: bytes) -> int:
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:-2])
    return int(fields.get(b"content-length", b"0"))


def name_of_request(request: bytes) -> str | None:
    """None if it is no part of a call, or changes nothing."""
    head, body = request.split(b"\r\n\r\n", 1)
    method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
    if method == "GET" or not any(resource in path for resource in ("/callControl", "/calldisposition", "/callMe")):
        return None
    if method == "DELETE":
        return "end"
    fields = next(iter(json.loads(body).values()))
    return fields.get("type") or fields["action"]


def name_of_notification(payload: bytes) -> str | None:
    """None if it is no part of a call."""
    if not payload.startswith(b"{"):
        return None
    message = json.loads(payload)["notificationMessage"]
    return message["eventType"] if "sessionParams" in message else None


async def read_frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """What a server sends: no masks, and the gateway does not fragment (RFC 6455 §5.2)."""
    head = await reader.readexactly(2)
    length = head[1] & 0x7F
    if length > 125:
        longer = await reader.readexactly(2 if length == 126 else 8)
        head, length = head + longer, int.from_bytes(longer)
    return head, await reader.readexactly(length)

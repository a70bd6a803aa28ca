"""Frames of a WebSocket client, written byte by byte over a bare socket (RFC 6455 §5), also such as no client may
send."""
import os
import socket
from dataclasses import dataclass

from .raw import exactly, open_websocket

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True, reserved: int = 0, masked: bool = True) -> bytes:
    """`reserved`: the three bits in front of the opcode, as a number from 0 to 7."""
    length = len(payload)
    if length < 126:
        short, extended = length, b""
    elif length < 65_536:
        short, extended = 126, length.to_bytes(2, "big")
    else:
        short, extended = 127, length.to_bytes(8, "big")
    head = bytes([fin << 7 | reserved << 4 | opcode, masked << 7 | short]) + extended
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


def text(payload: bytes | str, fin: bool = True) -> bytes:
    return frame(TEXT, payload.encode() if isinstance(payload, str) else payload, fin=fin)


def more(payload: bytes | str, fin: bool = False) -> bytes:
    """A further fragment of the message before."""
    return frame(CONTINUATION, payload.encode() if isinstance(payload, str) else payload, fin=fin)


def ping(payload: bytes = b"") -> bytes:
    return frame(PING, payload)


def close(code: int | None = None, reason: bytes = b"") -> bytes:
    return frame(CLOSE, b"" if code is None else code.to_bytes(2, "big") + reason)


@dataclass(frozen=True)
class Received:
    """An unfragmented frame of the server."""

    opcode: int
    payload: bytes = b""
    is_compressed: bool = False


class RawChannel:
    """A notification channel over a bare socket; to be used as a context."""

    def __init__(
        self, port: int, path: str, *head: str, agreed: str | None = None, receive_buffer: int | None = None
    ):
        """`head`, `agreed`, `receive_buffer`: as for `open_websocket`."""
        self._stream = open_websocket(port, path, *head, agreed=agreed, receive_buffer=receive_buffer)
        self._may_compress = agreed is not None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()

    def send(self, data: bytes):
        try:
            self._stream.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has closed; what it said before can be read

    def receive(self) -> Received | None:
        """None: the connection has ended."""
        try:
            if not self._stream.recv(1, socket.MSG_PEEK):
                return None
        except ConnectionResetError:
            return None
        first, length = exactly(self._stream, 2)
        is_compressed = first & 0x40 != 0
        is_allowed = first & 0xB0 == 0x80 and is_compressed <= self._may_compress
        assert is_allowed, f"a fragment, or a reserved bit: {first:#x}"
        assert length < 128, "a server does not mask (RFC 6455 §5.1)"
        if length >= 126:
            length = int.from_bytes(exactly(self._stream, 2 if length == 126 else 8), "big")
        return Received(first & 0x0F, exactly(self._stream, length), is_compressed)

"""Bare sockets, to see in which order a server writes to two connections.

On loopback a `write` has put its bytes into the receiver's queue when it returns. So if the answer to a request is
written before the notification that it causes, the answer can be read whenever the notification can.
"""
import base64
import json
import os
import select
import socket
import time


def connection(port: int, source: str = "127.0.0.1", receive_buffer: int | None = None) -> socket.socket:
    """From any address of 127.0.0.0/8; with so many bytes that the kernel takes for us while we do not read."""
    stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    stream.settimeout(20)
    if receive_buffer:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    stream.bind((source, 0))
    stream.connect(("127.0.0.1", port))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def open_websocket(
    port: int, path: str, *fields: str, agreed: str | None = None, receive_buffer: int | None = None
) -> socket.socket:
    """`fields`: further lines of the handshake's head; `agreed`: the extension that the gateway must agree to, with its
    parameters. None: none. `receive_buffer`: as for `connection`."""
    stream = connection(port, receive_buffer=receive_buffer)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", *fields,
    ]  # fmt: skip
    stream.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += stream.recv(1)
    assert head.startswith(b"HTTP/1.1 101 "), head
    answers = [line.partition(":") for line in head.decode().split("\r\n")]
    extensions = [value.strip() for name, _, value in answers if name.lower() == "sec-websocket-extensions"]
    assert extensions == ([agreed] if agreed else []), head
    return stream


def send_request(stream: socket.socket, method: str, path: str, authorization: str, body: dict):
    data = json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {authorization}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    stream.sendall(head.encode() + data)


def is_readable(stream: socket.socket) -> bool:
    return bool(select.select([stream], [], [], 0)[0])


def wait_for_text(channel: socket.socket, timeout: float):
    """Until a text frame can be read. Pings that come before it are answered."""
    end = time.monotonic() + timeout
    while True:
        while not select.select([channel], [], [], 0.0005)[0]:
            assert time.monotonic() < end, f"nothing came in {timeout} s"
        if channel.recv(1, socket.MSG_PEEK) != b"\x89":
            return
        _, length = exactly(channel, 2)
        payload = exactly(channel, length)
        channel.sendall(bytes([0x8A, 0x80 | length, 0, 0, 0, 0]) + payload)  # masked with zeroes (RFC 6455 §5.3)


def read_response(stream: socket.socket) -> dict:
    data = b""
    while b"\r\n\r\n" not in data:
        data += stream.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    )
    while len(body) < length:
        body += stream.recv(65536)
    return json.loads(body)


def read_text_frame(stream: socket.socket) -> dict:
    """An unfragmented frame of a server, which is not masked (RFC 6455 §5.2)."""
    first, length = exactly(stream, 2)
    assert first == 0x81, f"not a text frame: {first:#x}"
    if length >= 126:
        length = int.from_bytes(exactly(stream, 2 if length == 126 else 8), "big")
    return json.loads(exactly(stream, length))["notificationMessage"]


def exactly(stream: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += stream.recv(count - len(data))
    return data

"""Very many users at once, each with as little of a client as it takes: subscribe, repeat what is refused with 503,
open the channel."""
import asyncio
import base64
import hashlib
import json
import os
import random
import resource
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

REPETITIONS = 3
"""Of the web client, after a 503 that says when (spidr-wire §3.6); then it reports an error and is gone."""
DOMAIN = "example.com"
PASSWORD = "a password that all of them have"
WISH = json.dumps(
    {"subscribeRequest": {"expires": 3600, "service": ["call"], "notificationType": "WebSocket"}}
).encode()


def add_users(database: Path, count: int, log_n: int = 15):
    """`user0` and so on, all with one password."""
    add_accounts(database, (f"user{number}@{DOMAIN}" for number in range(count)), PASSWORD, log_n)


def add_accounts(database: Path, addresses: Iterable[str], password: str, log_n: int = 15):
    """Rows as `orbweaver user add` writes them, in a database that has its tables. All have one hash, which took as
    long as one hash takes."""
    salt = os.urandom(16)
    digest = hashlib.scrypt(password.encode(), salt=salt, n=1 << log_n, r=8, p=1, maxmem=1 << 27, dklen=32)
    texts = [base64.b64encode(each).decode().rstrip("=") for each in (salt, digest)]
    record = f"$scrypt$ln={log_n},r=8,p=1${texts[0]}${texts[1]}"
    with sqlite3.connect(database) as connection:
        rows = [(address, record) for address in addresses]
        connection.executemany("INSERT INTO user (address, passwordRecord) VALUES (?, ?)", rows)
    connection.close()


def raise_descriptor_limit():
    """For this process and the gateways that it starts: a descriptor per client."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@dataclass
class Answer:
    status: int
    body: dict
    retry_after: str | None = None


async def ask(port: int, user: str, password: str = PASSWORD, source: str | None = None) -> Answer:
    """A subscription on a connection of its own, from this address."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=source and (source, 0))
    try:
        writer.write(request(user, password))
        head, _, rest = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in rest.decode().splitlines())
        }
        body = await reader.readexactly(int(headers["content-length"]))
        return Answer(int(head.split()[1]), json.loads(body), headers.get("retry-after"))
    finally:
        writer.close()


def request(user: str, password: str) -> bytes:
    credentials = base64.b64encode(f"{user}@{DOMAIN}:{password}".encode()).decode()
    return (
        f"POST /rest/version/1/user/{user}@{DOMAIN}/subscription HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Basic {credentials}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(WISH)}\r\n\r\n"
    ).encode() + WISH


async def open_channel(port: int, path: str, source: str | None) -> asyncio.StreamWriter:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=source and (source, 0))
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 "), head
    return writer


@dataclass
class Return:
    """How a fleet came back; times in seconds since the first of them knocked."""

    times: list[float] = field(default_factory=list)
    repetitions: list[int] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        last = f"the last after {max(self.times):.1f} s" if self.times else "nobody"
        repetitions, lost = sum(self.repetitions), f"{len(self.lost)} lost {self.lost[:3]}"
        return f"{len(self.times)} back, {last}, {repetitions} repetitions, {lost}"


class Fleet:
    def __init__(self, count: int, sources: Iterable[str | None] = (None,)):
        self.count, self.sources = count, list(sources)
        self._channels: list[asyncio.StreamWriter] = []

    async def come(self, port: int, within: float = 5, seed: int = 1, at_a_time: int | None = None) -> Return:
        """All of them, at times of their own, by the rules of the web client; `at_a_time`: with so many on their way,
        others stay at home."""
        result, begin, chance = Return(), time.monotonic(), random.Random(seed)
        arrivals = [chance.uniform(0, within) for _ in range(self.count)]
        door = asyncio.Semaphore(at_a_time or self.count)

        async def come_in_turn(number: int):
            async with door:
                await self._come(port, number, arrivals[number] if at_a_time is None else 0, begin, result)

        await asyncio.gather(*(come_in_turn(number) for number in range(self.count)))
        return result

    async def _come(self, port: int, number: int, arrival: float, begin: float, result: Return):
        user, source = f"user{number}", self.sources[number % len(self.sources)]
        await asyncio.sleep(arrival)
        for repetition in range(REPETITIONS + 1):
            try:
                answer = await ask(port, user, source=source)
                if answer.status == 201:
                    path = answer.body["subscribeResponse"]["subscriptionParams"]["notificationChannel"]
                    self._channels.append(await open_channel(port, path, source))
                    result.times.append(time.monotonic() - begin)
                    result.repetitions.append(repetition)
                    return
            except (OSError, asyncio.IncompleteReadError) as error:
                result.lost.append(f"{user}: {error!r}")
                return
            wait = answer.body.get("subscribeResponse", {}).get("retryAfter")
            if answer.status != 503 or wait is None:
                break
            await asyncio.sleep(wait / 1000)
        result.lost.append(f"{user}: {answer}")

    def vanish(self):
        """Every channel is cut, without a word."""
        for writer in self._channels:
            writer.transport.abort()
        self._channels.clear()

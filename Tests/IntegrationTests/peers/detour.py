"""A way for media to the gateway that can break: relays UDP as a NAT does, until a test says otherwise.

    with Detour(gateway.media_ports) as detour:
        description = detour.leads(description)     # its candidates of the gateway are the detour's now
        detour.is_open = False                      # nothing passes, and nobody is told
        detour.forget()                             # from now on the gateway sees whoever comes at another address
    detour.carries_checks = False               # whoever comes has nothing but its packets to show that it does
        detour.loss, detour.delay = 0.02, 0.02      # each way: the share of packets lost, and the delay in seconds
    detour.jitter = 0.015                       # up to so much later, by chance: packets overtake each other
    detour.capacity = 300_000                   # bits per second towards the peers: what comes faster waits, or is lost

The gateway's part can be another peer's: `Detour(udp_ports(offer))` stands between two peers without a gateway.
"""
import heapq
import itertools
import random
import re
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

LOOPBACK = "127.0.0.1"
_LARGEST = 1 << 16
_DTLS = 20
"""The least first byte of what is not STUN."""
_PATIENCE = 0.5
"""Seconds that a packet waits at most where the way is narrow."""


def routable(family: socket.AddressFamily = socket.AF_INET) -> str:
    """An address of this machine that is not loopback."""
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.connect(("198.51.100.1" if family == socket.AF_INET else "2001:db8::1", 9))  # nothing is sent
        return one.getsockname()[0]


def udp_ports(description: str, host: str = LOOPBACK) -> list[int]:
    """Of its candidates on this address."""
    return [
        int(port)
        for port in re.findall(
            rf"^a=candidate:\S+ \d+ udp \d+ {re.escape(host)} (\d+) ", description, re.MULTILINE | re.IGNORECASE
        )
    ]


def without_candidates(description: str) -> str:
    """Whoever reads it learns from where the other one is from what that one sends."""
    return re.sub(r"^a=(?:candidate:.*|end-of-candidates)\r\n", "", description, flags=re.MULTILINE)


class Detour:
    def __init__(self, gateway_ports: Iterable[int], seed: int = 1, host: str = LOOPBACK):
        """`host`: the address at which peers and the gateway find it, and it finds the gateway."""
        self.host, self.is_open = host, True
        self.carries_checks = True
        """Whether the STUN messages of peers (RFC 7983) pass."""
        self.loss, self.delay, self.jitter = 0.0, 0.0, 0.0
        self.capacity: float | None = None
        self._is_clear_at = 0.0
        """When the last packet has passed the narrow part of the way."""
        self.lost = 0
        """Packets so far."""
        self._chance, self._order = random.Random(seed), itertools.count()
        self._under_way: list[tuple[float, int, Callable[[], None]]] = []
        self._entries = {port: self._bound() for port in gateway_ports}
        """A socket that peers send to, by the port of the gateway that it stands for."""
        self._exits: dict[tuple[int, tuple], socket.socket] = {}
        """A socket that the gateway sends to, by its port and the peer's address."""
        self._forgotten: list[socket.socket] = []
        self._is_over = False
        self._thread = threading.Thread(target=self._relay, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over = True
        self._thread.join()
        for each in (*self._entries.values(), *self._exits.values(), *self._forgotten):
            each.close()

    @property
    def ports(self) -> dict[int, int]:
        """The detour's port for each of the gateway's."""
        return {port: entry.getsockname()[1] for port, entry in self._entries.items()}

    def leads(self, description: str) -> str:
        """The gateway's description with the UDP candidates of this host behind the detour, and no others."""
        ports = self.ports
        udp = re.findall(r"^a=candidate:\S+ \d+ udp .*\r\n", description, re.MULTILINE | re.IGNORECASE)
        for line in udp:
            address, port = line.split()[4:6]
            here = (
                line.replace(f" {address} {port} ", f" {address} {ports[int(port)]} ") if address == self.host else ""
            )
            description = description.replace(line, here)
        return description

    def forget(self):
        """Whoever sends next does so from a new port, as behind a NAT that has lost its bindings."""
        exits, self._exits = self._exits, {}
        self._forgotten += exits.values()

    def _relay(self):
        with selectors.DefaultSelector() as selector:
            for port, entry in self._entries.items():
                selector.register(
                    entry, selectors.EVENT_READ, lambda entry=entry, port=port: self._outwards(selector, entry, port)
                )
            while not self._is_over:
                due = self._under_way[0][0] - time.monotonic() if self._under_way else 0.1
                for ready, _ in selector.select(min(0.1, max(0, due))):
                    with suppress(BlockingIOError, ConnectionRefusedError):  # nothing came after all; nobody is there
                        ready.data()
                while self._under_way and self._under_way[0][0] <= time.monotonic():
                    with suppress(BlockingIOError, ConnectionRefusedError):
                        heapq.heappop(self._under_way)[2]()

    def _carry(self, send: Callable[[], None], narrowed: int = 0):
        """Sends now, later or never. `narrowed`: bytes that pass the narrow part of the way."""
        now = time.monotonic()
        wait = max(0.0, self._is_clear_at - now) if self.capacity and narrowed else 0.0
        if self._chance.random() < self.loss or wait > _PATIENCE:
            self.lost += 1
            return
        if self.capacity and narrowed:
            wait += 8 * narrowed / self.capacity
            self._is_clear_at = now + wait
        if self.jitter:
            wait += self._chance.uniform(0, self.jitter)
        if self.delay + wait == 0:
            send()
        else:
            heapq.heappush(self._under_way, (now + self.delay + wait, next(self._order), send))

    def _outwards(self, selector: selectors.BaseSelector, entry: socket.socket, port: int):
        data, peer = entry.recvfrom(_LARGEST)
        if not self.is_open or (not self.carries_checks and data[0] < _DTLS):
            return
        if (port, peer) not in self._exits:
            exit = self._bound()
            exit.connect((self.host, port))
            selector.register(exit, selectors.EVENT_READ, lambda: self._inwards(exit, entry, peer))
            self._exits[port, peer] = exit
        exit = self._exits[port, peer]
        self._carry(lambda: exit.send(data))

    def _inwards(self, exit: socket.socket, entry: socket.socket, peer: tuple):
        data = exit.recv(_LARGEST)
        if self.is_open and exit not in self._forgotten:
            self._carry(lambda: entry.sendto(data, peer), narrowed=len(data))

    def _bound(self) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setblocking(False)
        made.bind((self.host, 0))
        return made

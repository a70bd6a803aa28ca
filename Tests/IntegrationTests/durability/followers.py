"""Programs that follow the public event log (docs/call-events.md) while the gateway is killed and started again: by
long poll, server-sent events and WebSocket, and as receivers of webhooks."""
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import httpx
import requests
import sseclient
import websockets
from websockets.sync.client import connect

FORMS = ("poll", "sse", "socket")


def place(event: dict) -> int:
    """The number of an event in its log."""
    return int(event["id"].split("-")[1])


class Follower:
    """Reads the events of a user, or of an application, in a thread of its own, and comes back with its cursor when the
    gateway is killed."""

    def __init__(self, base: str, who: tuple[str, str] | str, since: str, form: str):
        """`who`: the name and password of a user, or the key of an application. `form`: out of `FORMS`."""
        self.base, self.form = base, form
        self.events: list[dict] = []
        self.comes = 0
        """How often it has opened a stream, or polled."""
        self.failure: BaseException | None = None
        self._cursor, self._ends = since, False
        authorization = httpx.BasicAuth(*who)._auth_header if isinstance(who, tuple) else f"Bearer {who}"
        self._headers = {"Authorization": authorization}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self):
        self._ends = True

    def _run(self):
        read = {"poll": self._poll, "sse": self._stream, "socket": self._socket}[self.form]
        try:
            while not self._ends:
                self.comes += 1
                try:
                    read()
                except websockets.InvalidStatus as error:
                    assert error.response.status_code == 503, error
                    time.sleep(0.1)
                except (requests.RequestException, httpx.HTTPError, OSError, websockets.WebSocketException):
                    time.sleep(0.1)
        except BaseException as error:  # noqa: BLE001
            self.failure = error

    def _take(self, event: dict):
        assert event["type"] != "stream.gap", event
        self.events.append(event)
        self._cursor = event["id"]

    def _poll(self):
        answer = httpx.get(
            f"{self.base}/v1/events", params={"since": self._cursor, "wait": 2}, timeout=10,
            headers={**self._headers, "Accept": "application/json"},
        )  # fmt: skip
        if answer.status_code != 200:
            assert answer.status_code == 503, answer.text
            return time.sleep(0.1)
        for event in answer.json()["events"]:
            self._take(event)
        self._cursor = answer.json()["next"]

    def _stream(self):
        headers = {**self._headers, "Accept": "text/event-stream", "Last-Event-ID": self._cursor}
        with requests.get(f"{self.base}/v1/events", headers=headers, stream=True, timeout=5) as response:
            if response.status_code != 200:
                assert response.status_code == 503, response.text
                return time.sleep(0.1)
            for event in sseclient.SSEClient(response).events():
                self._take(json.loads(event.data))
                if self._ends:
                    return

    def _socket(self):
        url = f"ws{self.base.removeprefix('http')}/v1/events?since={self._cursor}"
        with connect(url, additional_headers=self._headers, open_timeout=5, proxy=None) as socket:
            while not self._ends:
                event = json.loads(socket.recv(timeout=5))
                if event["type"] != "stream.started":
                    self._take(event)


class Delivery(NamedTuple):
    """A request that a receiver of webhooks has had."""

    at: float
    """Monotonic time."""
    headers: dict[str, str]
    body: bytes
    status: int
    """How it was answered."""

    @property
    def event(self) -> dict:
        return json.loads(self.body)


class WebhookReceiver:
    """A server that keeps every delivery, and refuses one of so many at first (`503`)."""

    def __init__(self, refuses_one_of: int):
        self.deliveries: list[Delivery] = []
        self.verify: Callable[[bytes, dict[str, str]], object] = lambda body, headers: None
        """Raises what is wrong with the signature; asked as soon as a delivery comes, since its time counts."""
        self.unverified: list[Exception] = []
        self._refuses_one_of = refuses_one_of
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status = receiver._keep({key.lower(): value for key, value in self.headers.items()}, body)
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/events"

    @property
    def taken(self) -> list[Delivery]:
        """In the order in which they came, those included that came again."""
        with self._lock:
            return [each for each in self.deliveries if each.status == 200]

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def _keep(self, headers: dict[str, str], body: bytes) -> int:
        try:
            self.verify(body, headers)
        except Exception as error:
            self.unverified.append(error)
        with self._lock:
            refuses = (len(self.deliveries) + 1) % self._refuses_one_of == 0
            self.deliveries.append(Delivery(time.monotonic(), headers, body, 503 if refuses else 200))
            return self.deliveries[-1].status


def sequences(events: list[dict]) -> dict[str, list[int]]:
    """Of each call, in the order of the events."""
    found: dict[str, list[int]] = defaultdict(list)
    for event in events:
        found[event["call"]].append(event["sequence"])
    return found


def unexcused(deliveries: list[Delivery], is_excused: Callable[[float, float], bool]) -> list[str]:
    """The ids that were taken again although nothing had kept the gateway from knowing it: `is_excused` of both
    times."""
    times: dict[str, list[float]] = defaultdict(list)
    for each in deliveries:
        times[each.headers["webhook-id"]].append(each.at)
    return [
        name for name, taken in times.items()
        if not all(is_excused(*pair) for pair in zip(taken, taken[1:], strict=False))
    ]  # fmt: skip

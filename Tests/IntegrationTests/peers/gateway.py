"""The real binary, on ports of its own."""
import asyncio
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from .event_log import EventLog, totals

REPOSITORY = Path(__file__).resolve().parents[3]
# The first line of what Swift, its backtracer and the sanitizers say of a crash.
CRASH = re.compile(r"^(💣|\*\*\* |Fatal error|.*: Fatal error|==\d+==ERROR)")
BINARY = Path(os.environ.get("ORBWEAVER_BINARY", REPOSITORY / ".build/debug/orbweaver"))


class Gateway:
    """`orbweaver serve --dev` with more options, or another command line, from `start()` to `stop()`."""

    def __init__(
        self, *options: str, arguments: list[str] | None = None, http_port: int | None = None,
        descriptors: int | tuple[int, int] | None = None, logs_events: bool = True,
        variables: dict[str, str] | None = None,
    ):  # fmt: skip
        """`descriptors`: the limit of open files, or the soft and the hard one; `logs_events`: not by old binaries;
        `variables`: of its environment."""
        self._variables = variables or {}
        self._descriptors = (descriptors, descriptors) if isinstance(descriptors, int) else descriptors
        self.http_port, self.https_port = http_port or free_ports(1), free_ports(1)
        self.media_port = free_ports(os.cpu_count() or 1)
        self.log_path = Path(tempfile.mkdtemp(prefix="orbweaver-test-")) / "gateway.log"
        self._arguments = arguments or [
            "serve", "--dev",
            "--http-port", str(self.http_port),
            "--https-port", str(self.https_port),
            "--media-port", str(self.media_port),
            *options,
        ]  # fmt: skip
        self._events = None
        if logs_events and self._arguments[0] == "serve":
            self._events = EventLog(self.log_path.parent / "events.jsonl", BINARY, environment())
            self._arguments += self._events.options
        self._was_killed = False
        self._process: subprocess.Popen | None = None

    @classmethod
    def configured(cls, *configuration: str, **limits) -> "Gateway":
        """By the options of `write_configuration`, on ports that are free now."""
        port = free_ports(1)
        ports = ("--set", f"listen.port={port}", "--set", f"media.port={free_ports(os.cpu_count() or 1)}")
        return cls(arguments=["serve", *configuration, *ports], http_port=port, **limits)

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def https(self) -> str:
        return f"https://127.0.0.1:{self.https_port}"

    @property
    def media_ports(self) -> range:
        """One UDP port per media worker, and one worker per core."""
        return range(self.media_port, self.media_port + (os.cpu_count() or 1))

    def start(self, timeout: float = 60) -> "Gateway":
        with open(self.log_path, "ab") as log:  # it may have had another life
            self._process = subprocess.Popen(
                [BINARY, *self._arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment(**self._variables), cwd=self.log_path.parent,
                preexec_fn=self._limit_descriptors if self._descriptors else None,
            )  # fmt: skip
        end = time.monotonic() + timeout
        while self.readiness() != 200:
            if self._process.poll() is not None:
                raise AssertionError(f"the gateway ended with status {self._process.returncode}:\n{self.log_tail()}")
            if time.monotonic() > end:
                self.kill()
                raise AssertionError(f"the gateway was not ready after {timeout} s:\n{self.log_tail()}")
            time.sleep(0.05)
        return self

    def _limit_descriptors(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, self._descriptors)

    @property
    def pid(self) -> int:
        return self._process.pid

    def readiness(self) -> int | None:
        """The HTTP status of `/ready`; None if nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.http}/ready", timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric over those of its labels that are not given."""
        with urllib.request.urlopen(f"{self.http}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        rows = re.findall(rf"^{re.escape(name)}({{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        values = [value for own, value in rows if all(f'{label}="{wanted}"' in own for label, wanted in labels.items())]
        assert values, f"there is no metric {name}"
        return sum(map(float, values))

    def events(self) -> dict[str, list[dict]]:
        """What its event log says of each call, the oldest first."""
        return self._events.by_call()

    def terminate(self):
        """What an operator's system sends; the gateway drains."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self, timeout: float = 30) -> int:
        """The exit status."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the gateway did not stop within {timeout} s:\n{self.log_tail()}") from None

    async def ended(self, timeout: float = 30) -> int:
        return await asyncio.to_thread(self.wait, timeout)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self):
        self._was_killed = True
        self._process.kill()
        self._process.wait()

    def stop(self):
        """Ends it as an operator would and holds it to a clean exit."""
        self._ask_for_records()
        if self.is_running:
            self.terminate()
        status = self.wait()
        assert status == 0, f"the gateway ended with status {status}:\n{self.log_tail()}"

    def discard(self):
        """Nobody will ask for its log any more."""
        try:
            self._hold_events()
        finally:
            if self.is_running:
                self.kill()
            shutil.rmtree(self.log_path.parent, ignore_errors=True)

    def _hold_events(self):
        """Its event log replays to what clients were told and answered. One that was killed may lack events."""
        if self._events and self._was_killed:
            totals["killed gateways, not compared"] += 1
        elif self._events:
            self._ask_for_records()
            self._events.hold({self.http_port, self.https_port}, is_running=self.is_running)

    def _ask_for_records(self):
        if self._events and self.is_running and self.readiness() == 200:
            self._events.ask_for_records(self.http, self.http_port, "dev" if "--dev" in self._arguments else None)

    def log_tail(self, lines: int = 60) -> str:
        if not self.log_path.exists():
            return "(its log is gone)"  # what fails after a test finds its gateways discarded
        log = self.log_path.read_text(errors="replace").splitlines()
        # The upper frames of a trace say where it crashed.
        crash = next((place for place, line in enumerate(log) if CRASH.search(line)), len(log))
        return "\n".join(log[max(0, min(crash - 5, len(log) - lines)) :][: 4 * lines])


def orbweaver(
    *arguments: str, directory: Path | None = None, standard_input: str | None = None, **variables: str
) -> subprocess.CompletedProcess:
    """Runs a command to its end, with these environment variables."""
    return subprocess.run(
        [BINARY, *arguments], capture_output=True, text=True, timeout=60, input=standard_input or "", cwd=directory,
        env=environment(**variables),
    )  # fmt: skip


def write_configuration(folder: Path, **sections: dict) -> tuple[str, str]:
    """For users of one's own, because `--dev` has only four; the options that name the file. Ports come with
    `Gateway.configured`."""
    settings = {
        "tls": {"mode": "off"}, "listen": {"host": "127.0.0.1"}, "registration": {"domain": "dev.local"},
        "media": {"bind": "127.0.0.1"}, "storage": {"path": folder / "users.sqlite"}, **sections,
    }  # fmt: skip
    # Accounts that tests add have cheap records, which nobody should hash anew meanwhile.
    settings["auth"] = {"password_cost": "ln=4,r=8,p=1", **sections.get("auth", {})}
    lines = [
        line
        for section, values in settings.items()
        for line in (f"{section}:", *(f"  {key}: {value}" for key, value in values.items()))
    ]
    (folder / "orbweaver.yaml").write_text("\n".join(lines) + "\n")
    return "--config", str(folder / "orbweaver.yaml")


def environment(**variables: str) -> dict[str, str]:
    """The gateway takes every ORBWEAVER_ variable for a setting, those meant for the tests included.

    A few users make the calls of many tests, one after the other and faster than people do. Where several tests share
    a processor, its load says nothing about a gateway.
    """
    outer = {name: value for name, value in os.environ.items() if not name.startswith("ORBWEAVER_")}
    return outer | {"ORBWEAVER_CALLS_STARTS_PER_USER": "100000", "ORBWEAVER_MEDIA_MAX_LOAD": "none"} | variables


PORTS = range(20_000, 32_000)
"""Below those that the system hands out by itself, to every connection that goes out."""


def own_ports() -> range:
    """Those of this process: pytest's workers run at the same time, and each keeps to its share."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = len(PORTS) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return range(PORTS.start + worker * share, PORTS.start + (worker + 1) * share)


given_ports: dict[int, None] = {}
"""In the order in which they were given."""


def free_ports(count: int) -> int:
    """The first of `count` ports in a row that are free for TCP and UDP on every address, and were not given lately."""
    ports = own_ports()
    for _ in range(2):
        for _ in range(1_000):
            first = random.randrange(ports.start, ports.stop - count)
            wanted = range(first, first + count)
            if given_ports.keys().isdisjoint(wanted) and all(map(is_free, wanted)):
                given_ports.update(dict.fromkeys(wanted))
                return first
        for port in list(given_ports)[: len(given_ports) // 2]:
            del given_ports[port]
    raise AssertionError(f"no {count} free ports in a row")


def is_free(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as one:
            if kind == socket.SOCK_STREAM:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("0.0.0.0", port))
            except OSError:
                return False
    return True

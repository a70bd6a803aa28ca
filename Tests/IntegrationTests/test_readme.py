"""README.md as a reader follows it: what it prints is run, in a network of its own, where ports are those it
names."""
import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.documents import block_with, changed, shell_blocks
from peers.gateway import BINARY, REPOSITORY, environment

README = "README.md"
OVERVIEW, REGISTER = "scripts/nightly", "@examples/subscribe.json"
LISTEN, REAL = "python3 -m websockets", "orbweaver check-config"
IN_CONTAINERS = ["docker run --rm", "docker run -d"]
"""Of test_container.py."""


class Network:
    """One with loopback alone, which lasts as long as the process that was started in it first."""

    def __init__(self, folder: Path, **variables: str):
        # Debian's Python comes first: the commands are for people who have nothing else.
        path = f"{BINARY.parent}:/usr/bin:/bin:{os.environ['PATH']}"
        self.folder, self.variables = folder, environment(PATH=path, **variables)
        self._as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        self.first: subprocess.Popen | None = None
        self.log = folder / "log"

    def start(self, script: str):
        command = ["unshare", *self._as_root, "--net", "bash", "-euc", f"ip link set lo up\n{script}"]
        with self.log.open("wb") as log:
            self.first = subprocess.Popen(
                command, cwd=self.folder, env=self.variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def command(self, script: str) -> list[str]:
        user = ["--user", "--preserve-credentials"] if self._as_root else []
        return ["nsenter", *user, "--net", "--target", str(self.first.pid), "bash", "-euo", "pipefail", "-c", script]

    def run(self, script: str) -> str:
        """What it prints; it must end with 0."""
        ended = subprocess.run(
            self.command(script), cwd=self.folder, env=self.variables, capture_output=True, text=True, timeout=60
        )
        assert ended.returncode == 0, f"{script}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def wait_until_ready(self, url: str, timeout: float):
        end = time.monotonic() + timeout
        while subprocess.run(self.command(f"curl -fsS {url}/ready"), capture_output=True).returncode != 0:
            assert self.first.poll() is None and time.monotonic() < end, self.log.read_text()
            time.sleep(0.2)

    def stop(self):
        if self.first and self.first.poll() is None:
            os.killpg(self.first.pid, signal.SIGTERM)
            assert self.first.wait(40) == 0, self.log.read_text()


@pytest.fixture
def network(tmp_path) -> Iterator[Network]:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    # With the flags of the build that is there, or everything is built anew.
    strict = {"ORBWEAVER_STRICT": os.environ["ORBWEAVER_STRICT"]} if "ORBWEAVER_STRICT" in os.environ else {}
    network = Network(tmp_path, **strict)
    yield network
    network.stop()


def test_every_block_of_commands_has_a_test():
    known = [OVERVIEW, REGISTER, LISTEN, REAL, *IN_CONTAINERS]
    assert len(shell_blocks(README)) == len(known)
    for part in known:
        block_with(README, part)


async def test_the_first_call_from_a_shell(network):
    """But for `--debug`, as printed."""
    for line in block_with(README, OVERVIEW).splitlines():
        assert os.access(REPOSITORY / line.split("#")[0].strip(), os.X_OK), line
    await asyncio.to_thread(network.start, f"exec {REPOSITORY}/scripts/run --debug")
    await asyncio.to_thread(network.wait_until_ready, "http://127.0.0.1:8080", 300)
    assert "<title>" in network.run("curl -fsS http://127.0.0.1:8080/")

    said = network.run(block_with(README, REGISTER))
    assert said.count('"notificationChannel"') == 2 and '"sessionData"' in said, said

    listening = await asyncio.create_subprocess_exec(
        *network.command(block_with(README, LISTEN)), cwd=network.folder, env=network.variables, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    heard = ""
    async with asyncio.timeout(30):
        while '"eventType":"ringing"' not in heard:
            part = await listening.stdout.read(4_096)
            assert part, heard
            heard += part.decode()
    listening.stdin.close()
    await asyncio.wait_for(listening.wait(), 20)


def test_running_it_for_real(network):
    """But for the path of the configuration, and for the release build, whose place the debug build takes."""
    (network.folder / "orbweaver.yaml").write_text(
        f"tls: {{mode: off}}\nmedia: {{bind: 127.0.0.1}}\nstorage: {{path: {network.folder}/orbweaver.sqlite}}\n"
    )
    network.variables["ORBWEAVER_PASSWORD"] = "correct horse battery staple"
    network.variables.pop("ORBWEAVER_STRICT", None)
    printed = changed(block_with(README, REAL), **{"/etc/orbweaver.yaml": f"{network.folder}/orbweaver.yaml"})
    build, *administration, serve = printed.splitlines()
    assert build == "swift build -c release --product orbweaver" and serve.startswith("orbweaver serve ")
    network.start("\n".join([*administration, "unset ORBWEAVER_PASSWORD", f"exec {serve}"]))
    network.wait_until_ready("http://127.0.0.1:8443", 60)
    del network.variables["ORBWEAVER_PASSWORD"]
    assert "alice@example.com" in network.run(f"orbweaver user list --config {network.folder}/orbweaver.yaml")

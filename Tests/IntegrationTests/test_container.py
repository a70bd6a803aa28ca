"""The image, run by the commands that README.md prints, with calls through it.

It is the Dockerfile's second stage with the debug build of this folder: `scripts/image --from-build`. Podman stands in
for docker where there is no docker daemon.
"""
import json
import os
import secrets
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from party import Party, hear_now
from peers.contract import Contract
from peers.documents import block_with, changed
from peers.gateway import REPOSITORY, environment, free_ports
from situations import connected

IMAGE = "orbweaver:from-build"
PRINTED_IMAGE = "orbweaver:0.1.0"
PASSWORD = "correct horse battery staple"

# A stand-in for docker. Podman leaves health checks to systemd, which is not everywhere.
DOCKER = f"""#!/bin/sh
export CONTAINERS_CONF={REPOSITORY}/scripts/containers.conf
if [ "$1" = run ]; then shift; set -- run --pull=never --no-healthcheck "$@"; fi
exec podman "$@"
"""


class Engine:
    """Runs commands in which `docker` is the one that works here."""

    def __init__(self, folder: Path):
        self.environment = environment()
        if subprocess.run(["docker", "info"], capture_output=True).returncode != 0:
            (folder / "docker").write_text(DOCKER)
            (folder / "docker").chmod(0o755)
            self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"
        self.name = f"orbweaver-test-{secrets.token_hex(4)}"
        self.started: list[subprocess.Popen] = []

    def run(self, script: str, status: int = 0) -> str:
        command = ["bash", "-euc", script]
        ended = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)
        assert ended.returncode == status, f"{script}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def inside(self, command: str, status: int = 0) -> str:
        return self.run(f"docker exec {self.name} {command}", status)

    def start(self, script: str):
        """In the foreground of a process of its own."""
        command = ["bash", "-euc", f"exec {script}"]
        self.started.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL))

    def wait_until_ready(self, base: str, timeout: float = 60):
        end = time.monotonic() + timeout
        while True:
            try:
                with urllib.request.urlopen(f"{base}/ready", timeout=5) as answer:
                    assert answer.status == 200
                    return
            except OSError:
                assert time.monotonic() < end, self.run(f"docker logs {self.name} 2>&1 || true")
                time.sleep(0.3)

    def stop(self) -> int:
        """The exit status of the container, asked to end as an operator would."""
        self.run(f"docker stop --time 25 {self.name}")
        if self.started:
            return self.started.pop().wait(30)
        return int(self.run(f"docker inspect --format '{{{{.State.ExitCode}}}}' {self.name}"))

    def discard(self):
        for removal in ("rm --force --volumes", "volume rm"):
            self.run(f"docker {removal} {self.name} >/dev/null 2>&1 || true")


@pytest.fixture(scope="module")
def image() -> str:
    command = [REPOSITORY / "scripts/image", "--from-build"]
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout[-3_000:] + ended.stderr[-3_000:]
    assert ended.stdout.strip().endswith(f"{IMAGE} became healthy and ended with 0")
    # Without an engine the trial leaves out the entry point and the read-only root.
    assert "podman is missing" not in ended.stdout
    return IMAGE


@pytest.fixture
def engine(image, tmp_path):
    engine = Engine(tmp_path)
    yield engine
    engine.discard()


async def hear_each_other(base: str, contract: Contract, password: str = "dev"):
    """A call between two peers, who are gone before the gateway is."""
    alice, bob = (Party(base, name, sounds=True, password=password, contract=contract) for name in ("alice", "bob"))
    async with alice, bob:
        for each in (alice, bob):
            await each.register()
        at_alice, at_bob = await connected(alice, bob)
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
        (await at_alice.end()).succeeded()
        await at_bob.over()


async def test_the_image_to_try_carries_a_call(engine, contract):
    """As printed, but for the numbers of the ports on this machine, and a name to stop it by."""
    http, media = free_ports(1), free_ports(1)
    engine.start(changed(block_with("README.md", "docker run --rm"), **{
        "docker run": f"docker run --name {engine.name} -e ORBWEAVER_MEDIA_PORT={media}", PRINTED_IMAGE: IMAGE,
        ":8080:8080": f":{http}:8080", ":7000:7000/udp": f":{media}:{media}/udp",
    }))  # fmt: skip
    base = f"http://127.0.0.1:{http}"
    engine.wait_until_ready(base)
    with urllib.request.urlopen(base, timeout=10) as page:
        assert b"<title>" in page.read()
    await hear_each_other(base, contract)
    assert engine.stop() == 0


async def test_the_image_to_run_carries_a_call_and_keeps_its_users(engine, contract, tmp_path):
    """As printed, but for names, the path of the configuration, and passwords from the environment, not a terminal."""
    port, media = free_ports(1), free_ports(os.cpu_count() or 1)
    configuration = tmp_path / "orbweaver.yaml"
    configuration.write_text(
        f"tls: {{mode: off}}\nlisten: {{host: 127.0.0.1, port: {port}}}\nmedia: {{bind: 127.0.0.1, port: {media}}}\n"
        "registration: {domain: dev.local}\nstorage: {path: /var/lib/orbweaver/orbweaver.sqlite}\n"
    )
    configuration.chmod(0o644)
    printed = changed(block_with("README.md", "docker run -d"), **{
        "--name orbweaver": f"--name {engine.name}", "-v orbweaver:": f"-v {engine.name}:",
        "-v /etc/orbweaver.yaml:": f"-v {configuration}:",
        PRINTED_IMAGE: IMAGE, "exec -it orbweaver": f"exec -e 'ORBWEAVER_PASSWORD={PASSWORD}' {engine.name}",
    })  # fmt: skip
    engine.run(printed)
    for name in ("alice", "bob"):
        engine.run(f"docker exec -e 'ORBWEAVER_PASSWORD={PASSWORD}' {engine.name} orbweaver user add {name}@dev.local")
    base = f"http://127.0.0.1:{port}"
    engine.wait_until_ready(base)
    await hear_each_other(base, contract, PASSWORD)

    # What keeps it in its place: its user, no capability, and a root file system that nobody writes to.
    assert engine.inside("id -u").strip() == "10001"
    assert "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000" in engine.inside("cat /proc/1/status")
    assert "NoNewPrivs:\t1" in engine.inside("cat /proc/1/status")
    engine.inside("touch /usr/local/bin/orbweaver /tmp/file", status=1)
    engine.inside("orbweaver health")
    health = json.loads(engine.run(f"docker inspect --type image {IMAGE}"))[0]
    assert (health.get("Healthcheck") or health["Config"]["Healthcheck"])["Test"] == ["CMD", "orbweaver", "health"]
    assert engine.stop() == 0

    # Another container with the same volume knows the users.
    engine.run(f"docker rm {engine.name}")
    engine.run(printed.split("docker exec")[0])
    engine.wait_until_ready(base)
    assert "alice@example.com" in engine.inside("orbweaver user list")


# What a release is made of


@pytest.fixture
def copy(tmp_path) -> Path:
    """A folder with what scripts/image reads, and a stand-in for skopeo that knows a manifest of the image."""
    for name in ("Dockerfile", "scripts/image", "Sources/Gateway/Wiring/GatewayVersion.swift"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/skopeo").write_text('#!/bin/sh\n[ -z "$UNREACHABLE" ] && printf "manifest of %s" "$3"\n')
    (tmp_path / "bin/buildah").write_text('#!/bin/sh\necho "built with $*"\nexit 7\n')
    (tmp_path / "bin/docker").write_text("#!/bin/sh\nexit 1\n")
    for tool in (tmp_path / "bin").iterdir():
        tool.chmod(0o755)
    return tmp_path


def image_script(folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    own = environment(PATH=f"{folder}/bin:{os.environ['PATH']}", **variables)
    ended = subprocess.run([folder / "scripts/image", *arguments], env=own, capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stdout + ended.stderr


def edit(folder: Path, former: str, new: str):
    text = (folder / "Dockerfile").read_text()
    assert former in text
    (folder / "Dockerfile").write_text(text.replace(former, new, 1))


def test_a_release_image_is_not_built_from_base_images_that_may_move(copy):
    """To a buildah that builds nothing."""
    status, said = image_script(copy, "--release")
    assert (status, "built with bud" in said) == (7, True), said
    pinned = (copy / "Dockerfile").read_text()

    changes = [("@sha256:", "@md5:"), ("-slim@", "-slim #"), ("FROM ${DEBIAN_IMAGE} AS", "FROM swift AS")]
    for former, new in changes:
        (copy / "Dockerfile").write_text(pinned)
        edit(copy, former, new)
        status, said = image_script(copy, "--release")
        assert (status, "by digest" in said, "built" in said) == (1, True, False), said


def test_the_digest_of_today_is_put_behind_the_tag(copy):
    pinned = (copy / "Dockerfile").read_text()
    status, said = image_script(copy, "--pin", UNREACHABLE="1")
    assert (status, "no registry tells the digest" in said) == (1, True), said
    assert (copy / "Dockerfile").read_text() == pinned

    status, said = image_script(copy, "--pin")
    assert status == 0, said
    lines = [line for line in (copy / "Dockerfile").read_text().splitlines() if line.startswith("ARG ")]
    assert lines != [line for line in pinned.splitlines() if line.startswith("ARG ")]
    assert len(lines) == 1 and "bookworm-slim@sha256:" in lines[0]
    assert image_script(copy, "--pin") == (0, lines[0] + "\n")
    assert image_script(copy, "--release")[0] == 7

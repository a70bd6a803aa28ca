"""Disks that take nothing more, full or read-only; and processes that stop in the middle of what they write."""
import asyncio
import ctypes
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from peers.gateway import BINARY, Gateway, environment
from peers.spidr import Answer

FAILING = "the journal cannot be written"
WORKING = "the journal is written again"
SOURCE = Path(__file__).parent / "peers/faulty_disk.c"


class SmallDisk:
    """The folder of the database is on a file system of its own that has no room left: a small tmpfs. Only root can
    mount one, and containers often may not: the test is skipped there, and says so."""

    says = "database or disk is full"
    """What SQLite makes of it (SQLITE_FULL)."""
    BYTES = 16_000_000

    def __init__(self, folder: Path):
        self._folder, self.variables = folder, {}
        options = ["-t", "tmpfs", "-o", f"size={self.BYTES},mode=700", "orbweaver-test", str(folder)]
        if os.geteuid() != 0 or shutil.which("mount") is None:
            pytest.skip("only root can mount a tmpfs")
        mounted = subprocess.run(["mount", *options], capture_output=True, text=True)
        if mounted.returncode:
            pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")

    def discard(self):
        # Its gateway may still run.
        subprocess.run(["umount", "--lazy", self._folder], check=True)

    @contextmanager
    def fails(self, own: Gateway | None = None) -> Iterator[None]:
        """Another file takes what is left, to the last byte."""
        filler = self._folder / "filler"
        with open(filler, "wb", buffering=0) as file:
            for size in (65_536, 4_096, 1):
                with suppress(OSError):
                    while file.write(bytes(size)):
                        pass
        assert os.statvfs(self._folder).f_bavail == 0
        try:
            yield
        finally:
            filler.unlink()


class FullDisk:
    """The same where nothing can be mounted: every write fails that would make a file longer
    (`peers/faulty_disk.c`)."""

    says = SmallDisk.says

    def __init__(self, folder: Path):
        self.variables = faulty_disk(folder)
        """With which the gateway has to run."""
        self._switch = Path(self.variables["LD_PRELOAD"]).with_name("full")
        self.variables["FULL_SWITCH"] = str(self._switch)

    def discard(self):
        pass

    @contextmanager
    def fails(self, own: Gateway | None = None) -> Iterator[None]:
        self._switch.touch()
        try:
            yield
        finally:
            self._switch.unlink()


class BoundedFiles:
    """The files of the gateway may not grow beyond what its database has (`RLIMIT_FSIZE`), as with a quota."""

    says = "disk I/O error"
    """What SQLite makes of it (SQLITE_IOERR)."""

    def __init__(self, folder: Path):
        self._folder, self.variables = folder, {}

    def discard(self):
        pass

    @contextmanager
    def fails(self, own: Gateway) -> Iterator[None]:
        """The database takes nothing more. The log of the gateway is shorter than that, and does."""
        size = (self._folder / "users.sqlite-wal").stat().st_size
        assert size > 2 * own.log_path.stat().st_size
        limits = resource.prlimit(own.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(own.pid, resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            yield
        finally:
            if own.is_running:
                resource.prlimit(own.pid, resource.RLIMIT_FSIZE, limits)


class ReadOnlyDisk:
    """The folder of the database is on a file system that can become read-only, for files that are open, too
    (`peers/faulty_disk.c`)."""

    says = "disk I/O error"

    def discard(self):
        pass

    def __init__(self, folder: Path):
        self.variables = faulty_disk(folder)
        """With which the gateway has to run."""
        self._switch = Path(self.variables["LD_PRELOAD"]).with_name("switch")
        self.variables["READ_ONLY_SWITCH"] = str(self._switch)

    @contextmanager
    def fails(self, own: Gateway | None = None) -> Iterator[None]:
        self._switch.touch()
        try:
            yield
        finally:
            self._switch.unlink()


DISKS = {"tmpfs": SmallDisk, "full": FullDisk, "bounded": BoundedFiles, "read_only": ReadOnlyDisk}


def faulty_disk(folder: Path) -> dict[str, str]:
    """The variables with which a process loads the library, for its files whose paths begin with that of `folder`."""
    library = folder.parent / f"{folder.name}-faulty" / "faulty_disk.so"
    if not library.exists():
        library.parent.mkdir()
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "FAULTY_FOLDER": str(folder)}


class Stopping:
    """A command of the binary that stops itself in front of a call that changes something below a folder; in the middle
    of it, if it writes and the number is odd. To be used as a context, which ends it."""

    def __init__(self, folder: Path, at: int, *arguments: str, below: str | None = None):
        """`at`: the number of the call, from 1 on; 0: it does not stop. `below`: what the paths begin with, if it is
        not the folder."""
        self._calls = folder.parent / f"{folder.name}-calls"
        self._calls.unlink(missing_ok=True)
        variables = faulty_disk(folder) | {"CALLS": str(self._calls), "STOPS_AT": str(at)}
        if below:
            variables["FAULTY_FOLDER"] = below
        self._process = subprocess.Popen(
            [BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=environment(**variables), cwd=folder,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self._process.stdout.close()

    async def stopped(self, within: float = 60):
        """Returns once it has."""
        async with asyncio.timeout(within):
            while True:
                found = os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if found and found.si_code in (os.CLD_STOPPED, os.CLD_TRAPPED):
                    return
                assert not found, f"it ended after {self.calls} calls: {self._process.communicate()[0]}"
                await asyncio.sleep(0.01)

    @property
    def calls(self) -> int:
        """How many calls there were."""
        return int(self._calls.read_text() or 0) if self._calls.exists() else 0

    def go_on(self):
        self._process.send_signal(signal.SIGCONT)

    def kill(self):
        """As it stands (SIGKILL)."""
        self._process.kill()
        self._process.wait()

    async def ended(self, within: float = 60) -> tuple[int, str]:
        """Its exit status, and what it has said."""
        said, _ = await asyncio.to_thread(self._process.communicate, timeout=within)
        return self._process.returncode, said


OVERRIDES = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of capabilities(7)."""
PR_CAPBSET_DROP = 24


def heed_permissions():
    """In a process to be: permissions of files hold for it, also if it is root's. Of other users they hold anyway, and
    the call has no effect."""
    for capability in OVERRIDES:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


async def says(own: Gateway, sentence: str):
    async with asyncio.timeout(20):
        while sentence not in own.log_path.read_text():
            await asyncio.sleep(0.05)


def is_refused(answer: Answer, wrapper: str | None):
    """`wrapper`: None where errors have none."""
    if wrapper:
        answer.refused(503, 503, wrapper, "service.unavailable")
    else:
        assert (answer.status, answer.json["code"]) == (503, "service.unavailable"), answer.text
    assert int(answer.headers["retry-after"]) > 0

"""Disks that take nothing more: full, or read-only."""
import asyncio
import ctypes
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peers.gateway import Gateway
from peers.spidr import Answer

FAILING = "the journal cannot be written"
WORKING = "the journal is written again"
SOURCE = Path(__file__).parent / "peers/read_only.c"


class FullDisk:
    """The files of the gateway may not grow beyond what its database has (`RLIMIT_FSIZE`), which SQLite meets as it
    meets a full disk. No file system has to be mounted for that."""

    def __init__(self, folder: Path):
        self._folder, self.variables = folder, {}

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
    (`peers/read_only.c`)."""

    def __init__(self, folder: Path):
        beside = folder.parent / f"{folder.name}-read-only"
        beside.mkdir()
        library, self._switch = beside / "read_only.so", beside / "switch"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        self.variables = {
            "LD_PRELOAD": str(library), "READ_ONLY_FOLDER": str(folder), "READ_ONLY_SWITCH": str(self._switch),
        }  # fmt: skip
        """With which the gateway has to run."""

    @contextmanager
    def fails(self, own: Gateway | None = None) -> Iterator[None]:
        self._switch.touch()
        try:
            yield
        finally:
            self._switch.unlink()


DISKS = {"full": FullDisk, "read_only": ReadOnlyDisk}

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


def is_refused(answer: Answer, wrapper: str):
    answer.refused(503, 503, wrapper, "service.unavailable")
    assert int(answer.headers["retry-after"]) > 0

"""`clients/python` as somebody installs it."""
import subprocess
import sys
from pathlib import Path

import httpx

from .gateway import REPOSITORY

SOURCE = REPOSITORY / "clients/python"


class Installed:
    """The wheel, in an environment that has nothing else but what it requires."""

    def __init__(self, folder: Path):
        self._pip("wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(folder), str(SOURCE))
        (self.wheel,) = folder.glob("orbweaver-*.whl")
        environment_folder = folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment_folder], check=True, timeout=120)
        self.python = environment_folder / "bin/python"
        (self.packages,) = environment_folder.glob("lib/python*/site-packages")
        # What it requires is taken from here, so that no index is asked. pip looks whether it fits.
        (self.packages / "required.pth").write_text(f"{Path(httpx.__file__).parents[1]}\n")
        self._pip("--python", str(self.python), "install", "--no-index", str(self.wheel))

    @staticmethod
    def _pip(*arguments: str):
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], capture_output=True, text=True,
            timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

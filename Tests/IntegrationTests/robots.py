"""A gateway with users and with applications of the same names, so that a test can have either in each role."""
from collections.abc import Iterable
from pathlib import Path

from durability import configured
from peers.gateway import Gateway, orbweaver

DOMAIN = "robots.local"
"""Of the addresses of applications; users are those of `dev.local`."""


def add_application(name: str, options: Iterable[str], *details: str) -> str:
    """Adds an application, which takes a minute to decide; its key."""
    added = orbweaver("app", "add", name, "--decision-time", "60", *details, *options)
    assert added.returncode == 0, added.stderr
    key = orbweaver("app", "key", "add", name, *options)
    assert key.returncode == 0 and key.stdout.startswith("owk_"), key.stderr
    return key.stdout.strip()


def add_robots(names: Iterable[str], options: Iterable[str]) -> dict[str, str]:
    """An application of each name at `name@robots.local`; their keys."""
    return {name: add_application(name, options, "--address", f"{name}@{DOMAIN}") for name in names}


class Robots:
    """Its calls are on two media workers, so that calls that come together are mostly on both."""

    NAMES = ("alice", "bob", "carol", "dave")

    def __init__(self, folder: Path):
        options = configured(folder, list(self.NAMES), media={"bind": "127.0.0.1", "workers": 2})
        self.keys = add_robots(self.NAMES, options)
        self.gateway = Gateway.configured(*options)

    def __enter__(self) -> "Robots":
        self.gateway.start()
        return self

    def __exit__(self, *_):
        self.gateway.stop()
        self.gateway.discard()

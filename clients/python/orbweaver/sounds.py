"""What a list that is played is made of. Lengths are milliseconds."""
from collections.abc import Mapping
from typing import TypeAlias

Sound: TypeAlias = Mapping[str, str | int | bool]
"""One item of a list."""


def file(name: str) -> Sound:
    """A file of the gateway's `media.folder`: WAV, Ogg Opus or MP3."""
    return {"file": name}


def url(address: str) -> Sound:
    """A WAV, Ogg Opus or MP3 file of another server, by its https URL. The gateway fetches it before it answers."""
    return {"url": address}


def tone(name: str, duration: int | None = None) -> Sound:
    """`ringback`, `busy`, `congestion`, `dial`, `call-waiting` or `special-information`. Without a duration it goes on
    until something else is played."""
    return {"tone": name} if duration is None else {"tone": name, "duration": duration}


def silence(duration: int) -> Sound:
    return {"silence": duration}


def music(duration: int | None = None) -> Sound:
    """Music on hold. Without a duration it goes on until something else is played."""
    return {"music": True} if duration is None else {"music": True, "duration": duration}

"""`openapi/asyncapi.yaml`, and what a program is told and says on a stream held against it."""
import functools
import json
import re
from pathlib import Path

import jsonschema
import yaml

CONTRACT = yaml.safe_load((Path(__file__).resolve().parents[3] / "openapi/asyncapi.yaml").read_text())


KINDS = {
    "bot": "type", "gateway": "type", "twilioBot": "event", "twilioGateway": "event", "asteriskBot": "command",
    "asteriskGateway": "event",
}  # fmt: skip
"""The member that says what a frame is, by who sends it in which dialect: with what the names of their schemas
begin."""


@functools.cache
def schemas(direction: str) -> dict[str, str]:
    """The name of the schema of each kind of frame; `direction`: one of `KINDS`."""
    found = {}
    for name, each in CONTRACT["components"]["schemas"].items():
        if re.match(f"{direction}[A-Z]", name):
            kind = each["properties"][KINDS[direction]]
            found |= dict.fromkeys(kind.get("enum") or [kind["const"]], name)
    return found


def schema(direction: str, kind: str) -> dict:
    """That of the frames of this kind."""
    reference = f"#/components/schemas/{schemas(direction)[kind]}"
    return {"$ref": reference, "components": CONTRACT["components"]}


def kinds(direction: str) -> set[str]:
    return set(schemas(direction))


@functools.cache
def validator(direction: str, kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(direction, kind))


def held(direction: str, text: str) -> dict:
    """A text frame, as the object that it is.

    Raises AssertionError or jsonschema.ValidationError: the contract has it otherwise, or not at all."""
    frame = json.loads(text)
    kind = frame.get(KINDS[direction])
    assert kind in kinds(direction), f"the contract has no such frame: {text}"
    validator(direction, kind).validate(frame)
    return frame


class SocketContract:
    """What one socket of the own dialect is told: each frame fits its schema, `start` is the first and `end` the last
    of them, and audio begins with the time at which it was heard."""

    def __init__(self):
        self._has_started = self._has_ended = self._has_time = False
        self._frame: int | None = None
        """How many bytes each frame of linear samples or G.711 has; `None` for Opus."""

    def text(self, text: str) -> dict:
        """A text frame, as the object that it is.

        Raises AssertionError or jsonschema.ValidationError: it should not be there, or not be like that."""
        assert not self._has_ended, f"nothing comes behind the end: {text}"
        frame = held("gateway", text)
        kind = frame["type"]
        assert (kind == "start") != self._has_started, f"start is the first frame, and comes once: {text}"
        if kind == "start":
            self._has_started = True
            width = {"l16": 2, "pcmu": 1, "pcma": 1}.get(frame["format"]["encoding"])
            self._frame = width and frame["format"]["rate"] // 50 * width
        self._has_time = self._has_time or kind == "media"
        self._has_ended = kind == "end"
        return frame

    def audio(self, data: bytes):
        """A binary frame.

        Raises AssertionError: it should not be there, or not be so long."""
        assert self._has_started and self._has_time and not self._has_ended, "audio comes behind start and media"
        assert len(data) == self._frame if self._frame else data, f"{len(data)} bytes are not 20 ms"

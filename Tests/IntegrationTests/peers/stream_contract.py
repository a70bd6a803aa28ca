"""`openapi/asyncapi.yaml`, and what a program is told on a stream held against it."""
import functools
import json
from pathlib import Path

import jsonschema
import yaml

CONTRACT = yaml.safe_load((Path(__file__).resolve().parents[3] / "openapi/asyncapi.yaml").read_text())


def schema(direction: str, kind: str) -> dict:
    """That of the frames with this `type`; `direction`: who sends them, `bot` or `gateway`."""
    name = direction + kind[0].upper() + kind[1:]
    return {"$ref": f"#/components/schemas/{name}", "components": CONTRACT["components"]}


def kinds(direction: str) -> set[str]:
    return {
        found["properties"]["type"]["const"]
        for name, found in CONTRACT["components"]["schemas"].items()
        if name.startswith(direction)
    }


@functools.cache
def validator(direction: str, kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(direction, kind))


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
        frame = json.loads(text)
        kind = frame.get("type")
        assert kind in kinds("gateway"), f"the contract has no such frame: {text}"
        validator("gateway", kind).validate(frame)
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

"""openapi/asyncapi.yaml: its references lead somewhere, and its schemas fit the frames that the gateway writes, which
Tests/AudioStreamsTests/OwnDialectTests.swift has as they are on the wire."""
import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
CONTRACT = yaml.safe_load((REPOSITORY / "openapi/asyncapi.yaml").read_text())
TESTS = (REPOSITORY / "Tests/AudioStreamsTests/OwnDialectTests.swift").read_text()


def references(node):
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def texts(source):
    """The JSON objects among the string literals of Swift."""
    for literal in re.findall(r'(?<!#)#"(\{.*?\})"#(?!#)|##"(\{.*?\})"##', source):
        yield literal[0] or literal[1]
    for block in re.findall(r'"""\n(.*?)"""', source, flags=re.DOTALL):
        text = re.sub(r"\\\n\s*", "", block).strip()
        if text.startswith("{"):
            yield text


def schema(direction, kind):
    name = direction + kind[0].upper() + kind[1:]
    return {"$ref": f"#/components/schemas/{name}", "components": CONTRACT["components"]}


def kinds(direction):
    return {
        found["properties"]["type"]["const"]
        for name, found in CONTRACT["components"]["schemas"].items() if name.startswith(direction)
    }


def test_every_reference_leads_somewhere():
    found = list(references(CONTRACT))
    assert found
    for reference in found:
        node = CONTRACT
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


@pytest.mark.parametrize("direction, start", [
    ("bot", "func `a frame is a command`"), ("gateway", "func `each event has its frames`")])
def test_the_schemas_fit_every_frame(direction, start):
    place = TESTS.index(start)
    # The arguments of a test stand before its function.
    source = TESTS[:place] if direction == "bot" else TESTS[place:]
    seen = set()
    for text in texts(source):
        frame = json.loads(text)
        jsonschema.Draft202012Validator(schema(direction, frame["type"])).validate(frame)
        seen.add(frame["type"])
    assert seen == kinds(direction)


@pytest.mark.parametrize("frame", [
    {"type": "marked", "name": "a", "heard": -1, "cleared": False}, {"type": "marked", "name": "a", "heard": 1},
    {"type": "refused", "code": "other", "message": ""}, {"type": "end", "reason": "tired"}])
def test_the_schemas_refuse_other_frames(frame):
    assert not jsonschema.Draft202012Validator(schema("gateway", frame["type"])).is_valid(frame)

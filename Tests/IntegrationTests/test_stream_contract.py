"""openapi/asyncapi.yaml: its references lead somewhere, and its schemas fit the frames that the gateway writes and
reads, which Tests/AudioStreamsTests has as they are on the wire, dialect by dialect."""
import json
import re
from pathlib import Path

import jsonschema
import pytest

from peers.stream_contract import CONTRACT, KINDS, SocketContract, held, kinds, schema

REPOSITORY = Path(__file__).resolve().parents[2]


def words_in_tests_of(dialect: str) -> str:
    return (REPOSITORY / f"Tests/AudioStreamsTests/{dialect}DialectTests.swift").read_text()


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


def test_every_reference_leads_somewhere():
    found = list(references(CONTRACT))
    assert found
    for reference in found:
        node = CONTRACT
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


@pytest.mark.parametrize("direction, dialect, start", [
    ("bot", "Own", "func `a frame is a command`"), ("gateway", "Own", "func `each event has its frames`"),
    ("twilioBot", "Twilio", "func `a message is a command`"),
    ("twilioGateway", "Twilio", "func `each event has its messages`"),
    ("asteriskGateway", "Asterisk", "func `events are JSON if that is configured`")])
def test_the_schemas_fit_every_frame(direction, dialect, start):
    tests = words_in_tests_of(dialect)
    place = tests.index(start)
    # The arguments of a test stand before its function.
    source = tests[:place] if direction.lower().endswith("bot") else tests[place:]
    seen = set()
    for text in texts(source):
        # Of Twilio's messages the test has the end once for all.
        whole = text if text.count("{") == text.count("}") else text + ',"streamSid":"MZ5a"}'
        seen.add(held(direction, whole)[KINDS[direction]])
    assert seen == kinds(direction)


def test_the_schemas_have_every_command_of_asterisk():
    tests = words_in_tests_of("Asterisk")
    source = tests[: tests.index("func `a word is a command`")]
    assert set(re.findall(r'\("([A-Z_]+)', source)) == kinds("asteriskBot")
    seen = {held("asteriskBot", text)["command"] for text in texts(source)}
    assert seen == {"HANGUP", "MARK_MEDIA"}, "in the form of JSON"


@pytest.mark.parametrize("direction, frame", [
    ("bot", {"type": "sing"}), ("bot", {"type": "keys", "keys": "x"}), ("bot", {"type": "mark"}),
    ("twilioBot", {"event": "media", "media": {"payload": "?"}}), ("twilioBot", {"event": "mark", "mark": {}}),
    ("twilioBot", {"event": "clear", "streamSid": "CA1"}), ("asteriskBot", {"command": "answer"}),
    ("asteriskBot", {"command": "MARK_MEDIA", "correlation_id": 7})])
def test_a_bot_of_the_tests_that_says_something_else_fails(direction, frame):
    with pytest.raises((AssertionError, jsonschema.ValidationError)):
        held(direction, json.dumps(frame))


@pytest.mark.parametrize("frame", [
    {"type": "marked", "name": "a", "heard": -1, "cleared": False}, {"type": "marked", "name": "a", "heard": 1},
    {"type": "refused", "code": "other", "message": ""}, {"type": "end", "reason": "tired"}])
def test_the_schemas_refuse_other_frames(frame):
    assert not jsonschema.Draft202012Validator(schema("gateway", frame["type"])).is_valid(frame)


START = {
    "type": "start", "version": 1, "stream": "s", "call": "c", "application": "a", "parameters": {}, "from": "f",
    "to": "t", "format": {"encoding": "l16", "rate": 8_000, "channels": 1}, "at": 0, "reconnected": False,
}  # fmt: skip
MEDIA, DRAINED, END = {"type": "media", "at": 0}, {"type": "drained"}, {"type": "end", "reason": "stopped"}


def tell(*frames: dict | bytes):
    contract = SocketContract()
    for frame in frames:
        contract.audio(frame) if isinstance(frame, bytes) else contract.text(json.dumps(frame))


def test_a_socket_that_is_told_everything_in_order_is_told_nothing_wrong():
    tell(START, DRAINED, MEDIA, bytes(320), bytes(320), MEDIA, bytes(320), END)


@pytest.mark.parametrize("frames", [
    (MEDIA,), (bytes(320),), (START, START), (START, bytes(320)), (START, MEDIA, bytes(319)), (START, END, DRAINED),
    (START, {"type": "sung"}), (START, {}), (START, {"type": "media"}), (START | {"at": -1},),
    (START, MEDIA, END, bytes(320))])
def test_a_socket_that_is_told_something_else_fails(frames):
    with pytest.raises((AssertionError, jsonschema.ValidationError)):
        tell(*frames)

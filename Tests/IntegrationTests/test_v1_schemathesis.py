"""Schemathesis makes up requests from openapi/v1.yaml, also commands that follow from calls that it has started, and
requests about what was recorded of them; none may break the gateway or the description."""
import asyncio
import json
import os
from pathlib import Path

import yaml

from durability import configured
from party import TONES
from peers import sound
from peers.bot import Bot
from peers.gateway import REPOSITORY, Gateway, orbweaver
from peers.schemathesis_run import run_schemathesis
from test_remote_sounds import SoundServer

SECONDS = os.environ.get("ORBWEAVER_SCHEMATHESIS_SECONDS", "60")

CONFIGURATION = """
[phases.stateful.generation]
mode = "positive"
"""
RECORDINGS = ("showRecording", "fetchRecording", "removeRecording")
SERVED = (
    "startCall 201", "recordCall 200", "listRecordings 200", "showRecording 200", "playCall 200", "followEvents 200",
    "replayed",
)  # fmt: skip
"""What has to have happened at least once, as `peers/v1_schemathesis_hooks.py` counts it. Whether one of the lists that
were played named a sound of another server is chance."""


def linked_description(sounds: list[str]) -> str:
    """`sounds`: the URLs that are played."""
    document = yaml.safe_load((REPOSITORY / "openapi/v1.yaml").read_text())
    # Made-up keys in bulk meet the limit of guesses, which has tests of its own. The real one is a header here.
    del document["security"], document["components"]["securitySchemes"]
    paths, schemas = document["paths"], document["components"]["schemas"]
    # Each way to follow events but the poll goes on without an end, and has tests of its own. No poll waits.
    events = paths["/v1/events"]["get"]
    del events["security"]
    events["responses"]["200"]["content"] = {
        "application/json": events["responses"]["200"]["content"]["application/json"]
    }
    wait = next(each for each in events["parameters"] if each.get("name") == "wait")
    wait["schema"] = {"const": 0}
    link(events, "200", "query.since", "/next", ["followEvents"])

    commands = [
        operation["operationId"] for path, item in paths.items() if path.startswith("/v1/calls/{id}")
        for method, operation in item.items() if method in ("get", "post")
    ]  # fmt: skip
    started = paths["/v1/calls"]["post"]
    link(started, "201", "path.id", "/id", commands)
    link(started, "201", "query.session", "/id", ["listRecordings"])
    link(started, "201", "query.calls", "/call", ["followEvents"])
    # A call with a recording, however it is known.
    for operation in (paths["/v1/calls/{id}/record"]["post"], paths["/v1/calls/{id}"]["get"]):
        link(operation, "200", "path.id", "/recordings/0/id", RECORDINGS)
    link(paths["/v1/recordings"]["get"], "200", "path.id", "/items/0/id", RECORDINGS)

    # Addresses that can be called, so that most calls are started; the coverage phase makes up others.
    call = schemas["NewCall"]["properties"]
    call["to"]["enum"] = ["alice@dev.local", "nobody@dev.local", "echo@bots.dev"]
    call["from"]["enum"] = ["bot@dev.local"]
    # Nobody is connected to (RFC 6761 §6.4).
    for name in ("NewStream", "StreamCommand"):
        schemas[name]["properties"]["url"]["enum"] = ["wss://bots.invalid/talk"]
    file, url = (schemas["PlayItem"]["oneOf"][place]["properties"] for place in (0, 1))
    file["file"]["enum"] = ["hello.wav", "missing.wav"]
    url["url"]["enum"] = sounds
    return json.dumps(document)


def link(operation: dict, status: str, parameter: str, pointer: str, operations):
    """What these operations are asked for by this parameter is in the answer."""
    links = operation["responses"][status].setdefault("links", {})
    for name in operations:
        taken = {parameter: f"$response.body#{pointer}"}
        links[name + pointer.replace("/", "-")] = {"operationId": name, "parameters": taken}


def site(own_gateway, folder: Path, server: SoundServer) -> tuple[Gateway, tuple[str, ...]]:
    """A gateway that records, and fetches sounds; and the options of its commands."""
    for name in ("sounds", "fetched", "recordings"):
        (folder / name).mkdir()
    sound.tone(folder / "sounds" / "hello.wav", TONES["carol"], seconds=1)
    server.sounds["/hello.wav"] = ((folder / "sounds" / "hello.wav").read_bytes(), '"1"')
    server.sounds["/noise.wav"] = (b"this is no sound", None)
    options = configured(
        folder, ["alice"], media={"bind": "127.0.0.1", "folder": folder / "sounds"},
        recordings={"folder": folder / "recordings"},
        sounds={
            "folder": folder / "fetched", "authority_file": server.authority, "allowed_addresses": "127.0.0.1",
            "answer_time": "2s",
        },
    )  # fmt: skip
    return own_gateway.configured(*options), options


async def test_no_made_up_request_breaks_the_interface_or_its_description(own_gateway, artifacts, tmp_path, party):
    server = SoundServer(tmp_path)
    own, options = site(own_gateway, tmp_path, server)
    key = ""
    for name, *details in (
        ("bot", "--address", "bot@dev.local", "--maximum-calls", "1000"),
        ("echo", "--address", "*@bots.dev", "--decision-time", "0", "--fallback", "answer:echo"),
    ):
        added = await asyncio.to_thread(orbweaver, "app", "add", name, *details, *options)
        assert added.returncode == 0, added.stderr
        key = key or (await asyncio.to_thread(orbweaver, "app", "key", "add", name, *options)).stdout.strip()
    await party("alice", base=own.http)
    sounds = [f"{server.url}/hello.wav", f"{server.url}/noise.wav", f"{server.url}/missing.wav"]
    counts = tmp_path / "counts.json"
    said = await asyncio.to_thread(
        run_schemathesis, tmp_path, artifacts / "v1-schemathesis.txt", linked_description(sounds), CONFIGURATION,
        own.http, "--header", f"Authorization: Bearer {key}", hooks="v1_schemathesis_hooks", examples=40,
        seconds=SECONDS, has_examples=True, V1_SCHEMATHESIS_COUNTS=str(counts),
    )  # fmt: skip
    server.close()
    served = json.loads(counts.read_text())
    assert all(served.get(each) for each in SERVED), served
    async with Bot(own.http, key) as bot:
        states = {each["state"] for each in await bot.calls(limit="1000")}
        assert states & {"talking", "held", "ended"}, states
    assert "Rate limited" not in said, said[-3_000:]
    assert own.readiness() == 200

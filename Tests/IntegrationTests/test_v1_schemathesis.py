"""Schemathesis makes up requests from openapi/v1.yaml, also commands that follow from calls that it has started; none
may break the gateway or the description."""
import asyncio
import json
import os

import yaml

from durability import configured
from peers.bot import Bot
from peers.gateway import REPOSITORY, orbweaver
from peers.schemathesis_run import run_schemathesis

SECONDS = os.environ.get("ORBWEAVER_SCHEMATHESIS_SECONDS", "60")

CONFIGURATION = """
[phases.stateful.generation]
mode = "positive"
"""


def linked_description() -> str:
    document = yaml.safe_load((REPOSITORY / "openapi/v1.yaml").read_text())
    # Made-up keys in bulk meet the limit of guesses, which has tests of its own. The real one is a header here.
    del document["security"], document["components"]["securitySchemes"]
    # Events have no end; they have tests of their own.
    del document["paths"]["/v1/events"]
    commands = []
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method not in ("get", "post"):
                continue
            # Made-up idempotency keys are alike, and the second request with a key is refused: test_bots.py has them.
            kept = [each for each in operation.get("parameters", []) if not each.get("$ref", "").endswith("/Key")]
            operation["parameters"] = kept
            if "{id}" in path:
                commands.append(operation["operationId"])
    document["paths"]["/v1/calls"]["post"]["responses"]["201"]["links"] = {
        operation: {"operationId": operation, "parameters": {"path.id": "$response.body#/id"}}
        for operation in commands
    }
    # Addresses that can be called, so that most calls are started; the coverage phase makes up others.
    call = document["components"]["schemas"]["NewCall"]["properties"]
    call["to"]["enum"] = ["alice@dev.local", "nobody@dev.local", "echo@bots.dev"]
    call["from"]["enum"] = ["bot@dev.local"]
    # Nobody is connected to (RFC 6761 §6.4).
    for name in ("NewStream", "StreamCommand"):
        document["components"]["schemas"][name]["properties"]["url"]["enum"] = ["wss://bots.invalid/talk"]
    return json.dumps(document)


async def test_no_made_up_request_breaks_the_interface_or_its_description(own_gateway, artifacts, tmp_path, party):
    options = configured(tmp_path, ["alice"])
    own = own_gateway.configured(*options)
    key = ""
    for name, *details in (
        ("bot", "--address", "bot@dev.local", "--maximum-calls", "1000"),
        ("echo", "--address", "*@bots.dev", "--decision-time", "0", "--fallback", "answer:echo"),
    ):
        added = await asyncio.to_thread(orbweaver, "app", "add", name, *details, *options)
        assert added.returncode == 0, added.stderr
        key = key or (await asyncio.to_thread(orbweaver, "app", "key", "add", name, *options)).stdout.strip()
    await party("alice", base=own.http)
    said = await asyncio.to_thread(
        run_schemathesis, tmp_path, artifacts / "v1-schemathesis.txt", linked_description(), CONFIGURATION,
        own.http, "--header", f"Authorization: Bearer {key}", hooks="v1_schemathesis_hooks", examples=40,
        seconds=SECONDS, has_examples=True,
    )  # fmt: skip
    async with Bot(own.http, key) as bot:
        states = {each["state"] for each in await bot.calls(limit="1000")}
        assert states & {"talking", "held", "ended"}, states
    assert "Rate limited" not in said, said[-3_000:]
    assert own.readiness() == 200

"""Schemathesis makes up requests from openapi/orbweaver.yaml; none may break the server or the description."""
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from peers import sdp
from peers.gateway import REPOSITORY
from peers.spidr import SpidrPeer

# What a description promises. Not `ignored_auth`: wrong passwords in bulk meet the rate limit, which has tests of its own.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance"
SECONDS = os.environ.get("ORBWEAVER_SCHEMATHESIS_SECONDS", "75")

# The authenticated user's own path, and things that exist: otherwise every answer is 403 or 404.
CONFIGURATION = """
[parameters]
"path.user" = "alice@dev.local"

[[operations]]
include-operation-id = ["queryCall", "operateCall"]
parameters = {{ "path.id" = {session} }}

[[operations]]
include-operation-id = ["extendSubscription"]
parameters = {{ "path.id" = {subscription} }}
"""


async def test_no_made_up_request_breaks_the_server_or_the_description(own_gateway, contract, artifacts, tmp_path):
    own = own_gateway("--set", "calls.ring_time=10m")
    async with SpidrPeer(own.http, "alice", contract=contract) as alice, SpidrPeer(own.http, "bob", contract=contract) as bob:
        await alice.register()
        await bob.register()
        await bob.call("alice", sdp.offer())
        ringing = (await alice.expect("call")).session

        configuration = tmp_path / "schemathesis.toml"
        subscription = alice.subscription.rsplit("/", 1)[1]
        configuration.write_text(CONFIGURATION.format(session=json.dumps(ringing), subscription=json.dumps(subscription)))
        command = [
            Path(sys.executable).with_name("schemathesis"), "--config-file", configuration,
            "run", REPOSITORY / "openapi/orbweaver.yaml", "--url", own.http, "--auth", "alice@dev.local:dev",
            "--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--max-time", SECONDS, "--max-examples", "60",
            "--seed", "20", "--suppress-health-check", "all", "--continue-on-failure", "--no-color",
        ]  # fmt: skip
        ended = await asyncio.to_thread(
            subprocess.run, list(map(str, command)), capture_output=True, text=True, cwd=tmp_path, timeout=float(SECONDS) * 5 + 120
        )
        (artifacts / "schemathesis.txt").write_text(ended.stdout + ended.stderr)
        assert ended.returncode == 0, ended.stdout[-8_000:] + ended.stderr[-2_000:]
        assert own.readiness() == 200
        (await bob.extend()).succeeded()  # who had no part in it
        alice.subscription = None  # a made-up request may have ended it
    await asyncio.to_thread(own.stop)

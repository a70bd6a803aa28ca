"""Schemathesis makes up requests from openapi/orbweaver.yaml; none may break the server or the description."""
import asyncio
import json
import os

import yaml
from party.guest import Guest
from peers import sdp
from peers.gateway import REPOSITORY
from peers.schemathesis_run import run_schemathesis
from peers.spidr import SpidrPeer

SECONDS = os.environ.get("ORBWEAVER_SCHEMATHESIS_SECONDS", "75")

# The authenticated user's own path, and things that exist: otherwise every answer is 403 or 404.
CONFIGURATION = """
[phases.stateful.generation]
mode = "positive"

[parameters]
"path.user" = "alice@dev.local"

[[operations]]
include-operation-id = ["queryCall", "operateCall", "operateMedia", "queryStatistics"]
parameters = {{ "path.id" = {session} }}

[[operations]]
include-operation-id = ["extendSubscription"]
parameters = {{ "path.id" = {subscription} }}

[[operations]]
include-operation-id = ["createGuestCall", "queryGuestCall", "operateGuestCall"]
parameters = {{ "path.user" = "bob@dev.local", "path.id" = {guest_session} }}

[[operations]]
include-operation-id = ["extendGuest"]
parameters = {{ "path.user" = "bob@dev.local", "path.id" = {guest_subscription} }}
"""

LAST_SEGMENT = "#regex:/([^/]+)$"
"""Behind a pointer, an addition of schemathesis: standard links cannot take a part of a string."""


def linked_description() -> str:
    """The description with links from subscriptions to what their ids are for."""
    document = yaml.safe_load((REPOSITORY / "openapi/orbweaver.yaml").read_text())
    of = {"user": ("extendSubscription", "unsubscribe"), "anonymous": ("extendGuest", "unsubscribeGuest")}
    for resource, operations in of.items():
        granted = document["paths"][f"/rest/version/1/{resource}/{{user}}/subscription"]["post"]["responses"]["201"]
        name = f"$response.body#/subscribeResponse/subscription{LAST_SEGMENT}"
        where = {"path.user": "$request.path.user", "path.id": name}
        granted["links"] = {operation: {"operationId": operation, "parameters": where} for operation in operations}
    return json.dumps(document)


async def test_no_made_up_request_breaks_the_server_or_the_description(own_gateway, contract, artifacts, tmp_path):
    own = own_gateway(
        "--set", "calls.ring_time=10m", "--set", "registration.max_per_user=100", "--set", "anonymous.mode=open",
        "--set", "anonymous.network_requests=10000", "--set", "anonymous.maximum=10000",
        "--set", "anonymous.max_per_account=10000",
        "--set", "anonymous.max_per_network=10000", "--set", "anonymous.first_call=1h",
        "--set", "calls.max_per_user=10000", "--set", "calls.max_ringing_per_user=10000",
        # A poll that finds its channel is answered before schemathesis gives it up.
        "--set", "listen.poll_time=2s",
    )  # fmt: skip
    async with (
        SpidrPeer(own.http, "alice", contract=contract) as alice, SpidrPeer(own.http, "bob", contract=contract) as bob,
        Guest(own.http, "bob", contract=contract) as guest,
    ):  # fmt: skip
        for each in (alice, bob, guest):
            await each.register()
        await bob.call("alice", sdp.offer())
        ringing = (await alice.expect("call")).session

        guest_session = await guest.call("bob", sdp.offer())
        names = {
            "session": ringing, "guest_session": guest_session,
            "subscription": last(alice.subscription), "guest_subscription": last(guest.subscription),
        }  # fmt: skip
        await asyncio.to_thread(
            run_schemathesis, tmp_path, artifacts / "schemathesis.txt", linked_description(),
            CONFIGURATION.format(**{name: json.dumps(value) for name, value in names.items()}), own.http,
            "--auth", "alice@dev.local:dev", hooks="schemathesis_hooks", examples=60, seconds=SECONDS,
            GUEST_CHANNEL=last(guest.channel),
        )  # fmt: skip
        assert own.readiness() == 200
        (await bob.extend()).succeeded()  # who had no part in it
        alice.subscription = guest.subscription = None  # a made-up request may have ended them
    await asyncio.to_thread(own.stop)


def last(path: str) -> str:
    return path.rsplit("/", 1)[1]

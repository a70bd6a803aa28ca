"""Schemathesis makes up requests from openapi/admin.yaml, also some that follow from answers; none may break the
gateway or the description."""
import asyncio
import json
import os
import re

import yaml

from durability import configured
from peers.gateway import REPOSITORY, free_ports, orbweaver
from peers.schemathesis_run import run_schemathesis

SECONDS = os.environ.get("ORBWEAVER_SCHEMATHESIS_SECONDS", "60")

# The drain would end the gateway, and events have no end; both have tests of their own.
LEFT_OUT = ("startDrain", "tailEvents")

CONFIGURATION = """
[phases.stateful.generation]
mode = "positive"

[[operations]]
include-operation-id = ["showUser", "changeUser", "showVoicemail", "setVoicemail"]
parameters = { "path.user" = "alice@dev.local" }

[[operations]]
include-operation-id = ["showApplication", "rotateApplicationSecret"]
parameters = { "path.name" = "portal" }
"""

# What an answer is for: from which operation and status, the field with the name, and the parameter that takes it.
LINKS = {
    ("/users", "201"): ("address", "user", ["showUser", "changeUser", "showVoicemail", "removeUser"]),
    ("/applications", "201"): ("name", "name", ["showApplication", "rotateApplicationSecret", "removeApplication"]),
    ("/tokens", "201"): ("name", "name", ["revokeToken"]),
}


def linked_description() -> str:
    document = yaml.safe_load((REPOSITORY / "openapi/admin.yaml").read_text())
    # Made-up tokens in bulk meet the limit of guesses, which has tests of its own. The real one is a header here.
    del document["security"], document["components"]["securitySchemes"]
    # Made-up idempotency keys are alike, and the second request with a key is refused: test_administration.py has them.
    for operation in (each for path in document["paths"].values() for each in path.values() if isinstance(each, dict)):
        kept = [each for each in operation.get("parameters", []) if not each.get("$ref", "").endswith("/Key")]
        operation["parameters"] = kept
    for (path, status), (field, parameter, operations) in LINKS.items():
        document["paths"]["/admin/v1" + path]["post"]["responses"][status]["links"] = {
            operation: {"operationId": operation, "parameters": {f"path.{parameter}": f"$response.body#/{field}"}}
            for operation in operations
        }
    # Names that can be used, so that most of what is added is accepted; the coverage phase makes up others.
    schemas = document["components"]["schemas"]
    schemas["NewUser"]["properties"]["address"]["pattern"] = "^[a-z]{1,12}@dev\\.local$"
    schemas["NewUser"]["properties"]["password"]["minLength"] = 1
    schemas["NewToken"]["properties"]["name"]["pattern"] = "^made-up-[a-z]{1,12}$"
    schemas["NewApplication"]["properties"]["domain"]["pattern"] = "^[a-z]{1,12}\\.example$"
    return json.dumps(document)


async def test_no_made_up_request_breaks_the_interface_or_its_description(own_gateway, artifacts, tmp_path):
    port = free_ports(1)
    options = configured(
        tmp_path, ["alice"], registration={"domain": "dev.local"}, admin={"host": "127.0.0.1", "port": port}
    )
    own = own_gateway.configured(*options)
    token = orbweaver("admin", "token", "add", "schemathesis", "--role", "admin", *options).stdout.strip()
    added = orbweaver("app", "add", "portal", "--domain", "dev.local", *options)
    assert token and added.returncode == 0, added.stderr
    said = await asyncio.to_thread(
        run_schemathesis, tmp_path, artifacts / "admin-schemathesis.txt", linked_description(), CONFIGURATION,
        f"http://127.0.0.1:{port}", "--header", f"Authorization: Bearer {token}",
        *(word for operation in LEFT_OUT for word in ("--exclude-operation-id", operation)),
        hooks="admin_schemathesis_hooks", examples=40, seconds=SECONDS, has_examples=False,
    )  # fmt: skip
    # It was served, and is still: the token was not locked out, and made-up requests were carried out.
    log = orbweaver("admin", "audit", *options).stdout
    for operation in ("addUser", "addApplication", "addToken"):
        assert re.search(rf"\t{operation}\t.*\t201\tdone", log), f"no made-up {operation} was carried out"
    assert "Rate limited" not in said, said[-3_000:]
    assert own.readiness() == 200
    await asyncio.to_thread(own.stop)

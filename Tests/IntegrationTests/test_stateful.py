"""From an account to a call, over both descriptions: schemathesis adds users by openapi/admin.yaml, subscribes them and
starts their calls by openapi/orbweaver.yaml, and ends all of it again, in any order that the links allow.

`test_links.py` follows each link of one description once; here one answer leads to the next for several steps."""
import asyncio
import copy
import json
import re
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import unquote

import schemathesis
import yaml
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import FlakyStrategyDefinition
from peers import schemathesis_hooks  # noqa: F401: mends made-up bodies
from peers.gateway import REPOSITORY
from peers.schemathesis_run import CHECKS as CHECK_NAMES
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response
from schemathesis.generation.case import Case
from schemathesis.generation.stateful import run_state_machine_as_test

from test_administration import start
from test_schemathesis import linked_description

OPERATIONS = (
    "addUser", "showUser", "removeUser", "subscribe", "extendSubscription", "unsubscribe", "createCall", "queryCall",
    "operateCall", "endCall",
)  # fmt: skip
CHAIN = ("addUser", "subscribe", "createCall")
STEPS = {
    ("addUser", "showUser"), ("addUser", "subscribe"), ("subscribe", "extendSubscription"),
    ("subscribe", "unsubscribe"), ("subscribe", "createCall"), ("createCall", "queryCall"),
    ("createCall", "operateCall"), ("createCall", "endCall"), ("unsubscribe", "removeUser"),
}  # fmt: skip
"""From whose answer which request follows; each has to have succeeded."""
SEEDS, SCENARIOS, LENGTH = range(20), 15, 12
"""Scenarios for each seed, and the most requests of each scenario. Few seeds are needed until each step succeeded."""


def joined_description() -> dict:
    """Both descriptions in one, with the operations above and links from one to the other."""
    clients = json.loads(linked_description())
    admin = yaml.safe_load((REPOSITORY / "openapi/admin.yaml").read_text())
    text = re.sub(r'"#/components/(\w+)/(\w+)"', r'"#/components/\1/Admin\2"', json.dumps(admin))
    admin, joined = json.loads(text), copy.deepcopy(clients)
    for kind, parts in admin["components"].items():
        joined["components"].setdefault(kind, {}).update({f"Admin{name}": part for name, part in parts.items()})
    joined["paths"] |= {path: item for path, item in admin["paths"].items() if path.startswith("/admin/v1/users")}
    # The headers are written here, for whom a path names.
    del joined["security"], joined["components"]["securitySchemes"]
    for item in joined["paths"].values():
        for method in [key for key, value in item.items() if isinstance(value, dict) and key != "parameters"]:
            operation = item[method]
            operation.pop("security", None)
            kept = [each for each in operation.get("parameters", []) if not each.get("$ref", "").endswith("/AdminKey")]
            operation["parameters"] = kept
            if operation["operationId"] not in OPERATIONS:
                del item[method]
    joined["paths"] = {path: item for path, item in joined["paths"].items() if set(item) - {"parameters"}}
    new = joined["components"]["schemas"]["AdminNewUser"]["properties"]
    new["address"]["pattern"], new["password"]["pattern"] = r"^[a-z]{6,12}@dev\.local$", "^[a-z]{8,12}$"
    del new["authName"], new["enabled"]  # with which most could not log in
    where = {"path.user": "$response.body#/address"}
    links(joined, "/admin/v1/users", {name: where for name in ("showUser", "subscribe")})
    subscription, same = "/rest/version/1/user/{user}/subscription", {"path.user": "$request.path.user"}
    links(joined, subscription, {"createCall": same})
    # Earlier it would end most scenarios before they came to a call.
    links(joined, subscription + "/{id}", {"removeUser": same}, "delete", "200")
    # Nothing here leads to media and statistics, which test_links.py has.
    calls = joined["paths"]["/rest/version/1/user/{user}/callControl"]["post"]["responses"]["201"]
    calls["links"] = {name: link for name, link in calls["links"].items() if link["operationId"] in OPERATIONS}
    return joined


def links(document: dict, path: str, targets: dict[str, dict[str, str]], method: str = "post", status: str = "201"):
    answer = document["paths"][path][method]["responses"][status]
    answer.setdefault("links", {}).update(
        {name: {"operationId": name, "parameters": parameters} for name, parameters in targets.items()}
    )


class Tally:
    """What was followed, what succeeded, and the users that came as far as a call."""

    def __init__(self):
        self.sent: Counter[tuple[str, str]] = Counter()
        self.succeeded: Counter[tuple[str, str]] = Counter()
        self.passwords: dict[str, str] = {}
        self.failures: list[str] = []
        self.reached: dict[str, set[str]] = {name: set() for name in CHAIN}

    def note(self, before: str | None, name: str, case: Case, response: Response):
        is_success = 200 <= response.status_code < 300
        if before:
            self.sent[before, name] += 1
            self.succeeded[before, name] += is_success
        if is_success and name == "addUser":
            self.passwords[response.json()["address"]] = case.body["password"]
            self.reached[name].add(response.json()["address"])
        elif is_success and name in CHAIN and before == CHAIN[CHAIN.index(name) - 1]:
            self.reached[name].add(user_of(case))

    @property
    def steps(self) -> set[tuple[str, str]]:
        """Those that have succeeded."""
        return {step for step, count in self.succeeded.items() if count > 0}

    @property
    def whole_chains(self) -> set[str]:
        """The users who were added, subscribed and called, each by a link from the answer before."""
        return set.intersection(*self.reached.values())


def machine(tally: Tally, clients: str, admin: str, token: str, remove: Callable[[str], None]) -> type:
    """`remove`: ends a user. A scenario leaves none, so that the same requests have the same answers in the next."""
    schema = schemathesis.openapi.from_dict(joined_description())
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    checks = CHECKS.get_by_names(CHECK_NAMES.split(","))

    class FromAccountToCall(schema.as_state_machine()):
        def setup(self):
            self._names: dict[str, str] = {}
            self._before: str | None = None

        def step(self, input):
            self._before = input.transition and self._names.get(input.transition.parent_id)
            self._names[input.case.id] = operation_id(input.case)
            return super().step(input)

        def teardown(self):
            for user in tally.passwords:
                remove(user)
            tally.passwords.clear()

        def get_call_kwargs(self, case: Case) -> dict:
            if case.operation.path.startswith("/admin/"):
                return {"base_url": admin, "headers": {"Authorization": f"Bearer {token}"}, "timeout": 30}
            user = user_of(case)
            login = b64encode(f"{user}:{tally.passwords.get(user, 'none')}".encode()).decode()
            return {"base_url": clients, "headers": {"Authorization": f"Basic {login}"}, "timeout": 30}

        def validate_response(self, response: Response, case: Case, **_):
            tally.note(self._before, operation_id(case), case, response)
            try:
                case.validate_response(response, checks=checks)
            except FailureGroup as failure:
                tally.failures.append(f"{case.as_curl_command()}\n{failure}: {failure.exceptions}")

    return FromAccountToCall


def user_of(case: Case) -> str:
    """Whom the path names, as schemathesis has escaped it."""
    return unquote(case.path_parameters["user"])


def operation_id(case: Case) -> str:
    return case.operation.definition.raw["operationId"]


async def test_made_up_users_subscribe_and_call(own_gateway, tmp_path, peer, capsys):
    # Names that nobody has are guesses from this address, which are counted in another test.
    own, options, admin = await asyncio.to_thread(
        start, own_gateway, tmp_path, auth={"network_failures": 100_000},
        calls={"max_per_user": 10_000, "max_ringing_per_user": 10_000},
    )  # fmt: skip
    made = await asyncio.to_thread(admin.ask, "POST", "/tokens", {"name": "made-up", "role": "admin"})
    await peer("bob", base=own.http)
    tally, began = Tally(), time.monotonic()
    walks = machine(
        tally, own.http, f"http://127.0.0.1:{admin.port}", made.body["token"],
        lambda user: admin.ask("DELETE", f"/users/{user}"),
    )  # fmt: skip
    limits = settings(
        max_examples=SCENARIOS, stateful_step_count=LENGTH, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    for number in SEEDS:
        # A call may end by itself a moment earlier or later, and hypothesis wants every scenario to be repeatable. The
        # next seed goes on, as schemathesis does itself.
        with suppress(FlakyStrategyDefinition):
            await asyncio.to_thread(run_state_machine_as_test, seed(number)(walks), settings=limits)
        if number >= 3 and tally.steps >= STEPS and tally.whole_chains:
            break
    assert not tally.failures, "\n".join(tally.failures)
    with capsys.disabled():
        print(f"\n{'step':36} {'sent':>5} {'2xx':>5}   in {time.monotonic() - began:.1f} s")
        for step, count in tally.sent.items():
            print(f"{' -> '.join(step):36} {count:5} {tally.succeeded[step]:5}")
    assert tally.steps == STEPS
    assert tally.whole_chains, f"nobody came from an account to a call: {tally.reached}"
    assert own.readiness() == 200

"""Every link of openapi/orbweaver.yaml leads to something that exists.

The stateful phase of test_schemathesis.py follows links by chance, and often none that needs a call that was answered
or a call that is over. Here each link is followed from an answer that was made for it: first with a request that has to
succeed, then with some that schemathesis makes up.
"""
import asyncio
import json
from collections import Counter

import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from party.guest import Guest
from peers import (
    schemathesis_hooks,  # noqa: F401: mends made-up bodies
    sdp,
)
from peers.schemathesis_run import CHECKS as CHECK_NAMES
from peers.spidr import SpidrPeer
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.core.transport import Response
from schemathesis.generation.case import Case
from schemathesis.generation.stateful.state_machine import StepOutput
from schemathesis.specs.openapi.stateful.links import OpenApiLink
from test_schemathesis import last, linked_description

MADE_UP = 8
"""How many made-up requests follow each link that leads to an operation with a body."""

SUCCEEDING = {
    "operateCall": {"callControlRequest": {"type": "audit"}},
    "operateGuestCall": {"callMeRequest": {"type": "audit"}},
    "operateMedia": {"mediaRequest": {"type": "play", "source": "music", "to": "peer"}},
    "extendSubscription": {"subscribeRequest": {"service": ["call"], "expires": 3600}},
    "extendGuest": {"subscribeRequest": {"service": ["callMe"], "expires": 300}},
}
"""A body for each linked operation that has one."""

# What the links of a full description lead to; a link that is left out of it is missed here.
EXPECTED = {
    "createCall": {"queryCall", "operateCall", "endCall", "operateMedia", "queryStatistics"},
    "queryCalls": {"queryCall", "operateCall", "endCall", "operateMedia", "queryStatistics"},
    "queryLog": {"queryRecord", "deleteRecord"},
    "createGuestCall": {"queryGuestCall", "operateGuestCall", "endGuestCall"},
    "subscribe": {"extendSubscription", "unsubscribe"},
    "subscribeGuest": {"extendGuest", "unsubscribeGuest"},
}


class Walker:
    """Makes what links start from, follows them, and counts where it came."""

    def __init__(self, base: str, alice: SpidrPeer, bob: SpidrPeer, guest: Guest):
        self.base, self.alice, self.bob, self.guest = base, alice, bob, guest
        self.schema = schemathesis.openapi.from_dict(json.loads(linked_description()))
        self.checks = CHECKS.get_by_names(CHECK_NAMES.split(","))
        self.followed: Counter[str] = Counter()
        self.succeeded: Counter[str] = Counter()

    def links(self, source: str) -> list[OpenApiLink]:
        operation = self.schema.find_operation_by_id(source)
        return [
            OpenApiLink(name, status, link, operation)
            for status, response in operation.responses.items()
            for name, link in response.iter_links()
        ]

    # What links start from

    async def start(self, source: str) -> StepOutput:
        """An answer of the operation that names something that exists."""
        operation = self.schema.find_operation_by_id(source)
        user = self.bob.user if "Guest" in source else self.alice.user
        if source == "queryCalls":
            await self._answered_call()
        if source == "queryLog":
            session = await self._answered_call()
            (await self.alice.end(session)).succeeded()
            await self.bob.expect("callEnd")
        bodies = {
            "subscribe": {"subscribeRequest": {"service": ["call"], "expires": 3600, "forceLogOut": "false"}},
            "subscribeGuest": {"subscribeRequest": {"service": ["callMe"], "expires": 300}},
            "createCall": self._call_start(),
            "createGuestCall": {
                "callMeRequest": {
                    "type": "callStart", "from": "sip:erin@guest.invalid", "to": f"sip:{self.bob.user}",
                    "sdp": sdp.offer(), "notifyChannelId": last(self.guest.channel),
                }
            },
        }  # fmt: skip
        body = {"body": bodies[source], "media_type": "application/json"} if source in bodies else {}
        case = operation.Case(path_parameters={"user": user}, **body)
        response = await self.send(case)
        assert 200 <= response.status_code < 300, f"{source}: {response.text[:500]}"
        if source in ("createCall", "createGuestCall"):
            await self._answer()
        return StepOutput(response, case)

    def _call_start(self) -> dict:
        return {
            "callControlRequest": {
                "type": "callStart", "from": f"sip:{self.alice.user}", "to": f"sip:{self.bob.user}", "sdp": sdp.offer(),
            }
        }  # fmt: skip

    async def _answered_call(self) -> str:
        session = await self.alice.call(self.bob.user, sdp.offer())
        await self._answer()
        return session

    async def _answer(self):
        call = await self.bob.expect("call")
        (await self.bob.answer(call.session, sdp.answer(call.sdp))).succeeded()

    async def clear(self):
        """Ends what calls are left, so that the next answer names the right one."""
        sessions = (await self.bob.request("GET", "/callControl/callSessions")).succeeded().get("callSessions", [])
        for session in sessions:
            await self.bob.end(session["sessionData"])
        for peer in (self.alice, self.bob, self.guest):
            for notification in peer.heard:
                notification.is_expected = True

    # Following

    async def follow(self, link: OpenApiLink, output: StepOutput):
        """Follows a link with a request that has to succeed, then with requests that are made up."""
        name = f"{operation_id(link.source)} -> {operation_id(link.target)}"
        found = {
            container: {parameter: value.value.ok() for parameter, value in values.items()}
            for container, values in link.extract(output).parameters.items()
        }
        path = found.pop("path_parameters")
        assert not found and all(isinstance(value, str) for value in path.values()), f"{name}: {path}, {found}"
        target = operation_id(link.target)
        made_up: list[Case] = []
        body = {}
        if target in SUCCEEDING:
            body = {"body": SUCCEEDING[target], "media_type": "application/json"}
            made_up = self._made_up(link, path)
        certain = link.target.Case(path_parameters=path, **body)
        for case in [certain, *made_up]:
            response = await self.send(case)
            self.followed[name] += 1
            self.succeeded[name] += 200 <= response.status_code < 300
            assert case is not certain or 200 <= response.status_code < 300, f"{name}: {response.text[:500]}"

    def _made_up(self, link: OpenApiLink, path: dict) -> list[Case]:
        """The same with every run."""
        cases: list[Case] = []

        @seed(20)
        @settings(max_examples=MADE_UP, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=link.target.as_strategy(generation_mode=GenerationMode.POSITIVE, path_parameters=path))
        def collect(case: Case):
            cases.append(case)

        collect()
        return cases[:MADE_UP]

    async def send(self, case: Case) -> Response:
        """Sends a request as the one whose path it is, and holds the answer against the description."""
        is_guests = "/anonymous/" in case.operation.path
        case.headers = {} if is_guests else {"Authorization": self.alice.credentials}
        response = await asyncio.to_thread(case.call, base_url=self.base, timeout=30)
        case.validate_response(response, checks=self.checks)
        return response


def operation_id(operation) -> str:
    return operation.definition.raw["operationId"]


async def test_every_link_leads_to_something_that_exists(own_gateway, contract, capsys):
    own = own_gateway(
        "--set", "anonymous.mode=open", "--set", "anonymous.network_requests=10000",
        "--set", "registration.max_per_user=100", "--set", "anonymous.max_per_network=10000",
        "--set", "anonymous.max_per_account=10000", "--set", "anonymous.first_call=1h",
    )  # fmt: skip
    async with (
        SpidrPeer(own.http, "alice", contract=contract) as alice, SpidrPeer(own.http, "bob", contract=contract) as bob,
        Guest(own.http, "bob", contract=contract) as guest,
    ):  # fmt: skip
        for each in (alice, bob, guest):
            await each.register()
        walker = Walker(own.http, alice, bob, guest)
        for source, targets in EXPECTED.items():
            links = walker.links(source)
            assert {operation_id(link.target) for link in links} == targets, f"the links of {source}"
            for link in links:
                await walker.follow(link, await walker.start(source))
                await walker.clear()
        with capsys.disabled():
            print(f"\n{'link':40} {'sent':>5} {'2xx':>5}")
            for name, count in walker.followed.items():
                print(f"{name:40} {count:5} {walker.succeeded[name]:5}")
        linked = {f"{source} -> {target}" for source, targets in EXPECTED.items() for target in targets}
        assert {name for name, count in walker.succeeded.items() if count > 0} == linked
        assert own.readiness() == 200
    await asyncio.to_thread(own.stop)

"""Every route of openapi/orbweaver.yaml, asked by everybody: only its owner gets at a resource, by whatever path and
with whatever name somebody else asks.

The routes come from the document. One that this file does not know how to ask, or whose {id} it does not know a real
one of, fails the test."""
import asyncio
import sqlite3
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
import jwt
import pytest
import pytest_asyncio
import yaml

from durability import configured
from party.guest import Guest
from peers import sdp
from peers.bot import Bot
from peers.contract import Contract
from peers.fleet import add_accounts
from peers.gateway import REPOSITORY, free_ports, orbweaver
from peers.spidr import Answer, SpidrPeer
from test_administration import Admin
from test_applications import issued, secret_of, with_token

USERS = ["alice", "bob", "carol", "dave"]
CLIENTS = [*USERS, "eve@other.example"]
VICTIM, GUEST_ACCOUNT = "alice@dev.local", "carol@dev.local"
NAME = "Liddell of Wonderland"
"""The victim's display name, which an answer to a stranger of another domain must not show."""


class Session(NamedTuple):
    """Of a user whom an application has logged in."""

    application: str
    domain: str
    user: str


SESSIONS = {
    "session of an application": Session("portal", "dev.local", "bob"),
    "session of another application": Session("elsewhere", "other.example", "eve"),
}
"""The victim's domain has the first application. Neither logs the victim in."""
WEBSOCKET = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip
PUBLIC, ABSENT, OF_ACCOUNT, BY_NAME, SIGNED = "public", "absent", "of an account", "by name", "signed"
"""What a route asks of its client: nothing; whatever it is, it is not there; a login; an unguessable name; the
signature of an application, which test_applications.py has."""
OPEN_TO_ALL = {"subscribeGuest"}
"""By name, but without one: whoever comes is a new guest."""
GUEST_CHANNELS = {"openGuestChannel", "pollGuestChannel"}
"""Which account is in the path of a guest's channel does not matter: in a token nobody could read it without the
realm, which may be left out there. The unguessable name is all it takes."""


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    name: str
    kind: str
    body: str | None = None
    is_websocket: bool = False

    def __str__(self):
        return f"{self.method} {self.path}"


def routes() -> list[Route]:
    contract = Contract(REPOSITORY / "openapi/orbweaver.yaml")
    found = []
    for path, item in contract.document["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            assert method in ("get", "put", "post", "delete"), f"how is {method} {path} to be asked?"
            needs_login = operation.get("security", contract.document["security"]) != []
            serves = [status for status in operation["responses"] if status < "400"]
            kind = OF_ACCOUNT if needs_login else ABSENT if not serves else BY_NAME if "{user}" in path else PUBLIC
            if "/application/" in path:
                kind = SIGNED
            body = contract._resolved(operation.get("requestBody"))
            schema = body and body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            found.append(Route(method.upper(), path, operation["operationId"], kind, schema, "101" in serves))
    return found


ROUTES = routes()


def last(path: str) -> str:
    return path.rsplit("/", 1)[1]


@dataclass
class Belongings:
    """What somebody has: an account, or a guest's place at one."""

    user: str
    names: dict[str, str] = field(default_factory=dict)
    """Real ids by the part of a path in front of `{id}`."""
    media: str = ""
    """A call for `calldisposition`."""
    session: str | None = None
    """What an application's user has in place of a password."""

    def url(self, route: Route, names: "Belongings | None" = None) -> str:
        """`names`: whose ids, if not one's own."""
        path = route.path.replace("{user}", self.user).replace("{version}", "1")
        if "{id}" in path:
            part = path[: path.index("/{id}")].rsplit("/", 1)[1]
            if part == "devices":
                part = "/".join(path[: path.index("/{id}")].rsplit("/", 3)[1:])
            known = (names or self).names
            assert part in known or route.kind == ABSENT, f"{route}: what is a real id of {part}? Add one to this test"
            path = path.replace("{id}", known.get(part, "1"))
        return path

    def body(self, route: Route, channel: str = "") -> dict | None:
        """A request that is carried out if its client is let in."""
        service = "callMe" if "/anonymous/" in route.path else "call"
        start = {"type": "callStart", "from": f"sip:{self.user}", "to": f"sip:{VICTIM}", "sdp": sdp.offer()}
        bodies = {
            "SubscribeRequestEnvelope": {"subscribeRequest": {
                "expires": 3600, "service": [service], "notificationType": "WebSocket",
            }},
            "CallCreationEnvelope": {"callControlRequest": start},
            "CallOperationEnvelope": {"callControlRequest": {"type": "ringing"}},
            "CallDispositionRequestEnvelope": {"callDispositionRequest": {
                "action": "reject", "sessionData": self.media,
            }},
            "MediaRequestEnvelope": {"mediaRequest": {"type": "play", "source": "music", "to": "peer"}},
            "CallMeStartEnvelope": {"callMeRequest": start | {
                "to": f"sip:{self.user}", "notifyChannelId": self.names.get("websocket", "none"),
            }},
            "CallMeOperationEnvelope": {"callMeRequest": {"type": "audit"}},
            "ImRequestEnvelope": {"imRequest": {"toUrl": "bob@dev.local", "message": "hi", "type": "A2"}},
            "PresenceRequestEnvelope": {"presenceRequest": {"status": "open", "activity": "busy"}},
            "PresenceWatcherRequestEnvelope": {"presenceWatcherRequest": {
                "userList": [self.user], "action": "get",
            }},
            "EventSubscriptionRequestEnvelope": {"eventSubscriptionRequest": {
                "subscribeUserList": [self.user], "eventType": "event:presence", "expires": 3600,
            }},
            "RouteRequestEnvelope": {"routeRequest": {"routeList": [], "action": "activate"}},
            "AddressBookRequestEnvelope": {"addressBookRequest": {"addressBookEntries": [{"nickname": "carl"}]}},
            "ClickToCallRequestEnvelope": {"clickToCallRequest": {
                "callingParty": self.user, "calledParty": "bob@dev.local",
            }},
            "ApplePushDeviceBody": {"bundleID": "com.example.app", "voipDeviceToken": "ab" * 32},
            "GooglePushDeviceBody": {"bundleID": "com.example.app", "deviceToken": f"token-of-{self.user}"},
            "WebhookPushDeviceBody": {"bundleID": "com.example.app", "url": "https://push.example.com/"},
            "AuthenticationTokenRequestEnvelope": {"authenticationTokenRequest": {
                "subscriberId": "alice", "organizationId": "dev.local",
            }},
            None: None,
        }  # fmt: skip
        assert route.body in bodies, f"{route}: what does it take? Add a {route.body} to this test"
        return bodies[route.body]

    @property
    def secrets(self) -> list[str]:
        return [name for part, name in self.names.items() if part not in ("clientCorrelator", "application")]


@dataclass
class Scene:
    alice: Belongings
    guest: Belongings
    """Of carol's account."""
    clients: dict[str, SpidrPeer]
    strangers: dict[str, Belongings]


async def calls_of(client: SpidrPeer) -> list[dict]:
    return (await client.request("GET", "/callControl/callSessions")).succeeded()["callSessions"]


@pytest_asyncio.fixture
async def scene(own_gateway, tmp_path, contract) -> AsyncIterator[Scene]:
    options = configured(
        tmp_path, USERS, anonymous={"mode": "open"}, listen={"host": "127.0.0.1", "poll_time": "1s"},
    )  # fmt: skip
    add_other_domain(tmp_path / "users.sqlite")
    sessions_of_others = {
        who: (each.user, await secret_of(each.application, options, domain=each.domain))
        for who, each in SESSIONS.items()
    }  # fmt: skip
    own = await asyncio.to_thread(own_gateway.configured, *options)
    async with AsyncExitStack() as stack:

        async def client(name: str) -> SpidrPeer:
            return await stack.enter_async_context(SpidrPeer(own.http, name, contract=contract))

        clients = {name: await client(name) for name in CLIENTS}
        for each in clients.values():
            await each.register(listen=False, correlator="phone")
        alice, dave = clients["alice"], clients["dave"]
        guests = [Guest(own.http, name, contract=contract) for name in ("carol", "bob")]
        for each in guests:
            await stack.enter_async_context(each)
            await each.register(listen=False)
        # One call that is over and in the log, and two that ring.
        (await dave.end(await dave.call("alice", sdp.offer()))).succeeded()
        for _ in range(2):
            await dave.call("alice", sdp.offer())
        rings, rings_too = [each["sessionData"] for each in await calls_of(alice)]
        record = (await alice.request("GET", "/logHistory")).succeeded()["logItems"][0]["params"]["recordId"]
        session = await guests[0].call("carol", sdp.offer())
        contact = {"addressBookRequest": {"addressBookEntries": [{"nickname": "the-white-rabbit"}]}}
        (await alice.request("POST", "/addressbook/contacts/", contact)).succeeded()
        watch = {"subscribeUserList": ["bob@dev.local"], "eventType": "event:presence", "expires": 3600}
        events = await alice.request("POST", "/eventSubscription", {"eventSubscriptionRequest": watch})
        events = events.succeeded()["sessionData"]

        def belongings(of: SpidrPeer, **names: str) -> Belongings:
            user, subscription, channel = of.subscription.split("/")[5], last(of.subscription), last(of.channel)
            return Belongings(user, {
                "subscription": subscription, "websocket": channel, "notification": channel,
                "clientCorrelator": "phone", "callSessions": "none", "logRecord": "none", "contacts": "none",
                "eventSubscription": "none", "application": "portal",
                **{f"push/{kind}/devices": "none" for kind in ("apple", "google", "webhook")}, **names,
            })  # fmt: skip

        devices = {}
        for kind, target in (
            ("apple", {"voipDeviceToken": "cd" * 32}), ("google", {"deviceToken": "token-of-alice"}),
            ("webhook", {"url": "https://push.example.com/"}),
        ):  # fmt: skip
            body = {"bundleID": "com.example.app", "clientCorrelator": kind, **target}
            answer = await alice.request("POST", f"/push/{kind}/devices/", body)
            devices[f"push/{kind}/devices"] = last(answer.succeeded()["registration"])
        owner = belongings(
            alice, callSessions=rings, logRecord=record, contacts="the-white-rabbit", eventSubscription=events,
            **devices,
        )  # fmt: skip
        owner.media = rings_too
        strangers = {name: belongings(clients[name]) for name in ("bob", "eve@other.example")}
        strangers["guest"] = belongings(guests[1])
        clients["guest"] = guests[1]
        clients["nobody"] = await client("nobody")
        clients["nobody"].credentials = None
        # Users whom applications have logged in, one of the same and one of another domain: they have no password here.
        for who, (user, secret) in sessions_of_others.items():
            _, token = await issued(own.http, secret, user, SESSIONS[who].application, SESSIONS[who].domain)
            stranger = await client(f"{user}@{SESSIONS[who].domain}")
            wish = {"subscribeRequest": {"expires": 3600, "service": ["call"], "clientCorrelator": "phone"}}
            granted = await stranger.request("POST", "/subscription", wish, headers=with_token(token["token"]))
            granted = granted.succeeded()
            stranger.subscription = granted["subscription"]
            stranger.channel = granted["subscriptionParams"]["notificationChannel"]
            stranger.credentials = None
            clients[who], strangers[who] = stranger, belongings(stranger)
            strangers[who].session = granted["subscriptionParams"]["sessionId"]
        yield Scene(owner, belongings(guests[0], callSessions=session), clients, strangers)
        for each in (*clients.values(), *guests):
            each.subscription = None  # some are over; the gateway ends anyway


def add_other_domain(database):
    add_accounts(database, ["eve@other.example"], "dev", log_n=4)
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE user SET displayName = ? WHERE address = ?", (NAME, VICTIM))
    connection.close()


async def ask(client: SpidrPeer, route: Route, path: str, body: dict | None, **headers: str) -> Answer:
    sent = {"Authorization": client.credentials, **headers, **(WEBSOCKET if route.is_websocket else {})}
    try:
        async with asyncio.timeout(10):
            return await client.request(route.method, path, body, headers=sent)
    except TimeoutError:
        return Answer(101 if route.is_websocket else 0, {}, "it was not answered in 10 s")


class Findings(list):
    """What is wrong, all of it."""

    def hold(self, is_right: bool, route: Route, who: str, path: str, answer: Answer):
        if not is_right:
            self.append(f"{who}: {route.method} {path} → {answer.status} {answer.text[:200]}")

    def reveals_nothing(self, scene: Scene, route: Route, who: str, path: str, answer: Answer):
        secrets = [each for of in (scene.alice, scene.guest) for each in of.secrets]
        if who not in ("bob", "session of an application"):
            secrets.append(NAME)  # whoever has logged in may search the users of the same domain
        self.hold(not any(each in answer.text for each in secrets), route, who, path, answer)
        # So no page of another origin is shown what a browser's credentials would open.
        self.hold("access-control-allow-credentials" not in answer.headers, route, who, path, answer)


STRANGERS = ["bob", "eve@other.example", "guest", "nobody", "wrong password", *SESSIONS]


@pytest.mark.parametrize("who", STRANGERS)
async def test_no_route_serves_what_belongs_to_somebody_else(scene: Scene, who):
    findings, asked, tried = Findings(), set(), 0
    before = await belongings_are_there(scene)
    for number, route in enumerate(ROUTES):
        asked.add(route)
        client = scene.clients["nobody" if who == "wrong password" else who]
        headers: dict[str, str] = {}
        if who == "wrong password":  # each from an address of its own, as one would be slowed down
            client = from_address(client.base, f"127.0.1.{number + 1}", contract=client.contract)
        if who == "guest":
            headers["x-session"] = scene.strangers["guest"].names["subscription"]
        own = scene.strangers.get(who)
        if who in SESSIONS:  # the same; a session that fails counts as a guess
            client = from_address(client.base, f"127.0.1.{number + 1}", contract=client.contract)
            client.credentials, headers["x-session"] = None, own.session
        for path, body, due in attempts(scene, route, who, own):
            tried += 1
            answer = await ask(client, route, path, body, **headers)
            findings.hold(answer.status in due, route, who, path, answer)
            findings.reveals_nothing(scene, route, who, path, answer)
        if who == "wrong password" or who in SESSIONS:
            await client.__aexit__(None)
    assert asked == set(ROUTES) and tried > len(ROUTES)
    assert not findings, "\n".join(findings)
    assert await belongings_are_there(scene) == before


def attempts(scene: Scene, route: Route, who: str, own: Belongings | None):
    """Paths, bodies, and the statuses that are right."""
    victim = scene.guest if "/anonymous/" in route.path else scene.alice
    has_account = who in ("bob", "eve@other.example", *SESSIONS)
    if route.kind == PUBLIC:
        yield victim.url(route), None, (200, 404)  # the demo page is not everywhere
    elif route.kind == ABSENT:
        yield victim.url(route), {}, (403,)
    elif route.kind == SIGNED:
        yield victim.url(route), victim.body(route), (403,)
    elif route.kind == OF_ACCOUNT:
        # The name of a guest's subscription has the form of a session, and each such guess counts as one.
        due = (403, 429) if who == "guest" else (403,) if has_account or who == "wrong password" else (401,)
        yield victim.url(route), victim.body(route), due
        if has_account:
            served = (200, 201) if "{id}" not in route.path and route.method == "GET" else ()
            for names in (victim, scene.guest):
                if "{id}" in route.path and route.name != "extendDeviceSubscription":
                    yield own.url(route, names), own.body(route), (404,)
            if route.name == "disposeCall":
                yield own.url(route), victim.body(route), (404,)
            if served:
                yield own.url(route), None, served
    elif "{id}" in route.path:
        # The name alone opens it, at its own account's path: another path, another one's name, or another kind of one.
        missing = (403, 404, 410)
        guests = (scene.guest, scene.strangers["guest"])
        for user in (scene.alice, scene.guest, own):
            for names in (scene.alice, scene.guest, own):
                is_its_own = user is names is victim or route.name in GUEST_CHANNELS and names in guests
                is_the_strangers = user is names is own and ("/anonymous/" in route.path) == (who == "guest")
                if user and names and not is_the_strangers and not is_its_own:
                    yield user.url(route, names), user.body(route), missing
    elif route.name == "createGuestCall":
        # With another one's channel the call would ring in its name.
        for names in (scene.alice, scene.guest):
            body = names.body(route)
            body["callMeRequest"]["to"] = f"sip:{(own or scene.alice).user}"
            yield (own or scene.alice).url(route), body, (403, 404)
    else:
        assert route.name in OPEN_TO_ALL, f"{route}: whose is what it serves? Add it to this test"


def from_address(base: str, source: str, password: str = "wrong", contract: Contract | None = None) -> SpidrPeer:
    """Somebody who says to be the victim, at this address of 127.0.0.0/8."""
    guesser = SpidrPeer(base, VICTIM, password, contract)
    guesser._session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(force_close=True, local_addr=(source, 0))
    )  # fmt: skip
    return guesser


async def belongings_are_there(scene: Scene) -> tuple:
    """What the owner sees of all that was tried."""
    alice = scene.clients["alice"]
    (await alice.extend()).succeeded()
    log = (await alice.request("GET", "/logHistory")).succeeded()["logItems"]
    guest = scene.clients["nobody"]
    place = await guest.request("GET", f"/rest/version/1/anonymous/{GUEST_ACCOUNT}/callMe/callSessions/"
                                f"{scene.guest.names['callSessions']}")  # fmt: skip
    calls = await calls_of(alice)
    return [(each["sessionData"], each["state"]) for each in calls], log, place.succeeded()["state"]


LAST = (
    "unsubscribe", "removeContact", "deleteEventSubscription", "unsubscribeGuest", "clearLog", "deleteRecord",
    "endCall", "endGuestCall", "removeApplePushDevice", "removeGooglePushDevice", "removeWebhookPushDevice",
)  # fmt: skip


async def test_every_route_serves_its_owner(scene: Scene):
    """So the names that strangers try are real ones, and it is the stranger who is refused."""
    findings, asked = Findings(), set()
    order = sorted(ROUTES, key=lambda route: -LAST.index(route.name) - 1 if route.name in LAST else -99)
    for route in sorted(order, key=lambda route: (route.name in LAST, route.method != "GET")):
        asked.add(route)
        owner = scene.guest if "/anonymous/" in route.path else scene.alice
        client = scene.clients["nobody" if owner is scene.guest else "alice"]
        path, body = owner.url(route), owner.body(route)
        if route.is_websocket:
            async with client._session.ws_connect(client.base.replace("http", "ws", 1) + path) as channel:
                assert not channel.closed
            continue
        answer = await ask(client, route, path, {} if route.kind == ABSENT else body)
        # Media of a call that nobody has answered, and a second call of a guest, have other reasons not to be.
        due = {ABSENT: (403,), SIGNED: (403,), PUBLIC: (200, 404)}.get(route.kind, (200, 201, 409, 429))
        findings.hold(answer.status in due, route, "owner", urlsplit(path).path, answer)
    assert asked == set(ROUTES)
    assert not findings, "\n".join(findings)


# Applications, and what operators may do


async def test_an_application_logs_in_users_of_its_own_domain_only(own_gateway, tmp_path, peer):
    options = configured(tmp_path, USERS)
    add_other_domain(tmp_path / "users.sqlite")
    secrets = {
        "portal": await secret_of("portal", options), "rival": await secret_of("rival", options),
        "elsewhere": await secret_of("elsewhere", options, domain="other.example"),
    }  # fmt: skip
    own = await asyncio.to_thread(own_gateway.configured, *options)
    for signer in ("rival", "elsewhere"):
        status, refusal = await issued(own.http, secrets[signer])
        assert (status, refusal["code"]) == (403, "auth.wrong_signature"), signer
    status, refusal = await issued(own.http, secrets["elsewhere"], application="elsewhere")
    assert (status, refusal["code"]) == (404, "auth.unknown_subscriber")
    tokens = [
        (await issued(own.http, secrets["rival"], "bob", "rival"))[1]["token"],
        (await issued(own.http, secrets["elsewhere"], "eve", "elsewhere", "other.example"))[1]["token"],
    ]
    alice = await peer("alice", registered=False, base=own.http)
    for token in tokens:
        refused = await alice.request("POST", "/subscription", WISH, headers=with_token(token))
        refused.refused(403, 46, "subscribeResponse", "auth.token_not_found")
    # Both are still good for those they are for.
    for name, token in zip(("bob", "eve@other.example"), tokens):
        owner = await peer(name, registered=False, base=own.http)
        granted = await owner.request("POST", "/subscription", WISH, headers=with_token(token))
        session = granted.succeeded()["subscriptionParams"]["sessionId"]
        as_alice = await alice.request("GET", "/logHistory", headers={"Authorization": None, "x-session": session})
        as_alice.refused(403, 65, "logHistory", "auth.session_ended")


ROLES = ("read-only", "operator", "admin")


def admin_operations() -> list[tuple[str, str, str]]:
    """Method, path and least role of each."""
    paths = yaml.safe_load((REPOSITORY / "openapi/admin.yaml").read_text())["paths"]
    return [
        (method.upper(), path.removeprefix("/admin/v1"), operation["x-role"])
        for path, item in paths.items() for method, operation in item.items() if method != "parameters"
    ]  # fmt: skip


async def test_each_operation_of_administration_is_for_its_role_and_greater_ones(own_gateway, tmp_path):
    """And for no user, application, guest or outsider, on any route."""
    port = free_ports(1)
    options = configured(tmp_path, USERS, admin={"host": "127.0.0.1", "port": port})
    secret = await secret_of("portal", options)
    own = await asyncio.to_thread(own_gateway.configured, *options)

    async def made_token(name: str, role: str) -> str:
        made = await asyncio.to_thread(orbweaver, "admin", "token", "add", name, "--role", role, *options)
        return made.stdout.strip()

    tokens = {role: await made_token(role, role) for role in ROLES}
    revoked = await made_token("gone", "admin")
    await asyncio.to_thread(orbweaver, "admin", "token", "revoke", "gone", *options)
    names = {"user": VICTIM, "id": "1", "name": "portal"}
    wrong = {
        "nobody": None, "a user": "Basic " + b64encode(f"{VICTIM}:dev".encode()).decode(),
        "the secret of an application": f"Bearer {secret}", "a revoked token": f"Bearer {revoked}",
        "a made-up token": "Bearer " + "A" * 44,
    }  # fmt: skip

    async def ask(method: str, path: str, credentials: str | None, source: str) -> tuple[int, str]:
        headers = {"Authorization": credentials} if credentials else {}
        connector = aiohttp.TCPConnector(force_close=True, local_addr=(source, 0))
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.request(method, f"http://127.0.0.1:{port}/admin/v1{path}", headers=headers) as answer,
        ):
            return answer.status, "" if path == "/events" and answer.status == 200 else (await answer.json())["code"]

    findings = []
    operations = admin_operations()
    assert len(operations) > 30
    for number, (method, template, least) in enumerate(operations):
        path = template.format(**names)
        for who, credentials in wrong.items():
            # Each from an address of its own: who guesses is slowed down.
            status, code = await ask(method, path, credentials, f"127.0.2.{number + 1}")
            if status != 401 or code not in ("auth.missing", "auth.malformed", "auth.invalid_token"):
                findings.append(f"{who}: {method} {path} → {status} {code}")
        for role in ROLES[: ROLES.index(least)]:
            if (found := await ask(method, path, f"Bearer {tokens[role]}", "127.0.0.1")) != (403, "auth.forbidden"):
                findings.append(f"{role}: {method} {path} → {found}")
    assert not findings, "\n".join(findings)
    # What a role may read it is shown.
    admin = Admin(tmp_path, port)
    for method, template, least in operations:
        if method == "GET" and "{id}" not in template and template != "/events":
            for role in ROLES[ROLES.index(least) :]:
                shown = await asyncio.to_thread(admin.ask, method, template.format(**names), token=tokens[role])
                assert shown.status == 200, f"{role}: {method} {template} → {shown.status} {shown.text}"
    log = (await asyncio.to_thread(admin.ask, "GET", "/audit?limit=500")).body["items"]
    done = [each["operation"] for each in log if each["result"] == "done"]
    assert sorted(done) == sorted([*["addToken"] * 4, "revokeToken", "exportUsersWithPasswords"])
    assert own.readiness() == 200


def v1_operations() -> list[tuple[str, str, str, str]]:
    """Name, method, path and scope of each. Events are for users as well: test_public_events.py has them."""
    paths = yaml.safe_load((REPOSITORY / "openapi/v1.yaml").read_text())["paths"]
    del paths["/v1/events"]
    return [
        (operation["operationId"], method.upper(), path, operation["x-scope"])
        for path, item in paths.items() for method, operation in item.items() if method in ("get", "post", "delete")
    ]  # fmt: skip


V1_BODIES = {
    "startCall": {"to": "bob@dev.local", "from": "bot@dev.local"}, "transferCall": {"to": "bob@dev.local"},
    "bridgeCall": {"call": "x"}, "joinCall": {"calls": ["x"]},
    "sendCall": {"parameters": [{"name": "a", "value": "b"}]}, "keysCall": {"keys": "1"},
    "playCall": {"items": [{"silence": 20}]}, "connectStream": {"action": "stop"},
}  # fmt: skip


async def test_each_operation_on_calls_of_an_application_is_for_its_own_keys_and_scopes(own_gateway, tmp_path, peer):
    """Not for other applications, users, operators and outsiders, on any path."""
    port = free_ports(1)
    options = configured(tmp_path, USERS, admin={"host": "127.0.0.1", "port": port})
    for name in ("bot", "rival"):
        added = await asyncio.to_thread(orbweaver, "app", "add", name, "--address", f"{name}@dev.local", *options)
        assert added.returncode == 0, added.stderr
    secret = (await asyncio.to_thread(orbweaver, "app", "rotate", "bot", *options)).stdout.strip()

    async def made_key(name: str, *more: str) -> str:
        made = await asyncio.to_thread(orbweaver, "app", "key", "add", name, *more, *options)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    key, revoked = await made_key("bot"), await made_key("bot")
    listed = (await asyncio.to_thread(orbweaver, "app", "key", "list", "bot", *options)).stdout.splitlines()
    name_of_revoked = next(line.split("\t")[0] for line in listed if line.split("\t")[1] == revoked[-4:])
    await asyncio.to_thread(orbweaver, "app", "key", "revoke", "bot", name_of_revoked, *options)
    rival = await made_key("rival")
    operator = await asyncio.to_thread(orbweaver, "admin", "token", "add", "root", "--role", "admin", *options)
    own = await asyncio.to_thread(own_gateway.configured, *options)
    alice = await peer("alice", base=own.http)
    await peer("bob", base=own.http)

    def token(secret: str = secret, issuer: str = "bot", lasts: float = 60, **claims: str) -> str:
        return jwt.encode({"iss": issuer, "exp": time.time() + lasts, **claims}, secret, "HS256")

    basic = "Basic " + b64encode(b"alice@dev.local:dev").decode()
    strangers = {
        "nobody": (None, "auth.missing"), "a revoked key": (revoked, "auth.invalid_token"),
        "a made-up key": ("owk_" + "A" * 42, "auth.invalid_token"), "an operator": (operator.stdout.strip(), None),
        "the secret": (secret, "auth.invalid_token"),
        "a token that has expired": (token(lasts=-60), "auth.token_expired"),
        "a token for too long": (token(lasts=7_200), "auth.invalid_token"),
        "a token of a guesser": (token("0" * 64), "auth.invalid_token"),
        "a rival's token in another's name": (token(rival, "bot"), "auth.invalid_token"),
        "a token for guests": (token(aud="callMe"), "auth.invalid_token"),
        "a token with a scope that it has not": (token(scope="users:login"), "auth.invalid_token"),
    }  # fmt: skip
    findings: list[str] = []
    operations = v1_operations()
    assert len(operations) >= 24
    async with Bot(own.http, key) as bot, Bot(own.http, rival) as other, Bot(own.http, basic) as user:
        call = await bot.start("alice")
        await alice.expect("call")
        version = (await bot.show(call["id"]))["version"]
        for number, (operation, method, template, scope) in enumerate(operations):
            path, body = template.format(id=call["id"]), V1_BODIES.get(operation)
            for who, (credentials, code) in strangers.items():
                # Each from an address of its own: who guesses is slowed down.
                async with Bot(own.http, credentials, source=f"127.0.3.{number + 1}") as stranger:
                    found = await stranger.ask(method, path, body)
                if found.status != 401 or code not in (None, found.body["code"]):
                    findings.append(f"{who}: {method} {path} → {found.status} {found.text}")
            found = await user.ask(method, path, body)
            if (found.status, found.body.get("code")) != (403, "auth.forbidden"):
                findings.append(f"a user: {method} {path} → {found.status} {found.text}")
            others = " ".join({each[3] for each in operations} - {scope})
            async with Bot(own.http, token(scope=others)) as without:
                found = await without.ask(method, path, body)
            if (found.status, found.body.get("code")) != (403, "auth.forbidden") or scope not in found.body["detail"]:
                findings.append(f"without {scope}: {method} {path} → {found.status} {found.text}")
            found = await other.ask(method, path, body)
            nowhere = (404, "recording.not_found" if template.startswith("/v1/recordings") else "call.not_found")
            expected = {
                "listCalls": (200, None), "listRecordings": (200, None), "startCall": (403, "call.not_owner"),
            }.get(operation, nowhere)  # fmt: skip
            if (found.status, found.body.get("code")) != expected or found.body.get("items"):
                findings.append(f"a rival: {method} {path} → {found.status} {found.text}")
        assert not findings, "\n".join(findings)
        # Nothing has happened to the call, and a token that is right is let in.
        assert (await bot.show(call["id"]))["version"] == version and len(await bot.calls()) == 1
        async with Bot(own.http, token(scope="calls:read calls:write", aud="v1")) as right:
            assert (await right.tell(call["id"], "end"))["state"] == "ended"


# Where a request comes from, and what its client says of that


PROXY, OUTER_PROXY, CLIENT, NEIGHBOUR = "127.0.0.9", "127.0.0.8", "198.51.100.7", "198.51.100.8"
WISH = {"subscribeRequest": {"expires": 3600, "service": ["call"], "notificationType": "WebSocket"}}
WAYS = {
    "by_itself": ("127.0.0.2", "{invented}", "127.0.0.3", "{invented}"),
    "by_a_proxy": (PROXY, "{invented}, " + CLIENT, PROXY, "{invented}, " + NEIGHBOUR),
    "by_two_proxies": (PROXY, "{invented}, " + CLIENT + ", " + OUTER_PROXY, PROXY, NEIGHBOUR + ", " + OUTER_PROXY),
    "by_a_proxy_that_nobody_trusts": ("127.0.0.7", "{invented}, " + PROXY, "127.0.0.3", "{invented}"),
}
"""From where somebody guesses, with which X-Forwarded-For; the same of the owner, who gets in meanwhile."""


@pytest.mark.parametrize("way", WAYS)
async def test_whoever_guesses_is_slowed_down_whatever_addresses_it_invents(own_gateway, tmp_path, way):
    attacker, forwarded, home, owners = WAYS[way]
    options = configured(
        tmp_path, USERS, listen={"host": "127.0.0.1", "trusted_proxies": f"[{PROXY}, {OUTER_PROXY}]"}
    )  # fmt: skip
    own = await asyncio.to_thread(own_gateway.configured, *options)

    async def tries(source: str, said: str, password: str) -> int:
        client = from_address(own.http, source, password)
        async with client._session:
            return (await client.request("POST", "/subscription", WISH, headers={"X-Forwarded-For": said})).status

    statuses = [await tries(attacker, forwarded.format(invented=f"203.0.113.{n}"), f"guess {n}") for n in range(1, 13)]
    # Five in a row, and one more for each ten seconds.
    assert statuses[:5] == [403] * 5 and 429 in statuses[5:], statuses
    assert await tries(home, owners.format(invented="203.0.113.1"), "dev") == 201


async def test_a_page_of_another_origin_opens_no_channel_whose_name_it_does_not_know(scene: Scene):
    """Cross-site hijacking: a browser sends whatever it keeps for the gateway along with any page's handshake."""
    alice = scene.clients["alice"]
    path = f"/rest/version/1/user/{VICTIM}/websocket/"
    headers = WEBSOCKET | {"Origin": "https://elsewhere.example", "Cookie": "session=1"}
    for name in ("", "none", scene.alice.names["subscription"], scene.alice.names["websocket"][:-1] + "~"):
        answer = await alice.request("GET", path + name, headers=headers)
        assert answer.status in (400, 404), f"{name}: {answer}"
    page = alice.base.replace("http", "ws", 1) + path + scene.alice.names["websocket"]
    async with alice._session.ws_connect(page, origin="https://elsewhere.example") as channel:
        assert not channel.closed

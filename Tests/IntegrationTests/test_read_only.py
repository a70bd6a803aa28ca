"""A database that cannot be written: what a gateway refuses while its disk is read-only, and what it says when it
finds one at its start (docs/operations.md, Data)."""
import asyncio
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from call_records import sessions_of
from disks import FAILING, WORKING, ReadOnlyDisk, heed_permissions, is_refused, says
from durability import configured
from party.guest import Guest
from peers import sdp
from peers.gateway import BINARY, REPOSITORY, environment, free_ports
from peers.spidr import SpidrPeer
from situations import connected, forget
from test_administration import Admin
from test_applications import issued, secret_of, with_token

USERS = ["alice", "bob", "carol"]
WISH = {"subscribeRequest": {"expires": 3600, "service": ["call"], "notificationType": "WebSocket"}}


PUSH_TARGETS = {
    "apple": {"voipDeviceToken": "ab12"}, "google": {"deviceToken": "token"},
    "webhook": {"url": "https://push.example.com/"},
}  # fmt: skip


class Change(NamedTuple):
    """A request that changes something, in the wrapper of whose answer it is refused; some have none."""

    client: SpidrPeer
    method: str
    path: str
    body: dict | None
    wrapper: str | None

    @property
    def url(self) -> str:
        return self.path if self.path.startswith("/rest/") else self.client.path(self.path)

    async def made(self):
        return await self.client.request(self.method, self.path, self.body)


def changing(document: str) -> set[tuple[str, str, str]]:
    """Method, path and name of each operation that changes something, and that the gateway has."""
    paths = yaml.safe_load((REPOSITORY / "openapi" / document).read_text())["paths"]
    return {
        (method.upper(), path, operation["operationId"])
        for path, item in paths.items() for method, operation in item.items()
        if method != "get" and method != "parameters" and any(str(status) < "300" for status in operation["responses"])
    }  # fmt: skip


def not_made(document: str, made: list[tuple[str, str]]) -> set[str]:
    """The operations that change something and are not among these methods and paths."""

    def fits(template: str, path: str) -> bool:
        return re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template) + "/?", path) is not None

    return {
        name
        for method, template, name in changing(document)
        if not any(method == other and fits(template, path) for other, path in made)
    }


async def changes(alice, bob, carol, guest, newcomer, at_alice, at_bob) -> list[Change]:
    """One of every kind, such that each can be made after those before it."""
    watch = {"eventSubscriptionRequest": {"eventType": "event:presence", "userList": [carol.user], "expires": 3600}}
    events = (await bob.request("POST", "/eventSubscription", watch)).succeeded()["sessionData"]
    dora = {"addressBookRequest": {"addressBookEntries": [{"nickname": "dora"}]}}
    (await bob.request("POST", "/addressbook/contacts/", dora)).succeeded()
    await carol.end(await carol.call("bob", sdp.offer()))  # leaves records of a call
    to_alice, to_carol = await carol.call("alice", sdp.offer()), await bob.call("carol", sdp.offer())
    at_alice_rings = (await alice.expect("call")).session
    at_carol_rings = (await carol.expect("call")).session
    await carol.expect("ringing", to_alice)
    await bob.expect("ringing", to_carol)
    of_guest = await guest.call("bob", sdp.offer())
    await guest.expect("ringing", of_guest)
    record = (await carol.request("GET", "/logHistory")).succeeded()["logItems"][0]["params"]["recordId"]

    def start(caller: SpidrPeer, callee: str) -> dict:
        return {"type": "callStart", "from": f"sip:{caller.user}", "to": f"sip:{callee}@dev.local", "sdp": sdp.offer()}

    def operation(name: str, **fields) -> dict:
        return {"callControlRequest": {"type": name, **fields}}

    pushes = []
    for kind, target in PUSH_TARGETS.items():
        device = {"bundleID": "com.example.app", "clientCorrelator": kind, **target}
        own = (await bob.request("POST", f"/push/{kind}/devices", device)).succeeded()["registration"]
        pushes += [
            Change(alice, "POST", f"/push/{kind}/devices",
                   device | {name: value + "99" for name, value in target.items()}, None),
            Change(bob, "PUT", own, device, None),
            Change(bob, "DELETE", own, None, None),
        ]  # fmt: skip
    number = operation("sendCustomHeaders", customParameters=[{"name": "X-Number", "value": "1"}])
    reject = {"callDispositionRequest": {"action": "reject", "sessionData": at_alice_rings}}
    return [
        # The first one is tried, and so it is carried out once the disk takes it, though it was refused.
        Change(alice, "PUT", alice.subscription, WISH, "subscribeResponse"),
        Change(newcomer, "POST", "/subscription", WISH, "subscribeResponse"),
        Change(alice, "PUT", "/subscription/clientCorrelator/phone", WISH, "subscribeResponse"),
        Change(carol, "POST", "/callControl", {"callControlRequest": start(carol, "bob")}, "callControlResponse"),
        Change(carol, "PUT", carol._call(at_carol_rings), operation("callAnswer", sdp=sdp.answer(sdp.offer())),
               "callControlResponse"),
        Change(alice, "PUT", alice._call(at_alice.session), number, "callControlResponse"),
        Change(alice, "POST", alice._call(at_alice.session) + "/media",
               {"mediaRequest": {"type": "play", "source": "music", "to": "peer"}}, "mediaResponse"),
        Change(alice, "POST", "/calldisposition", reject, "callDispositionResponse"),
        Change(bob, "DELETE", bob._call(at_bob.session), None, "callControlResponse"),
        Change(bob, "POST", "/instantmessage", {"imRequest": {"toUrl": carol.user, "message": "hi"}}, "imResponse"),
        Change(bob, "POST", "/presence", {"presenceRequest": {"status": "open", "activity": "busy"}},
               "presenceResponse"),
        Change(alice, "POST", "/presenceWatcher",
               {"presenceWatcherRequest": {"userList": [bob.user], "action": "watch"}}, "presenceWatcherResponse"),
        Change(alice, "POST", "/eventSubscription",
               {"eventSubscriptionRequest": {"eventType": "event:presence", "userList": [carol.user]}},
               "eventSubscriptionResponse"),
        Change(bob, "PUT", f"/eventSubscription/{events}", watch, "eventSubscriptionResponse"),
        Change(bob, "DELETE", f"/eventSubscription/{events}", None, "eventSubscriptionResponse"),
        Change(alice, "POST", "/addressbook/contacts/",
               {"addressBookRequest": {"addressBookEntries": [{"nickname": "carl"}]}}, "addressBookResponse"),
        Change(bob, "PUT", "/addressbook/contacts/dora", dora, "addressBookResponse"),
        Change(bob, "DELETE", "/addressbook/contacts/dora", None, "addressBookResponse"),
        Change(bob, "PUT", "/routelist", {"routeRequest": {"routeList": ["desk"], "action": "activate"}},
               "routeResponse"),
        *pushes,
        Change(carol, "DELETE", f"/logRecord/{record}", None, "logRecord"),
        Change(carol, "DELETE", "/logHistory", None, "logHistory"),
        Change(guest, "POST", guest.path("/subscription"), {"subscribeRequest": {"service": ["callMe"]}},
               "subscribeResponse"),
        Change(guest, "PUT", guest.path(guest._call(of_guest)),
               {"callMeRequest": {"type": "sendCustomHeaders", "customParameters": [{"name": "X", "value": "1"}]}},
               "callMeResponse"),
        Change(guest, "DELETE", guest.path(guest._call(of_guest)), None, "callMeResponse"),
        Change(guest, "POST", guest.path("/callMe"), {"callMeRequest": start(guest, "bob") | {
            "from": "sip:erin@guest.invalid", "notifyChannelId": guest.channel.rsplit("/", 1)[1]}}, "callMeResponse"),
        Change(guest, "PUT", guest.subscription, {"subscribeRequest": {"service": ["callMe"], "expires": 3600}},
               "subscribeResponse"),
        Change(guest, "DELETE", guest.subscription, None, "subscribeResponse"),
        Change(carol, "DELETE", carol.subscription, None, "subscribeResponse"),
        # The device is called once this is kept.
        Change(alice, "POST", "/clicktocall",
               {"clickToCallRequest": {"callingParty": alice.user, "calledParty": bob.user}}, "ctcResponse"),
    ]  # fmt: skip


async def test_every_request_that_changes_something_is_refused_and_works_again_afterwards(
    own_gateway, tmp_path, party, contract
):
    disk = ReadOnlyDisk(tmp_path)
    options = configured(tmp_path, USERS, anonymous={"mode": "open"})
    secret = await secret_of("portal", options)
    own = own_gateway.configured(*options, logs_events=False, variables=disk.variables)
    admin = Admin(tmp_path, own.http_port)
    routes = await asyncio.to_thread(admin.ask, "PUT", "/users/bob@dev.local/routes", {"routes": ["desk"]})
    assert routes.status == 200, routes.text
    token = (await issued(own.http, secret, "bob"))[1]["token"]
    alice = await party("alice", base=own.http, correlator="phone")
    bob, carol = await party("bob", base=own.http), await party("carol", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    async with (
        Guest(own.http, "bob", contract=contract) as guest,
        SpidrPeer(own.http, "bob", contract=contract) as newcomer,
    ):
        await guest.register()
        all_of_them = await changes(alice, bob, carol, guest, newcomer, at_alice, at_bob)
        made = [(each.method, each.url) for each in all_of_them]
        assert not_made("orbweaver.yaml", made) == {"issueToken"}, "each operation that changes something"
        forget(alice, bob, carol, guest)
        before = [await sessions_of(each) for each in (alice, bob, carol)]
        with disk.fails():
            for change in all_of_them:
                is_refused(await change.made(), change.wrapper)
            # The database itself is asked for these: an application's request, and a token that is good for one login.
            status, refusal = await issued(own.http, secret)
            assert (status, refusal["code"]) in [(503, "auth.unavailable"), (503, "service.unavailable")], refusal
            login = await newcomer.request("POST", "/subscription", WISH, headers=with_token(token))
            assert login.status == 503 and int(login.headers["retry-after"]) > 0, login.text
            await says(own, FAILING)
            # What changes nothing goes on, and nothing was changed.
            assert [await sessions_of(each) for each in (alice, bob, carol)] == before
            assert (await carol.request("GET", "/logHistory")).succeeded()["logItems"]
            (await alice.request("GET", "/userProfileData")).succeeded()
            assert own.readiness() == 200
            for each in (alice, bob, carol, guest):
                await each.heard_exactly()
        await says(own, WORKING)
        for change in all_of_them:
            (await change.made()).succeeded()
        guest.subscription = carol.subscription = None
        await bob.expect("customParameters", at_bob.session)
        await alice.expect("call")
        assert (await issued(own.http, secret))[0] == 201
        (await newcomer.request("POST", "/subscription", WISH, headers=with_token(token))).succeeded()
        assert await sessions_of(carol) == []


# What operators do


ADMIN_CHANGES = [
    ("POST", "/users", {"address": "dave@dev.local", "password": "secret"}),
    ("PATCH", "/users/bob@dev.local", {"displayName": "Robert"}),
    ("PUT", "/users/bob@dev.local/voicemail", {"unheard": 1, "heard": 2}),
    ("PUT", "/users/bob@dev.local/routes", {"routes": ["desk", "mobile"]}),
    ("POST", "/user-import", '{"address": "erin@dev.local", "password": "secret"}\n'),
    ("DELETE", "/users/carol@dev.local", None),
    ("DELETE", "/calls/{call}", None),
    ("DELETE", "/subscriptions/{subscription}", None),
    ("PUT", "/log-level", {"level": "info"}),
    ("POST", "/tokens", {"name": "mon", "role": "read-only"}),
    ("DELETE", "/tokens/mon", None),
    ("POST", "/applications", {"name": "archive", "domain": "dev.local"}),
    ("POST", "/applications/archive/secret", None),
    ("PATCH", "/applications/archive", {"displayName": "The archive"}),
    ("POST", "/applications/archive/keys", None),
    ("DELETE", "/applications/bot/keys/{key}", None),
    ("DELETE", "/applications/archive", None),
    ("POST", "/applications/bot/webhooks", {"url": "https://bots.invalid/"}),
    ("PATCH", "/applications/bot/webhooks/{webhook}", {"enabled": False}),
    ("POST", "/applications/bot/webhooks/{webhook}/key", None),
    ("POST", "/applications/bot/webhooks/{webhook}/retry", None),
    ("POST", "/applications/bot/webhooks/{webhook}/test", None),
    ("DELETE", "/applications/bot/webhooks/{webhook}", None),
    ("POST", "/push-registrations/{push}/test", {"kind": "refresh"}),
    ("DELETE", "/push-registrations/{push}", None),
    ("POST", "/drain", None),
    ("DELETE", "/drain", None),
]
"""Each can be made after those before it."""
SECRETS = "/user-export/with-passwords"
"""It changes nothing, and must not be answered unless the audit log has it."""


async def test_every_change_that_an_operator_asks_for_is_refused_and_works_again_afterwards(
    own_gateway, tmp_path, peer
):
    disk = ReadOnlyDisk(tmp_path)
    options = configured(tmp_path, USERS, drain={"announce": "60s", "deadline": "120s"})
    own = own_gateway.configured(*options, logs_events=False, variables=disk.variables)
    admin = Admin(tmp_path, own.http_port)

    async def ask(method: str, path: str, body=None, **headers: str):
        return await asyncio.to_thread(admin.ask, method, path, body, **headers)

    async def seen() -> dict:
        kinds = ("users", "subscriptions", "calls", "tokens", "applications", "log-level", "drain", "audit")
        found = {kind: (await ask("GET", f"/{kind}")).body for kind in kinds}
        for each in found["subscriptions"]["items"]:
            del each["expiresAt"]  # it is worked out anew each time, to the millisecond
        return found

    alice = await peer("alice", base=own.http)
    bob = await peer("bob", base=own.http)
    await alice.call("bob", sdp.offer())
    await bob.expect("call")
    device = await bob.request("POST", "/push/google/devices/", {"bundleID": "com.example.app", "deviceToken": "t1"})
    await ask("POST", "/applications", {"name": "bot", "addresses": ["bot@dev.local"]})
    names = {
        "key": (await ask("POST", "/applications/bot/keys")).body["id"],
        "webhook": (await ask("POST", "/applications/bot/webhooks", {"url": "https://bots.invalid/"})).body["id"],
        "push": device.succeeded()["registration"].rsplit("/", 1)[1],
        "subscription": f"{alice.user}/{alice.subscription.rsplit('/', 1)[1]}",
        "call": (await ask("GET", "/calls")).body["items"][0]["id"],
    }
    all_of_them = [(method, path.format(**names), body) for method, path, body in ADMIN_CHANGES]
    assert not_made("admin.yaml", [(method, "/admin/v1" + path) for method, path, _ in all_of_them]) == set()
    before = await seen()
    with disk.fails():
        for number, (method, path, body) in enumerate([*all_of_them, ("GET", SECRETS, None)]):
            # A key, too, would have to be kept.
            for headers in ({}, {"Idempotency_Key": f"key-{number}"}) if method != "GET" else ({},):
                refused = await ask(method, path, body, **headers)
                assert (refused.status, refused.body["code"]) == (503, "service.unavailable"), f"{path}: {refused.text}"
                assert refused.headers["content-type"] == "application/problem+json"
                assert len(refused.body["detail"].split()) >= 3 and int(refused.headers["retry-after"]) > 0
        assert await seen() == before, "it is read, and nothing was done"
    for number, (method, path, body) in enumerate(all_of_them):
        async with asyncio.timeout(20):
            # The journal tries the disk again only a second after it has failed.
            while (answer := await ask(method, path, body, Idempotency_Key=f"key-{number}")).status == 503:
                await asyncio.sleep(0.1)
        assert 200 <= answer.status < 300, f"{method} {path}: {answer.status} {answer.text}"
        assert "idempotent-replayed" not in answer.headers
    assert (await ask("GET", SECRETS)).status == 200
    log = (await ask("GET", "/audit?limit=100")).body["items"]
    done = [each for each in log if each.get("result") == "done"]
    assert len(done) == len(before["audit"]["items"]) + len(all_of_them) + 1
    alice.subscription = None  # an operator has ended it


# At the start


def serve(*options: str, **variables: str) -> subprocess.CompletedProcess:
    """It must end by itself; permissions hold for it, whoever the user is."""
    ports = ("--set", f"listen.port={free_ports(1)}", "--set", f"media.port={free_ports(4)}")
    return command("serve", *options, *ports, **variables)


def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BINARY, *arguments], capture_output=True, text=True, timeout=60, input="secret\n",
        env=environment(**variables), preexec_fn=heed_permissions,
    )  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    """What is in its files, but for the index of the log, which SQLite makes anew whenever it likes."""
    files = [path for path in folder.glob("users.sqlite*") if path.is_file() and not path.name.endswith("-shm")]
    return {path.name: path.read_bytes() for path in files}


def of_the_file(folder: Path, back: bool):
    (folder / "users.sqlite").chmod(0o600 if back else 0o400)


def of_all_files(folder: Path, back: bool):
    for path in folder.glob("users.sqlite*"):
        path.chmod(0o600 if back else 0o400)


def of_the_folder(folder: Path, back: bool):
    folder.chmod(0o700 if back else 0o500)


def of_the_folder_and_its_files(folder: Path, back: bool):
    of_all_files(folder, back)
    of_the_folder(folder, back)


WAYS = {
    of_the_file: "users.sqlite cannot be written: this user must be allowed to write to the file and to its folder",
    of_all_files: "users.sqlite.lock cannot be created: does its folder exist, and may this user write there?",
    of_the_folder_and_its_files:
        "users.sqlite.lock cannot be created: does its folder exist, and may this user write there?",
}  # fmt: skip


@pytest.mark.parametrize(("take", "sentence"), WAYS.items(), ids=[way.__name__ for way in WAYS])
async def test_at_the_start_a_sentence_says_whose_permissions_to_correct(
    own_gateway, tmp_path, peer, take: Callable[[Path, bool], None], sentence
):
    options = configured(tmp_path, USERS)
    own = own_gateway.configured(*options, logs_events=False)
    alice = await peer("alice", base=own.http)
    own.kill()
    await alice.closed()
    before = contents(tmp_path)
    take(tmp_path, False)
    try:
        ended = await asyncio.to_thread(serve, *options)
        added = await asyncio.to_thread(command, "user", "add", "dave@dev.local", "--password-stdin", *options)
    finally:
        take(tmp_path, True)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"orbweaver: {tmp_path}/{sentence}"), ended.stderr
    assert ended.stderr.count("\n") == 1, "nothing but the sentence"
    assert added.returncode == 1 and "cannot be" in added.stderr, added
    assert contents(tmp_path) == before
    await is_in_service_again(own, alice)


async def is_in_service_again(own, alice: SpidrPeer):
    """With the subscription and the channel that it promised before."""
    await asyncio.to_thread(own.start)
    await alice.open_channel()
    (await alice.extend()).succeeded()
    (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()


async def test_a_gateway_that_ends_on_a_read_only_disk_says_so_when_it_is_started_again(own_gateway, tmp_path, peer):
    disk = ReadOnlyDisk(tmp_path)
    options = configured(tmp_path, USERS)
    own = own_gateway.configured(*options, logs_events=False, variables=disk.variables)
    alice = await peer("alice", base=own.http)
    await peer("bob", base=own.http)
    with disk.fails():
        is_refused(await alice.extend(), "subscribeResponse")
        own.kill()
        await alice.closed()
        before = contents(tmp_path)
        ended = await asyncio.to_thread(serve, *options, **disk.variables)
        assert ended.returncode == 1
        assert "Read-only file system" in ended.stderr and str(tmp_path / "users.sqlite") in ended.stderr, ended.stderr
        assert contents(tmp_path) == before
    await is_in_service_again(own, alice)

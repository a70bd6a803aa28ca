"""Devices that register for push, and what becomes of their registrations (spidr-wire §11.1)."""
import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
import pytest_asyncio

from durability import configured
from party import Party
from peers.gateway import orbweaver
from peers.push_provider import Answer, PushProvider
from robots import add_application
from test_administration import Admin, OverSocket, start
from test_public_events import credentials, polled

BUNDLE = "com.example.app"
KINDS = {
    "apple": {"isProduction": False, "voipDeviceToken": "ab12" * 16, "standardDeviceToken": "cd34" * 16},
    "google": {"deviceToken": "ef56:token-of-a-device"},
    "webhook": {"url": "https://127.0.0.1:9/secret?user=1"},
}
SECRETS = ("ab12" * 3, "cd34" * 3, "token-of", "secret")


def device(kind: str, correlator: str | None = "phone", **changed) -> dict:
    body = {"bundleID": BUNDLE, "service": ["call"], "realm": "default", **KINDS[kind], **changed}
    return body if correlator is None else body | {"clientCorrelator": correlator}


def devices(kind: str) -> str:
    return f"/push/{kind}/devices"


async def register(client, kind: str, correlator: str | None = "phone", **changed) -> str:
    """Registers a device; its path."""
    answer = await client.request("POST", devices(kind) + "/", device(kind, correlator, **changed))
    assert answer.status == 201 and answer.wrapper == f"{kind}DeviceRegistrationResponse", answer.text
    return answer.succeeded()["registration"]


async def listed(client, kind: str) -> list[str]:
    answer = await client.request("GET", devices(kind))
    assert not any(secret in answer.text for secret in SECRETS), answer.text
    return [each["registration"] for each in answer.succeeded()["devices"]]


def refused(answer, status: int, status_code: int, code: str):
    """Refusals have no wrapper (spidr-wire §1.5)."""
    assert (answer.status, answer.json["statusCode"], answer.json["code"]) == (status, status_code, code), answer.text
    assert answer.headers["content-type"] == "application/json" and len(answer.json["reason"].split()) >= 3


def start_with(own_gateway, folder, *users: str, **sections):
    return own_gateway.configured(*configured(folder, list(users), **sections))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_device_of_each_kind_is_registered_changed_and_removed(peer, kind):
    alice = await peer("alice", registered=False)
    own = await register(alice, kind)
    assert own.startswith(alice.path(devices(kind)) + "/")
    assert await listed(alice, kind) == [own]
    wrapped = {f"{kind}DeviceRegistrationRequest": device(kind)}
    assert (await alice.request("POST", devices(kind), wrapped)).succeeded()["registration"] == own
    changed = await alice.request("PUT", own, device(kind, bundleID="com.example.other"))
    assert changed.status == 200 and changed.succeeded()["registration"] == own
    (found,) = (await alice.request("GET", own)).succeeded()["devices"]
    assert found["bundleID"] == "com.example.other" and found["clientCorrelator"] == "phone"
    assert (await alice.request("DELETE", own + "/")).succeeded() == {"statusCode": 0}
    for method in ("GET", "PUT", "DELETE"):
        body = device(kind) if method == "PUT" else None
        refused(await alice.request(method, own, body), 404, 42, "push.not_found")
    assert await listed(alice, kind) == []


async def test_a_device_has_one_registration(peer):
    alice = await peer("alice", registered=False)
    first = await register(alice, "google", "tablet")
    try:
        # A new token of the same device, and the same token of a device that does not name itself.
        assert await register(alice, "google", "tablet", deviceToken="new") == first
        assert await register(alice, "google", None, deviceToken="new") == first
        # It is another platform's by now.
        apple = await register(alice, "apple", "watch")
        await register(alice, "google", "watch", deviceToken="other")
        refused(await alice.request("GET", apple), 404, 42, "push.not_found")
        assert len(await listed(alice, "google")) == 2 and await listed(alice, "apple") == []
    finally:
        for path in await listed(alice, "google"):
            (await alice.request("DELETE", path)).succeeded()


async def test_a_telephone_belongs_to_who_logged_in_last(peer):
    alice, bob = await peer("alice", registered=False), await peer("bob", registered=False)
    for kind in ("apple", "google"):
        hers = await register(alice, kind)
        his = await register(bob, kind)
        assert await listed(alice, kind) == [] and await listed(bob, kind) == [his]
        refused(await alice.request("DELETE", hers), 404, 42, "push.not_found")
        # Nobody else's registration is found by its name.
        stolen = his.replace(bob.path(""), alice.path(""))
        for method in ("GET", "PUT", "DELETE"):
            body = device(kind) if method == "PUT" else None
            refused(await alice.request(method, stolen, body), 404, 42, "push.not_found")
        assert await listed(bob, kind) == [his]
        (await bob.request("DELETE", his)).succeeded()
    # The URL of a webhook is the app's.
    paths = [await register(alice, "webhook"), await register(bob, "webhook")]
    assert await listed(alice, "webhook") == paths[:1] and await listed(bob, "webhook") == paths[1:]
    for client, path in zip((alice, bob), paths, strict=True):
        (await client.request("DELETE", path)).succeeded()


async def test_a_user_has_only_so_many_devices(own_gateway, tmp_path, peer):
    own = await asyncio.to_thread(start_with, own_gateway, tmp_path, "alice", push={"registrations_per_user": 2})
    alice = await peer("alice", registered=False, base=own.http)
    paths = [await register(alice, "google", None, deviceToken=f"t{number}") for number in range(3)]
    assert await listed(alice, "google") == paths[1:]
    # Who registers again is not the oldest any more.
    await asyncio.sleep(0.01)
    await register(alice, "google", None, deviceToken="t1")
    await asyncio.sleep(0.01)
    newest = await register(alice, "google", None, deviceToken="t3")
    assert await listed(alice, "google") == [paths[1], newest]


async def test_registrations_outlive_a_kill_and_end_with_the_account(own_gateway, tmp_path, peer):
    own, _options, admin = await asyncio.to_thread(start, own_gateway, tmp_path)
    alice, bob = [await peer(name, registered=False, base=own.http) for name in ("alice", "bob")]
    kept = {kind: [await register(alice, kind, kind)] for kind in KINDS}
    gone = await register(alice, "google", None, deviceToken="another")
    (await alice.request("DELETE", gone)).succeeded()
    await register(bob, "google", deviceToken="bobs")
    own.kill()
    await asyncio.to_thread(own.start)
    assert {kind: await listed(alice, kind) for kind in KINDS} == kept
    assert await asyncio.to_thread(own.metric, "orbweaver_push_registrations") == 4
    await asyncio.to_thread(admin.ask, "DELETE", "/users/alice@dev.local")
    await asyncio.to_thread(admin.ask, "POST", "/users", {"address": "alice@dev.local", "password": "dev"})
    assert [await listed(alice, kind) for kind in KINDS] == [[], [], []]
    assert len(await listed(bob, "google")) == 1
    own.kill()
    await asyncio.to_thread(own.start)
    assert [await listed(alice, kind) for kind in KINDS] == [[], [], []]


async def test_registrations_end_with_an_account_that_the_command_line_removes(own_gateway, tmp_path, peer):
    own, options, _admin = await asyncio.to_thread(start, own_gateway, tmp_path)
    alice = await peer("alice", registered=False, base=own.http)
    await register(alice, "google")
    removed = await asyncio.to_thread(orbweaver, "user", "remove", "alice@dev.local", *options, directory=tmp_path)
    assert removed.returncode == 0, removed.stderr
    async with asyncio.timeout(10):
        while await asyncio.to_thread(own.metric, "orbweaver_push_registrations"):
            await asyncio.sleep(0.1)
    with sqlite3.connect(tmp_path / "users.sqlite") as database:
        assert database.execute("SELECT count(*) FROM pushRegistration").fetchone() == (0,)


async def test_no_token_is_logged(own_gateway, tmp_path, peer):
    own = await asyncio.to_thread(start_with, own_gateway, tmp_path, "alice", log={"level": "trace"})
    alice = await peer("alice", registered=False, base=own.http)
    for kind in KINDS:
        path = await register(alice, kind)
        refused(await alice.request("PUT", path, device(kind, bundleID="no name")), 400, 37, "request.invalid_value")
    log = own.log_path.read_text()
    assert "request answered" in log and not any(secret in log for secret in SECRETS)


@pytest.mark.parametrize("kind, field, value", [
    ("apple", "voipDeviceToken", "not hexadecimal"), ("apple", "bundleID", "a/b"), ("google", "deviceToken", "a b"),
    ("webhook", "url", "http://push.example.com/"), ("webhook", "url", "ftp://x"), ("google", "service", []),
    ("google", "realm", "a\nb"), ("apple", "clientCorrelator", "x" * 256),
])  # fmt: skip
async def test_what_cannot_be_registered_is_refused_by_its_name(peer, kind, field, value):
    alice = await peer("alice", registered=False)
    answer = await alice.request("POST", devices(kind), device(kind) | {field: value})
    refused(answer, 400, 37, "request.invalid_value")
    assert field in answer.json["reason"]
    assert await listed(alice, kind) == []


# Pushes to registered devices


@pytest_asyncio.fixture
async def provider(tmp_path: Path):
    async with PushProvider(tmp_path) as provider:
        provider.add_webhook_key()
        yield provider
        assert provider.faults == []


async def start_for(provider: PushProvider, own_gateway, tmp_path):
    """A gateway whose pushes go to the provider, and who asks it as an operator."""
    settings = [each.removeprefix("push.").split("=", 1) for each in provider.settings if each != "--set"]
    return await asyncio.to_thread(start, own_gateway, tmp_path, push=dict(settings))


@pytest.mark.parametrize("how", ["removed", "disabled"])
async def test_a_call_that_only_wakes_phones_ends_with_the_account(how, provider, own_gateway, tmp_path, peer):
    own, _options, admin = await start_for(provider, own_gateway, tmp_path)
    alice = await peer("alice", registered=False, base=own.http)
    await register(alice, "apple")
    async with Party(own.http, "bob") as bob, asyncio.timeout(20):
        await bob.register()
        call = await bob.dial("alice")
        while not provider.requests:
            await asyncio.sleep(0.01)
        if how == "removed":
            await asyncio.to_thread(admin.ask, "DELETE", "/users/alice@dev.local")
        else:
            await asyncio.to_thread(admin.ask, "PATCH", "/users/alice@dev.local", {"enabled": False})
        assert (await call.over()).code == 480


async def run(*arguments: str, folder: Path):
    return await asyncio.to_thread(orbweaver, *arguments, directory=folder)


async def test_an_operator_tries_the_devices_of_a_user(provider, own_gateway, tmp_path, peer):
    own, options, admin = await start_for(provider, own_gateway, tmp_path)
    alice = await peer("alice", registered=False, base=own.http)
    nothing = await run("push", "test", "--user", "alice@dev.local", *options, folder=tmp_path)
    assert (nothing.returncode, nothing.stdout) == (1, "alice@dev.local has registered no device for push\n")
    ids = {kind: (await register(alice, kind, kind, **on(provider, kind))).rsplit("/", 1)[1] for kind in KINDS}
    listed = (await run("push", "list", *options, folder=tmp_path)).stdout
    assert {line.split("\t")[2]: line.split("\t")[1] for line in listed.splitlines()} == ids
    assert not any(secret in listed for secret in SECRETS)
    tried = await run("push", "test", "--user", "alice@dev.local", *options, folder=tmp_path)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert sorted(line.split(":")[0] for line in tried.stdout.splitlines()) == [
        "apple apple", "google google", "webhook webhook",
    ]  # fmt: skip
    assert all("the provider has taken the push" in line for line in tried.stdout.splitlines())
    assert len(provider.requests) == 3
    other = await peer("alice", base=own.http)
    gone = await run("push", "remove", ids["google"], *options, folder=tmp_path)
    assert gone.returncode == 0, gone.stderr
    assert await listed_of(alice, "google") == []
    told = (await other.expect("pushSubscriptionInvalidated")).message["pushNotificationParams"]
    assert told["registration"].endswith(f"/push/google/devices/{ids['google']}")
    assert told["reason"] == "removed by an operator"
    removed = await asyncio.to_thread(first_of_operators, admin)
    assert removed["data"]["registration"] == ids["google"]
    assert removed["data"]["reason"] == "removed by an operator"


def first_of_operators(admin: Admin) -> dict:
    """The first registration that was removed, as the events of operators tell it."""
    connection = OverSocket(admin.socket)
    try:
        connection.request("GET", "/admin/v1/events?since=oldest")
        answer = connection.getresponse()
        assert answer.status == 200
        while line := answer.readline():
            if line.strip() and (event := json.loads(line))["type"] == "push.registration_removed":
                assert event["id"] and "call" not in event and "sequence" not in event
                return event
        raise AssertionError("the stream has ended")
    finally:
        connection.close()


def on(provider: PushProvider, kind: str) -> dict:
    return {"url": f"{provider.url}/hook"} if kind == "webhook" else {}


async def listed_of(client, kind: str) -> list[str]:
    return [each["registration"] for each in (await client.request("GET", devices(kind))).succeeded()["devices"]]


@pytest.mark.parametrize("kind, answer", [
    ("apple", Answer(410, {"reason": "Unregistered", "timestamp": 33_333_333_333_333})),
    ("google", Answer(404, {"error": {"code": 404, "status": "NOT_FOUND", "details": [{
        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED",
    }]}})),
    ("webhook", Answer(410)),
])  # fmt: skip
async def test_a_device_whose_token_is_dead_is_removed_and_its_user_told(
    provider, own_gateway, tmp_path, peer, kind, answer
):
    own, options, admin = await start_for(provider, own_gateway, tmp_path)
    key = await asyncio.to_thread(add_application, "shop", options, "--domain", "shop.local", "--scope", "events")
    alice = await peer("alice", base=own.http)
    path = await register(alice, kind, "tablet", **on(provider, kind))
    provider.steps.append(answer)
    tried = await run("push", "test", "--user", "alice@dev.local", "--kind", "refresh", *options, folder=tmp_path)
    assert tried.returncode == 1 and "cannot be reached any more" in tried.stdout, tried.stdout + tried.stderr
    told = await alice.expect("pushSubscriptionInvalidated")
    assert told.message["pushNotificationParams"]["registration"] == path
    assert told.message["pushNotificationParams"]["clientCorrelator"] == "tablet"
    assert await listed_of(alice, kind) == []
    answered = await asyncio.to_thread(admin.ask, "GET", "/push-registrations")
    assert answered.body["items"] == []
    events, _next = await asyncio.to_thread(polled, own.http, credentials("alice"), "oldest")
    (removed,) = [each for each in events if each["type"] == "push.registration_removed"]
    assert removed["data"]["registration"] == path.rsplit("/", 1)[1]
    assert "call" not in removed and "sequence" not in removed
    assert (removed["data"]["user"], removed["data"]["provider"]) == ("alice@dev.local", kind)
    assert await asyncio.to_thread(first_of_operators, admin) == removed
    # Neither other users nor applications hear of it.
    for who in (credentials("bob"), key):
        events, _next = await asyncio.to_thread(polled, own.http, who, "oldest")
        assert events == []


async def test_a_registration_that_is_newer_than_the_word_of_the_provider_stays(
    provider, own_gateway, tmp_path, peer
):
    own, options, _admin = await start_for(provider, own_gateway, tmp_path)
    alice = await peer("alice", registered=False, base=own.http)
    path = await register(alice, "apple")
    provider.steps.append(Answer(410, {"reason": "Unregistered", "timestamp": 1_000}))
    tried = await run("push", "test", "--user", "alice@dev.local", "--kind", "refresh", *options, folder=tmp_path)
    assert tried.returncode == 1
    assert await listed(alice, "apple") == [path]


# Silent pushes


def notification(kind: str, request) -> dict:
    """The notification of a push that no user is shown."""
    body = request.json
    if kind == "apple":
        assert request.path.endswith(KINDS["apple"]["standardDeviceToken"])
        assert request.fields["apns-push-type"] == "background" and set(body) == {"aps", "notificationMessage"}
        return body["notificationMessage"]
    if kind == "google":
        assert body["message"]["android"]["priority"] == "NORMAL" and set(body["message"]["data"]) == {
            "notificationMessage"
        }
        return json.loads(body["message"]["data"]["notificationMessage"])
    message = body["data"]["notificationMessage"]
    assert body["type"] == ("push.refresh" if message["eventType"] == "ping" else "push.silent")
    return message


async def pushed(provider: PushProvider, kind: str, *types: str) -> dict:
    """Waits for the pushes so far, which are these; the notification of the last one."""
    async with asyncio.timeout(10):
        while len(provider.requests) < len(types):
            await asyncio.sleep(0.02)
    messages = [notification(kind, request) for request in provider.requests]
    assert [message["eventType"] for message in messages] == list(types)
    assert len({message["eventId"] for message in messages}) == len(messages)
    return messages[-1]


async def no_channel(own):
    """Waits until the gateway has noticed that channels are closed."""
    async with asyncio.timeout(10):
        while await asyncio.to_thread(own.metric, "orbweaver_websockets_active"):
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_sleeping_phone_is_asked_to_extend_and_told_that_its_subscription_is_gone(
    provider, own_gateway, tmp_path, peer, kind
):
    settings = [each.removeprefix("push.").split("=", 1) for each in provider.settings if each != "--set"]
    times = {"domain": "dev.local", "minimum_expires": "1s", "grace": "1s"}
    own = await asyncio.to_thread(
        start_with, own_gateway, tmp_path, "alice", registration=times, push=dict(settings)
    )
    alice = await peer("alice", registered=False, base=own.http)
    await register(alice, kind, service=["something"], **on(provider, kind))
    await register(alice, "webhook", "tablet", url=f"{provider.url}/tablet")
    await alice.register(expires=4, correlator="phone")
    await alice.close_channel()
    await pushed(provider, kind, "ping")
    (await alice.extend(expires=4)).succeeded()
    await pushed(provider, kind, "ping", "ping")
    gone = await pushed(provider, kind, "ping", "ping", "gone")
    assert gone["notificationChannelId"] and alice.channel.endswith(gone["notificationChannelId"])
    (await alice.extend()).refused(404, 39, "subscribeResponse", "subscription.not_found")
    # The app subscribes again. With an open channel it needs no push.
    await alice.register(expires=2, correlator="phone")
    for told in ("ping", "gone"):
        await alice.expect(told)
    await alice.closed()
    alice.subscription = None
    assert len(provider.requests) == 3


@pytest.mark.parametrize("kind", KINDS)
async def test_a_sleeping_phone_is_told_the_numbers_of_voice_messages_and_what_an_operator_ends(
    provider, own_gateway, tmp_path, peer, kind
):
    own, _options, admin = await start_for(provider, own_gateway, tmp_path)
    alice = await peer("alice", registered=False, base=own.http)
    await register(alice, kind, service=["call", "MWI"], **on(provider, kind))
    await register(alice, "webhook", "tablet", url=f"{provider.url}/tablet")

    async def note(unheard: int):
        count = {"unheard": unheard, "heard": 0}
        answer = await asyncio.to_thread(admin.ask, "PUT", "/users/alice@dev.local/voicemail", count)
        assert answer.status == 200, answer.body

    await note(1)
    told = await pushed(provider, kind, "mwi")
    assert told["mwiNotificationParams"] == {"mwi": "yes", "totalVoice": "1", "unheardVoice": "1"}
    await alice.register(correlator="phone")
    await note(2)
    assert (await alice.expect("mwi")).message["mwiNotificationParams"]["unheardVoice"] == "2"
    await alice.close_channel()
    await no_channel(own)
    await note(3)
    told = await pushed(provider, kind, "mwi", "mwi")
    assert told["mwiNotificationParams"]["unheardVoice"] == "3"
    # What its client ends is not told; what an operator ends is.
    (await alice.unregister()).succeeded()
    await alice.register(correlator="phone", listen=False)
    path = "/subscriptions/alice@dev.local/" + alice.subscription.rsplit("/", 1)[1]
    ended = await asyncio.to_thread(admin.ask, "DELETE", path)
    assert ended.status in (200, 204), ended.body
    alice.subscription = None
    gone = await pushed(provider, kind, "mwi", "mwi", "gone")
    assert alice.channel.endswith(gone["notificationChannelId"])

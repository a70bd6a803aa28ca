"""The administration interface and the command line that asks it, over the socket and over TCP."""
import asyncio
import http.client
import json
import os
import socket
import stat
import subprocess
import uuid
from pathlib import Path
from urllib.parse import quote

from durability import configured
from peers import sdp
from peers.gateway import BINARY, environment, free_ports, orbweaver
from peers.waiting import until
from situations import connected

USERS = ["alice", "bob"]


class Answer:
    def __init__(self, response: http.client.HTTPResponse):
        self.status, self.headers, self.text = response.status, response.headers, response.read().decode()

    @property
    def body(self):
        return json.loads(self.text)


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path: Path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(str(self.path))


class Admin:
    """Asks the interface of a gateway that `start` has started."""

    def __init__(self, folder: Path, port: int):
        self.socket, self.port = folder / "users.sqlite.admin", port

    def ask(self, method: str, path: str, body=None, token: str | None = None, tcp=False, **headers: str) -> Answer:
        tcp = tcp or token is not None
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20) if tcp else OverSocket(self.socket)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        content = body if isinstance(body, (str, type(None))) else json.dumps(body)
        try:
            connection.request(method, "/admin/v1" + path, content, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()


def start(own_gateway, folder: Path, **sections: dict):
    port = free_ports(1)
    options = configured(
        folder, USERS, registration={"domain": "dev.local"}, admin={"host": "127.0.0.1", "port": port}, **sections
    )
    own = own_gateway.configured(*options)
    return own, options, Admin(folder, port)


def ran(*arguments: str, **variables: str) -> str:
    done = orbweaver(*arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_socket_is_for_its_owner_and_the_port_for_tokens(own_gateway, tmp_path):
    own, options, admin = start(own_gateway, tmp_path)
    assert stat.S_IMODE(os.stat(admin.socket).st_mode) == 0o600
    assert admin.ask("GET", "/users").status == 200
    refused = admin.ask("GET", "/users", tcp=True)
    assert (refused.status, refused.body["code"]) == (401, "auth.missing")
    assert refused.headers["content-type"] == "application/problem+json"
    token = ran("admin", "token", "add", "mon", "--role", "read-only", *options).strip()
    assert admin.ask("GET", "/users", token=token).status == 200
    assert admin.ask("POST", "/drain", token=token).body["code"] == "auth.forbidden"
    assert "mon\tread-only" in ran("admin", "token", "list", *options)
    over_tcp = ran("calls", "list", "--url", f"http://127.0.0.1:{admin.port}", ORBWEAVER_ADMIN_TOKEN=token)
    assert over_tcp == ""
    ran("admin", "token", "revoke", "mon", *options)
    assert admin.ask("GET", "/users", token=token).body["code"] == "auth.invalid_token"
    # The port of clients knows nothing of it.
    clients = http.client.HTTPConnection("127.0.0.1", own.http_port, timeout=20)
    clients.request("GET", "/admin/v1/users")
    assert clients.getresponse().status == 404
    log = ran("admin", "audit", *options)
    assert "\tstartDrain\t\t403\tauth.forbidden" in log and token not in log
    own.stop()
    assert not admin.socket.exists()


def test_users_are_kept_through_the_running_gateway_and_without_one(own_gateway, tmp_path):
    own, options, admin = start(own_gateway, tmp_path)
    ran("user", "add", "carol@dev.local", "--display-name", "Carol", *options, ORBWEAVER_PASSWORD="secret")
    again = orbweaver("user", "add", "carol@dev.local", *options, ORBWEAVER_PASSWORD="secret")
    assert again.returncode == 1 and "carol@dev.local exists already" in again.stderr
    ran("user", "auth-name", "carol@dev.local", "cc", *options)
    ran("user", "disable", "carol@dev.local", *options)
    assert "carol@dev.local\tCarol\tcc\tdisabled" in ran("user", "list", *options).splitlines()
    found = admin.ask("GET", "/users?limit=2").body
    assert [user["address"] for user in found["items"]] == ["alice@dev.local", "bob@dev.local"]
    rest = admin.ask("GET", f"/users?limit=2&cursor={found['next']}").body
    assert [user["address"] for user in rest["items"]] == ["carol@dev.local"] and "next" not in rest
    assert [each["operation"] for each in admin.ask("GET", "/audit").body["items"]] == [
        "changeUser", "changeUser", "addUser", "addUser",
    ]  # fmt: skip
    own.stop()
    ran("user", "enable", "carol@dev.local", *options)
    assert "carol@dev.local\tCarol\tcc" in ran("user", "list", *options).splitlines()
    elsewhere = orbweaver("calls", "list", *options)
    assert elsewhere.returncode == 1 and "cannot be reached" in elsewhere.stderr


def test_an_export_is_imported_whole_or_not_at_all(own_gateway, tmp_path):
    own, options, admin = start(own_gateway, tmp_path)
    exported = ran("user", "export", "--with-passwords", *options)
    assert "passwordRecord" not in ran("user", "export", "--format", "csv", *options)
    file = tmp_path / "users.jsonl"
    file.write_text(exported.replace("bob@", "dora@"))
    failed = orbweaver("user", "import", str(file), *options)
    assert failed.returncode == 1 and "Line 1: alice@dev.local exists already. Nothing was imported." in failed.stderr
    assert admin.ask("GET", "/users/dora@dev.local").status == 404
    assert ran("user", "import", "--replace", str(file), *options) == "2 users were imported\n"
    assert admin.ask("GET", "/users/dora@dev.local").body["enabled"] is True


def test_applications_are_kept_through_the_running_gateway_and_without_one(own_gateway, tmp_path):
    own, options, admin = start(own_gateway, tmp_path)
    secret = ran("app", "add", "portal", "--domain", "dev.local", *options).strip()
    again = orbweaver("app", "add", "portal", "--domain", "dev.local", *options)
    assert again.returncode == 1 and "There is an application named portal already." in again.stderr
    admin.ask("POST", "/applications", {"name": "archive", "domain": "dev.local"})
    assert ran("app", "list", *options) == "archive\tdev.local\nportal\tdev.local\n"
    first = admin.ask("GET", "/applications?limit=1").body
    assert [(each["name"], each["domain"]) for each in first["items"]] == [("archive", "dev.local")]
    rest = admin.ask("GET", f"/applications?limit=1&cursor={first['next']}").body
    assert [each["name"] for each in rest["items"]] == ["portal"] and "next" not in rest
    viewer = ran("admin", "token", "add", "viewer", "--role", "operator", *options).strip()
    assert admin.ask("GET", "/applications/portal", token=viewer).status == 200
    assert admin.ask("POST", "/applications/portal/secret", token=viewer).body["code"] == "auth.forbidden"
    boss = ran("admin", "token", "add", "boss", "--role", "admin", *options).strip()
    url = f"http://127.0.0.1:{admin.port}"
    new = ran("app", "rotate", "portal", "--url", url, ORBWEAVER_ADMIN_TOKEN=boss).strip()
    assert new != secret and len(new) == 64
    ran("app", "remove", "archive", *options)
    log = ran("admin", "audit", *options)
    assert "\taddApplication\tportal dev.local\t201\tdone" in log
    assert "\trotateApplicationSecret\tportal\t200\tdone" in log and secret not in log and new not in log
    own.stop()
    assert ran("app", "list", *options) == "portal\tdev.local\n"
    ran("app", "remove", "portal", *options)
    unknown = orbweaver("app", "rotate", "portal", *options)
    assert unknown.returncode == 1 and "portal" in unknown.stderr


async def test_the_number_of_voice_messages_reaches_devices_and_outlives_a_kill(own_gateway, tmp_path, peer):
    own, options, admin = start(own_gateway, tmp_path)
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    token = ran("admin", "token", "add", "mailboxes", "--role", "operator", *options).strip()
    path = "/users/alice@dev.local/voicemail"

    async def note(unheard: int, heard: int):
        count = {"unheard": unheard, "heard": heard}
        answer = await asyncio.to_thread(admin.ask, "PUT", path, count, token)
        assert (answer.status, answer.body) == (200, count)

    async def told() -> tuple[str, str, str]:
        parameters = (await alice.expect("mwi")).message["mwiNotificationParams"]
        return parameters["mwi"], parameters["totalVoice"], parameters["unheardVoice"]

    await note(2, 1)
    assert await told() == ("yes", "3", "2")
    await note(2, 1)
    await alice.expect_silence()
    await note(0, 3)
    assert await told() == ("no", "3", "0")
    await bob.expect_silence()
    missing = admin.ask("PUT", "/users/nobody@dev.local/voicemail", {"unheard": 1, "heard": 0}, token)
    assert (missing.status, missing.body["code"]) == (404, "user.not_found")
    viewer = ran("admin", "token", "add", "viewer", "--role", "read-only", *options).strip()
    assert admin.ask("PUT", path, {"unheard": 1, "heard": 0}, viewer).body["code"] == "auth.forbidden"
    await note(4, 0)
    assert await told() == ("yes", "4", "4")
    own.kill()
    for client in (alice, bob):
        await client.closed()
    await asyncio.to_thread(own.start)
    for client in (alice, bob):
        await client.open_channel()
    assert admin.ask("GET", path, token=viewer).body == {"unheard": 4, "heard": 0}
    shown = (await alice.request("GET", "/voicemail")).json["mwiresponse"]
    assert (shown["totalVoice"], shown["unheardVoice"]) == ("4", "4")
    await note(0, 0)
    assert await told() == ("no", "0", "0")


async def test_what_operators_end_the_clients_hear(own_gateway, tmp_path, party):
    own, options, admin = start(own_gateway, tmp_path)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    tail = await asyncio.create_subprocess_exec(  # whenever it gets there: there are no events before this test's
        BINARY, "events", "tail", "--since", "oldest", *options, stdout=subprocess.PIPE, env=environment()
    )
    at_alice, at_bob = await connected(alice, bob)
    devices = (await asyncio.to_thread(admin.ask, "GET", "/devices")).body["items"]
    assert [(each["user"], each["connected"]) for each in devices] == [
        ("alice@dev.local", True), ("bob@dev.local", True),
    ]  # fmt: skip
    calls = (await asyncio.to_thread(admin.ask, "GET", "/calls?state=answered&user=bob@dev.local")).body["items"]
    assert len(calls) == 1 and [leg["user"] for leg in calls[0]["legs"]] == ["alice@dev.local", "bob@dev.local"]
    shown = await asyncio.to_thread(ran, "calls", "show", calls[0]["id"], *options)
    assert "answered" in shown and "created" in shown
    await asyncio.to_thread(ran, "calls", "end", calls[0]["id"], "--reason", "maintenance at noon", *options)
    for client in (alice, bob):
        told = await client.expect("callEnd")
        assert told.reason[0] == 503 and "maintenance at noon" in told.reason
    gone = await asyncio.to_thread(orbweaver, "calls", "show", calls[0]["id"], *options)
    assert gone.returncode == 1 and "no such call" in gone.stderr
    events = []
    async with asyncio.timeout(20):
        while not events or events[-1]["type"] != "call.ended":
            if (line := (await tail.stdout.readline()).strip()):
                events.append(json.loads(line))
    tail.terminate()
    await tail.wait()
    assert events[0]["type"] == "leg.joined" and events[-1]["data"]["reason"] == "maintenance at noon"
    assert len({event["id"] for event in events}) == len(events)

    # Bob's client has just logged in with the password that changes now.
    await asyncio.to_thread(admin.ask, "PATCH", "/users/bob@dev.local", {"password": "better"})
    subscribe = {"subscribeRequest": {"service": ["call"]}}
    (await bob.request("POST", "/subscription", subscribe)).refused(
        403, 4, "subscribeResponse", "auth.wrong_password"
    )
    ended = next(each for each in devices if each["user"] == "bob@dev.local")
    await asyncio.to_thread(ran, "device", "end", "bob@dev.local", ended["id"], *options)
    await bob.expect("gone")
    assert await bob.closed() == 1000
    bob.subscription = None
    await asyncio.to_thread(ran, "user", "disable", "alice@dev.local", *options)
    await alice.expect("gone")
    assert await alice.closed() == 1000
    alice.subscription = None
    (await alice.request("POST", "/subscription", subscribe)).refused(
        403, 4, "subscribeResponse", "auth.wrong_password"
    )


def test_what_was_answered_outlives_a_kill_and_is_not_done_twice(own_gateway, tmp_path):
    own, options, admin = start(own_gateway, tmp_path)
    key, user = str(uuid.uuid4()), {"address": "dora@dev.local", "password": "secret"}
    first = admin.ask("POST", "/users", user, Idempotency_Key=key)
    assert first.status == 201
    own.kill()
    own.start()
    assert admin.ask("GET", "/users/dora@dev.local").status == 200
    again = admin.ask("POST", "/users", user, Idempotency_Key=key)
    assert (again.status, again.text, again.headers["idempotent-replayed"]) == (201, first.text, "true")
    other = admin.ask("POST", "/users", user | {"password": "another"}, Idempotency_Key=key)
    assert (other.status, other.body["code"]) == (422, "idempotency.key_reused")
    entries = admin.ask("GET", "/audit").body["items"]
    assert [(each["operation"], each["status"]) for each in entries] == [("addUser", 201)]


def test_the_log_level_changes_and_the_drain_ends_the_gateway(own_gateway, tmp_path):
    own, options, admin = start(own_gateway, tmp_path)
    assert ran("log-level", *options) == "info\n"
    assert ran("log-level", "debug", *options) == "debug\n"
    own.readiness()
    assert "request answered" in own.log_tail()
    limits = {each["name"]: each for each in admin.ask("GET", "/limits").body["items"]}
    assert limits["calls.maximum"]["limit"] == 20_000 and limits["calls.maximum"]["inUse"] == 0
    settings = {each["name"]: each["value"] for each in admin.ask("GET", "/configuration").body["items"]}
    assert settings["registration.domain"] == "dev.local" and settings["admin.port"] == str(admin.port)
    assert ran("drain", "--status", *options) == "serving\n"
    ran("drain", *options)
    assert own.wait() == 0


async def test_a_drain_that_waits_is_cancelled_and_everything_is_served_again(own_gateway, tmp_path, peer):
    own, options, admin = start(own_gateway, tmp_path, drain={"calls": "wait", "announce": "2s", "deadline": "300s"})
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    nothing = await asyncio.to_thread(orbweaver, "drain", "--cancel", *options)
    assert nothing.returncode == 1 and "There is no drain to cancel" in nothing.stderr
    at_alice = await alice.call("bob", sdp.offer())
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await alice.expect("respondCallUpdate", at_alice)
    # While it announces.
    assert await asyncio.to_thread(ran, "drain", *options) == "announcing\n"
    assert own.readiness() == 503
    assert await asyncio.to_thread(ran, "drain", "--cancel", *options) == "serving\n"
    assert own.readiness() == 200
    # While it waits for the call.
    await asyncio.to_thread(ran, "drain", *options)
    async with asyncio.timeout(20):
        while await asyncio.to_thread(ran, "drain", "--status", *options) != "waiting\n":
            await asyncio.sleep(0.1)
    carol = {"address": "carol@dev.local", "password": "secret"}
    assert (await asyncio.to_thread(admin.ask, "POST", "/users", carol)).status == 201
    subscribe = {"subscribeRequest": {"service": ["call"]}}
    refused = await bob.request("POST", "/subscription", subscribe)
    refused.refused(503, 503, "subscribeResponse", "service.draining")
    assert await asyncio.to_thread(ran, "drain", "--cancel", *options) == "serving\n"
    assert own.readiness() == 200
    # The last call ends, and with it no drain. New clients and calls come in.
    await alice.end(at_alice)
    await bob.expect("callEnd", invitation.session)
    third = await peer("carol", password="secret", base=own.http)
    session = await alice.call("carol", sdp.offer())
    await third.expect("call")
    await alice.end(session)
    await third.expect("callEnd")
    assert [each["operation"] for each in admin.ask("GET", "/audit?limit=2").body["items"]] == [
        "cancelDrain", "addUser",
    ]  # fmt: skip
    # What ends calls is not cancelled any more.
    own.terminate()
    await until(lambda: own.readiness() == 503)
    signalled = await asyncio.to_thread(admin.ask, "DELETE", "/drain")
    assert (signalled.status, signalled.body["code"]) == (409, "drain.not_cancellable")
    assert "A signal has started the drain" in signalled.body["detail"]
    own.terminate()
    for client in (alice, bob, third):
        assert await client.closed() == 1001
        client.subscription = None
    assert await own.ended() == 0


def test_the_doctor_explains_a_gateway_that_runs_and_one_that_does_not(own_gateway, tmp_path):
    media = {"bind": "127.0.0.1", "tcp_port": free_ports(os.cpu_count() or 1)}
    own, options, admin = start(own_gateway, tmp_path, media=media)
    # The ports came as options, which the doctor has to be told as well.
    given = [each for each in own._arguments if each.startswith(("listen.port=", "media.port="))]
    ports = [word for setting in given for word in ("--set", setting)]
    running = orbweaver("doctor", "--public", own.http, *options, *ports)
    assert running.returncode == 0, running.stdout
    for line in (
        "good\tgateway\tIt runs", "good\tports\tlisten.port: ", "good\tports\tmedia.port: UDP",
        "good\tports\tmedia.tcp_port: TCP", "good\tdatabase\t",
        f"good\toutside\t{own.http}/health answers", f"good\toutside\t{own.http} lets requests for a WebSocket through",
    ):  # fmt: skip
        assert line in running.stdout, running.stdout
    # Its interface may be elsewhere than the settings say.
    token = ran("admin", "token", "add", "mon", "--role", "read-only", *options).strip()
    places = (["--url", f"http://127.0.0.1:{admin.port}"], ["--socket", str(admin.socket)])
    without = ["--set", "admin.socket=off", *options, *ports]
    unknown = orbweaver("doctor", *without)
    assert unknown.returncode == 1 and "look\tgateway\tIt does not run here" in unknown.stdout, unknown.stdout
    for place in places:
        named = orbweaver("doctor", *place, *without, ORBWEAVER_ADMIN_TOKEN=token)
        assert named.returncode == 0 and "good\tgateway\tIt runs" in named.stdout, named.stdout
    own.stop()
    stopped = orbweaver("doctor", "--public", own.http, *options, *ports)
    assert stopped.returncode == 1 and "bad\toutside\t" in stopped.stdout
    assert "look\tgateway\tIt does not run here" in stopped.stdout
    for place in places:
        named = orbweaver("doctor", *place, *without, ORBWEAVER_ADMIN_TOKEN=token)
        assert named.returncode == 1 and "bad\tgateway\tIt does not run here" in named.stdout, named.stdout
    (tmp_path / "users.sqlite").write_bytes(b"no database at all" * 100)
    broken = orbweaver("doctor", *options, *ports)
    assert broken.returncode == 1 and "bad\tdatabase\t" in broken.stdout


async def test_bob_can_still_be_called_while_operators_look(own_gateway, tmp_path, party):
    own, options, admin = start(own_gateway, tmp_path)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    await alice.call("bob", sdp.offer())
    await bob.expect("call")
    ringing = (await asyncio.to_thread(admin.ask, "GET", "/calls?state=ringing")).body["items"]
    assert len(ringing) == 1 and "timeline" not in ringing[0]
    nobody = (await asyncio.to_thread(admin.ask, "GET", "/calls?state=answered")).body
    assert nobody == {"items": []}


async def test_lists_are_narrowed_by_their_filters(own_gateway, tmp_path, peer):
    """Each filter of openapi/admin.yaml alone, two together, and across pages."""
    own, options, admin = await asyncio.to_thread(start, own_gateway, tmp_path)

    async def found(path: str, key: str) -> list[str]:
        """All pages of two, in order."""
        names, cursor = [], ""
        while True:
            query = f"{'&' if '?' in path else '?'}limit=2{cursor}"
            page = (await asyncio.to_thread(admin.ask, "GET", path + query)).body
            assert len(page["items"]) <= 2
            names += [each[key] for each in page["items"]]
            if "next" not in page:
                return names
            cursor = f"&cursor={page['next']}"

    for address, enabled in (("carol@dev.local", True), ("carl@dev.local", False), ("carl@other.example", True)):
        added = await asyncio.to_thread(
            admin.ask, "POST", "/users", {"address": address, "password": "dev", "enabled": enabled}
        )
        assert added.status == 201, added.text
    everybody = ["alice@dev.local", "bob@dev.local", "carl@dev.local", "carl@other.example", "carol@dev.local"]
    assert await found("/users", "address") == everybody
    assert await found("/users?domain=DEV.local", "address") == [each for each in everybody if "dev" in each]
    assert await found("/users?prefix=CAR", "address") == everybody[2:]
    assert await found("/users?enabled=false", "address") == ["carl@dev.local"]
    assert await found("/users?enabled=true&prefix=car", "address") == ["carl@other.example", "carol@dev.local"]
    assert await found("/users?prefix=nobody", "address") == []

    alice = await peer("alice", base=own.http)
    bob = await peer("bob", base=own.http)
    silent = await peer("bob", base=own.http, alone=False, listen=False, services=["Presence"])
    carol = await peer("carol", base=own.http, listen=False)
    for kind, bobs in (("subscriptions", 2), ("devices", 1)):  # the second one takes no calls
        assert sorted(await found(f"/{kind}", "user")) == [
            "alice@dev.local", *["bob@dev.local"] * bobs, "carol@dev.local",
        ]  # fmt: skip
        assert await found(f"/{kind}?user=Bob@dev.local", "user") == ["bob@dev.local"] * bobs
        assert await found(f"/{kind}?connected=true", "user") == ["alice@dev.local", "bob@dev.local"]
        assert await found(f"/{kind}?connected=true&user=carol@dev.local", "user") == []
    unheard = [silent.subscription.rsplit("/", 1)[1], carol.subscription.rsplit("/", 1)[1]]
    assert await found("/subscriptions?connected=false", "id") == unheard

    answered, ringing = await alice.call("bob", sdp.offer()), await carol.call("bob", sdp.offer())
    calls = {(await bob.expect("call")).session for _ in range(2)}
    invitation = next(each for each in bob.heard if each.event == "call" and "alice" in json.dumps(each.message))
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    assert len(calls) == 2 and answered != ringing
    assert len(await found("/calls", "id")) == 2
    states = {state: await found(f"/calls?state={state}", "id") for state in ("answered", "ringing")}
    in_order = sorted(sum(states.values(), []), key=lambda call: int(call, 16))  # numbers: an id has no leading zeros
    assert in_order == await found("/calls", "id") and len(states["answered"]) == 1
    assert await found("/calls?user=alice@dev.local", "id") == states["answered"]
    assert await found("/calls?user=CAROL@dev.local", "id") == states["ringing"]
    assert await found("/calls?user=bob@dev.local&state=ringing", "id") == states["ringing"]
    assert await found("/calls?user=alice@dev.local&state=ringing", "id") == []

    token = (await asyncio.to_thread(admin.ask, "POST", "/tokens", {"name": "mon", "role": "admin"})).body["token"]
    for name in ("portal", "archive"):
        application = {"name": name, "domain": "dev.local"}
        assert (await asyncio.to_thread(admin.ask, "POST", "/applications", application, token)).status == 201
    for number in range(4):
        made = await asyncio.to_thread(admin.ask, "POST", "/tokens", {"name": f"t{number}", "role": "operator"})
        assert made.status == 201, made.text
    assert await found("/tokens", "name") == ["mon", "t0", "t1", "t2", "t3"]
    listed = await asyncio.to_thread(ran, "admin", "token", "list", *options)
    assert [line.split("\t")[0] for line in listed.splitlines()] == ["mon", "t0", "t1", "t2", "t3"]
    whole = (await asyncio.to_thread(admin.ask, "GET", "/audit")).body["items"]
    (name,) = {each["who"] for each in whole if each["operation"] == "addToken"}
    assert await found("/audit?who=mon", "operation") == ["addApplication"] * 2
    assert await found(f"/audit?who={quote(name)}", "operation") == [*["addToken"] * 5, *["addUser"] * 3]
    for query in ("/users?enabled=yes", "/calls?state=over", "/devices?connected=1", "/users?nickname=al"):
        refused = await asyncio.to_thread(admin.ask, "GET", query)
        assert (refused.status, refused.body["code"]) == (400, "request.invalid_parameter"), query

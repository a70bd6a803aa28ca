"""Webhooks of applications: signatures checked by the verifier of Standard Webhooks that we did not write, order,
retries, what is given up, and which addresses are asked. test_events_under_kills.py has gateways that are killed."""
import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import standardwebhooks
from websockets.asyncio.client import connect

from durability import configured
from peers import sdp
from peers.bot import Bot
from peers.contract import ContractViolation
from peers.event_contract import checked
from peers.gateway import REPOSITORY, Gateway, orbweaver
from peers.push_provider import Answer, PushProvider, Request, Stall
from peers.waiting import until
from test_public_events import BOT, add_application, call_the_bot, kept, polled

OPEN = {"allowed_addresses": "127.0.0.1", "plain_http": "on", "longest_delay": "1s"}
"""Webhooks on this machine, which are tried again soon."""


class Receiver:
    """A server that takes events, or answers as it is told: `answers(event)` gives a status, or None to say nothing;
    `says(event)` gives the content, or an object that is sent as JSON."""

    def __init__(
        self, answers: Callable[[dict], int | None] = lambda event: 200, delay: float = 0,
        says: Callable[[dict], dict | str] = lambda event: "", media_type: str = "application/json",
    ):  # fmt: skip
        self.answers, self.delay, self.says = answers, delay, says
        self.requests: list[tuple[dict, bytes, float]] = []
        self.taken: list[dict] = []
        self.faults: list[str] = []
        """Events that are not as described."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                event = json.loads(body)
                try:
                    checked(event)
                except ContractViolation as violation:
                    receiver.faults.append(str(violation))
                receiver.requests.append(({key.lower(): value for key, value in self.headers.items()}, body,
                                          time.monotonic()))  # fmt: skip
                time.sleep(receiver.delay)
                status = receiver.answers(event)
                if status is None:
                    time.sleep(60)
                    return
                if 200 <= status < 300:
                    receiver.taken.append(event)
                said = receiver.says(event)
                content = (json.dumps(said) if isinstance(said, dict) else said).encode()
                self.send_response(status)
                self.send_header("content-type", media_type)
                self.send_header("content-length", str(len(content)))
                self.send_header("location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/events"

    def close(self):
        self._server.shutdown()

    async def has(self, count: int, timeout: float = 20):
        async with asyncio.timeout(timeout):
            while len(self.taken) < count:
                await asyncio.sleep(0.05)
        assert not self.faults, self.faults

    async def ended(self, timeout: float = 30):
        """Until nothing has come for a while."""
        told, since = -1, time.monotonic()
        async with asyncio.timeout(timeout * 4):
            while time.monotonic() - since < 5:
                await asyncio.sleep(0.1)
                if told != (told := len(self.requests)):
                    since = time.monotonic()
        assert not self.faults, self.faults


class Site:
    """A gateway with an application that is called, so that it hears of these calls."""

    def __init__(self, own_gateway, folder: Path, users: list[str], deciders: dict | None = None, **webhooks):
        """`deciders`: applications that have three seconds to decide about calls, with their scopes."""
        self.folder = folder
        self.options = configured(folder, users, webhooks=OPEN | webhooks)
        add_application(self.options, "bots", BOT, "events")
        for name, scopes in (deciders or {}).items():
            added = orbweaver(
                "app", "add", name, "--address", f"{name}@dev.local", "--fallback", "reject:busy",
                "--decision-time", "3", *(f"--scope={scope}" for scope in scopes), *self.options,
            )  # fmt: skip
            assert added.returncode == 0, added.stderr
        self.gateway: Gateway = own_gateway.configured(*self.options)

    def command(self, *arguments: str, status: int = 0) -> str:
        done = orbweaver("webhook", *arguments, *self.options)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout.strip() or done.stderr.strip()

    def add(self, url: str, *options: str, application: str = "bots") -> tuple[str, str]:
        """Its id and its key."""
        return tuple(self.command("add", application, url, *options).split("\t"))

    def listed(self, application: str = "bots") -> dict[str, list[str]]:
        rows = [line.split("\t") for line in self.command("list", application).splitlines()]
        return {row[0]: row[1:] for row in rows}


@pytest.fixture
def site(own_gateway, tmp_path) -> Site:
    return Site(own_gateway, tmp_path, ["alice"], retry_time="4s")


def name_of(event: dict) -> str:
    return f"evt_{event['id']}"


async def test_each_event_is_sent_once_signed_and_in_order(site, peer):
    receiver, ends = Receiver(), Receiver()
    webhook, key = site.add(receiver.url)
    _, key_of_ends = site.add(ends.url, "--type", "call.ended")
    alice = await peer("alice", base=site.gateway.http)
    await call_the_bot(alice)
    await ends.has(1)
    await receiver.ended()
    found = [(int(each["id"].split("-")[1]), each["type"]) for each in receiver.taken]
    assert found == kept(site.folder / "users.sqlite", "application bots") and found[-1][1] == "call.ended"
    assert [each["type"] for each in ends.taken] == ["call.ended"]
    for headers, body, _ in receiver.requests:
        event = standardwebhooks.Webhook(key).verify(body, headers)
        assert headers["webhook-id"] == name_of(event) and headers["content-type"] == "application/json"
        with pytest.raises(standardwebhooks.webhooks.WebhookVerificationError):
            standardwebhooks.Webhook(key_of_ends).verify(body, headers)
    # A new key signs beside the former one.
    new = site.command("rotate", "bots", webhook)
    assert site.command("test", "bots", webhook) == "the receiver has taken it"
    headers, body, _ = receiver.requests[-1]
    for each in (key, new):
        assert standardwebhooks.Webhook(each).verify(body, headers)["type"] == "webhook.test"
    site.command("disable", "bots", webhook)
    count = len(receiver.taken)
    await call_the_bot(alice)
    await ends.has(2)
    assert len(receiver.taken) == count
    site.command("enable", "bots", webhook)
    await receiver.ended()
    events = [each for each in receiver.taken if each["type"] != "webhook.test"]
    assert [int(each["id"].split("-")[1]) for each in events] == [
        number for number, _ in kept(site.folder / "users.sqlite", "application bots")
    ]
    site.command("remove", "bots", webhook)
    assert webhook not in site.listed()


async def test_the_trace_of_a_request_comes_with_the_events_of_the_call_that_it_started(site, peer):
    added = orbweaver("app", "add", "tracer", "--address", "tracer@dev.local", *site.options)
    assert added.returncode == 0, added.stderr
    key = orbweaver("app", "key", "add", "tracer", *site.options).stdout.strip()
    receiver = Receiver()
    site.command("add", "tracer", receiver.url)
    alice = await peer("alice", base=site.gateway.http)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    later = "7f-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later"
    async with Bot(site.gateway.http, key) as bot:
        for given, told in [(trace, trace), (later, trace), (trace.upper(), None), (None, None)]:
            wish = {"to": "alice@dev.local"}
            call = (await bot.ask("POST", "/v1/calls", wish, traceparent=given)).succeeded(201)
            await alice.expect("call")
            await bot.tell(call["id"], "end")

            def sent() -> list[tuple[dict, dict]]:
                requests = [(headers, json.loads(body)) for headers, body, _ in receiver.requests]
                return [each for each in requests if each[1].get("call") == call["call"]]

            async with asyncio.timeout(20):
                while "call.ended" not in [event["type"] for _, event in sent()]:
                    await asyncio.sleep(0.05)
            assert {event.get("traceparent") for _, event in sent()} == {told}
            assert {headers.get("traceparent") for headers, _ in sent()} == {told}


async def test_a_failure_is_tried_again_then_parked_and_sent_when_an_operator_asks(site, peer):
    broken, fine = Receiver(lambda event: 302 if event["type"] == "call.answered" else 200), Receiver()
    webhook, key = site.add(broken.url)
    site.add(fine.url)
    alice = await peer("alice", base=site.gateway.http)
    await call_the_bot(alice)
    await fine.has(len(kept(site.folder / "users.sqlite", "application bots")))
    # What comes behind it in the same call waits.
    assert "call.ended" not in [each["type"] for each in broken.taken]
    async with asyncio.timeout(20):
        while "call.ended" not in [each["type"] for each in broken.taken]:
            await asyncio.sleep(0.1)
    tries = [each for each in broken.requests if json.loads(each[1])["type"] == "call.answered"]
    assert len(tries) >= 3 and len({headers["webhook-id"] for headers, _, _ in tries}) == 1
    assert all(standardwebhooks.Webhook(key).verify(body, headers) for headers, body, _ in tries)
    _, _, state, waiting, parked, reason = site.listed()[webhook]
    assert (state, waiting, parked, reason) == ("enabled", "0", "1", "status 302")
    broken.answers = lambda event: 204
    assert site.command("retry", "bots", webhook) == "1"
    async with asyncio.timeout(20):
        while broken.taken[-1]["type"] != "call.answered":
            await asyncio.sleep(0.1)
    assert site.listed()[webhook][3:5] == ["0", "0"]


async def test_a_receiver_that_does_not_answer_delays_no_other_and_gone_disables(site, peer):
    silent, gone, fine = Receiver(lambda event: None), Receiver(lambda event: 410), Receiver()
    hung, left, _ = (site.add(each.url)[0] for each in (silent, gone, fine))
    alice = await peer("alice", base=site.gateway.http)
    began = time.monotonic()
    for _ in range(3):
        await call_the_bot(alice)
    await fine.has(len(kept(site.folder / "users.sqlite", "application bots")), timeout=10)
    assert time.monotonic() - began < 10 and silent.requests and not silent.taken
    async with asyncio.timeout(10):
        while site.listed()[left][2] != "disabled":
            await asyncio.sleep(0.2)
    assert "410" in site.listed()[left][5] or site.listed()[left][4] == "0"
    assert int(site.listed()[hung][3]) > 3
    failed = site.command("test", "bots", left, status=1)
    assert failed == "status 410"


async def incoming(bot: Bot, to: str) -> str:
    """The call that rings at this address of the application."""
    async with asyncio.timeout(20):
        while not (found := [each for each in await bot.calls(state="ringing") if each["to"] == to]):
            await asyncio.sleep(0.05)
    return found[0]["id"]


async def test_where_two_applications_overlap_each_has_its_own_calls_and_events(own_gateway, tmp_path, peer):
    """A single address comes before a domain, for calls to it and from it, for each form of events, and for webhooks,
    also when it becomes an address of its own while the gateway runs."""
    options = configured(tmp_path, ["alice"], webhooks=OPEN)
    keys, receivers = {}, {name: Receiver() for name in ("domain", "desk")}

    async def command(*arguments: str) -> str:
        done = await asyncio.to_thread(orbweaver, *arguments, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    for name, address in (("domain", "*@bots.local"), ("desk", "other@desk.local")):
        await command("app", "add", name, "--address", address, "--decision-time", "60")
        keys[name] = await command("app", "key", "add", name)
    own = own_gateway.configured(*options)
    for name in keys:
        await command("webhook", "add", name, receivers[name].url)
    start = polled(own.http, keys["domain"])[1]
    alice = await peer("alice", base=own.http)
    async with Bot(own.http, keys["domain"]) as domain, Bot(own.http, keys["desk"]) as desk:

        async def call(to: str, owner: Bot, other: Bot) -> str:
            """A call that its owner takes; its name."""
            session = await alice.call(to, sdp.offer())
            leg = await incoming(owner, to)
            assert await other.calls(state="ringing") == []
            (await other.ask("POST", f"/v1/calls/{leg}/answer")).refused(404, "call.not_found")
            await owner.tell(leg, "answer")
            await alice.expect("respondCallUpdate", session)
            await alice.end(session)
            await owner.until(leg, state="ended")
            return leg

        calls = {"domain": [await call("desk@bots.local", domain, desk)], "desk": []}
        await command("app", "change", "desk", "--address", "desk@bots.local")
        # The gateway reads applications anew every few seconds.
        wish = {"to": "alice@dev.local", "from": "desk@bots.local"}
        async with asyncio.timeout(20):
            while (refused := await domain.ask("POST", "/v1/calls", wish)).status == 201:
                await domain.tell(refused.body["id"], "end")
                calls["domain"].append(refused.body["id"])
                await asyncio.sleep(0.2)
        assert refused.status == 403, refused.text
        calls["desk"].append(await call("desk@bots.local", desk, domain))
        calls["domain"].append(await call("sales@bots.local", domain, desk))
        started = (await desk.ask("POST", "/v1/calls", wish)).succeeded(201)
        await desk.tell(started["id"], "end")
        calls["desk"].append(started["id"])

    for name, other in (("domain", "desk"), ("desk", "domain")):
        await receivers[name].ended()
        heard, _ = await asyncio.to_thread(polled, own.http, keys[name], start)
        joined = [each for each in heard if each["type"] == "leg.joined"]
        names = {each["data"]["session"]: each["call"] for each in joined if each["data"]["session"] in calls[name]}
        assert set(names) == set(calls[name])
        assert {each["call"] for each in heard} == set(names.values())
        assert [each["type"] for each in heard].count("call.ended") == len(calls[name])
        assert not {each["data"]["session"] for each in joined} & set(calls[other])
        url = f"ws://127.0.0.1:{own.http_port}/v1/events?access_token={keys[name]}&since={start}"
        async with connect(url) as socket:
            await socket.recv()
            assert [json.loads(await socket.recv()) for _ in heard] == heard
        assert {each["id"] for each in receivers[name].taken} == {each["id"] for each in heard}
        receivers[name].close()


class SharedHost:
    """Receivers of one host with HTTP/1.1: those below `/hung` never answer."""

    def __init__(self):
        self.taken: list[dict] = []
        self.hanging = 0
        """How many requests have no answer."""
        host, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self.path.startswith("/hung"):
                    with lock:
                        host.hanging += 1
                    try:
                        self.connection.recv(1)  # until the gateway gives up
                    except OSError:
                        pass
                    with lock:
                        host.hanging -= 1
                    self.close_connection = True
                    return
                host.taken.append(event)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

        server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"


async def test_receivers_that_do_not_answer_leave_the_connections_of_their_host_to_others(own_gateway, tmp_path, peer):
    site, host = Site(own_gateway, tmp_path, ["alice"], answer_time="2s", retry_time="1h"), SharedHost()
    for number in range(8):
        site.add(f"{host.url}/hung/{number}")
    site.add(f"{host.url}/fine")
    alice = await peer("alice", base=site.gateway.http)
    for _ in range(10):
        await call_the_bot(alice)
    await asyncio.sleep(5)  # what was sent at first was given up by now, and each is tried with one event at a time
    most, end = 0, time.monotonic() + 5
    while time.monotonic() < end:
        most = max(most, host.hanging)
        await asyncio.sleep(0.01)
    # A connection that is given up may be closed here after the next one has come.
    assert 0 < most <= 2 * 8
    count = len(kept(site.folder / "users.sqlite", "application bots"))
    began = time.monotonic()
    await call_the_bot(alice)
    wanted = len(kept(site.folder / "users.sqlite", "application bots"))
    async with asyncio.timeout(10):
        while len(host.taken) < wanted:
            await asyncio.sleep(0.05)
    assert wanted > count and time.monotonic() - began < 2, "it did not wait for the others to be given up"


class EventProvider(PushProvider):
    """The server of push providers, with HTTP/2, as a host of receivers: those below `/hung` never answer."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.hanging = 0

    def answer(self, request: Request) -> object:
        if request.path.startswith("/hung"):
            self.hanging += 1
            return Stall()
        self.requests.append(request)
        checked(request.json)
        command = {"command": "answer"} if asked(request.json) else {}
        return Answer(200, command, {"content-type": "application/json"})


async def test_receivers_with_http_2_share_a_connection_and_none_waits_for_another(own_gateway, tmp_path, peer):
    async with EventProvider(tmp_path) as host:
        site = Site(own_gateway, tmp_path, ["alice"], DECIDERS, authority_file=str(host.authority), retry_time="1h")
        fine, key = site.add(f"{host.url}/fine", application="clerk")
        # The server of push providers allows more than one request at a time after its first answer.
        assert await asyncio.to_thread(site.command, "test", "clerk", fine) == "the receiver has taken it"
        for number in range(8):
            site.add(f"{host.url}/hung/{number}", application="clerk")
        alice = await peer("alice", base=site.gateway.http)
        began = time.monotonic()
        for _ in range(10):
            session = await alice.call("clerk", sdp.offer())
            await alice.expect("respondCallUpdate", session)
            await alice.end(session)

        def sent() -> list[dict]:
            return [each.json for each in host.requests if each.json["type"] != "webhook.test"]

        async with asyncio.timeout(10):
            while [each["type"] for each in sent()].count("call.ended") < 10:
                await asyncio.sleep(0.05)
        # No answer of theirs was waited for: that takes 15 s.
        assert time.monotonic() - began < 14 and host.hanging >= 8 * 8
        assert host.connections == 1 and host.most_open_streams > 8 * 8
        assert not host.faults
        for request in host.requests:
            standardwebhooks.Webhook(key).verify(request.body, request.fields)
        calls: dict[str, list[int]] = {}
        for event in sent():
            calls.setdefault(event["call"], []).append(event["sequence"])
        assert len(calls) == 10 and all(numbers == sorted(numbers) for numbers in calls.values())


async def test_addresses_of_this_network_are_refused_unless_allowed(own_gateway, tmp_path):
    receiver = Receiver()
    site = Site(own_gateway, tmp_path, ["alice"], allowed_addresses="none")
    for host in ("127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"):
        webhook, _ = site.add(receiver.url.replace("127.0.0.1", host))
        refusal = site.command("test", "bots", webhook, status=1)
        assert refusal.endswith("are refused: the Internet does not route it"), (host, refusal)
        site.command("remove", "bots", webhook)
    assert not receiver.requests
    for url in ("ftp://x", "https://", "https://user@host/", "https://a b/", "x"):
        assert "url" in site.command("add", "bots", url, status=1)
    assert "types" in site.command("add", "bots", receiver.url, "--type", "Call", status=1)
    for _ in range(10):
        site.add(receiver.url)
    assert "webhooks.per_application" in site.command("add", "bots", receiver.url, status=1)
    assert "application" in site.command("list", "nobody", status=1)


# Commands in answers

DECIDERS = {"clerk": ["events", "calls:write"], "watcher": ["events"]}
TOO_LONG = json.dumps({"command": "answer", "context": "x" * 70_000})


@pytest.fixture
def office(own_gateway, tmp_path) -> Site:
    return Site(own_gateway, tmp_path, ["alice"], DECIDERS, retry_time="4s")


def asked(event: dict) -> bool:
    return event["type"] == "leg.invited" and "decideBy" in event["data"]


def says(**command) -> Callable[[dict], dict]:
    """What an answer says to the event that asks, and nothing to others."""
    return lambda event: command if asked(event) else {}


async def told(receiver: Receiver, type: str, timeout: float = 20) -> dict:
    """The first event of this type that has come."""
    async with asyncio.timeout(timeout):
        while not (found := [each for each in receiver.taken if each["type"] == type]):
            await asyncio.sleep(0.05)
    assert not receiver.faults, receiver.faults
    return found[0]


def listens(port: int) -> bool:
    with closing(socket.socket()) as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


async def test_the_example_takes_a_call_by_the_answer_of_its_webhook(office, peer):
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    program = await asyncio.create_subprocess_exec(sys.executable, str(REPOSITORY / "examples/webhook.py"), str(port))
    try:
        await until(lambda: listens(port))
        log = Receiver()
        office.add(f"http://127.0.0.1:{port}/", "--type", "leg.invited", application="clerk")
        office.add(log.url, application="clerk")
        alice = await peer("alice", base=office.gateway.http)
        began = time.time()
        session = await alice.call("clerk", sdp.offer())
        await alice.expect("respondCallUpdate", session)
        invited = await told(log, "leg.invited")
        data = invited["data"]
        assert (data["from"], data["to"], data["devices"]) == ("alice@dev.local", "clerk@dev.local", 0)
        assert data["decideBy"] == invited["time"] + 3_000 and abs(invited["time"] / 1_000 - began) < 3
        await asyncio.sleep(4)  # the fallback does not happen
        assert (await alice.state(session)).status == 200
        await alice.end(session)
        ended = await told(log, "call.ended")
        assert ended["data"]["cause"] == "normal_clearing"
        assert "webhook.answer_refused" not in [each["type"] for each in log.taken]
    finally:
        program.kill()
        await program.wait()


@pytest.mark.parametrize(
    ("command", "cause"),
    [({"command": "reject", "cause": "notFound"}, "unallocated_number"), ({"command": "end"}, "call_rejected")],
)
async def test_a_command_has_its_fields(office, peer, command, cause):
    receiver = Receiver(says=says(**command))
    office.add(receiver.url, application="clerk")
    alice = await peer("alice", base=office.gateway.http)
    session = await alice.call("clerk", sdp.offer())
    await alice.expect("callEnd", session)
    assert (await told(receiver, "call.ended"))["data"]["cause"] == cause


async def test_of_two_answers_the_first_one_wins_and_the_other_is_told(office, peer):
    first, second = Receiver(says=says(command="answer")), Receiver(says=says(command="reject"), delay=1)
    office.add(first.url, "--type", "leg.invited", application="clerk")
    late, _ = office.add(second.url, application="clerk")
    alice = await peer("alice", base=office.gateway.http)
    session = await alice.call("clerk", sdp.offer())
    await alice.expect("respondCallUpdate", session)
    refused = await told(second, "webhook.answer_refused")
    invited = await told(second, "leg.invited")
    assert refused["call"] == invited["call"] and "sequence" not in refused
    assert (refused["data"]["webhook"], refused["data"]["code"]) == (late, "call.not_allowed")
    assert refused["data"]["session"] == invited["data"]["session"]
    assert (await alice.state(session)).status == 200, "the call goes on"
    await alice.end(session)


async def test_an_answer_that_is_given_twice_decides_once(office, peer):
    tries: list[str] = []

    def answers(event: dict) -> int:
        """An invitation is taken at the second attempt, and each attempt has the command."""
        tries.extend([event["id"]] if asked(event) else [])
        return 500 if asked(event) and len(tries) == 1 else 200

    once, again = Receiver(says=says(command="answer")), Receiver(answers, says=says(command="answer"))
    office.add(once.url, application="clerk")
    webhook, _ = office.add(again.url, application="clerk")
    alice = await peer("alice", base=office.gateway.http)
    session = await alice.call("clerk", sdp.offer())
    await alice.expect("respondCallUpdate", session)
    # The status of the first attempt takes nothing, so that its command does not count; the second one comes late.
    refused = await told(once, "webhook.answer_refused")
    assert (refused["data"]["webhook"], refused["data"]["code"]) == (webhook, "call.not_allowed")
    assert len(tries) == 2 and len(set(tries)) == 1
    await alice.end(session)
    await told(again, "call.ended")
    assert [each["type"] for each in once.taken].count("call.answered") == 1


async def test_an_answer_that_is_late_changes_nothing(office, peer):
    receiver = Receiver(lambda event: (time.sleep(4), 200)[1] if asked(event) else 200, says=says(command="answer"))
    webhook, _ = office.add(receiver.url, application="clerk")
    alice = await peer("alice", base=office.gateway.http)
    session = await alice.call("clerk", sdp.offer())
    await alice.expect("callEnd", session)
    refused = await told(receiver, "webhook.answer_refused")
    assert refused["data"]["code"] == "call.not_allowed"
    assert (await told(receiver, "call.ended"))["data"]["cause"] == "user_busy", "the fallback has happened"
    assert [each["type"] for each in receiver.taken].count("leg.invited") == 1
    assert office.listed("clerk")[webhook][3:5] == ["0", "0"]


@pytest.mark.parametrize(
    ("application", "content", "code"),
    [
        ("clerk", "answer", "request.malformed_json"),
        ("clerk", {"command": "sing"}, "request.invalid_value"),
        ("clerk", {"command": "answer", "volume": 1}, "request.invalid_value"),
        ("clerk", {"command": "play", "items": [{"music": True}]}, "auth.forbidden"),
        ("clerk", {"command": "hold"}, "call.not_allowed"),
        ("clerk", TOO_LONG, "request.body_too_large"),
        ("watcher", {"command": "answer"}, "auth.forbidden"),
    ],
    ids=["no JSON", "no command", "no field", "another scope", "no decision", "too long", "no scope"],
)
async def test_a_command_that_is_wrong_or_not_allowed_is_told_and_the_event_is_taken(
    office, peer, application, content, code
):
    receiver = Receiver(says=lambda event: content if asked(event) else {})
    webhook, _ = office.add(receiver.url, application=application)
    alice = await peer("alice", base=office.gateway.http)
    session = await alice.call(application, sdp.offer())
    refused = await told(receiver, "webhook.answer_refused")
    assert (refused["data"]["webhook"], refused["data"]["code"]) == (webhook, code) and refused["data"]["reason"]
    await alice.expect("callEnd", session)
    assert (await told(receiver, "call.ended"))["data"]["cause"] == "user_busy", "the fallback has happened"
    assert [each["type"] for each in receiver.taken].count("leg.invited") == 1
    assert office.listed(application)[webhook][3:5] == ["0", "0"]


async def test_who_hears_that_another_application_is_asked_has_no_say(office):
    made = orbweaver("app", "key", "add", "clerk", *office.options)
    assert made.returncode == 0, made.stderr
    caller, log = Receiver(says=says(command="answer")), Receiver()
    office.add(caller.url, application="clerk")
    office.add(log.url, application="watcher")
    async with Bot(office.gateway.http, made.stdout.strip()) as bot:
        await bot.start("watcher")
        assert (await told(log, "call.ended"))["data"]["cause"] == "user_busy"
    await caller.ended()
    assert [asked(each) for each in caller.taken].count(True) == 1
    for each in (caller, log):
        assert "webhook.answer_refused" not in [event["type"] for event in each.taken]


@pytest.mark.parametrize(
    ("media_type", "content"), [("text/plain", '{"command": "answer"}'), ("application/json", {"ok": True})]
)
async def test_an_answer_without_a_command_is_nothing_to_tell(office, peer, media_type, content):
    receiver = Receiver(says=lambda event: content, media_type=media_type)
    office.add(receiver.url, application="clerk")
    alice = await peer("alice", base=office.gateway.http)
    session = await alice.call("clerk", sdp.offer())
    await alice.expect("callEnd", session)
    assert (await told(receiver, "call.ended"))["data"]["cause"] == "user_busy"
    await receiver.ended()
    assert "webhook.answer_refused" not in [each["type"] for each in receiver.taken]

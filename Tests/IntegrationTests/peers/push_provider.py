"""Push providers on loopback over real HTTP/2 and TLS: APNs, FCM with its token service, and a webhook.

Every request is held against what the providers document ("Sending notification requests to APNs", "Establishing a
token-based connection to APNs", the FCM HTTP v1 API, "Using OAuth 2.0 for server to server applications", Standard
Webhooks 1.0.0). `faults` has what departs from it. `steps` says how requests for pushes are answered, in order.
"""
import asyncio
import base64
import datetime
import hashlib
import hmac
import ipaddress
import json
import os
import re
import ssl
import time
import urllib.parse
import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

TEAM, KEY_ID, PROJECT, BUNDLE = "TEAM123456", "KEY1234567", "orbweaver-test", "com.example.app"
CANONICAL_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ENDED_REASONS = {"remoteEnded", "unanswered", "answeredElsewhere", "declinedElsewhere", "failed"}


@dataclass
class Answer:
    """A response. Without a step, a push is taken."""

    status: int
    body: dict | None = None
    fields: dict[str, str] = field(default_factory=dict)
    delay: float = 0


class Taken:
    """The push is taken."""


class Stall:
    """No answer, ever."""


class Drop:
    """The connection is closed without a word."""


class GoAway:
    """The connection ends in good order; this stream, and those after it, were not processed (RFC 9113 §6.8)."""


class Refuse:
    """The stream is reset as not processed (RFC 9113 §8.7)."""


@dataclass
class Request:
    connection: int
    path: str
    fields: dict[str, str]
    body: bytes
    time: float
    key: int | None = None
    """Which of the provider's keys has signed its credential, from 0: of Apple's, or of those of the account."""

    @property
    def json(self) -> dict:
        return json.loads(self.body)


class PushProvider:
    """One TLS port for all services; their paths tell them apart."""

    def __init__(
        self,
        folder: Path,
        streams: int = 1_000,
        like: "PushProvider | None" = None,
        hosts: Sequence[str] = ("127.0.0.1",),
        names: Sequence[str] = ("localhost",),
    ):
        """`like`: another one that has the keys and the certificate. `hosts`: the addresses at which it listens.
        `names`: those that its certificate has, beside the addresses."""
        self.folder, self.streams, self.hosts, self.names = folder, streams, hosts, names
        self.requests: list[Request] = []
        self.token_requests: list[Request] = []
        self.faults: list[str] = []
        self.steps: deque = deque()
        self.dead: set[str] = set()
        """Tokens of Apple's that no device has any more."""
        self.token_steps: deque = deque()
        self.every_step: object = None
        """What happens to each push once `steps` is empty, in place of `Taken`."""
        self.taken: list[str] = []
        """The names of the pushes that were taken: `apns-id`, `webhook-id`, or for FCM those given out."""
        self.connections = self.open_streams = self.most_open_streams = 0
        self.connected: list[str] = []
        """The address of the provider's that each connection came to."""
        self.access_tokens: dict[str, tuple[str, int]] = {}
        """Those of Firebase: the project that each is for, and the number of the key."""
        self.teams: dict[str, tuple[str, str, int | None]] = {BUNDLE: (TEAM, KEY_ID, None)}
        """Of each app the team, the name of its key and, of an app that has a key of its own, the key's number."""
        self._key_names: dict[int, str] = {}
        """With which key the tokens of a connection are signed."""
        self.token_delay = 0.0
        """How long the token service takes to give one out."""
        self.webhook_keys: list[bytes] = []
        self._answers: set[asyncio.Task] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        if like:
            self.apple_key, self.account, self.authority = like.apple_key, like.account, like.authority
            self._apple_keys, self._accounts, self._tls = like._apple_keys, like._accounts, like._tls
            self.access_tokens, self.teams = like.access_tokens, like.teams
        else:
            self._make_keys()

    # Keys

    def _make_keys(self):
        self._apple_keys: list[ec.EllipticCurvePrivateKey] = []
        self._accounts: list[tuple[str, rsa.RSAPrivateKey]] = []
        self.apps = self.folder / "apps"
        self.apple_key = self.folder / "AuthKey.p8"
        self.account = self.folder / "account.json"
        self.replace_apple_key()
        self._make_certificate()

    def replace_apple_key(self) -> None:
        """A new key, in place of the one before, in the same file. The one before is taken as well."""
        self._apple_keys.append(ec.generate_private_key(ec.SECP256R1()))
        self._put(self.apple_key, self._pem(self._apple_keys[-1]))

    def replace_account(self, project: str = PROJECT, file: Path | None = None) -> None:
        """A new account, in place of the one before, in the same file. The one before is taken as well."""
        self._accounts.append((project, rsa.generate_private_key(public_exponent=65537, key_size=2048)))
        account = {
            "type": "service_account", "project_id": project, "private_key_id": f"rsa-{len(self._accounts)}",
            "private_key": self._pem(self._accounts[-1][1]).decode(), "client_email": "push@example.com",
            "token_uri": f"{self.url}/token",
        }  # fmt: skip
        self._put(file or self.account, json.dumps(account).encode())

    def add_app(self, bundle: str, team: str, key_id: str, project: str) -> None:
        """An app with accounts of its own; one that is there has others from now on."""
        keys = self.apps / "keys"
        keys.mkdir(parents=True, exist_ok=True)
        self._apple_keys.append(ec.generate_private_key(ec.SECP256R1()))
        self._put(keys / f"{key_id}.p8", self._pem(self._apple_keys[-1]))
        self.replace_account(project, keys / f"{project}.json")
        self.teams[bundle] = (team, key_id, len(self._apple_keys) - 1)
        accounts = {
            "apple": {"team": team, "keyID": key_id, "keyFile": f"keys/{key_id}.p8"},
            "google": {"accountFile": str(keys / f"{project}.json")},
        }
        self._put(self.apps / f"{bundle}.json", json.dumps(accounts).encode())

    @staticmethod
    def _put(path: Path, content: bytes) -> None:
        """Nobody reads half of it."""
        new = path.with_suffix(".new")
        new.write_bytes(content)
        os.replace(new, path)

    def _make_certificate(self):
        tls_key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "push providers of a test")])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(tls_key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName(
                    [x509.DNSName(name) for name in self.names]
                    + [x509.IPAddress(ipaddress.ip_address(host)) for host in self.hosts]
                ),
                critical=False,
            )
            .sign(tls_key, hashes.SHA256())
        )
        self.authority = self._write("authority.pem", certificate.public_bytes(serialization.Encoding.PEM))
        tls_path = self._write("tls.key", self._pem(tls_key))
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(self.authority, tls_path)
        self._tls.set_alpn_protocols(["h2"])

    def _write(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    @staticmethod
    def _pem(key) -> bytes:
        return key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def add_webhook_key(self) -> None:
        """One more key for the app."""
        self.webhook_keys.append(hashlib.sha256(str(len(self.webhook_keys)).encode()).digest())
        keys = self.folder / "webhook-keys"
        keys.mkdir(exist_ok=True)
        lines = [f"whsec_{base64.b64encode(key).decode()}\n" for key in self.webhook_keys]
        (keys / BUNDLE).write_text("".join(lines))

    @property
    def settings(self) -> list[str]:
        """The options that let the gateway send pushes here."""
        values = {
            "apple_team": TEAM, "apple_key_id": KEY_ID, "apple_key_file": self.apple_key,
            "apple_production_url": self.url, "apple_development_url": self.url,
            "google_account_file": self.account, "google_url": self.url,
            "webhook_key_folder": self.folder / "webhook-keys", "authority_file": self.authority,
            "allowed_addresses": "127.0.0.0/8",
        }  # fmt: skip
        return [word for name, value in values.items() for word in ("--set", f"push.{name}={value}")]

    # Connections

    async def __aenter__(self):
        await self._listen(0)
        self.url = f"https://{self.hosts[0]}:{self.port}"
        if not self._accounts:
            self.replace_account()
        return self

    async def _listen(self, port: int) -> None:
        """At one port of all addresses; 0: at a free one of the first address."""
        self._servers = []
        for host in self.hosts:
            server = await asyncio.start_server(self._serve, host, port, ssl=self._tls, backlog=512)
            self._servers.append(server)
            self.port = port = server.sockets[0].getsockname()[1]

    async def refuse(self) -> None:
        """From now on nobody listens: connections are refused, and those that there are end."""
        for server in self._servers:
            server.close()
        self.end_connections()

    def end_connections(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def listen_again(self) -> None:
        await self._listen(self.port)

    async def __aexit__(self, *_):
        for server in self._servers:
            server.close()
        for task in self._answers:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.connections += 1
        self.connected.append(writer.get_extra_info("sockname")[0])
        self._writers.add(writer)
        connection = Connection(self, self.connections, writer)
        try:
            while data := await reader.read(65_536):
                connection.receive(data)
                await writer.drain()
        except (ConnectionError, ssl.SSLError):
            pass
        except h2.exceptions.ProtocolError as error:
            self.faults.append(f"HTTP/2: {error}")
        finally:
            self._writers.discard(writer)
            connection.end()
            writer.close()

    # Services

    def answer(self, request: Request) -> object:
        """What becomes of a request: a step."""
        path = request.path
        if path == "/token":
            self.token_requests.append(request)
            return self.token_steps.popleft() if self.token_steps else self._token(request)
        self.requests.append(request)
        if path.startswith("/3/device/"):
            refusal = self._check_apple(request)
        elif path.startswith("/v1/projects/"):
            refusal = self._check_google(request)
        else:
            refusal = self._check_webhook(request)
        if refusal:
            return refusal
        if path.rsplit("/", 1)[1] in self.dead:
            return Answer(410, {"reason": "Unregistered", "timestamp": int(time.time() * 1_000)})
        return self.steps.popleft() if self.steps else self.every_step or Taken()

    def taken_answer(self, request: Request) -> Answer:
        if request.path.startswith("/3/device/"):
            self.taken.append(request.fields["apns-id"])
            return Answer(200, fields={"apns-id": request.fields["apns-id"]})
        if request.path.startswith("/v1/projects/"):
            project = request.path.split("/")[3]
            self.taken.append(f"projects/{project}/messages/{len(self.taken)}")
            return Answer(200, {"name": self.taken[-1]})
        self.taken.append(request.fields["webhook-id"])
        return Answer(204)

    def _hold(self, condition: object, fault: str):
        if not condition:
            self.faults.append(fault)

    def _check_call(self, call: dict):
        """What CallKit needs to report a call."""
        self._hold(uuid.UUID(call["uuid"]), "call without a UUID")
        self._hold(call["handle"]["type"] in {"phoneNumber", "emailAddress", "generic"}, "no type of handle")
        self._hold(call["handle"]["value"], "call without a handle")
        self._hold(isinstance(call["callerName"], str), "call without a name")
        self._hold(isinstance(call["hasVideo"], bool), "call without hasVideo")
        self._hold(call["state"] in {"ringing", "ended"}, "call without a state")
        if call["state"] == "ended":
            self._hold(call["endedReason"] in ENDED_REASONS, "no reason of CallKit's")

    def _check_apple(self, request: Request) -> Answer | None:
        fields, body = request.fields, request.json
        kind = fields.get("apns-push-type")
        known = {
            ":method", ":path", ":scheme", ":authority", "authorization", "apns-topic", "apns-push-type",
            "apns-priority", "apns-expiration", "apns-id", "apns-collapse-id", "content-type", "content-length",
            "accept", "user-agent",
        }  # fmt: skip
        self._hold(set(fields) <= known, f"fields that APNs does not know: {set(fields) - known}")
        self._hold(fields[":method"] == "POST", "not a POST")
        self._hold(re.fullmatch(r"/3/device/[0-9a-fA-F]+", request.path), "no path of a device")
        self._hold(kind in {"voip", "alert", "background"}, f"unknown push type {kind}")
        self._hold(CANONICAL_UUID.fullmatch(fields.get("apns-id", "")), "apns-id is no canonical UUID")
        self._hold(fields.get("apns-priority") in {"10", "5", "1"}, "no priority")
        self._hold(fields.get("apns-expiration", "").isdigit(), "apns-expiration is no time")
        self._hold(time.time() - 5 < int(fields["apns-expiration"]) < time.time() + 86_500, "a strange expiration")
        self._hold(len(fields.get("apns-collapse-id", "").encode()) <= 64, "apns-collapse-id is too long")
        self._hold(isinstance(body.get("aps"), dict), "no aps")
        bundle = fields["apns-topic"].removesuffix(".voip")
        self._hold(bundle in self.teams, "a push to another topic")
        self._hold((kind == "voip") == fields["apns-topic"].endswith(".voip"), "a topic of another type of push")
        if kind == "voip":
            self._hold(fields["apns-priority"] == "10", "a VoIP push that can wait")
            self._hold(len(request.body) <= 5_120, "more than 5 KB")
            self._check_call(body["call"])
        else:
            self._hold(len(request.body) <= 4_096, "more than 4 KB")
        if kind == "background":
            self._hold(fields["apns-priority"] == "5", "a background push of high priority")
            self._hold(body["aps"] == {"content-available": 1}, "a background push with more than content-available")
        if kind == "alert":
            self._hold(body["aps"]["alert"]["title"], "an alert without a title")
        return self._check_provider_token(request, bundle)

    def _check_provider_token(self, request: Request, bundle: str) -> Answer | None:
        scheme, _, token = request.fields.get("authorization", "").partition(" ")
        self._hold(scheme.lower() == "bearer", "no bearer token")
        try:
            header = jwt.get_unverified_header(token)
            claims, request.key = self._decode(token, self._apple_keys, "ES256", options={"verify_iat": True})
        except jwt.InvalidTokenError as error:
            self.faults.append(f"provider token: {error}")
            return Answer(403, {"reason": "InvalidProviderToken"})
        team, key_id, own_key = self.teams[bundle]
        self._hold(header["alg"] == "ES256" and header["kid"] == key_id, f"header {header}")
        self._hold(set(claims) == {"iss", "iat"} and claims["iss"] == team, f"claims {claims}")
        self._hold(own_key in (None, request.key), "the key of another app")
        first = self._key_names.setdefault(request.connection, header["kid"])
        self._hold(first == header["kid"], "UnrelatedKeyIdInToken: keys of two names on one connection")
        self._hold(abs(time.time() - claims["iat"]) < 3_600, "the token is too old")
        return None

    @staticmethod
    def _decode(token: str, keys: list, algorithm: str, **wanted) -> tuple[dict, int]:
        """The claims of a token, and the number of the key that has signed it."""
        for number, key in reversed(list(enumerate(keys))):
            try:
                return jwt.decode(token, key.public_key(), algorithms=[algorithm], **wanted), number
            except jwt.InvalidSignatureError:
                if number == 0:
                    raise
        raise AssertionError("no keys")

    def _token(self, request: Request) -> Answer:
        form = dict(urllib.parse.parse_qsl(request.body.decode(), strict_parsing=True))
        self._hold(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer", "another grant")
        try:
            claims, number = self._decode(
                form["assertion"], [key for _, key in self._accounts], "RS256", audience=f"{self.url}/token",
                issuer="push@example.com", options={"require": ["exp", "iat", "aud", "iss"]},
            )  # fmt: skip
        except jwt.InvalidTokenError as error:
            self.faults.append(f"assertion: {error}")
            return Answer(400, {"error": "invalid_grant", "error_description": str(error)})
        self._hold(claims["exp"] - claims["iat"] <= 3_600, "an assertion for more than an hour")
        self._hold(claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging", "another scope")
        kid = jwt.get_unverified_header(form["assertion"])["kid"]
        self._hold(kid == f"rsa-{number + 1}", "another key")
        token = f"ya29.{uuid.uuid4().hex}"
        self.access_tokens[token] = (self._accounts[number][0], number)
        given = {"access_token": token, "expires_in": 3_599, "token_type": "Bearer"}
        return Answer(200, given, delay=self.token_delay)

    def _check_google(self, request: Request) -> Answer | None:
        scheme, _, token = request.fields.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.access_tokens:
            return Answer(401, {"error": {"code": 401, "message": "no valid token", "status": "UNAUTHENTICATED"}})
        project, request.key = self.access_tokens[token]
        self._hold(request.path == f"/v1/projects/{project}/messages:send", f"{request.path}, not of {project}")
        self._hold(set(request.json) == {"message"}, "more than a message")
        message = request.json["message"]
        self._hold(set(message) <= {"token", "data", "android"} and message["token"], "unknown members")
        data = message.get("data", {})
        self._hold(all(isinstance(value, str) for value in data.values()), "data that is no text")
        self._hold(not any(re.match(r"from$|message_type$|google|gcm", key) for key in data), "a reserved key")
        size = sum(len(key.encode()) + len(value.encode()) for key, value in data.items())
        self._hold(size <= 4_096, "more than 4,096 bytes of data")
        android = message["android"]
        self._hold(set(android) <= {"priority", "ttl", "collapse_key"}, "unknown members of android")
        self._hold(android["priority"] in {"HIGH", "NORMAL"}, "no priority")
        seconds = re.fullmatch(r"(\d+)(\.\d{1,9})?s", android["ttl"])
        self._hold(seconds and int(seconds[1]) <= 2_419_200, f"ttl {android['ttl']}")
        if "call" in data:
            self._hold(android["priority"] == "HIGH", "a call that can wait")
            self._check_call(json.loads(data["call"]))
        return None

    def _check_webhook(self, request: Request) -> None:
        fields, body = request.fields, request.json
        name, seconds = fields["webhook-id"], fields["webhook-timestamp"]
        self._hold("." not in name, "a full stop in webhook-id")
        self._hold(abs(time.time() - int(seconds)) < 5, "webhook-timestamp is not that of the attempt")
        signed = f"{name}.{seconds}.".encode() + request.body
        expected = [
            "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in self.webhook_keys
        ]
        self._hold(fields["webhook-signature"].split(" ") == expected, "the signature is wrong")
        self._hold(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"]), "no timestamp")
        self._hold(body["type"].startswith("push."), "no type")
        if "call" in body["data"]:
            self._check_call(body["data"]["call"])

    def later(self, answer) -> None:
        task = asyncio.ensure_future(answer)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)


class Connection:
    """The server's end of one connection."""

    def __init__(self, provider: PushProvider, number: int, writer: asyncio.StreamWriter):
        self._provider, self._number, self._writer = provider, number, writer
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self._h2.initiate_connection()
        # APNs allows one stream until a valid token has come.
        self._allow(1)
        self._is_trusted = self._is_ending = False
        self._heads: dict[int, list[tuple[str, str]]] = {}
        self._bodies: dict[int, bytearray] = {}
        self._open: set[int] = set()

    def _allow(self, streams: int) -> None:
        self._h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: streams})
        self._flush()

    def _flush(self) -> None:
        if data := self._h2.data_to_send():
            if not self._writer.transport.is_closing():
                self._writer.write(data)

    def receive(self, data: bytes) -> None:
        if self._is_ending:
            return
        for event in self._h2.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                self._heads[event.stream_id], self._bodies[event.stream_id] = event.headers, bytearray()
                self._open.add(event.stream_id)
                self._provider.open_streams += 1
                self._provider.most_open_streams = max(
                    self._provider.most_open_streams, self._provider.open_streams
                )
            elif isinstance(event, h2.events.DataReceived):
                self._bodies[event.stream_id] += event.data
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self._perform(event.stream_id)
            elif isinstance(event, h2.events.StreamReset):
                self._close(event.stream_id)
        self._flush()

    def _close(self, stream: int) -> None:
        if stream in self._open:
            self._open.discard(stream)
            self._provider.open_streams -= 1

    def end(self) -> None:
        for stream in list(self._open):
            self._close(stream)

    def _perform(self, stream: int) -> None:
        if self._is_ending:
            return
        head = self._heads.pop(stream)
        fields = dict(head)
        if len(fields) != len(head):
            self._provider.faults.append("a field is there twice")
        request = Request(self._number, fields[":path"], fields, bytes(self._bodies.pop(stream)), time.monotonic())
        step = self._provider.answer(request)
        match step:
            case Taken():
                self._trust()
                self._respond(stream, self._provider.taken_answer(request))
            case Answer() if step.delay:
                self._provider.later(self._respond_later(stream, step))
            case Answer():
                self._respond(stream, step)
            case Stall():
                pass
            case Drop():
                self._is_ending = True
                self._writer.transport.abort()
            case GoAway():
                self._is_ending = True
                self._h2.close_connection(last_stream_id=max(0, stream - 2))
                self._flush()
                self._writer.close()
            case Refuse():
                self._close(stream)
                self._h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
                self._flush()

    def _trust(self) -> None:
        if not self._is_trusted:
            self._is_trusted = True
            self._allow(self._provider.streams)

    async def _respond_later(self, stream: int, answer: Answer) -> None:
        await asyncio.sleep(answer.delay)
        self._respond(stream, answer)

    def _respond(self, stream: int, answer: Answer) -> None:
        self._trust()
        body = json.dumps(answer.body).encode() if answer.body is not None else b""
        try:
            self._h2.send_headers(
                stream, [(":status", str(answer.status)), *answer.fields.items()], end_stream=not body
            )
            if body:
                self._h2.send_data(stream, body, end_stream=True)
        except h2.exceptions.ProtocolError:
            return  # the client has given the stream up
        self._close(stream)
        self._flush()

"""A scripted client of the SPiDR protocol: sends what a test tells it and keeps all it hears.

    async with SpidrPeer(gateway.http, "alice") as alice:
        await alice.register()
        call = await alice.call("bob@dev.local", sdp)
        await alice.expect("ringing", call)
"""
import asyncio
import json
import time
from base64 import b64encode
from dataclasses import dataclass, field

import aiohttp

from . import event_log
from .contract import Contract

PING = json.dumps({"message_type": "ping"})


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> dict:
        return json.loads(self.text)

    @property
    def body(self) -> dict:
        """What is inside the one wrapper of an answer."""
        content = self.json
        assert isinstance(content, dict) and len(content) == 1, f"not one top-level key: {self.text[:300]}"
        return next(iter(content.values()))

    @property
    def wrapper(self) -> str:
        return next(iter(self.json))

    def succeeded(self) -> dict:
        assert 200 <= self.status < 300, f"{self.status}: {self.text[:1000]}"
        assert self.body["statusCode"] in (0, 2), self.text[:1000]
        return self.body

    def refused(self, status: int, status_code: int, wrapper: str, code: str | None = None) -> dict:
        """Holds a refusal to its documented form; returns what is inside the wrapper."""
        assert (self.status, self.wrapper) == (status, wrapper), f"{self.status}: {self.text[:1000]}"
        assert self.headers["content-type"].startswith("application/json")
        assert self.body["statusCode"] == status_code, self.text
        assert code is None or self.body["code"] == code, self.text
        assert len(self.body["reason"].split()) >= 3, f"not a sentence: {self.text}"
        return self.body


@dataclass
class Notification:
    at: float
    """Monotonic time of arrival."""
    message: dict
    is_expected: bool = field(default=False, compare=False)

    @property
    def event(self) -> str:
        return self.message["eventType"]

    @property
    def event_id(self) -> str:
        return self.message["eventId"]

    @property
    def session(self) -> str | None:
        return self.message.get("sessionParams", {}).get("sessionData")

    @property
    def sdp(self) -> str | None:
        return self.message["sessionParams"].get("sdp")

    @property
    def reason(self) -> tuple[int | None, str | None]:
        parameters = self.message["sessionParams"]
        return parameters.get("statusCode"), parameters.get("reasonText")

    def __str__(self):
        return f"{self.event}({self.session or ''})"


class SpidrPeer:
    """One device of one user."""

    def __init__(
        self, base: str, name: str, password: str = "dev", contract: Contract | None = None,
        auth_name: str | None = None,
    ):
        """`auth_name`: what the user logs in with; if there is none, the address."""
        self.user = name if "@" in name else f"{name}@dev.local"
        self.base = base
        self.contract = contract
        self.credentials = "Basic " + b64encode(f"{auth_name or self.user}:{password}".encode()).decode()
        self.subscription: str | None = None
        self.channel: str | None = None
        self.heard: list[Notification] = []
        self._device: str | None = None
        """The subscription whose channel is open."""
        self.close_code: int | None = None
        self.names_itself = False
        """Whether requests say which device they come from (docs/client.md)."""
        self._news = asyncio.Condition()
        self._broken: Exception | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._listening: asyncio.Task | None = None
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self):
        # One connection per request keeps a refused or broken request from touching the next one.
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False, force_close=True))
        return self

    async def __aexit__(self, failure: type | None, *_):
        async with self._session:
            if self.subscription and failure is None:  # after a failure, nothing may hide it
                await self.request("DELETE", self.subscription)
            await self.close_channel()

    # REST

    async def request(
        self, method: str, path: str, body: object = None, *, data: bytes | None = None, headers: dict | None = None
    ) -> Answer:
        """`path`: below the user's own resources unless it starts with `/rest/`. `data`: a body that is not made from
        `body`."""
        url = self.base + (path if path.startswith("/rest/") else self.path(path))
        sent = {"Accept": "application/json", "Authorization": self.credentials, **(headers or {})}
        if self.names_itself and self.subscription:
            sent.setdefault("x-session", self.subscription.rsplit("/", 1)[1])
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        sent = {name: value for name, value in sent.items() if value is not None}
        async with self._session.request(
            method, aiohttp.client.URL(url, encoded=True), data=data, headers=sent, timeout=aiohttp.ClientTimeout(30)
        ) as response:
            content = await response.read()
            answer = Answer(
                response.status, {key.lower(): value for key, value in response.headers.items()}, content.decode()
            )
        event_log.answer(
            self._port, method, path, answer.status, answer.text, self.user, sent.get("Authorization"),
            has_channel=self._socket is not None,
        )  # fmt: skip
        if self.contract:
            self.contract.check(method, url, body, answer.status, answer.headers.get("content-type", ""), content)
        return answer

    @property
    def _port(self) -> int:
        return aiohttp.client.URL(self.base).port

    def path(self, resource: str) -> str:
        return f"/rest/version/1/user/{self.user}{resource}"

    # Subscription and channel

    async def register(
        self,
        *,
        expires: object = 3600,
        ringing_feedback: bool = False,
        correlator: str | None = None,
        alone: bool = True,
        listen: bool = True,
        services: list[str] | None = None,
        long_poll: bool = False,
    ) -> dict:
        """`alone`: ends what other devices of the user are left from earlier."""
        wishes = {
            "expires": expires,
            "service": services or ["call"],
            "notificationType": "LongPolling" if long_poll else "WebSocket",
            "localization": "English_US",
        }
        if ringing_feedback:
            wishes["supported"] = ["RingingFeedback"]
        if correlator:
            wishes["clientCorrelator"] = correlator
        wishes["forceLogOut"] = "true" if alone else "false"
        answer = await self.request("POST", "/subscription", {"subscribeRequest": wishes})
        for _ in range(3):  # as often as web clients come back (spidr-wire §3.6)
            if answer.status != 503 or answer.body.get("code") != "auth.busy":
                break
            await asyncio.sleep(answer.body["retryAfter"] / 1000)
            answer = await self.request("POST", "/subscription", {"subscribeRequest": wishes})
        assert answer.status == 201, answer.text
        granted = answer.succeeded()
        self.subscription = granted["subscription"]
        self.channel = granted["subscriptionParams"]["notificationChannel"]
        if listen:
            await self.open_channel()
        return granted

    async def extend(self, **wishes) -> Answer:
        return await self.request(
            "PUT", self.subscription, {"subscribeRequest": {"service": ["call"], "expires": 3600, **wishes}}
        )

    async def unregister(self) -> Answer:
        path, self.subscription = self.subscription, None
        return await self.request("DELETE", path)

    async def open_channel(self, since: str | None = None):
        """`since`: the `eventId` of the last notification that the client says it has."""
        self.close_code = None
        self._device = self.subscription.rsplit("/", 1)[1] if self.subscription else self._device
        self._socket = await self._session.ws_connect(self._channel_url + (f"?since={since}" if since else ""))
        await self._socket.send_str(PING)
        self._listening = asyncio.create_task(self._listen(self._socket))

    async def open_unread_channel(self):
        """As by a device whose application is frozen: nothing is read, and no ping is answered."""
        self._socket = await self._session.ws_connect(self._channel_url)
        self._listening = asyncio.create_task(asyncio.sleep(0))

    @property
    def _channel_url(self) -> str:
        return self.base.replace("http", "ws", 1) + self.channel

    async def close_channel(self):
        """Ends the socket in good order."""
        if self._socket:
            await self._socket.close()
            await self._listening

    async def lose_channel(self):
        """Ends the socket like a network that fails: no close frame."""
        self._socket._response.connection.transport.abort()
        await self._listening

    async def closed(self, timeout: float = 20) -> int | None:
        """Waits until the gateway has closed the channel; returns the close code."""
        await asyncio.wait_for(asyncio.shield(self._listening), timeout)
        return self.close_code

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse):
        try:
            async for frame in socket:
                await self._hear(frame)
        except Exception as error:
            async with self._news:
                self._broken = error  # for those who wait
                self._news.notify_all()
            raise
        self.close_code = socket.close_code

    async def _hear(self, frame: aiohttp.WSMessage):
        assert frame.type == aiohttp.WSMsgType.TEXT, f"a frame that is not text: {frame}"
        envelope = json.loads(frame.data)
        assert list(envelope) == ["notificationMessage"], frame.data
        if self.contract:
            self.contract.check_notification(envelope)
        notification = Notification(time.monotonic(), envelope["notificationMessage"])
        if self._device:
            event_log.hear(self._port, self._device, notification.message)
        # A replayed one is no news, but must say what it said before (spidr-wire §4.3).
        earlier = next((n for n in self.heard if n.event_id == notification.event_id), None)
        if earlier:
            assert earlier.message == notification.message, f"one id for two notifications: {earlier}, {notification}"
            notification.is_expected = True
        async with self._news:
            self.heard.append(notification)
            self._news.notify_all()

    # Expectations

    async def expect(self, event: str, session: str | None = None, timeout: float = 20) -> Notification:
        """The first notification of this kind that no earlier `expect` has taken, now or within the time; no
        duplicates."""

        def found() -> Notification | None:
            matches = (n for n in self.heard if not n.is_expected and n.event == event and session in (None, n.session))
            return next(matches, None)

        try:
            async with asyncio.timeout(timeout), self._news:
                await self._news.wait_for(lambda: found() or self._broken)
        except TimeoutError:
            raise AssertionError(
                f"{self.user} did not hear {event} in {timeout} s, only {list(map(str, self.heard))}"
            ) from None
        if self._broken:
            raise self._broken
        notification = found()
        notification.is_expected = True
        return notification

    async def expect_silence(self, event: str | None = None, during: float = 0.5):
        """Nothing (of this kind) arrives that has not been expected."""
        await asyncio.sleep(during)
        surprises = [n for n in self.heard if not n.is_expected and event in (None, n.event)]
        assert not surprises, f"{self.user} heard {list(map(str, surprises))}"

    # Calls

    async def start(self, to: str, sdp: str | None, **fields) -> Answer:
        request = {
            "type": "callStart",
            "from": f"sip:{self.user}",
            "to": to if to.startswith("sip:") else f"sip:{to}",
            "sdp": sdp,
            **fields,
        }
        return await self.request("POST", "/callControl", {"callControlRequest": request})

    async def call(self, to: str, sdp: str | None, **fields) -> str:
        """Starts a call that is accepted; returns the session."""
        answer = await self.start(to if "@" in to else f"{to}@dev.local", sdp, **fields)
        assert answer.status == 201, answer.text
        return answer.succeeded()["sessionData"]

    async def operate(self, session: str, operation: str, **fields) -> Answer:
        return await self.request("PUT", self._call(session), {"callControlRequest": {"type": operation, **fields}})

    async def audit_until_forgotten(self, session: str):
        """A call that is over answers for as long as the news may be on its way to its client (§6.9)."""
        while (answer := await self.operate(session, "audit")).status == 200:
            await asyncio.sleep(0.05)
        answer.refused(404, 42, "callControlResponse", "call.not_found")

    async def answer(self, session: str, sdp: str) -> Answer:
        return await self.operate(session, "callAnswer", sdp=sdp)

    async def media(self, session: str, **fields) -> Answer:
        """Asks the gateway to play, stop or press DTMF digits."""
        return await self.request("POST", self._call(session) + "/media", {"mediaRequest": fields})

    async def statistics(self, session: str) -> dict:
        return (await self.request("GET", self._call(session) + "/statistics")).succeeded()

    async def reject(self, session: str) -> Answer:
        return await self.request(
            "POST", "/calldisposition", {"callDispositionRequest": {"action": "reject", "sessionData": session}}
        )

    async def end(self, session: str, query: str = "") -> Answer:
        return await self.request("DELETE", self._call(session) + query)

    async def state(self, session: str) -> Answer:
        return await self.request("GET", self._call(session))

    def _call(self, session: str) -> str:
        return f"/callControl/callSessions/{session}"

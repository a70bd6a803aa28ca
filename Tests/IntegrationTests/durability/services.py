"""What one client writes to other users and says of itself while the gateway is killed, and what was lost of it."""
import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import Client, Entry
    from .crowd import Crowd

SERVICES = ["call", "IM", "Presence", "event:presence"]
WATCHED = 3
"""How many users each user watches."""
PRESENCE = ("presenceWatcher", "event:presence")
"""The notifications of it: a user listens to one of them."""


@dataclass(eq=False)
class Text:
    """An instant message. Those of one device are numbered."""

    sender: str
    place: int
    receiver: str
    number: int
    name: str | None = None
    """`messageId`, once its request was answered with 201."""

    @property
    def body(self) -> str:
        return f"{self.sender} {self.place} {self.number}"


@dataclass(eq=False)
class Publication:
    """A presence that a user has published, numbered from 1."""

    user: str
    number: int
    is_confirmed: bool = False
    """Its request was answered with 200."""


class Services:
    """What one client does. The first device of a user says how the user is, and watches others."""

    def __init__(self, client: "Client"):
        self._client, self._crowd = client, client.crowd
        self._texts = self._publications = 0

    async def watch(self, users: list[str]):
        """To be called before anybody publishes anything."""
        listed = [f"{user}@dev.local" for user in users]
        if self._client.crowd.listens_to(self._client.name) == "presenceWatcher":
            wish = {"presenceWatcherRequest": {"userList": listed, "action": "watch"}}
            answer = await self._client.request("POST", "/presenceWatcher", wish)
        else:
            wish = {"subscribeUserList": listed, "clientCorrelator": "c", "eventType": "event:presence"}
            answer = await self._client.request("POST", "/eventSubscription", {"eventSubscriptionRequest": wish})
        assert answer.succeeded()["statusCode"] == 0, answer.text

    async def keep_writing(self):
        while not self._crowd.is_closing:
            await asyncio.sleep(self._crowd.pace * self._client.chance.uniform(2, 8))
            await self._write()

    async def keep_publishing(self):
        while not self._crowd.is_closing:
            await asyncio.sleep(self._crowd.pace * self._client.chance.uniform(2, 8))
            await self._publish()

    async def _write(self):
        self._texts += 1
        receiver = self._client.chance.choice([user for user in self._crowd.users if user != self._client.name])
        text = Text(self._client.name, self._client.place, receiver, self._texts)
        self._crowd.texts.append(text)
        body = {"toUrl": f"{receiver}@dev.local", "message": text.body, "type": "A2", "charset": "UTF-8"}
        # Nothing tells a repetition from another message, so that there is none.
        answer = await self._client.ask("IM", "POST", "/instantmessage", {"imRequest": body}, repeats=False)
        if answer is None:
            return
        self._crowd.was_answered()
        if answer.status == 201:
            text.name = answer.body["messageId"]
        else:
            self._crowd.refused.append(f"{self._client}: IM: {answer.status} {answer.text[:300]}")

    async def _publish(self):
        """A presence that goes before a call."""
        self._publications += 1
        publication = Publication(self._client.name, self._publications)
        self._crowd.publications.append(publication)
        body = {"status": "open", "activity": "away", "note": str(publication.number)}
        repeats = self._client.chance.random() < 0.5  # which changes nothing if it was done
        answer = await self._client.ask("presence", "POST", "/presence", {"presenceRequest": body}, repeats)
        if answer is None:
            return
        self._crowd.was_answered()
        publication.is_confirmed = answer.status == 200


def body_of(message: dict) -> str | None:
    """What stands in a journal for a notification of these services; None: it is another one."""
    match message["eventType"]:
        case "IM":
            return message["imnotificationParams"]["msgText"]
        case "IMResponse":
            told = message["imresponseNotificationParams"]
            return f"{told['callid']} {told['responseCode']}"
        case "presenceWatcher":
            told = message["presenceWatcherNotificationParams"]
        case "event:presence":
            told = message["genericNotificationParams"]
        case _:
            return None
    return f"{told['name'].partition('@')[0]} {told.get('note') or 0}"


class ServiceReading:
    """What the journal of one client has of the services."""

    def __init__(self, client: "Client"):
        self.client = client
        self.texts: set[str] = set()
        self.results: dict[str, list[str]] = defaultdict(list)
        """The codes that were told of each message, in order."""
        self.presence: dict[tuple[str, str], list[int]] = defaultdict(list)
        """By the notification and the user: the numbers of the publications, in order."""
        self.doubled: list[str] = []
        self.out_of_order: list[str] = []
        self._latest: dict[tuple[str, str], int] = {}

    def take(self, entry: "Entry"):
        if entry.event == "IM":
            *sender, number = entry.body.split()
            self._note(entry, ("IM", *sender), int(number), entry.body in self.texts)
            self.texts.add(entry.body)
        elif entry.event == "IMResponse":
            name, code = entry.body.split()
            told = self.results[name]
            if code in told:
                self.doubled.append(f"{self.client}: again {entry}")
            elif "200" in told:
                self.out_of_order.append(f"{self.client}: after 200 {entry}")
            told.append(code)
        elif entry.event in PRESENCE:
            user, number = entry.body.split()
            if int(number):  # 0: the user has said nothing yet
                known = self.presence[entry.event, user]
                self._note(entry, (entry.event, user), int(number), int(number) in known)
                known.append(int(number))

    def _note(self, entry: "Entry", of: tuple[str, ...], number: int, is_known: bool):
        """What one device or user says comes as it was said; some may be missing."""
        latest = self._latest.get(of, 0)
        if is_known:
            self.doubled.append(f"{self.client}: again {entry}")
        elif number < latest:
            self.out_of_order.append(f"{self.client}: {entry} behind {latest}")
        self._latest[of] = max(latest, number)


def lost(crowd: "Crowd", readings: list[ServiceReading]) -> Iterator[str]:
    """What was answered, and was not told: to each device of the receiver, of the sender, of who watches."""
    devices: dict[str, list[ServiceReading]] = defaultdict(list)
    for reading in readings:
        devices[reading.client.name].append(reading)
    for text in crowd.texts:
        if text.name is None:
            continue
        for reading in devices[text.receiver]:
            if text.body not in reading.texts:
                yield f"{reading.client}: never got the message {text.body!r}"
        for reading in devices[text.sender]:
            if "200" not in reading.results[text.name]:
                told = reading.results[text.name]
                yield f"{reading.client}: never heard of {text.body!r}, {text.name}, that it came; only {told}"
    watchers: dict[str, list[str]] = defaultdict(list)
    for user, watched in crowd.watched.items():
        for each in watched:
            watchers[each].append(user)
    for publication in crowd.publications:
        if not publication.is_confirmed:
            continue
        for user in watchers[publication.user]:
            for reading in devices[user]:
                if publication.number not in reading.presence[crowd.listens_to(user), publication.user]:
                    yield f"{reading.client}: never heard of presence {publication.number} of {publication.user}"

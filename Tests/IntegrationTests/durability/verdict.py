"""What was lost, doubled or out of order, by the journals of all clients."""
import re
from collections import defaultdict, deque
from collections.abc import Iterator

from .client import L5_WINDOW, Client, Entry
from .crowd import Crowd
from .services import ServiceReading, lost
from .transcript import Log, Told

RESTART = re.compile(r"5\d\d .*restart", re.IGNORECASE)
"""What the end of a call says that the gateway ended because it had been killed."""


def handled(journal: list[Entry], window: int) -> Iterator[Entry]:
    """What is left of a journal once the client has dropped the eventIds that it remembers."""
    remembered: deque[str] = deque(maxlen=window)
    for entry in journal:
        if entry.event_id not in remembered:
            remembered.append(entry.event_id)
            yield entry


class Reading:
    """The journal of one client."""

    def __init__(self, client: Client, window: int):
        self._client, self._latest = client, {}
        self._told: dict[str, list[Entry]] = defaultdict(list)
        self._known: set[tuple] = set()
        self.handled = 0
        self.messages: set[str] = set()
        self.ended: set[str] = set()
        """Sessions whose end the client was told."""
        self.doubled: list[str] = []
        self.out_of_order: list[str] = []
        self.services = ServiceReading(client)
        self._entries: dict[Told, Entry] = {}
        self._highest: Entry | None = None
        self._announced = 0
        """How many notifications the gateway has said that it will never send."""
        for entry in handled(client.journal, window):
            self.handled += 1
            self._number(entry)
            if entry.session:
                self._told[entry.session].append(entry)
                self._take(entry, entry.session)
            else:
                self.services.take(entry)

    def __str__(self):
        return str(self._client)

    def _number(self, entry: Entry):
        """Numbers go up. Those of frames for one socket only are not in the log."""
        if self._highest and int(entry.event_id) < int(self._highest.event_id):
            self.out_of_order.append(f"{self}: {entry} behind {self._highest}")
        else:
            self._highest = entry
        if entry.event == "notificationsLost":
            self._announced += int(entry.body)
        if entry.event != "websocketOverridden":
            self._entries[Told(int(entry.event_id), entry.time)] = entry

    def hold_against(self, log: Log | None) -> Iterator[str]:
        """What of the log the client was never told, of any kind. What the client was told and the log does not have
        was told too early: a kill would have lost it, and given its number to another notification."""
        if log is None:
            yield f"{self}: its subscription is gone"
            return
        for told in sorted(self._entries.keys() - log.kinds.keys()):
            self.out_of_order.append(f"{self}: before it was in the log {self._entries[told]}")
        for number in sorted(set(range(log.first, max(log.numbers, default=log.first - 1))) - log.numbers):
            yield f"{self}: nothing has the number {number}"
        missing = sorted(log.kinds.keys() - self._entries.keys())
        if len(missing) > self._announced:
            for told in missing:
                yield f"{self}: never told {log.kinds[told]} #{told.event_id}, {self._announced} were announced as lost"

    def _take(self, entry: Entry, session: str):
        is_end = self._is_end(entry)
        is_message = entry.event == "customParameters"
        what = session, "end" if is_end else entry.event, entry.body if is_message else None
        if what in self._known:
            self.doubled.append(f"{self}: again {entry}; {self.story(session)}")
        elif session in self.ended:
            self.out_of_order.append(f"{self}: after the end {entry}; {self.story(session)}")
        self._known.add(what)
        if is_end:
            self.ended.add(session)
        if is_message:
            self._take_message(entry, session)

    def _take_message(self, entry: Entry, session: str):
        """The messages of one party in one session come as they were sent; some may be missing."""
        *sender, number = entry.body.split()
        latest = self._latest.get((session, *sender), 0)
        if int(number) < latest:
            self.out_of_order.append(f"{self}: {entry} behind {latest}; {self.story(session)}")
        self._latest[session, *sender] = max(latest, int(number))
        self.messages.add(entry.body)

    def _is_end(self, entry: Entry) -> bool:
        """`callCancel` is none for the device that has answered."""
        if entry.event == "callCancel":
            return entry.cause != "answered_here" and not self._client.legs[entry.session].has_answered
        return entry.event == "callEnd"

    def story(self, session: str) -> str:
        return f"session {session}: " + ", ".join(map(str, self._told[session]))


class Verdict:
    """`lost`: a message whose request was answered with 200 and that the receiver, who had not hung up, never got; or
    an end of a call that a device was never told; or what follows from an answered request about a service; or whatever
    else is in the log of a client's subscription and was never told. `doubled`: what a client handled twice.
    `out_of_order`: what one party or device said in another order, whatever concerns a session after its end, numbers
    that go down, and what was told before it was in the log. A sentence for each."""

    def __init__(self, crowd: Crowd, logs: dict[str, Log], window: int = L5_WINDOW):
        """`logs`: by the name of the subscription."""
        self._crowd = crowd
        readings = [Reading(client, window) for client in crowd.clients]
        unheard = [
            each
            for client, reading in zip(crowd.clients, readings, strict=True)
            for each in reading.hold_against(logs.get(client.subscription.rsplit("/", 1)[1]))
        ]
        self.handled = sum(reading.handled for reading in readings)
        self.repeated = sum(len(client.journal) for client in crowd.clients) - self.handled
        self.doubled = [each for reading in readings for each in reading.doubled + reading.services.doubled]
        self.out_of_order = [
            each for reading in readings for each in reading.out_of_order + reading.services.out_of_order
        ]
        self.restarted = len(
            {(client, each.session) for client in crowd.clients for each in client.journal if RESTART.match(each.body)}
        )
        self.lost = [
            f"{client}: no end; {reading.story(session)}"
            for client, reading in zip(crowd.clients, readings, strict=True)
            for session, leg in client.legs.items()
            if session not in reading.ended and not leg.has_hung_up
        ]
        self.lost += [*lost(crowd, [reading.services for reading in readings]), *unheard]
        received: dict[str, set[str]] = defaultdict(set)
        stories = defaultdict(list)
        for client, reading in zip(crowd.clients, readings, strict=True):
            received[client.name] |= reading.messages
            for session, leg in client.legs.items():
                stories[leg.conversation].append(f"{client}: {reading.story(session)}")
        for message in crowd.messages:
            if message.confirmed is not None and message.text not in received[message.receiver]:
                hung_up = message.conversation.hung_up.get(message.receiver)
                if hung_up is None or hung_up > message.confirmed:
                    self.lost.append(
                        f"{message.receiver}: never got {message.text!r}, confirmed at {message.confirmed:.2f} s; "
                        + "; ".join(stories[message.conversation])
                    )

    def __str__(self):
        return (
            f"durability: lost {len(self.lost)}, doubled {len(self.doubled)}, out of order {len(self.out_of_order)} "
            f"of {self.handled} notifications, {len(self._crowd.kills)} kills"
        )

    @property
    def details(self) -> str:
        confirmed = sum(message.confirmed is not None for message in self._crowd.messages)
        texts = sum(text.name is not None for text in self._crowd.texts)
        presence = sum(publication.is_confirmed for publication in self._crowd.publications)
        counted = ", ".join(f"{count} {what}" for what, count in sorted(self._crowd.counts.items()))
        return (
            f"in {self._crowd.now:.0f} s: {counted}; {confirmed} messages, {texts} instant messages and {presence} "
            f"changes of presence confirmed; {self.repeated} notifications dropped that came again, {self.restarted} "
            "ends by a restart"
        )

    @property
    def faults(self) -> list[str]:
        return self.lost + self.doubled + self.out_of_order

    def explained(self, more: list[str], most: int = 20) -> str:
        """The first faults, and what happened to the clients that the first of them concerns."""
        faults = self.faults + more
        clients = [client for client in self._crowd.clients if re.match(rf"{client.name}[,:]", faults[0])]
        lines = [f"{client}: {'; '.join(client.diary[-50:])}" for client in clients]
        killed = ", ".join(f"{at:.2f} s" for at in self._crowd.kills)
        return "\n".join([f"{len(faults)} faults, killed at {killed}", *faults[:most], *lines])

"""The event log of a gateway (docs/call-events.md) replays to what clients were told and what they were answered.

Every `SpidrPeer` notes what it hears and is answered. `Gateway.discard()` holds the replay of the log against that.
"""
import json
import os
import re
import time
from base64 import b64encode
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from .event_replay import Replay, addressee, of_the_call

LATEST_RECORDS = 10
"""How many records of each user are asked for one by one, with their timelines; the call log has the latest 100."""


@dataclass
class Told:
    """What one subscription was told, by the number of the notification."""

    port: int
    """Where the gateway listens, or what stands in front of it."""
    test: str
    messages: dict[int, dict] = field(default_factory=dict)


@dataclass
class Answered:
    """What a client was answered about one of its calls."""

    port: int
    test: str
    kind: str
    """`callStart`, `logRecord`, `logItem` or `callSession`."""
    session: str
    content: dict
    has_channel: bool


_told: dict[str, Told] = {}
_answered: list[Answered] = []
_credentials: dict[tuple[int, str], str] = {}
_stand_ins: dict[int, int] = {}
totals: Counter[str] = Counter()
"""What has been compared so far, for the summary of the run."""


def stands_in(port: int, gateway_port: int):
    """Whoever is reached at this port hands on to a gateway."""
    _stand_ins[port] = gateway_port


def hear(port: int, subscription: str, message: dict):
    """A client has been told something."""
    if "sessionParams" in message or subscription in _told:
        told = _told.setdefault(subscription, Told(_stand_ins.get(port, port), _test()))
        told.messages[int(message["eventId"])] = message


def answer(port: int, method: str, path: str, status: int, text: str, user: str, credentials: str, has_channel: bool):
    """A request of a client has been answered."""
    port = _stand_ins.get(port, port)
    if status not in (200, 201):
        return
    _credentials[port, user] = credentials
    asked = re.search(r"/(logRecord|logHistory|callControl/callSessions|callControl|callMe)\b[^/]*(/[^/]+)?$", path)
    if not asked:
        return
    found = []
    match method, asked[1]:
        case "POST", "callControl" | "callMe" if status == 201:
            (body,) = json.loads(text).values()
            found = [("callStart", body["sessionData"], body)]
        case "GET", "logRecord":
            (body,) = json.loads(text).values()
            found = [("logRecord", body["params"]["recordId"], body)]
        case "GET", "logHistory":
            (body,) = json.loads(text).values()
            found = [("logItem", item["params"]["recordId"], item["params"]) for item in body["logItems"]]
        case "GET", "callControl/callSessions":
            (body,) = json.loads(text).values()
            sessions = body["callSessions"] if "callSessions" in body else [body["callSession"]]
            found = [("callSession", each["sessionData"], each) for each in sessions]
    _answered.extend(Answered(port, _test(), *each, has_channel) for each in found)


def _test() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "?").rsplit(" ", 1)[0]


class EventLog:
    """The event log of one gateway under test."""

    def __init__(self, path: Path, binary: Path, environment: dict[str, str]):
        self.path, self._binary, self._environment = path, binary, environment

    @property
    def options(self) -> tuple[str, ...]:
        return "--set", f"calls.event_log={self.path}"

    def by_call(self) -> dict[str, list[dict]]:
        """The events of each call, in their order; the call that was started first comes first."""
        events = defaultdict(list)
        for line in map(json.loads, self.path.read_text().splitlines()):
            events[line["call"]].append(line["event"])
        return events

    def ask_for_records(self, base: str, port: int, password: str | None):
        """Asks a running gateway for the call log of everybody who had a call, as their clients would.

        `password`: of the users who did not speak through a `SpidrPeer`, if it is known."""
        written = self.path.read_text() if self.path.exists() else ""
        for user in sorted(set(re.findall(r'"user":"([^"]+)"', written))):
            credentials = _credentials.get((port, user))
            if not credentials and password:
                credentials = "Basic " + b64encode(f"{user}:{password}".encode()).decode()
            if credentials:
                _ask_for_records_of(user, base, port, credentials)

    def hold(self, ports: set[int], *, is_running: bool, timeout: float = 60):
        """Replays the log and holds it against what was noted at these ports.

        A gateway that runs on may still have to write the latest events."""
        if not self.path.exists():
            return
        replay, end = None, time.monotonic() + timeout
        try:
            while True:
                replay = Replay(self._binary, self.path, self._environment)
                comparison = Comparison(replay, ports)
                totals["CPU seconds of replay"] += replay.processor_seconds
                if not comparison.contradictions:
                    break
                assert is_running and time.monotonic() < end, (
                    f"the event log says otherwise ({len(comparison.contradictions)} times):\n"
                    + "\n".join(comparison.contradictions[:5])
                )
                time.sleep(0.5)
            totals.update(comparison.count, gateways=1, events=replay.events, calls=replay.calls)
        finally:
            _forget(replay, ports)


class Comparison:
    """A replay, held against what clients noted."""

    def __init__(self, replay: Replay, ports: set[int]):
        self._replay = replay
        self.count: Counter[str] = Counter()
        self.contradictions: list[str] = []
        """A sentence for each thing that was told or answered otherwise than the log says."""
        heard: Counter[str] = Counter()
        for subscription, told in _told.items():
            if told.port in ports or replay.names(subscription):
                heard[told.test] += self._compare(subscription, told)
        answered = [each for each in _answered if each.port in ports or each.session in replay.legs]
        for each in answered:
            if each.kind != "callStart":
                self._compare_answer(each)
        for test in {each.test for each in answered if each.kind == "callStart" and each.has_channel}:
            if not heard[test]:
                self.contradictions.append(f"{test}: calls were started, and no notification was compared")
        self.count["notifications"] = heard.total()

    def _compare(self, subscription: str, told: Told) -> int:
        """What the client heard of each session stands in the replay in one piece; with gaps if it missed some."""
        numbers = sorted(told.messages)
        is_whole = numbers[-1] - numbers[0] + 1 == len(numbers)
        heard = defaultdict(list)
        for message in (of_the_call(told.messages[number]) for number in numbers):
            if "sessionParams" in message:
                heard[addressee(self._replay.first_name(subscription), message)].append(message)
        for to, messages in heard.items():
            due = self._replay.notifications.get(to, [])
            if not (_is_piece(messages, due) if is_whole and to[0] else _is_subsequence(messages, due)):
                self.contradictions.append(
                    f"{told.test}: {to} was told {_names(messages)}, the log says {_names(due)}: "
                    + _first_difference(messages, due)
                )
        return sum(map(len, heard.values()))

    def _compare_answer(self, each: Answered):
        replay, content = self._replay, each.content
        match each.kind:
            case "logRecord":
                is_replayed = replay.records.get(each.session) == content
            case "logItem":
                is_replayed = replay.records.get(each.session, {}).get("params") == content
            case _:  # a call that went on after the answer
                seen = content["timeline"], content["startTime"]
                is_replayed = any(
                    (leg["timeline"][: len(seen[0])], leg["startTime"]) == seen for leg in replay.legs[each.session]
                )
        self.count[f"{each.kind}s"] += 1
        if not is_replayed:
            self.contradictions.append(
                f"{each.test}: {each.kind} of {each.session} was {content}, the log says "
                f"{replay.records.get(each.session)}, {replay.legs.get(each.session)}"
            )


def _forget(replay: Replay | None, ports: set[int]):
    """The gateway is gone."""
    for name in [name for name, told in _told.items() if told.port in ports or replay and replay.names(name)]:
        del _told[name]
    legs = replay.legs if replay else {}
    _answered[:] = [each for each in _answered if each.port not in ports and each.session not in legs]


def _ask_for_records_of(user: str, base: str, port: int, credentials: str):
    def ask(path: str) -> dict:
        # The address may have been made up, of any letters.
        url = base + quote(path, safe="/?&=@:%")
        with urlopen(Request(url, headers={"Authorization": credentials}), timeout=60) as response:
            text = response.read().decode()
            answer(port, "GET", path, response.status, text, user, credentials, False)
        return next(iter(json.loads(text).values()))

    try:
        items = ask(f"/rest/version/1/user/{user}/logHistory?count=100")["logItems"]
        for item in items[:LATEST_RECORDS]:
            ask(item["params"]["resourceLocation"])
    except HTTPError as error:
        if error.code not in (401, 403, 429, 503):  # an account or a gateway that the test has closed
            raise


def _is_piece(part: list, whole: list) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _is_subsequence(part: list, whole: list) -> bool:
    rest = iter(whole)
    return all(any(each == other for other in rest) for each in part)


def _names(messages: list[dict]) -> list[str]:
    return [message["eventType"] for message in messages]


def _first_difference(messages: list[dict], due: list[dict]) -> str:
    differing = (f"{one} instead of {other}" for one, other in zip(messages, due) if one != other)
    return next(differing, "the same as far as both go")

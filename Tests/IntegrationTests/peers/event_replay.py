"""What `orbweaver replay-events` makes of an event log."""
import json
import resource
import subprocess
from collections import defaultdict
from pathlib import Path

OF_THE_CHANNEL = ("eventId", "time", "notificationChannelId")
"""What a notification has of its channel, and not of the call."""


class Replay:
    """The calls, notifications and records of a whole log."""

    def __init__(self, binary: Path, log: Path, environment: dict[str, str]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run([binary, "replay-events", log], capture_output=True, timeout=1_800, env=environment)
        assert ended.returncode == 0, f"the event log cannot be replayed:\n{ended.stderr.decode()[-3_000:]}"
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        written = log.read_bytes()
        self.events = written.count(b"\n")
        self._former = _replaced_subscriptions(written)
        lines = [json.loads(line) for line in ended.stdout.splitlines()]
        self.records = {line["record"]["params"]["recordId"]: line["record"] for line in lines if "record" in line}
        """By session."""
        self.legs: dict[str, list[dict]] = defaultdict(list)
        """Of each session, in every call that it has been part of."""
        self.notifications: dict[tuple[str, str], list[dict]] = defaultdict(list)
        """By addressee."""
        calls = [line for line in lines if "call" in line]
        self.calls = len(calls)
        for call in calls:
            for leg in call["legs"]:
                self.legs[leg["session"]].append(leg)
        told = [each for call in calls for each in call["notifications"]]
        for each in sorted(told, key=lambda each: each["line"]):  # a session may go on in another call
            message = of_the_call(each["message"])
            for name in {self.first_name(name) for name in each["subscriptions"]}:
                self.notifications[addressee(name, message)].append(message)
        self._named = {name for each in told for name in each["subscriptions"]} | set(self._former)

    def names(self, subscription: str) -> bool:
        """Whether anything was for this subscription."""
        return subscription in self._named

    def first_name(self, subscription: str) -> str:
        """The subscription that the device had first: events may name one that was renewed by its former name."""
        while former := self._former.get(subscription):
            subscription = former
        return subscription


def of_the_call(message: dict) -> dict:
    """A notification without what its channel has added."""
    return {name: value for name, value in message.items() if name not in OF_THE_CHANNEL}


def addressee(subscription: str, message: dict) -> tuple[str, str]:
    """The subscription and the session."""
    return subscription, message["sessionParams"]["sessionData"]


def _replaced_subscriptions(log: bytes) -> dict[str, str]:
    """Former names by later ones."""
    facts = (json.loads(line)["event"]["fact"] for line in log.splitlines() if b'"renewedSubscription"' in line)
    renewed = [fact["renewedSubscription"] for fact in facts if "renewedSubscription" in fact]
    return {each["to"]: each["from"] for each in renewed if each["to"] != each["from"]}

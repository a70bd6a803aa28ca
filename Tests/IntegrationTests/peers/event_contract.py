"""Holds what programs are told of calls against openapi/v1.yaml: each event against the schema of its type."""
import time
from collections import Counter
from functools import cache
from pathlib import Path

import httpx
from jsonschema import Draft202012Validator

from .contract import Contract, ContractViolation, hold

ENOUGH = 50
"""So many events of one type and with the same members are held against the contract in one run: each takes a
millisecond, and crowds hear thousands."""
_counts: Counter[tuple] = Counter()


@cache
def _contract() -> Contract:
    return Contract(Path(__file__).resolve().parents[3] / "openapi/v1.yaml")


@cache
def _validator(kind: str) -> Draft202012Validator | None:
    """Of the events of a type; None if none has it."""
    event = _contract().document["components"]["schemas"]["Event"]
    schema = event["discriminator"]["mapping"].get(kind)
    return _contract().validator({"$ref": schema}) if schema else None


def checked(event: dict) -> dict:
    """The event, which is as it is described; one that is not is an error."""
    shape = (event["type"], *sorted(event), "data", *sorted(event.get("data", {})))
    if _counts[shape] >= ENOUGH:
        return event
    _counts[shape] += 1
    validator = _validator(event["type"])
    if validator is None:
        raise ContractViolation(f"no event of the type {event['type']} is described: {event}")
    hold(event, validator, f"the event {event}")
    return event


def check_gone(body: dict):
    """What a reader is told that comes too late."""
    _contract().check_value(body, "EventsGone")


def check_all(base: str, readers: list[tuple[str, str] | str]):
    """Holds what a gateway has told against the contract.

    `readers`: users with their passwords, and keys of applications."""
    for who in readers:
        access = {"auth": who} if isinstance(who, tuple) else {"headers": {"Authorization": f"Bearer {who}"}}
        with httpx.Client(base_url=base, timeout=30, **access) as client:
            since = "oldest"
            while True:
                query = {"since": since, "wait": "0"}
                answer = client.get("/v1/events", params=query, headers={"Accept": "application/json"})
                if answer.status_code == 429:  # a test has shown wrong passwords
                    time.sleep(5)
                    continue
                assert answer.status_code == 200, answer.text
                page = answer.json()
                for event in page["events"]:
                    checked(event)
                if not page["events"]:
                    break
                since = page["next"]

"""Loaded by schemathesis for `/v1`: made-up calls go to people who are there, and keep to themselves; made-up keys of
requests are mostly new; polls do not wait.

What was answered is counted into the file that `V1_SCHEMATHESIS_COUNTS` names: `recordCall 200`, and `replayed`."""
import atexit
import json
import os
import random
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path

import schemathesis

KEY = "Idempotency-Key"
EVENTS = "/v1/events"
_chance = random.Random(20)
_keys: dict[tuple[str, str, str], str] = {}
"""With which key a request was sent last."""
_counts: Counter[str] = Counter()


@schemathesis.hook
def before_call(context, case, kwargs):
    # Names with characters that no path can have would be asked of other paths.
    call = case.path_parameters.get("id") if case.path_parameters else None
    if isinstance(call, str) and ("/" in call or call in ("", ".", "..")):
        case.path_parameters["id"] = "made-up"
    if case.operation.path == EVENTS:
        poll_at_once(case)
    elif KEY in (case.headers or {}):
        renew_key(case)


def poll_at_once(case):
    """The other forms have no end, and a poll waits up to a minute. What is no number of seconds stays."""
    case.headers["Accept"] = "application/json"
    wait = case.query.get("wait", 25)
    with suppress(TypeError, ValueError):
        if 0 < int(wait) <= 60:
            case.query["wait"] = 0


def renew_key(case):
    """Made-up keys are alike, and of requests that differ the second one with a key is refused. One of ten is left as
    it was made up, and two of ten are those of the last request that was the same."""
    turn = _chance.random()
    if turn < 0.1:
        return
    request = f"{case.method} {case.operation.path}", repr(case.path_parameters), repr(case.body)
    if turn > 0.3 or request not in _keys:
        _keys[request] = str(uuid.UUID(int=_chance.getrandbits(128)))
    case.headers[KEY] = _keys[request]


@schemathesis.hook
def after_call(context, case, response):
    operation = case.operation.definition.raw.get("operationId")
    _counts[f"{operation} {response.status_code}"] += 1
    if "idempotent-replayed" in {name.lower() for name in response.headers}:
        _counts["replayed"] += 1


def write_counts():
    if path := os.environ.get("V1_SCHEMATHESIS_COUNTS"):
        Path(path).write_text(json.dumps(_counts))


atexit.register(write_counts)

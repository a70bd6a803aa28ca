"""What goes wrong, as exceptions."""
import json
from collections.abc import Mapping, Sequence
from typing import Any


class OrbweaverError(Exception):
    """Everything that this module raises by itself, but for wrong arguments."""


class Unreachable(OrbweaverError):
    """The gateway did not answer, however often it was asked."""


class CallEnded(OrbweaverError):
    """The call was over before what was waited for happened."""

    def __init__(self, call: str, cause: str | None):
        super().__init__(f"call {call} is over" + (f": {cause}" if cause else ""))
        self.call = call
        """The `id` of the call."""
        self.cause = cause
        """A word of docs/call-states.md, `left` if the call goes on without the application, `None` if unknown."""


class WebhookInvalid(OrbweaverError):
    """A request that claims to be a webhook does not have the signature of the gateway, or is too old."""


class Refused(OrbweaverError):
    """The gateway refuses a request. A refusal has changed nothing."""

    def __init__(self, status: int, problem: Mapping[str, Any]):
        self.status = status
        """The HTTP status."""
        self.code: str = problem.get("code", "")
        """For programs, such as `call.not_allowed`; empty if the answer is not one of the gateway."""
        self.detail: str = problem.get("detail", "")
        """A sentence for people."""
        self.state: str | None = problem.get("state")
        """The state of the call, where it is the reason."""
        self.allowed: Sequence[str] = tuple(problem.get("allowed", ()))
        """The commands that the state allows."""
        self.call: Mapping[str, Any] | None = problem.get("call")
        """The call as it is, where its state or version is the reason."""
        self.retry_after: float | None = problem["retryAfter"] / 1000 if "retryAfter" in problem else None
        """Seconds until the request may succeed."""
        self.problem = problem
        """All members of the problem."""
        super().__init__(f"{status} {self.code}: {self.detail}")


class NotAllowed(Refused):
    """409: the state of the call does not allow the command. `allowed` has the commands that it allows."""


class VersionMismatch(Refused):
    """412: something has happened since the version that the command was meant for. `call` is the call as it is."""


class NotFound(Refused):
    """404: there is no such call of this application, or no such path."""


class NotAuthorized(Refused):
    """401 and 403: the key is wrong, or does not have the scope."""


class Limited(Refused):
    """429: a limit is reached."""


class Unavailable(Refused):
    """503: the gateway cannot do it now."""


class EventsGone(Refused):
    """410: events behind the cursor are not kept any more."""

    def __init__(self, status: int, problem: Mapping[str, Any]):
        super().__init__(status, problem)
        self.next: str = problem["next"]
        """The cursor to go on from."""
        self.reason: str = problem["reason"]
        """`tooOld` or `otherLog`."""
        self.calls: Sequence[Mapping[str, Any]] = tuple(problem["calls"])
        """The calls in progress."""


_KINDS: Mapping[int, type[Refused]] = {
    401: NotAuthorized,
    403: NotAuthorized,
    404: NotFound,
    409: NotAllowed,
    412: VersionMismatch,
    429: Limited,
    503: Unavailable,
}


def refusal(status: int, body: bytes) -> Refused:
    """The exception for an answer."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        # An answer of a proxy, for example.
        return _KINDS.get(status, Refused)(status, {"detail": body[:200].decode(errors="replace")})
    if status == 410 and problem.get("code") == "events.gone":
        return EventsGone(status, problem)
    return _KINDS.get(status, Refused)(status, problem)

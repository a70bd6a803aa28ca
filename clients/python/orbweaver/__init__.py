"""Calls and events of an Orbweaver gateway, for programs (docs/bots.md of the gateway)."""
from .call import Call, CallState, Ending, Gathered, Member, Parameter, Played, Snapshot
from .client import Client, EventPage
from .connection import Credentials
from .errors import (
    CallEnded,
    EventsGone,
    Limited,
    NotAllowed,
    NotAuthorized,
    NotFound,
    OrbweaverError,
    Refused,
    Unavailable,
    Unreachable,
    VersionMismatch,
    WebhookInvalid,
)
from .events import Event, EventStream
from .sounds import Sound, file, music, silence, tone, url
from .webhooks import verify_webhook

__all__ = [
    "Call",
    "CallEnded",
    "CallState",
    "Client",
    "Credentials",
    "Ending",
    "Event",
    "EventPage",
    "EventStream",
    "EventsGone",
    "Gathered",
    "Limited",
    "Member",
    "NotAllowed",
    "NotAuthorized",
    "NotFound",
    "OrbweaverError",
    "Parameter",
    "Played",
    "Refused",
    "Snapshot",
    "Sound",
    "Unavailable",
    "Unreachable",
    "VersionMismatch",
    "WebhookInvalid",
    "file",
    "music",
    "silence",
    "tone",
    "url",
    "verify_webhook",
]

"""Webhooks: what the gateway sends to an application's URL (Standard Webhooks 1.0.0)."""
from collections.abc import Mapping

from .errors import WebhookInvalid
from .events import Event


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes | str) -> Event:
    """The event that a request brings.

    `secret` is the webhook's, which starts with `whsec_`; `headers` are those of the request in any spelling; `body` is
    the body as it came. Raises `WebhookInvalid` if the request is not from the gateway or is older than five minutes.
    Needs the package `standardwebhooks` (`pip install "orbweaver[webhooks]"`).
    """
    try:
        from standardwebhooks import Webhook, WebhookVerificationError
    except ImportError as missing:
        message = 'verify_webhook needs standardwebhooks: pip install "orbweaver[webhooks]"'
        raise ImportError(message) from missing
    verifier = Webhook(secret)
    try:
        text = body if isinstance(body, str) else body.decode()
        event = verifier.verify(text, dict(headers))
    # A request may be malformed in ways that the verifier does not foresee.
    except (WebhookVerificationError, ValueError) as invalid:
        raise WebhookInvalid(str(invalid)) from invalid
    return Event.parsed(event)

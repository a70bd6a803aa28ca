"""A caller without an account (spidr-wire §7)."""
import base64
import hmac
import json
import secrets
import subprocess
import time
from dataclasses import dataclass, field

from peers.spidr import Answer

from .device import Party


@dataclass
class TokenRealm:
    """Makes callMe tokens, with the openssl command, as the server of a web page does (spidr-wire §2)."""

    name: str
    cipher: str
    key: str
    vector: str | None = None
    """The initialization vector of every token; None if each CBC token begins with its own."""

    def __str__(self):
        """Its line in the gateway's file."""
        return " ".join(filter(None, (self.name, self.cipher, self.key, self.vector)))

    def token(self, address: str, age: float = 0) -> str:
        """`age`: in seconds, negative in the future."""
        needs_vector = self.cipher.endswith("cbc")
        own = secrets.token_hex(16) if needs_vector and not self.vector else ""
        command = [
            "openssl",
            "enc",
            f"-{self.cipher}",
            "-K",
            self.key,
            *(["-iv", self.vector or own] if needs_vector else []),
        ]
        text = f"{address};{int((time.time() - age) * 1000)}"
        return own + subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout.hex()


@dataclass
class SignedRealm:
    """Makes signed callMe tokens (docs/configuration.md)."""

    name: str
    key: str
    claims: dict = field(default_factory=dict)
    """Beside those that every token has."""

    def __str__(self):
        return f"{self.name} hs256 {self.key}"

    def token(self, address: str, **claims) -> str:
        claims = {"aud": "callMe", "to": address, "exp": int(time.time()) + 300, **self.claims, **claims}
        parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
        signed = b".".join(map(unpadded, parts))
        return (signed + b"." + unpadded(hmac.digest(bytes.fromhex(self.key), signed, "sha256"))).decode()


def unpadded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Guest(Party):
    """Calls one account, under its path and without credentials."""

    def __init__(
        self,
        base: str,
        account: str,
        name: str = "erin",
        *,
        realm: TokenRealm | SignedRealm | None = None,
        **options,
    ):
        """`name`: its tone and its colour. `realm`: addresses are tokens of it, and its name is on every URL.
        `options`: those of every party."""
        super().__init__(base, name, **options)
        self.realm = realm
        account = account if "@" in account else f"{account}@dev.local"
        self.account = realm.token(account) if realm else account
        self.query = f"tokenrealm={realm.name}" if realm else ""
        self.credentials = None
        self.resource = "callMe"
        self.wrapper = "callMeRequest"

    async def request(self, method: str, path: str, *body, **options) -> Answer:
        path = path if path.startswith("/rest/") else self.path(path)
        if self.query:
            path += ("&" if "?" in path else "?") + self.query
        return await super().request(method, path, *body, **options)

    def path(self, resource: str) -> str:
        return f"/rest/version/1/anonymous/{self.account}{resource}"

    async def register(self, **wishes) -> dict:
        return await super().register(alone=False, services=["callMe"], **wishes)

    async def start(self, to: str, sdp: str, **fields) -> Answer:
        return await self.start_as(self._named(f"{self.name}@guest.invalid"), self._named(to), sdp, **fields)

    async def start_as(self, caller: str, callee: str, sdp: str, **fields) -> Answer:
        """With the names just as they are given."""
        channel = self.channel.rsplit("/websocket/")[1]
        request = {"type": "callStart", "from": caller, "to": callee, "sdp": sdp, "notifyChannelId": channel, **fields}
        return await self.request("POST", f"/{self.resource}", {self.wrapper: request})

    async def operate(self, session: str, operation: str, **fields) -> Answer:
        return await self.request("PUT", self._call(session), {self.wrapper: {"type": operation, **fields}})

    def _named(self, address: str) -> str:
        return self.realm.token(address) if self.realm else f"sip:{address}"

    def _call(self, session: str) -> str:
        return f"/{self.resource}/callSessions/{session}"

"""Users who log in with bearer tokens: each kind of key, keys that change, subscriptions that end with their tokens."""
import asyncio
import hashlib
import hmac
import json
import os
import time
from base64 import urlsafe_b64encode
from pathlib import Path

import aiohttp
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

SUBSCRIBE = {"subscribeRequest": {"service": ["call"], "expires": 3600}}


def encoded(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def number(value: int, size: int) -> str:
    return encoded(value.to_bytes(size, "big"))


class Issuer:
    """Signs tokens with one key, whose public half it publishes."""

    def __init__(self, algorithm: str, kid: str):
        self.algorithm, self.kid = algorithm, kid
        self._key = {
            "HS256": lambda: os.urandom(32),
            "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
        }[algorithm]()

    @property
    def jwk(self) -> dict:
        key = {"kid": self.kid, "alg": self.algorithm, "use": "sig"}
        if self.algorithm == "HS256":
            return {**key, "kty": "oct", "k": encoded(self._key)}
        public = self._key.public_key()
        if self.algorithm == "RS256":
            numbers = public.public_numbers()
            return {**key, "kty": "RSA", "n": number(numbers.n, 256), "e": number(numbers.e, 3)}
        if self.algorithm == "ES256":
            numbers = public.public_numbers()
            return {**key, "kty": "EC", "crv": "P-256", "x": number(numbers.x, 32), "y": number(numbers.y, 32)}
        raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return {**key, "kty": "OKP", "crv": "Ed25519", "x": encoded(raw)}

    def _sign(self, message: bytes) -> bytes:
        if self.algorithm == "HS256":
            return hmac.new(self._key, message, hashlib.sha256).digest()
        if self.algorithm == "RS256":
            return self._key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        if self.algorithm == "ES256":
            r, s = decode_dss_signature(self._key.sign(message, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        return self._key.sign(message)

    def token(self, user: str = "alice", lasts: float = 600, **claims) -> str:
        header = {"alg": self.algorithm, "kid": self.kid, "typ": "JWT"}
        claims = {"sub": user, "exp": int(time.time() + lasts), **claims}
        message = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        return f"{message}.{encoded(self._sign(message.encode()))}"

    def header(self, *arguments, **claims) -> dict:
        return {"Authorization": f"Bearer {self.token(*arguments, **claims)}"}


def write_keys(path: Path, *issuers: Issuer):
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"keys": [issuer.jwk for issuer in issuers]}))
    new.rename(path)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


async def test_tokens_of_all_four_kinds_log_in_and_a_changed_one_does_not(own_gateway, peer, keys):
    issuers = [Issuer(algorithm, algorithm.lower()) for algorithm in ("HS256", "RS256", "ES256", "EdDSA")]
    write_keys(keys, *issuers)
    own = own_gateway("--set", f"auth.token_keys={keys}")
    alice = await peer("alice", registered=False, base=own.http)
    for issuer in issuers:
        answer = await alice.request("POST", "/subscription", SUBSCRIBE, headers=issuer.header())
        assert answer.status == 201, (issuer.algorithm, answer.text)
        assert 590 <= answer.body["subscriptionParams"]["expires"] <= 600
        head, claims, signature = issuer.token().split(".")
        forged = f"{head}.{issuer.token('bob').split('.')[1]}.{signature}"
        answer = await alice.request("POST", "/subscription", SUBSCRIBE, headers={"Authorization": f"Bearer {forged}"})
        answer.refused(401, 4, "subscribeResponse", "auth.invalid_token")
    refused = await alice.request("POST", "/subscription", SUBSCRIBE, headers=issuers[1].header(lasts=-60))
    refused.refused(403, 65, "subscribeResponse", "auth.token_expired")
    other = await alice.request("POST", "/subscription", SUBSCRIBE, headers=issuers[2].header("bob"))
    other.refused(403, 27, "subscribeResponse", "auth.wrong_user")
    assert own.metric("orbweaver_authentication_failures_total", reason="token") == 5


async def test_keys_change_while_the_gateway_runs(own_gateway, peer, keys):
    old, new = Issuer("ES256", "old"), Issuer("EdDSA", "new")
    write_keys(keys, old)
    own = own_gateway("--set", f"auth.token_keys={keys}")
    alice = await peer("alice", registered=False, base=own.http)

    async def status(issuer: Issuer) -> int:
        return (await alice.request("POST", "/subscription", SUBSCRIBE, headers=issuer.header())).status

    assert (await status(old), await status(new)) == (201, 401)
    write_keys(keys, old, new)
    await asyncio.sleep(1.1)
    assert (await status(old), await status(new)) == (201, 201)
    keys.write_text("{")
    await asyncio.sleep(1.1)
    assert (await status(old), await status(new)) == (201, 201)
    assert "the former keys stay" in own.log_path.read_text()
    write_keys(keys, new)
    await asyncio.sleep(1.1)
    assert (await status(old), await status(new)) == (401, 201)


async def test_a_subscription_ends_with_its_token_unless_a_newer_one_extends_it(own_gateway, peer, keys):
    issuer = Issuer("HS256", "a")
    write_keys(keys, issuer)
    own = own_gateway("--set", f"auth.token_keys={keys}", "--set", "registration.grace=1s")
    alice, bob = [await peer(name, registered=False, base=own.http) for name in ("alice", "bob")]
    for client, name in ((alice, "alice"), (bob, "bob")):
        client.credentials = f"Bearer {issuer.token(name, lasts=4)}"
        assert 2 <= (await client.register())["subscriptionParams"]["expires"] <= 4
    alice.credentials = f"Bearer {issuer.token('alice', lasts=600)}"
    assert (await alice.extend()).body["subscriptionParams"]["expires"] >= 590
    await bob.expect("gone", timeout=15)
    await alice.expect_silence("gone", during=1)


async def test_a_channel_opens_with_a_token_of_its_user_and_with_no_other(own_gateway, peer, keys):
    issuer = Issuer("RS256", "a")
    write_keys(keys, issuer)
    own = own_gateway("--set", f"auth.token_keys={keys}")
    alice = await peer("alice", registered=False, base=own.http)
    alice.credentials = f"Bearer {issuer.token()}"
    await alice.register(listen=False)
    async with aiohttp.ClientSession() as session:
        url = own.http.replace("http", "ws", 1) + alice.channel
        for token, status in ((issuer.token("bob"), 403), (issuer.token(lasts=-60), 403), ("a.b.c", 401)):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
                await session.ws_connect(f"{url}?access_token={token}")
            assert refusal.value.status == status
        for query in (f"?access_token={issuer.token()}", ""):
            async with session.ws_connect(url + query) as socket:
                assert not socket.closed

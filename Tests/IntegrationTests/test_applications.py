"""Users whom an application server logs in: its signed request, the token, and the session, across restarts."""
import asyncio
import hashlib
import hmac
import json

import aiohttp

from durability import configured
from peers.gateway import orbweaver

USERS = ["alice", "bob"]
WISHES = {"subscribeRequest": {"service": ["call"], "expires": 3600}}


async def secret_of(application: str, options: list[str], command: str = "add", domain: str = "dev.local") -> str:
    of = ["--domain", domain] if command == "add" else []
    added = await asyncio.to_thread(orbweaver, "app", command, application, *of, *options)
    assert added.returncode == 0, added.stderr
    return added.stdout.strip()


async def issued(
    base: str, secret: str, user: str = "alice", application: str = "portal", domain: str = "dev.local"
) -> tuple[int, dict]:
    """What an application server does, which is no client of this protocol: it has a client of its own here."""
    request = {"subscriberId": user, "organizationId": domain}
    body = json.dumps({"authenticationTokenRequest": request}, indent=1).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha1).hexdigest()
    url = f"{base}/rest/version/1/application/{application}/authenticationToken"
    headers = {"hmac": signature, "Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as response:
        return response.status, (await response.json())["authenticationTokenResponse"]


def with_token(token: str) -> dict:
    return {"Authorization": None, "x-token": token}


async def test_an_application_logs_a_user_in_and_the_session_outlives_a_kill(own_gateway, tmp_path, peer):
    options = configured(tmp_path, USERS)
    secret = await secret_of("portal", options)
    own = own_gateway.configured(*options)
    alice = await peer("alice", registered=False, base=own.http)
    (status, first), (_, second) = await issued(own.http, secret), await issued(own.http, secret)
    assert status == 201 and first["token"] != second["token"]
    granted = (await alice.request("POST", "/subscription", WISHES, headers=with_token(first["token"]))).succeeded()
    again = await alice.request("POST", "/subscription", WISHES, headers=with_token(first["token"]))
    again.refused(403, 46, "subscribeResponse", "auth.token_not_found")
    session = {"Authorization": None, "x-session": granted["subscriptionParams"]["sessionId"]}

    own.kill()
    await asyncio.to_thread(own.start)
    # Neither the session nor the token that was not used is lost.
    assert (await alice.request("GET", "/logHistory", headers=session)).status == 200
    extended = await alice.request("PUT", granted["subscription"], WISHES, headers=session)
    assert extended.succeeded()["subscriptionParams"]["sessionId"] == session["x-session"]
    other = await alice.request("POST", "/subscription", WISHES, headers=with_token(second["token"]))
    other = other.succeeded()
    assert (await alice.request("DELETE", granted["subscription"], headers=session)).status == 200
    ended = await alice.request("GET", "/logHistory", headers=session)
    ended.refused(403, 65, "logHistory", "auth.session_ended")
    alice.subscription = other["subscription"]


async def test_a_user_of_an_application_calls_one_with_a_password(own_gateway, tmp_path, peer):
    options = configured(tmp_path, USERS)
    secret = await secret_of("portal", options)
    own = own_gateway.configured(*options)
    alice, bob = await peer("alice", registered=False, base=own.http), await peer("bob", base=own.http)
    _, answer = await issued(own.http, secret)
    path = alice.path("/subscription")
    granted = (await alice.request("POST", path, WISHES, headers=with_token(answer["token"]))).succeeded()
    alice.subscription = granted["subscription"]
    alice.channel = granted["subscriptionParams"]["notificationChannel"]
    session = granted["subscriptionParams"]["sessionId"]
    mine = {"Authorization": None, "x-session": session}
    foreign = await bob.request("GET", "/logHistory", headers=mine)
    foreign.refused(403, 65, "logHistory", "auth.session_ended")
    for resource in ("/logHistory", "/callControl/callSessions", "/userProfileData"):
        assert (await alice.request("GET", resource, headers=mine)).status == 200


async def test_a_new_secret_and_a_removal_count_at_once(own_gateway, tmp_path):
    options = configured(tmp_path, USERS)
    old = await secret_of("portal", options)
    own = own_gateway.configured(*options)
    new = await secret_of("portal", options, "rotate")
    assert [(await issued(own.http, secret))[0] for secret in (old, new)] == [403, 201]
    assert (await issued(own.http, new, user="carol"))[1]["code"] == "auth.unknown_subscriber"
    listed = await asyncio.to_thread(orbweaver, "app", "list", *options)
    assert listed.stdout == "portal\tdev.local\n" and new not in listed.stdout
    removed = await asyncio.to_thread(orbweaver, "app", "remove", "portal", *options)
    assert removed.returncode == 0, removed.stderr
    assert (await issued(own.http, new))[1]["code"] == "auth.wrong_signature"

"""`GET /v1/events` by clients that are not ours: server-sent events, JSON lines, long polls and WebSockets; who may see
what. test_events_under_kills.py has gateways that are killed."""
import asyncio
import json
import sqlite3
import time
from contextlib import closing

import httpx
import pytest
import requests
import sseclient
import websockets
from websockets.asyncio.client import connect

from durability import configured
from peers import sdp
from peers.event_contract import check_gone, checked
from peers.gateway import Gateway, orbweaver
from peers.pion import Pion
from peers.wrtc import Wrtc
from situations import connected

USERS = ["alice", "bob", "carol"]


def credentials(user: str) -> tuple[str, str]:
    return f"{user}@dev.local", "dev"


def poll(base: str, who, since: str | None = None, wait: int = 0, **query: str) -> httpx.Response:
    query = {key: value for key, value in {"since": since, "wait": str(wait), **query}.items() if value is not None}
    how = {"auth": who} if isinstance(who, tuple) else {"headers": {"Authorization": f"Bearer {who}"}}
    how.setdefault("headers", {})["Accept"] = "application/json"
    return httpx.get(f"{base}/v1/events", params=query, timeout=70, **how)


def polled(base: str, who, since: str | None = None, **query: str) -> tuple[list[dict], str]:
    """All events behind a place, and the place behind them."""
    found = []
    while True:
        answer = poll(base, who, since, **query)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        found += [checked(each) for each in body["events"]]
        since = body["next"]
        if not body["events"]:
            return found, since


def streamed(base: str, who, count: int, since: str | None = None, last: str | None = None) -> list[sseclient.Event]:
    """So many server-sent events."""
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
    with requests.get(
        f"{base}/v1/events", auth=who, params={"since": since} if since else {}, headers=headers, stream=True,
        timeout=20,
    ) as response:  # fmt: skip
        assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream"), response.text
        events = sseclient.SSEClient(response).events()
        found = [next(events) for _ in range(count)]
    for each in found:
        checked(json.loads(each.data))
    return found


def lines(base: str, who, count: int, since: str) -> list[dict]:
    with requests.get(f"{base}/v1/events", auth=who, params={"since": since}, stream=True, timeout=20) as response:
        assert (response.status_code, response.headers["content-type"]) == (200, "application/jsonl")
        found = []
        for line in response.iter_lines():
            found += [checked(json.loads(line))] if line else []
            if len(found) == count:
                return found


async def call_and_end(caller, callee):
    session = await caller.call(callee.user, sdp.offer())
    invitation = await callee.expect("call")
    (await callee.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await caller.expect("respondCallUpdate", session)
    await caller.end(session)
    await callee.expect("callEnd")


@pytest.fixture
def site(own_gateway, tmp_path) -> Gateway:
    return own_gateway.configured(*configured(tmp_path, USERS))


async def test_each_form_tells_a_user_the_same_of_the_users_own_calls(site, peer):
    start = {user: polled(site.http, credentials(user))[1] for user in USERS}
    alice, bob = await peer("alice", base=site.http), await peer("bob", base=site.http)
    live = asyncio.create_task(asyncio.to_thread(poll, site.http, credentials("alice"), start["alice"], 30))
    await call_and_end(alice, bob)
    assert (await live).json()["events"][0]["type"] == "leg.joined", "it was answered when there was one"
    heard, _ = await asyncio.to_thread(polled, site.http, credentials("alice"), start["alice"])
    of_bob, _ = await asyncio.to_thread(polled, site.http, credentials("bob"), start["bob"])
    of_carol = await asyncio.to_thread(polled, site.http, credentials("carol"), start["carol"])
    assert of_carol == ([], start_of(heard, site))
    assert heard[-1]["type"] == "call.ended" and {"leg.joined", "leg.ringing", "call.answered"} <= types(heard)
    # Bob's leg joined after Alice's, and he sees the call from then on.
    assert heard[0]["data"]["address"] == "alice@dev.local"
    assert of_bob == heard[1:] and of_bob[0]["data"]["address"] == "bob@dev.local"
    assert [each["sequence"] for each in heard] == sorted({each["sequence"] for each in heard})
    assert all(each["version"] == 1 and each["call"] == heard[0]["call"] for each in heard)
    who = credentials("alice")
    events = await asyncio.to_thread(streamed, site.http, who, len(heard), start["alice"])
    assert [(each.id, each.event, json.loads(each.data)) for each in events] == [
        (each["id"], each["type"], each) for each in heard
    ]
    assert await asyncio.to_thread(lines, site.http, who, len(heard), start["alice"]) == heard
    # A reader that was cut off goes on behind what it has.
    again = await asyncio.to_thread(streamed, site.http, who, len(heard) - 2, None, heard[1]["id"])
    assert [each.id for each in again] == [each["id"] for each in heard[2:]]
    url = f"ws://127.0.0.1:{site.http_port}/v1/events?since={start['alice']}"
    headers = {"Authorization": httpx.BasicAuth(*who)._auth_header}
    async with connect(url, additional_headers=headers) as socket:
        started = json.loads(await socket.recv())
        assert (checked(started)["type"], started["id"]) == ("stream.started", start["alice"])
        assert [json.loads(await socket.recv()) for _ in heard] == heard
    # What a reader wants of these.
    some, _ = await asyncio.to_thread(polled, site.http, who, start["alice"], types="call.*,leg.held")
    assert [each["type"] for each in some] == ["call.answered", "call.ended"]
    call = heard[0]["call"]
    assert (await asyncio.to_thread(polled, site.http, who, start["alice"], calls=f"1,{call}"))[0] == heard
    assert (await asyncio.to_thread(polled, site.http, who, start["alice"], calls="1"))[0] == []
    assert (await asyncio.to_thread(polled, site.http, who, "oldest"))[0] == heard


def types(events: list[dict]) -> set[str]:
    return {each["type"] for each in events}


def start_of(heard: list[dict], site: Gateway) -> str:
    """The place behind everything."""
    return polled(site.http, credentials("alice"), heard[-1]["id"])[1]


async def test_what_cannot_be_asked_is_refused_in_each_form_before_anything_is_sent(site):
    who = credentials("alice")
    for query in ("since=x", "types=Call", "calls=xyz", "x=1", "wait=61", "since=a-1&since=a-2"):
        refused = httpx.get(f"{site.http}/v1/events?{query}", auth=who, headers={"Accept": "application/json"})
        assert (refused.status_code, refused.json()["code"]) == (400, "request.invalid_parameter"), query
    for wrong, code in ((None, "auth.missing"), (("alice@dev.local", "no"), "auth.wrong_password"),
                        (("nobody@dev.local", "dev"), "auth.wrong_password")):  # fmt: skip
        refused = httpx.get(f"{site.http}/v1/events", auth=wrong)
        assert (refused.status_code, refused.json()["code"]) == (401, code)
    posted = httpx.post(f"{site.http}/v1/events", auth=who, json={})
    assert (posted.status_code, posted.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert httpx.get(f"{site.http}/v1/events/1", auth=who).status_code == 404
    basic = {"Authorization": httpx.BasicAuth(*who)._auth_header}
    for headers, query, status in (({}, "", 401), (basic, "?since=x", 400)):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            async with connect(f"ws://127.0.0.1:{site.http_port}/v1/events{query}", additional_headers=headers):
                pass
        response = refusal.value.response
        assert response.status_code == status and json.loads(response.body)["status"] == status


async def test_who_comes_too_late_is_told_so_with_the_calls_in_progress(own_gateway, tmp_path, peer):
    own = own_gateway.configured(*configured(tmp_path, USERS, events={"count": 5}))
    who = credentials("alice")
    start = polled(own.http, who)[1]
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    for _ in range(3):
        await call_and_end(alice, bob)
    session = await alice.call("bob", sdp.offer())
    invitation = await bob.expect("call")
    async with asyncio.timeout(30):  # the log is cleaned every 5 s
        while (gone := await asyncio.to_thread(poll, own.http, who, start)).status_code == 200:
            await asyncio.sleep(0.5)
    body = gone.json()
    check_gone(body)
    assert (gone.status_code, body["code"], body["reason"]) == (410, "events.gone", "tooOld")
    (call,) = body["calls"]
    assert [(leg["address"], leg["state"]) for leg in call["legs"]] == [
        ("alice@dev.local", "ringing"), ("bob@dev.local", "ringing"),
    ]  # fmt: skip
    assert poll(own.http, credentials("carol"), start).json()["calls"] == [], "she has no call"
    # A stream says the same by its first event, and goes on from there.
    reading = asyncio.create_task(asyncio.to_thread(streamed, own.http, who, 2, "another-1"))
    await asyncio.sleep(1)
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await alice.expect("respondCallUpdate", session)
    gap, first = await reading
    told = json.loads(gap.data)
    assert (gap.event, gap.id, told["reason"]) == ("stream.gap", told["id"], "otherLog")
    assert told["calls"] == body["calls"] and first.event == "leg.answered"
    heard, _ = await asyncio.to_thread(polled, own.http, who, body["next"])
    assert heard[0]["type"] == "leg.answered" and heard[0]["id"] == first.id
    await alice.end(session)


def keys_in(events: list[dict]) -> list[dict]:
    return [each for each in events if each["type"] == "key.pressed"]


async def test_keys_of_users_are_events_of_both_once_each_and_of_nobody_else(site, party):
    """By telephone events (RFC 4733) of libwebrtc and of Pion, which holds its keys for half as long."""
    start = polled(site.http, credentials("alice"))[1]
    alice, bob = await party("alice", base=site.http, stack=Wrtc), await party("bob", base=site.http, stack=Pion)
    at_alice, at_bob = await connected(alice, bob)
    for presser, keys, count in ((at_alice, "12#", 3), (at_bob, "9", 4)):
        await presser.media.press(keys)
        async with asyncio.timeout(30):
            while len(keys_in((await asyncio.to_thread(polled, site.http, credentials("alice"), start))[0])) < count:
                await asyncio.sleep(0.2)
    (await at_alice.end()).succeeded()
    await at_bob.over()
    of_alice, of_bob, of_carol = [
        (await asyncio.to_thread(polled, site.http, credentials(user), start))[0] for user in USERS
    ]
    assert of_alice[-1]["type"] == of_bob[-1]["type"] == "call.ended" and of_carol == []
    pressed = keys_in(of_alice)
    assert [(each["data"]["by"], each["data"]["key"]) for each in pressed] == [(0, "1"), (0, "2"), (0, "#"), (1, "9")]
    assert all(each["leg"] == each["data"]["by"] for each in pressed)
    *of_libwebrtc, of_pion = [each["data"]["milliseconds"] for each in pressed]
    assert all(300 <= each <= 500 for each in of_libwebrtc), "each was down for 400 ms"
    assert 150 <= of_pion <= 250, "it was down for 200 ms"
    assert keys_in(of_bob) == pressed


async def test_keys_of_users_are_no_events_where_it_is_configured_so(own_gateway, tmp_path, party):
    own = own_gateway.configured(*configured(tmp_path, USERS, events={"keys": "off"}))
    start = polled(own.http, credentials("alice"))[1]
    alice, bob = await party("alice", base=own.http, stack=Pion), await party("bob", base=own.http, stack=Pion)
    at_alice, at_bob = await connected(alice, bob)
    for presser, other, keys in ((at_alice, at_bob, "12#"), (at_bob, at_alice, "9")):
        await presser.media.press(keys)
        await other.until(lambda other=other, keys=keys: other.media.digits == list(keys), "told the digits")
    await asyncio.sleep(0.5)  # the last key is released meanwhile
    (await at_alice.end()).succeeded()
    await at_bob.over()
    for user in USERS[:2]:
        seen = (await asyncio.to_thread(polled, own.http, credentials(user), start))[0]
        assert seen[-1]["type"] == "call.ended" and keys_in(seen) == []


BOT = "bot@dev.local"
"""An application answers there, and plays back what it hears."""


def add_application(options, name: str, address: str, scope: str):
    answers = ("--fallback", "answer:echo", "--decision-time", "0")
    added = orbweaver("app", "add", name, "--address", address, "--scope", scope, *answers, *options)
    assert added.returncode == 0, added.stderr


async def call_the_bot(caller):
    session = await caller.call(BOT, sdp.offer())
    await caller.expect("respondCallUpdate", session)
    await caller.end(session)


def application(options, name: str, address: str, scope: str) -> str:
    """Adds one; its key."""
    add_application(options, name, address, scope)
    key = orbweaver("app", "key", "add", name, *options)
    assert key.returncode == 0, key.stderr
    return next(word for word in key.stdout.split() if word.startswith("owk_"))


async def test_an_application_follows_the_calls_of_its_addresses(own_gateway, tmp_path, peer):
    options = configured(tmp_path, USERS)
    bots = application(options, "bots", BOT, "events")
    others = application(options, "others", "*@others.local", "events")
    deaf = application(options, "deaf", "*@deaf.local", "calls:read")
    own = own_gateway.configured(*options)
    start = polled(own.http, bots)[1]
    refused = poll(own.http, deaf)
    assert (refused.status_code, refused.json()["code"]) == (403, "auth.forbidden")
    assert poll(own.http, "owk_" + "0" * 42).json()["code"] == "auth.invalid_token"
    alice = await peer("alice", base=own.http)
    await call_the_bot(alice)
    heard, _ = await asyncio.to_thread(polled, own.http, bots, start)
    of_alice, _ = await asyncio.to_thread(polled, own.http, credentials("alice"), start)
    assert heard == of_alice[1:] and heard[-1]["type"] == "call.ended" and heard[0]["data"]["address"] == BOT
    assert (await asyncio.to_thread(polled, own.http, others, start))[0] == []
    # A token in the query, as browsers have to send it with a WebSocket.
    url = f"ws://127.0.0.1:{own.http_port}/v1/events?access_token={bots}&since={start}"
    async with connect(url) as socket:
        await socket.recv()
        assert [json.loads(await socket.recv()) for _ in heard] == heard


async def test_a_stream_ends_with_the_account_of_its_reader(site, tmp_path):
    who = credentials("carol")

    def read() -> float:
        with requests.get(f"{site.http}/v1/events", auth=who, stream=True, timeout=60) as response:
            assert response.status_code == 200
            for _ in response.iter_lines():
                pass
        return time.monotonic()

    reading = asyncio.create_task(asyncio.to_thread(read))
    await asyncio.sleep(1)
    removed = await asyncio.to_thread(
        orbweaver, "user", "remove", "carol@dev.local", "--config", str(tmp_path / "orbweaver.yaml")
    )
    assert removed.returncode == 0, removed.stderr
    began = time.monotonic()
    assert await asyncio.wait_for(reading, 45) - began < 40
    assert httpx.get(f"{site.http}/v1/events", auth=who).status_code == 401


def kept(path, holder: str) -> list[tuple[int, str]]:
    """The number and type of each event that a user, by address, or `application NAME` may see, as the database has
    them."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT number, type, addresses FROM publicEvent ORDER BY number").fetchall()
    # The line of an application has its number behind the name.
    return [
        (number, kind) for number, kind, addresses in rows
        if holder in (line.partition("#")[0] for line in addresses.split("\n"))
    ]  # fmt: skip

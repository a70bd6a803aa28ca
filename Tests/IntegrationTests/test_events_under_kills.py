"""Events while the gateway is killed again and again: users and an application follow one crowd of calls by long poll,
server-sent events, WebSocket and webhook, all at once (docs/call-events.md).

What each follower has is what the database has for it, in that order. A webhook may come again if it was under way when
the gateway was killed, under the same id; `standardwebhooks`, which is not ours, verifies each delivery."""
import asyncio
import random
import sqlite3
import time
from contextlib import ExitStack, closing

import pytest
import standardwebhooks

from durability import Crowd, configured, users_of
from durability.followers import FORMS, Follower, WebhookReceiver, place, sequences, unexcused
from peers.gateway import orbweaver
from test_public_events import BOT, application, credentials, polled
from test_webhooks import OPEN

UNDER_WAY = 5
"""Seconds between a delivery that was taken and the kill before which the gateway has not kept that it was."""
BUSY = 1
"""Seconds that a receiver may have needed to look at what had come before the kill."""
QUIET = 6
"""Seconds without anything new after which nothing is waited for."""


def kept(path, address: str) -> list[tuple[int, str, str]]:
    """The number, call and type of each event that this user, or the application, may see, as the database has them."""
    holder = "application bots" if address == BOT else address
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT number, call, type, addresses FROM publicEvent ORDER BY number").fetchall()
    # The line of an application has its number behind the name.
    return [
        (number, call, kind) for number, call, kind, seen in rows
        if holder in (line.partition("#")[0] for line in seen.split("\n"))
    ]  # fmt: skip


def calls_of(path) -> set[str]:
    with closing(sqlite3.connect(path)) as database:
        return {call for (call,) in database.execute("SELECT DISTINCT call FROM publicEvent")}


def all_of(events: list[dict]) -> list[tuple[int, str, str]]:
    return [(place(each), each["call"], each["type"]) for each in events]


async def quiet(count):
    told, since = -1, time.monotonic()
    while time.monotonic() - since < QUIET:
        await asyncio.sleep(0.2)
        if told != (told := count()):
            since = time.monotonic()


def webhook(options, *details: str) -> tuple[str, str]:
    """Its id and its key."""
    added = orbweaver("webhook", "add", "bots", *details, *options)
    assert added.returncode == 0, added.stderr
    return tuple(added.stdout.strip().split("\t"))


@pytest.mark.parametrize(
    ("clients", "kills", "calls"), [(30, 5, 200), pytest.param(100, 60, 2_000, marks=pytest.mark.nightly)]
)
async def test_no_follower_misses_anything_or_has_it_twice(own_gateway, tmp_path, capsys, clients, kills, calls):
    seed = random.randrange(1 << 32)
    users = users_of(clients)
    options = configured(
        tmp_path, list(users), webhooks=OPEN | {"retry_time": "10m"}, events={"count": 1_000_000, "age": "2h"},
        registration={"domain": "dev.local", "queue_age": "10m"},
    )  # fmt: skip
    key = application(options, "bots", BOT, "events")
    own = own_gateway.configured(*options, logs_events=False)
    database = tmp_path / "users.sqlite"
    people = list(users)[:3]
    identities = {f"{name}@dev.local": credentials(name) for name in people} | {BOT: key}
    with ExitStack() as stack:
        everything, ends = WebhookReceiver(refuses_one_of=10), WebhookReceiver(refuses_one_of=7)
        for receiver in (everything, ends):
            stack.callback(receiver.close)
        hooks = [webhook(options, everything.url), webhook(options, ends.url, "--type", "call.ended")]
        for receiver, (_, own_key) in zip((everything, ends), hooks, strict=True):
            receiver.verify = standardwebhooks.Webhook(own_key).verify
        followers = {
            (address, form): Follower(own.http, who, polled(own.http, who)[1], form)
            for address, who in identities.items() for form in FORMS
        }  # fmt: skip
        for follower in followers.values():
            stack.callback(follower.end)
        async with asyncio.timeout(180 + 30 * kills + calls), Crowd(own, users, seed, robots=[BOT]) as crowd:
            began = time.monotonic() - crowd.now
            await crowd.survive(kills, calls)
        await quiet(
            lambda: sum(len(each.events) for each in followers.values())
            + len(everything.deliveries) + len(ends.deliveries)
        )  # fmt: skip

        started = crowd.counts["calls"] + crowd.counts["calls of robots"]
        assert started >= calls and crowd.counts["calls of robots"] > calls / 10, crowd.counts
        assert crowd.refused == []
        # Each call that was answered to its caller as started is in the log.
        assert len(calls_of(database)) >= started

        for (address, form), follower in followers.items():
            assert follower.failure is None, (seed, address, form, follower.failure)
            assert follower.comes > kills, "it has come back after each kill"
            assert all_of(follower.events) == kept(database, address), (seed, address, form)
            found = sequences(follower.events)
            assert found and all(numbers == sorted(set(numbers)) for numbers in found.values()), (seed, address, form)
            ended = [each["call"] for each in follower.events if each["type"] == "call.ended"]
            assert sorted(ended) == sorted(found), "each call that was seen is seen to end, once"

        moments = [began + each for each in crowd.kills]

        def is_excused(first: float, again: float) -> bool:
            return any(moment - UNDER_WAY < first < moment + BUSY and moment <= again for moment in moments)

        wanted = kept(database, BOT)
        again = 0
        for receiver, kinds in ((everything, None), (ends, {"call.ended"})):
            assert receiver.unverified == [], seed
            for each in receiver.deliveries:
                assert each.headers["webhook-id"] == f"evt_{each.event['id']}"
            once: dict[str, dict] = {}
            for each in receiver.taken:
                assert once.setdefault(each.headers["webhook-id"], each.event) == each.event
            assert unexcused(receiver.taken, is_excused) == [], seed
            again += len(receiver.taken) - len(once)
            # Calls are beside each other; of one call the events come in order.
            due = [each for each in wanted if kinds is None or each[2] in kinds]
            assert sorted(all_of(list(once.values()))) == due, seed
            assert all(numbers == sorted(numbers) for numbers in sequences(list(once.values())).values()), seed
        listed = orbweaver("webhook", "list", "bots", *options).stdout.splitlines()
        waiting = {row.split("\t")[0]: row.split("\t")[4:6] for row in listed}
        assert waiting == {name: ["0", "0"] for name, _ in hooks}
    with capsys.disabled():
        print(
            f"\nevents: lost 0, doubled 0, out of order 0 of {sum(len(each.events) for each in followers.values())} in"
            f" {started} calls, {len(moments)} kills; {len(everything.deliveries) + len(ends.deliveries)} deliveries of"
            f" webhooks, {again} taken again; seed {seed}"
        )

"""A database with rows that the gateway cannot understand: it starts, says so, keeps them for a look, and tells the
clients concerned how many notifications they have lost."""
import asyncio
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from durability import configured
from peers import sdp

USERS = ["alice", "bob"]

def edited(folder: Path, sql: str) -> int:
    """How many rows were changed."""
    with closing(sqlite3.connect(folder / "users.sqlite")) as database, database:
        return database.execute(sql).rowcount


def set_aside(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "users.sqlite")) as database:
        return database.execute("SELECT source, content FROM setAside ORDER BY number").fetchall()


async def test_a_damaged_notification_is_told_as_lost_in_its_place(own_gateway, tmp_path, peer):
    own = own_gateway.configured(*configured(tmp_path, USERS), logs_events=False)
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    await bob.lose_channel()
    for _ in range(2):
        (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
    await asyncio.sleep(0.5)
    own.kill()
    await alice.closed()
    # Of the notifications that wait for Bob, the second one: the end of the first call.
    of_bob = f"subscription = '{bob.subscription.rsplit('/', 1)[1]}'"
    second = f"SELECT number FROM notification WHERE {of_bob} ORDER BY number LIMIT 1 OFFSET 1"
    assert edited(tmp_path, f"UPDATE notification SET kind = 'riddle' WHERE number = ({second})") == 1
    await asyncio.to_thread(own.start)
    for each in (alice, bob):
        await each.open_channel()
    await bob.expect("call")
    lost = await bob.expect("notificationsLost")
    assert lost.message["lost"] == 1, lost.message
    await bob.expect("call")
    await bob.expect("callEnd")
    told = [int(each.event_id) for each in bob.heard]
    assert told == list(range(told[0], told[0] + len(told))), "in its place, and under its number"
    kept = set_aside(tmp_path)
    assert [source for source, _ in kept] == ["notification"] and "riddle" in kept[0][1]
    assert "a row cannot be understood, and is set aside" in own.log_tail()
    with urllib.request.urlopen(f"{own.http}/metrics", timeout=10) as answer:
        assert "orbweaver_rows_set_aside_total 1" in answer.read().decode().splitlines()
    (await bob.extend()).succeeded()


@pytest.mark.parametrize("table, damage", [
    ("subscription", "UPDATE subscription SET services = '[' WHERE user = 'bob@dev.local'"),
    # That Bob is part of the call.
    ("callEvent", "UPDATE callEvent SET event = '{' WHERE sequence = 2"),
])  # fmt: skip
async def test_a_damaged_row_concerns_nobody_else(own_gateway, tmp_path, peer, table, damage):
    own = own_gateway.configured(*configured(tmp_path, USERS), logs_events=False)
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    session = await alice.call("bob", sdp.offer())
    await bob.expect("call")
    own.kill()
    for each in (alice, bob):
        await each.closed()
    assert edited(tmp_path, damage) == 1
    await asyncio.to_thread(own.start)
    await alice.open_channel()
    # The call was cut off, and she is told so.
    await alice.expect("callEnd", session)
    (await alice.extend()).succeeded()
    assert table in [source for source, _ in set_aside(tmp_path)]
    if table == "subscription":
        (await bob.extend()).refused(404, 39, "subscribeResponse", "subscription.not_found")
        bob.subscription = None
        await bob.register()
    else:
        await bob.open_channel()
        await bob.expect("callEnd")
    await alice.call("bob", sdp.offer())
    await bob.expect("call")

"""A gateway that is killed while it brings a database of an older version up to date, at every moment at which it
writes: the schema is one that a version has had, no row is lost, and the next start goes on from there."""
import asyncio
import json
import shutil
import sqlite3
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from disks import Stopping
from party.device import Party
from peers.fleet import add_accounts
from peers.gateway import REPOSITORY, free_ports, orbweaver, write_configuration
from situations import connected

FIXTURES = sorted((REPOSITORY / "fixtures/storage").glob("schema-*.sql"))
SCHEMAS = {int(path.stem.removeprefix("schema-")): path for path in FIXTURES}
LAST_WHOLE = 5
"""Up to this schema a file is a whole database; each further one is what was added to the one before."""
USERS = 20_000
BY_DAY = sorted(SCHEMAS)[::-5]
"""Each takes a minute; the others have their turn at night."""
EVERY = 6
"""By day each sixth moment; at night all of them."""
KEEPS_SUBSCRIPTIONS = 4
"""The first schema that does."""
NAMES_APPLICATIONS = 20
"""The first schema whose events name the applications whose legs the calls had."""
NUMBERS_APPLICATIONS = 21
"""The first schema in which an application has a number, and events name it with that."""


def script(version: int) -> str:
    """The statements that make a database of that schema."""
    return "\n".join(SCHEMAS[number].read_text() for number in range(min(version, LAST_WHOLE), version + 1))


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def make_old(path: Path, version: int):
    """A database as a gateway of that version has left it, with many users, and with a subscription that goes on if
    the version kept any."""
    with database(path) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.executescript(script(version))
    add_accounts(path, ("alice@dev.local", "bob@dev.local", *(f"user{number}@dev.local" for number in range(USERS))),
                 "dev", log_n=4)  # fmt: skip
    now = int(time.time() * 1000)
    with database(path) as old:
        for table in tables(old) & set(FILLING):
            width = len(old.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall())
            places = ", ".join("?" * width)
            old.executemany(
                f"INSERT OR REPLACE INTO {table} VALUES ({places})", [row[:width] for row in FILLING[table]]
            )
        if version >= NAMES_APPLICATIONS:
            name = "application portal#7" if version >= NUMBERS_APPLICATIONS else "application portal"
            old.execute("UPDATE publicEvent SET addresses = addresses || char(10) || ?", (name,))
        if version >= 2:
            rows = [(number.to_bytes(8, "big"), b"k", f"user{number}@dev.local", b"r", now // 1000 + 99_999)
                    for number in range(20)]  # fmt: skip
            old.executemany("INSERT INTO login VALUES (?, ?, ?, ?, ?)", rows)
        if version >= KEEPS_SUBSCRIPTIONS:
            rows = [(f"s-{number}", f"c-{number}", f"user{number}@dev.local") for number in range(2_000)]
            old.executemany(
                "INSERT INTO subscription (id, channel, user, ringingFeedback, services, expiry, firstEventId) "
                f"VALUES (?, ?, ?, 0, '[\"call\"]', {now + 3_600_000}, 1000)",
                [("s-a", "c-a", "alice@dev.local"), *rows],
            )


def shape(connection: sqlite3.Connection) -> dict[str, object]:
    """Tables with their columns and indexes."""

    def ask(name: str, of: str) -> list[tuple]:
        return connection.execute(f"SELECT * FROM pragma_{name}(?)", (of,)).fetchall()

    tables = connection.execute("SELECT name, wr, strict FROM pragma_table_list WHERE type = 'table'").fetchall()
    found = {}
    for name, *kind in tables:
        if not name.startswith("sqlite_"):
            indexes = sorted((each[1:], ask("index_info", each[1])) for each in ask("index_list", name))
            found[name] = kind, ask("table_info", name), indexes
    return found


def tables(connection: sqlite3.Connection) -> set[str]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {name for name, in found} - {"grdb_migrations"}


def rows(connection: sqlite3.Connection) -> dict[str, int]:
    """How many there are in each table. Of subscriptions those of `make_old`."""
    return {
        name: connection.execute(
            f"SELECT count(*) FROM {name}" + (" WHERE id LIKE 's-%'" if name == "subscription" else "")
        ).fetchone()[0]
        for name in tables(connection)
    }


CARL, SOON = "user7@dev.local", 4_000_000_000
"""One of the many users, and a time in seconds that has not come."""
MESSAGE = {"id": "m1", "sender": "bob@dev.local", "senderName": "Bob", "text": "hi", "type": "A2", "charset": "UTF-8",
           "time": int(time.time() * 1000)}  # fmt: skip
EVENT = json.loads((REPOSITORY / "fixtures/events/facts.jsonl").read_text().splitlines()[5])
"""One that calls a device."""
FILLING: dict[str, list[tuple]] = {
    "loginNetwork": [(CARL, 1, b"k", SOON)],
    "guest": [("AAAAAAAAAAAAAAAA", CARL, None)],
    "callEvent": [(90_001, 7, 1_700_000_000_000, 1, 0, 0, '{"fact":{"held":{}},"leg":0}')],
    "notification": [(90_001, "s-0", 1_000, 1_700_000_000_000, 0, "ping", None, None, None, None, None)],
    "journalTime": [(1, 1_700_000_000_000)],
    "callRecord": [(90_001, CARL, "A1", 0, 1_700_000_000_000, "{}")],
    "application": [("portal", "dev.local", "secret", "Portal", '["calls:read"]', '["*@bots.example"]', 5_000,
                     '{"reject":"busy"}', 10, 5, None, None, "wss://bots.example/talk", 4, 7)],
    "applicationKey": [("k1", "portal", b"digest", "abcd", 1_700_000_000_000, "root", None)],
    "applicationToken": [(b"digest", "portal", CARL, SOON)],
    "keptMessage": [(90_001, CARL, "m1", json.dumps(MESSAGE))],
    "presence": [(CARL, '{"status":"open","activity":"busy","note":""}')],
    "interest": [(CARL, '{"watched":[],"events":[]}')],
    "voicemail": [(CARL, 1, 2)],
    "addressBookEntry": [(CARL, f"friend {number}", 0, "{}") for number in range(50)],
    "adminToken": [("mon", b"digest", "read-only", 1_700_000_000_000, "root", None)],
    "auditEntry": [(90_001, 1_700_000_000_000, "root", "admin", "addUser", CARL, 201, "done")],
    "idempotentRequest": [(b"key", b"print", 1_700_000_000_000, "p", 201, "application/json", b"{}", None)],
    "setAside": [(90_001, 1_700_000_000_000, "guest", "an older reason", "{}")],
    "routeList": [(CARL, "[]")],
    "owedMessage": [(90_001, CARL, '{"unwatched":"bob@dev.local"}')],
    "usedToken": [("realm", "token-1", SOON * 1_000)],
    "publicEvent": [(1_800_000_000_000_000, "7", "leg.held", int(time.time() * 1000), f"{CARL}\nbot@bots.example",
                     '{"version":1}')],
    "publicEventLog": [(1, "0123456789ab", 0)],
    "publicEventFloor": [(CARL, 1)],
    "webhook": [("w1", "portal", "https://bots.example/events", "whsec_a", "call.ended", 0, None, 7)],
    "webhookPlace": [("w1", 1_800_000_000_000_000)],
    "webhookDelivery": [("w1", 1_800_000_000_000_000, "7", "{}", 0, None, None, 0)],
    "recording": [("leg-1", "portal", "bot@bots.example", "leg", "7", "ogg", "both", 1, None, "command",
                   int(time.time() * 1000), int(time.time() * 1000), 20, 100, 7)],
    "owedPush": [(90_001, "push-1", CARL, "d1", json.dumps({"kind": "call", "event": EVENT}), 1, 2)],
}
"""Rows of each table that `make_old` does not fill otherwise, in the order of the columns of the newest schema that has
it: those that came later are left out."""
RUNNING = {"login", "loginNetwork", "guest", "callEvent", "notification", "journalTime", "callRecord",
           "idempotentRequest", "applicationToken", "interest", "owedMessage", "owedPush", "publicEvent",
           "publicEventFloor", "webhookPlace", "webhookDelivery"}  # fmt: skip
"""What a gateway that runs writes and removes by itself; a migration must not."""


@pytest.fixture(scope="module")
def shapes(tmp_path_factory) -> dict[int, object]:
    """By version; the newest is that of a database which this version has made."""
    folder = tmp_path_factory.mktemp("shapes")
    found = {}
    for version in SCHEMAS:
        with database(folder / f"{version}.sqlite") as old:
            old.executescript(script(version))
            found[version] = shape(old)
    assert orbweaver("user", "list", *write_configuration(folder)).returncode == 0
    with database(folder / "users.sqlite") as new:
        found[applied(new)] = shape(new)
    assert sorted(found) == list(range(1, len(found) + 1)), "a fixture of each schema but the newest"
    return found


def applied(connection: sqlite3.Connection) -> int:
    """How many migrations are."""
    names = [name for name, in connection.execute("SELECT identifier FROM grdb_migrations")]
    assert sorted(int(name.split()[0]) for name in names) == list(range(1, len(names) + 1))
    return len(names)


def found_after_kill(path: Path, beside: Path) -> tuple[int, object, dict[str, int]]:
    """The version, the shape and the rows that a next process finds; asked of a copy, so that nothing is mended."""
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    for suffix in ("", "-wal"):
        if path.with_name(path.name + suffix).exists():
            shutil.copy(path.with_name(path.name + suffix), beside)
    with database(beside / path.name) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return applied(copy), shape(copy), rows(copy)


class Site:
    def __init__(self, folder: Path, version: int):
        self.folder, self.path, self.version = folder, folder / "users.sqlite", version
        self.options = write_configuration(folder)
        self._original = folder.parent / f"{folder.name}-original.sqlite"
        make_old(self._original, version)
        with database(self._original) as original:
            self.rows = rows(original)
        assert all(self.rows.values()), f"a table without a row shows nothing: {self.rows}"
        self.port, self.media_port = free_ports(1), free_ports(4)

    def begin_anew(self):
        for path in self.folder.glob("users.sqlite*"):
            path.unlink()
        shutil.copy(self._original, self.path)

    def serve(self, stops_at: int) -> Stopping:
        ports = ("--set", f"listen.port={self.port}", "--set", f"media.port={self.media_port}")
        return Stopping(self.folder, stops_at, "serve", *self.options, *ports)

    def has_all_rows(self, now: dict[str, int], *but: str):
        assert {name: now[name] for name in self.rows if name not in but} == {
            name: count for name, count in self.rows.items() if name not in but
        }

    async def moments(self) -> int:
        """How many calls change something until the gateway serves; the last ones come after the migration."""
        self.begin_anew()
        with self.serve(0) as gateway:
            async with asyncio.timeout(60):
                while not is_served(self.port):
                    await asyncio.sleep(0.05)
            return gateway.calls


def is_served(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


async def serves(own_gateway, site: Site, contract):
    """Who is in the database logs in, calls, and finds the call in the log; a subscription of before goes on."""
    own = await asyncio.to_thread(own_gateway.configured, *site.options, logs_events=False)
    async with Party(own.http, "alice", contract=contract) as alice, Party(own.http, "bob", contract=contract) as bob:
        if site.version >= KEEPS_SUBSCRIPTIONS:
            alice.subscription, alice.channel = alice.path("/subscription/s-a"), alice.path("/websocket/c-a")
            await alice.open_channel()
            (await alice.extend()).succeeded()
        else:
            await alice.register()
        await bob.register()
        at_alice, at_bob = await connected(alice, bob)
        (await at_alice.end()).succeeded()
        await at_bob.over()
        assert (await bob.request("GET", f"/logRecord/{at_bob.session}")).succeeded()
        alice.subscription = None  # it is still there when the rows are counted
    await asyncio.to_thread(own.stop)


@pytest.mark.parametrize(
    ("version", "every"),
    [
        pytest.param(version, every, marks=() if every == EVERY and version in BY_DAY else pytest.mark.nightly)
        for version in SCHEMAS
        for every in (EVERY, 1)
    ],
)
async def test_a_migration_that_is_killed_leaves_a_schema_that_there_was_and_every_row(
    own_gateway, tmp_path, shapes, version, every, contract
):
    site, newest = Site(tmp_path, version), max(shapes)
    moments = await site.moments()
    assert moments > 10
    tried: dict[int, int] = {}
    """By the version that was left, how often it was."""
    for moment in [*range(1, moments, every), moments]:
        site.begin_anew()
        with site.serve(moment) as gateway:
            await gateway.stopped()
            gateway.kill()
            assert gateway.calls == moment, "it had not gone on"
        left, its_shape, its_rows = found_after_kill(site.path, tmp_path.parent / f"{tmp_path.name}-copy")
        assert its_shape == shapes[left], f"killed at call {moment}"
        # Once it is up to date the gateway may have begun to run: it forgets the logins under another key than its own,
        # and what is old.
        site.has_all_rows(its_rows, *(RUNNING if left == newest else []))
        tried[left] = tried.get(left, 0) + 1
        if tried[left] == 1:
            await serves(own_gateway, site, contract)
        else:
            listed = await asyncio.to_thread(orbweaver, "user", "list", *site.options)
            assert listed.stdout.count("\n") == site.rows["user"]
        with database(site.path) as ended:
            assert (applied(ended), shape(ended)) == (newest, shapes[newest])
            site.has_all_rows(rows(ended), *RUNNING)
            if "publicEvent" in site.rows:
                # Events name the applications whose legs the calls had, with their numbers.
                seen = ended.execute("SELECT addresses FROM publicEvent WHERE number = 1800000000000000").fetchone()
                ((number,),) = ended.execute("SELECT number FROM application").fetchall()
                assert number > 0 and seen == (f"{CARL}\nbot@bots.example\napplication portal#{number}",)
                of_it = {row for table in ("webhook", "recording") if table in site.rows
                         for row in ended.execute(f"SELECT applicationNumber FROM {table}")}  # fmt: skip
                assert of_it <= {(number,)}
    print(f"killed at {sum(tried.values())} of {moments} moments; left: {tried}")
    assert tried[version] > 1 and set(tried) <= set(range(version, newest + 1))

"""Backups of a database in use, and gateways that go on from one (docs/operations.md, Data)."""
import asyncio
import resource
import subprocess
from pathlib import Path

import pytest

from disks import Stopping
from durability import configured
from party.device import Party
from peers import sdp
from peers.fleet import add_accounts
from peers.gateway import BINARY, environment, orbweaver
from situations import connected

USERS = ["alice", "bob"]
OTHERS = 20_000


async def command(*arguments: str) -> subprocess.CompletedProcess:
    return await asyncio.to_thread(orbweaver, *arguments)


async def test_a_backup_made_during_calls_is_restored_with_its_subscriptions(own_gateway, tmp_path, party):
    options = configured(tmp_path, USERS)
    own = own_gateway.configured(*options, logs_events=False)
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    records = []
    for number in range(3):
        backup = asyncio.create_task(command("backup", str(tmp_path / f"{number}.sqlite"), *options))
        while not backup.done():
            at_alice, at_bob = await connected(alice, bob)
            (await at_alice.end()).succeeded()
            await at_bob.over()
            records.append(at_alice.session)
        assert backup.result().returncode == 0, backup.result().stderr
        assert ".key" in backup.result().stdout
    file = tmp_path / "2.sqlite"
    assert file.stat().st_mode & 0o777 == 0o600
    refused = await command("restore", str(file), *options)
    assert refused.returncode == 1 and "another gateway runs on" in refused.stderr
    known = {notification.event_id for notification in alice.heard}
    own.kill()
    for each in (alice, bob):
        await each.closed()
    restored = await command("restore", str(file), *options)
    assert restored.returncode == 0, restored.stderr
    assert (tmp_path / "users.sqlite.before-restore").exists()
    await asyncio.to_thread(own.start)
    for each in (alice, bob):
        await each.open_channel()
        (await each.extend()).succeeded()
    items = (await alice.request("GET", "/logHistory")).succeeded()["logItems"]
    kept = {item["params"]["recordId"] for item in items}
    assert kept and kept <= set(records)
    session = await bob.call("alice", sdp.offer())
    invitation = await alice.expect("call")
    assert alice.heard[-1].event_id not in known
    (await bob.end(session)).succeeded()
    await alice.expect("callEnd", invitation.session)


def test_a_second_gateway_on_the_same_database_does_not_start(own_gateway, tmp_path):
    options = configured(tmp_path, USERS)
    own_gateway.configured(*options, logs_events=False)
    second = orbweaver("serve", *options)
    assert second.returncode == 1
    assert second.stderr.startswith(f"orbweaver: another gateway runs on {tmp_path / 'users.sqlite'}")


def test_a_file_that_exists_is_not_written_over(tmp_path):
    options = configured(tmp_path, USERS)
    (tmp_path / "copy.sqlite").write_text("precious")
    ended = orbweaver("backup", str(tmp_path / "copy.sqlite"), *options)
    assert ended.returncode == 1 and "copy.sqlite exists" in ended.stderr
    assert (tmp_path / "copy.sqlite").read_text() == "precious"


def test_on_a_full_disk_there_is_no_backup_but_a_sentence(tmp_path):
    options = configured(tmp_path, USERS)
    copy = tmp_path / "copy.sqlite"
    size = (tmp_path / "users.sqlite").stat().st_size
    ended = subprocess.run(
        [BINARY, "backup", copy, *options], capture_output=True, text=True, timeout=60, env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2)),
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.startswith("orbweaver: ") and "copy.sqlite.partial" in ended.stderr
    assert sorted(path.name for path in tmp_path.glob("copy*")) == []


class Site:
    """A gateway whose database is so large that a copy takes hundreds of writes, and two users who work."""

    def __init__(self, own_gateway, folder: Path):
        self.folder, self.copy = folder, folder / "copy.sqlite"
        self.partial = folder / "copy.sqlite.partial"
        self.options = configured(folder, USERS)
        add_accounts(folder / "users.sqlite", (f"user{number}@dev.local" for number in range(OTHERS)), "dev", log_n=4)
        self.own = own_gateway.configured(*self.options, logs_events=False)
        self.told: list[str] = []
        """Calls that are over, as both sides know."""

    def backup(self, stops_at: int = 0) -> Stopping:
        """`stops_at`: the number of the call that changes something of the copy."""
        return Stopping(self.folder, stops_at, "backup", str(self.copy), *self.options, below=str(self.copy))

    async def whole(self) -> int:
        """A backup that nothing disturbs; how many calls it takes."""
        with self.backup() as backup:
            status, said = await backup.ended()
            assert status == 0, said
            assert [path.name for path in self.folder.glob("copy*")] == [self.copy.name]
            return backup.calls

    async def work(self, alice: Party, bob: Party):
        at_alice, at_bob = await connected(alice, bob)
        (await at_alice.send_custom_headers(X_Number=str(len(self.told)))).succeeded()
        await bob.heard_exactly(("customParameters", at_bob))
        (await at_alice.end()).succeeded()
        await at_bob.over()
        self.told.append(at_alice.session)

    async def is_restored(self, alice: Party, bob: Party, told: list[str]):
        """The gateway goes on from the copy: everybody is there, with the subscriptions and the calls of before."""
        if self.own.is_running:
            self.own.kill()
        for each in (alice, bob):
            await each.closed()
        restored = await command("restore", str(self.copy), *self.options)
        assert restored.returncode == 0, restored.stderr
        listed = await command("user", "list", *self.options)
        assert listed.stdout.count("\n") == OTHERS + len(USERS)
        await asyncio.to_thread(self.own.start)
        for each in (alice, bob):
            await each.open_channel()
            (await each.extend()).succeeded()
        items = (await alice.request("GET", "/logHistory")).succeeded()["logItems"]
        assert set(told) <= {item["params"]["recordId"] for item in items}
        await self.work(alice, bob)


async def test_a_backup_that_is_killed_leaves_no_file_and_the_next_one_works(own_gateway, tmp_path, party):
    site = Site(own_gateway, tmp_path)
    alice, bob = await party("alice", base=site.own.http), await party("bob", base=site.own.http)
    calls = await site.whole()
    assert calls > 300
    for moment in (2, calls // 3, calls // 2 + 1, calls - 20, calls - 2):
        site.copy.unlink()
        with site.backup(moment) as killed:
            await killed.stopped()
            assert site.partial.exists() and not site.copy.exists()
            await site.work(alice, bob)  # a copy in the making stops nobody
            killed.kill()
        left = {path.name for path in tmp_path.glob("copy*")}
        assert site.partial.name in left <= {site.partial.name, f"{site.partial.name}-journal"}
        with site.backup() as refused:
            status, said = await refused.ended()
        assert status == 1 and f"{site.partial} cannot be made" in said and "remove it" in said
        site.partial.unlink()  # as it says
        await site.work(alice, bob)
        told = list(site.told)
        await site.whole()
        await site.work(alice, bob)  # which is not in it
    await site.is_restored(alice, bob, told)


@pytest.mark.parametrize("survives", [True, False], ids=["the_backup_goes_on", "both_are_killed"])
async def test_a_gateway_that_is_killed_during_a_backup_goes_on_and_so_does_the_backup(
    own_gateway, tmp_path, party, survives
):
    site = Site(own_gateway, tmp_path)
    alice, bob = await party("alice", base=site.own.http), await party("bob", base=site.own.http)
    calls = await site.whole()
    site.copy.unlink()
    await site.work(alice, bob)
    told = list(site.told)
    with site.backup(calls // 2) as backup:
        await backup.stopped()
        assert 0 < site.partial.stat().st_size and not site.copy.exists()
        await site.work(alice, bob)
        site.own.kill()
        if not survives:
            backup.kill()
        for each in (alice, bob):
            await each.closed()
        await asyncio.to_thread(site.own.start)
        for each in (alice, bob):
            await each.open_channel()
            (await each.extend()).succeeded()
        await site.work(alice, bob)
        items = (await alice.request("GET", "/logHistory")).succeeded()["logItems"]
        assert set(site.told) <= {item["params"]["recordId"] for item in items}
        if survives:
            backup.go_on()
            status, said = await backup.ended()
            assert status == 0 and site.copy.exists(), said
        assert site.partial.exists() != survives
    if not survives:
        site.partial.unlink()
        told = list(site.told)
        await site.whole()
    await site.is_restored(alice, bob, told)

"""Backups of a database in use, and gateways that go on from one (docs/operations.md, Data)."""
import asyncio
import resource
import subprocess

import pytest

from durability import configured
from peers import sdp
from peers.gateway import BINARY, environment, orbweaver
from situations import connected

USERS = ["alice", "bob"]


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


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_a_backup_that_is_killed_leaves_no_file_and_a_database_that_works(tmp_path, delay):
    options = configured(tmp_path, USERS)
    copy = tmp_path / "copy.sqlite"
    process = subprocess.Popen([BINARY, "backup", copy, *options], env=environment(), stdout=subprocess.DEVNULL)
    try:
        status = process.wait(delay)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    assert status in (0, -9)
    if copy.exists():  # it was whole before the end
        assert orbweaver("restore", str(copy), *options).returncode == 0
    listed = orbweaver("user", "list", *options)
    assert listed.returncode == 0 and "alice@dev.local" in listed.stdout
    (tmp_path / "copy.sqlite.partial").unlink(missing_ok=True)
    assert orbweaver("backup", str(tmp_path / "another.sqlite"), *options).returncode == 0

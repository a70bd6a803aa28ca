"""Records of passwords that cost less than `auth.password_cost`, before and after a login."""
import asyncio
import sqlite3
from pathlib import Path

from peers.fleet import PASSWORD, add_users, ask
from peers.gateway import orbweaver, write_configuration

CHECKS, RESTORED, UPGRADED = (
    "orbweaver_password_checks_total",
    "orbweaver_logins_restored_total",
    "orbweaver_passwords_upgraded_total",
)


def record(folder: Path, user: str) -> str:
    with sqlite3.connect(folder / "users.sqlite") as connection:
        rows = connection.execute("SELECT passwordRecord FROM user WHERE address = ?", (f"{user}@example.com",))
        text = rows.fetchone()[0]
    connection.close()
    return text


async def test_a_cheap_record_is_replaced_after_a_login_that_stays_remembered(own_gateway, tmp_path):
    auth = {"password_cost": "ln=15,r=8,p=3"}
    options = write_configuration(tmp_path, registration={"domain": "example.com"}, auth=auth)
    assert orbweaver("user", "list", *options, directory=tmp_path).returncode == 0  # makes the tables
    await asyncio.to_thread(add_users, tmp_path / "users.sqlite", 2)
    before = [record(tmp_path, user) for user in ("user0", "user1")]
    assert all(text.startswith("$scrypt$ln=15,r=8,p=1$") for text in before)

    first = await asyncio.to_thread(own_gateway.configured, *options)
    assert (await ask(first.http_port, "user0")).status == 201
    assert (await ask(first.http_port, "user1", "wrong")).status == 403
    for _ in range(300):
        if first.metric(UPGRADED):
            break
        await asyncio.sleep(0.1)
    after = record(tmp_path, "user0")
    assert after.startswith("$scrypt$ln=15,r=8,p=3$") and after.split("$")[3:] != before[0].split("$")[3:]
    assert record(tmp_path, "user1") == before[1]
    await asyncio.sleep(2.5)  # longer than auth.revalidation
    assert (await ask(first.http_port, "user0")).status == 201
    assert first.metric(CHECKS, result="right") == 1
    await asyncio.to_thread(first.kill)

    second = await asyncio.to_thread(own_gateway.configured, *options)
    assert (await ask(second.http_port, "user0")).status == 201
    assert (second.metric(RESTORED), second.metric(CHECKS, result="right")) == (1, 0)
    assert record(tmp_path, "user0") == after
    assert (await ask(second.http_port, "user0", "wrong", source="127.0.0.2")).status == 403
    assert PASSWORD not in second.log_tail(1_000)


def test_new_passwords_cost_what_is_configured(tmp_path):
    for cost in ("ln=15,r=8,p=3", "ln=10,r=8,p=2"):
        folder = tmp_path / cost
        folder.mkdir()
        options = write_configuration(folder, auth={"password_cost": cost})
        added = orbweaver(
            "user", "add", "zoe@example.com", "--password-stdin", *options, directory=folder, standard_input="secret\n"
        )
        assert added.returncode == 0, added.stderr
        assert record(folder, "zoe").startswith(f"$scrypt${cost}$")

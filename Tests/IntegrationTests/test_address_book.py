"""The address book of a user, and the languages that a client asks for (spidr-wire §10)."""
import asyncio
import json

import aiohttp
import pytest

from durability import configured
from peers.gateway import orbweaver

BOOK = "/addressbook"
CONTACTS = "/addressbook/contacts/"
WRAPPER = "addressBookResponse"
ANN = {
    "nickname": "ann", "primaryContact": "ann@dev.local", "firstName": "Ann", "lastName": "Sömmer",
    "emailAddress": "ann@example.com", "homePhone": "+15550100", "mobilePhone": "+15550101", "workPhone": "+15550102",
    "friendStatus": True,
}  # fmt: skip


def body(*entries: dict) -> dict:
    return {"addressBookRequest": {"addressBookEntries": list(entries)}}


def kept(entry: dict) -> dict:
    """The same entry as an answer has it."""
    return {"entryId": entry["nickname"], "friendStatus": False} | entry


async def entries(client) -> list[dict]:
    answer = (await client.request("GET", BOOK)).json
    assert list(answer) == [WRAPPER] and answer[WRAPPER]["statusCode"] == 0
    return answer[WRAPPER]["addressBookEntries"]


@pytest.fixture
def users(own_gateway, tmp_path):
    """A gateway with a database, and alice and bob in it; and its options."""

    def start(**sections):
        options = configured(tmp_path, ["alice", "bob"], **sections)
        return own_gateway.configured(*options), options

    return start


async def test_a_book_is_written_read_and_changed(users, peer):
    own, _ = users()
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    assert await entries(alice) == []
    carl = {"nickname": "Carl & Söhne/1 ?#%"}
    answer = await alice.request("POST", CONTACTS, body(ANN, carl))
    assert answer.status == 201 and answer.succeeded()["addressBookEntries"] == [kept(ANN), kept(carl)]
    assert await entries(alice) == [kept(carl), kept(ANN)]
    assert await entries(bob) == [], "each user has a book"

    path = CONTACTS + "Carl%20%26%20S%C3%B6hne%2F1%20%3F%23%25"
    assert (await alice.request("GET", path)).succeeded()["addressBookEntries"] == [kept(carl)]
    changed = {"nickname": "carl", "homePhone": "+1"}
    assert (await alice.request("PUT", path, body(changed))).succeeded()["addressBookEntries"] == [kept(changed)]
    (await alice.request("GET", path)).refused(404, 42, WRAPPER, "contact.not_found")
    (await alice.request("PUT", CONTACTS + "carl", body({"lastName": "Carlsen"}))).succeeded()
    assert await entries(alice) == [kept(ANN), kept({"nickname": "carl", "lastName": "Carlsen"})]
    removed = await alice.request("DELETE", CONTACTS + "carl")
    assert removed.json == {WRAPPER: {"statusCode": 0}}
    (await alice.request("DELETE", CONTACTS + "carl")).refused(404, 42, WRAPPER, "contact.not_found")
    assert await entries(alice) == [kept(ANN)]


async def test_what_cannot_be_kept_is_refused_and_changes_nothing(users, peer, tmp_path):
    path = str(tmp_path / "users.sqlite")
    own, _ = users(storage={"path": path, "address_book_entries": 2, "address_book_field_bytes": 64})
    alice = await peer("alice", base=own.http)
    (await alice.request("POST", CONTACTS, body(ANN))).succeeded()
    invalid = 400, 37, WRAPPER, "request.invalid_value"
    refused = [
        (body(ANN), (409, 37, WRAPPER, "contact.exists")),
        (body({"nickname": "b"}, {"nickname": "b"}), (409, 37, WRAPPER, "contact.exists")),
        (body({"nickname": "b"}, {"nickname": "c"}), (409, 37, WRAPPER, "contact.limit_reached")),
        (body({"nickname": "b", "lastName": "ö" * 33}), invalid), (body({"nickname": "b" * 65}), invalid),
        (body({"nickname": ""}), invalid), (body({"nickname": ".."}), invalid), (body({"nickname": "a\nb"}), invalid),
        (body({"nickname": "b", "homePhone": 4711}), invalid), (body({"nickname": ["b"]}), invalid),
        (body({"nickname": "b", "friendStatus": "perhaps"}), invalid), (body(), invalid),
        (body({"firstName": "B"}), (400, 5, WRAPPER, "request.missing_field")),
        ({"addressBookRequest": {}}, (400, 5, WRAPPER, "request.missing_field")),
        ({"contact": {}}, (400, 5, WRAPPER, "request.missing_field")),
    ]  # fmt: skip
    for request, expected in refused:
        (await alice.request("POST", CONTACTS, request)).refused(*expected)
    answer = await alice.request("POST", CONTACTS, data=b'{"addressBookRequest"')
    answer.refused(400, 1004, WRAPPER, "request.malformed_json")
    (await alice.request("PUT", CONTACTS + "ann", body(ANN, ANN))).refused(*invalid)
    (await alice.request("PUT", CONTACTS + "bob", body(ANN))).refused(404, 42, WRAPPER, "contact.not_found")
    assert await entries(alice) == [kept(ANN)]
    (await alice.request("POST", CONTACTS, body({"nickname": "b" * 64}))).succeeded()


async def test_nobody_reads_or_changes_the_book_of_another(users, peer):
    own, _ = users()
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)
    (await alice.request("POST", CONTACTS, body(ANN))).succeeded()
    for method, path in (("GET", BOOK), ("POST", CONTACTS), ("GET", CONTACTS + "ann"), ("DELETE", CONTACTS + "ann")):
        answer = await bob.request(method, alice.path(path), body(ANN) if method == "POST" else None)
        answer.refused(403, 27, WRAPPER, "auth.wrong_user")
    answer = await bob.request("GET", alice.path(BOOK), headers={"Authorization": None})
    answer.refused(401, 4, WRAPPER, "auth.missing")
    assert await entries(alice) == [kept(ANN)]


async def test_what_was_answered_is_there_after_a_kill_and_gone_with_its_user(users, peer):
    own, options = users()
    alice = await peer("alice", base=own.http, registered=False)
    names = [f"contact {number}" for number in range(40)]
    answered: list[str] = []

    async def add():
        for name in names:
            try:
                answer = await alice.request("POST", CONTACTS, body({"nickname": name}))
            except aiohttp.ClientError:
                return
            answer.succeeded()
            answered.append(name)

    adding = asyncio.create_task(add())
    async with asyncio.timeout(20):
        while len(answered) < 10:
            await asyncio.sleep(0.002)
    own.kill()
    await adding
    own.start()
    found = [entry["nickname"] for entry in await entries(alice)]
    assert set(answered) <= set(found) <= set(names) and len(found) <= len(answered) + 1
    (await alice.request("DELETE", CONTACTS + "contact%200")).succeeded()
    own.kill()
    own.start()
    assert "contact 0" not in [entry["nickname"] for entry in await entries(alice)]

    for command in (("remove", "alice@dev.local"), ("add", "alice@dev.local", "--password-stdin")):
        done = await asyncio.to_thread(orbweaver, "user", *command, *options, standard_input="dev\n")
        assert done.returncode == 0, done.stderr
    assert await entries(alice) == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (None, ""), ("de-CH, de;q=0.9, *;q=0.1", "de-CH,de;q=0.9,*;q=0.1"), ('"}, en, \\', "en"),
        ("en-GB," * 1000, ",".join(["en-GB"] * 42)),
    ],
)  # fmt: skip
async def test_anybody_learns_the_languages_asked_for(gateway, contract, asked, answered):
    url = gateway.http + "/rest/version/1/localization"
    headers = {"Accept-Language": asked} if asked else {}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        content = await response.read()
        assert response.status == 200 and response.content_type == "application/json"
    contract.check("GET", url, None, 200, "application/json", content)
    assert json.loads(content) == {"acceptLanguage": answered}

"""The directory of users, and the user's own profile (spidr-wire §10)."""
import asyncio

from durability import configured
from peers.gateway import orbweaver


async def found(client, query: str) -> list[str]:
    answer = (await client.request("GET", f"/directory{query}")).succeeded()
    assert answer["returnedDirectoryCount"] == len(answer["directoryItems"])
    return [item["primaryContact"] for item in answer["directoryItems"]]


async def test_users_are_found_by_name_and_address(own_gateway, tmp_path, peer):
    options = configured(tmp_path, ["alice", "bob"])
    added = await asyncio.to_thread(
        orbweaver, "user", "add", "a.smith@dev.local", "--display-name", "Ann May Smith", "--password-stdin",
        *options,
        standard_input="secret\n",
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    own = own_gateway.configured(*options)
    alice = await peer("alice", base=own.http)
    ann = await peer("a.smith", base=own.http, password="secret")
    assert await found(alice, "?criteria=may&criteriaType=1") == ["a.smith@dev.local"]
    assert await found(alice, "?criteria=SMITH&criteriaType=2") == ["a.smith@dev.local"]
    # First and last name are looked into together, and not the address.
    assert await found(alice, "?criteria=May%20smi&criteriaType=3") == ["a.smith@dev.local"]
    assert await found(alice, "?criteria=a.smith&criteriaType=3") == []
    assert await found(alice, "?criteria=may%20smi&criteriaType=2") == []
    # The address up to the @, and not the name or the domain.
    for criteria in (4, 5):
        assert await found(alice, f"?criteria=li&criteriaType={criteria}") == ["alice@dev.local"]
        assert await found(alice, f"?criteria=A.sm&criteriaType={criteria}") == ["a.smith@dev.local"]
        assert await found(alice, f"?criteria=may&criteriaType={criteria}") == []
        assert await found(alice, f"?criteria=dev.local&criteriaType={criteria}") == []
    for criteria in ("?criteria=smith&criteriaType=-1", "?criteria=smith"):
        assert await found(alice, criteria) == ["a.smith@dev.local"]
    assert await found(alice, "") == ["a.smith@dev.local", "alice@dev.local", "bob@dev.local"]
    profile = (await ann.request("GET", "/userProfileData")).succeeded()
    assert profile == {
        "statusCode": 0, "firstName": "Ann May", "lastName": "Smith", "assignedService":
            ["call", "event:message-summary", "event:presence", "IM", "Presence", "quality"],
    }  # fmt: skip
    path = "/rest/version/1/user/a.smith@dev.local/userProfileData"
    (await alice.request("GET", path)).refused(403, 27, "userProfileData", "auth.wrong_user")
    answer = await alice.request("GET", "/directory?criteriaType=9")
    answer.refused(400, 37, "directory", "request.invalid_value")

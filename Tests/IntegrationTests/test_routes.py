"""Routes of users: another system provides them over the administration interface, and users choose among them, with
the bodies of spidr-wire §10."""
import asyncio

import pytest

from test_administration import start


async def chosen(client, action: str, *names: str):
    return await client.request("PUT", "/routelist", {"routeRequest": {"routeList": list(names), "action": action}})


def listed(answer) -> list[tuple[str, str]]:
    body = answer.succeeded()
    assert set(body) == {"statusCode", "routeList"}
    return [(each["name"], each["status"]) for each in body["routeList"]]


async def test_users_choose_among_the_routes_that_another_system_provides(own_gateway, tmp_path, peer):
    own, options, admin = start(own_gateway, tmp_path)
    alice = await peer("alice", registered=False, base=own.http)
    bob = await peer("bob", registered=False, base=own.http)
    assert listed(await alice.request("GET", "/routelist")) == []
    path = "/users/alice@dev.local/routes"
    given = await asyncio.to_thread(admin.ask, "PUT", path, {"routes": ["desk", "mobile", "später ☎"]})
    assert given.status == 200 and [each["active"] for each in given.body["items"]] == [False] * 3
    assert listed(await alice.request("GET", "/routelist")) == [
        ("desk", "inactive"), ("mobile", "inactive"), ("später ☎", "inactive"),
    ]  # fmt: skip
    assert listed(await chosen(alice, "activate", "mobile", "desk"))[:2] == [("desk", "active"), ("mobile", "active")]
    assert listed(await chosen(alice, "reorder", "mobile"))[:2] == [("mobile", "active"), ("desk", "active")]
    assert listed(await chosen(alice, "deactivate", "desk"))[1] == ("desk", "inactive")
    (await chosen(alice, "activate", "desk", "none")).refused(404, 42, "routeResponse", "route.not_found")
    (await chosen(alice, "reorder", "desk", "desk")).refused(400, 37, "routeResponse", "request.invalid_value")
    (await chosen(alice, "remove", "desk")).refused(400, 37, "routeResponse", "request.invalid_value")
    assert listed(await bob.request("GET", "/routelist")) == []
    # It outlives a kill, and the other system sees what was chosen.
    own.kill()
    await asyncio.to_thread(own.start)
    assert (await asyncio.to_thread(admin.ask, "GET", path)).body["items"] == [
        {"name": "mobile", "active": True}, {"name": "desk", "active": False}, {"name": "später ☎", "active": False},
    ]  # fmt: skip
    await asyncio.to_thread(admin.ask, "PUT", path, {"routes": ["home", "mobile"]})
    assert listed(await alice.request("GET", "/routelist")) == [("mobile", "active"), ("home", "inactive")]
    # They are gone with the account.
    await asyncio.to_thread(admin.ask, "DELETE", "/users/alice@dev.local")
    await asyncio.to_thread(admin.ask, "POST", "/users", {"address": "alice@dev.local", "password": "dev"})
    assert listed(await alice.request("GET", "/routelist")) == []


@pytest.mark.parametrize(
    "body", [{"routes": ["a", "a"]}, {"routes": [""]}, {"routes": "a"}, {"routes": [1]}, {"routes": ["x"], "more": 1}]
)
def test_routes_that_cannot_be_are_refused(own_gateway, tmp_path, body):
    own, options, admin = start(own_gateway, tmp_path)
    refused = admin.ask("PUT", "/users/alice@dev.local/routes", body)
    assert (refused.status, refused.body["code"]) == (400, "request.invalid_value")
    assert admin.ask("GET", "/users/alice@dev.local/routes").body == {"items": []}
    assert admin.ask("GET", "/users/nobody@dev.local/routes").body["code"] == "user.not_found"

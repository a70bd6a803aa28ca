"""Where servers of the protocol differ, this one does as docs/protocols/spidr.md says: what it chooses, and what it
does not have."""
import pytest

from peers import sdp

SUBSCRIBE = {"subscribeRequest": {"service": ["call"]}}


# §2: variants of authentication that are not offered


@pytest.mark.parametrize(
    ("headers", "query", "status", "number", "code"),
    [
        ({"Authorization": "Basic am9lOmRldg=="}, "", 403, 4, "auth.wrong_password"),  # joe:dev
        ({"Authorization": "Bearer abc"}, "", 401, 4, "auth.unsupported_scheme"),
        ({"Authorization": None, "x-token": "abc"}, "", 403, 46, "auth.token_not_found"),
        ({"Authorization": None}, "?access_token=abc&token=abc&key=abc", 401, 4, "auth.missing"),
    ],
    ids=["authentication name", "bearer", "application token", "query"],
)
async def test_only_the_users_own_name_and_password_log_in(peer, headers, query, status, number, code):
    alice = await peer("alice", registered=False)
    answer = await alice.request("POST", "/subscription" + query, SUBSCRIBE, headers=headers)
    answer.refused(status, number, "subscribeResponse", code)


async def test_a_401_opens_no_window_of_the_browser_where_a_script_asks(peer):
    alice = await peer("alice", registered=False)
    for asked, challenge in (({}, True), ({"X-Requested-With": "XMLHttpRequest"}, False)):
        answer = await alice.request("POST", "/subscription", SUBSCRIBE, headers={"Authorization": None, **asked})
        assert ("www-authenticate" in answer.headers) == challenge


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/rest/version/1/anonymous/bob@dev.local/calldisposition"),  # §7
    ],
)
async def test_paths_that_are_not_served_lead_nowhere(peer, method, path):
    alice = await peer("alice", registered=False)
    answer = await alice.request(method, path, {"anyRequest": {}} if method != "GET" else None)
    assert (answer.status, answer.json["statusCode"], answer.json["code"]) == (404, 18, "resource.not_found")


# §3: subscriptions


async def test_a_subscription_names_what_was_granted_and_nothing_that_is_not_there(peer):
    alice = await peer("alice", registered=False)
    wishes = {
        "service": ["CALL", "conversation"],
        "expires": "7200",
        "pollingTimer": 30,
        "clientIp": "192.0.2.1",
        "useTurn": True,
        "clientCorrelator": "device-7",
    }
    answer = await alice.request("POST", "/subscription", {"subscribeRequest": wishes})
    assert answer.status == 201
    granted = answer.succeeded()
    assert granted["statusCode"] == 2
    parameters = granted["subscriptionParams"]
    assert sorted(parameters) == ["assignedService", "expires", "notificationChannel", "notificationType", "service"]
    assert (parameters["service"], parameters["assignedService"], parameters["expires"]) == (["CALL"], ["CALL"], 7200)
    extended = (await alice.request("PUT", granted["subscription"], {"subscribeRequest": {"service": []}})).succeeded()
    assert (extended["statusCode"], extended["subscriptionParams"]["service"]) == (0, ["CALL"])
    (await alice.request("DELETE", granted["subscription"])).succeeded()


async def test_notifications_come_by_websocket_or_long_poll_only(peer):
    alice = await peer("alice", registered=False)
    wishes = {"subscribeRequest": {"service": ["call"], "notificationType": "SMS"}}
    (await alice.request("POST", "/subscription", wishes)).refused(
        400, 12, "subscribeResponse", "subscription.unsupported_notification_type"
    )


# §6.1, §8.5: calls


async def test_only_a_device_that_is_subscribed_calls(peer):
    dave = await peer("dave", registered=False)
    (await dave.start("bob", sdp.offer())).refused(409, 37, "callControlResponse", "call.not_allowed")


async def test_a_transfer_to_nobody_begins_and_fails(peer):
    alice, bob = await peer("alice"), await peer("bob")
    at_alice = await alice.call("bob", sdp.offer())
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await alice.expect("respondCallUpdate", at_alice)
    (await alice.operate(at_alice, "transfer", address="sip:nobody@dev.local")).succeeded()
    assert (await alice.expect("sessionFail", at_alice)).reason == (404, "User not found")
    (await alice.end(at_alice)).succeeded()
    await bob.expect("callEnd")

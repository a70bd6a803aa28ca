"""Each bad request gets its documented status, code and a sentence, and reveals nothing (spidr-wire §1)."""
import asyncio
import base64

import pytest

from peers import sdp
from peers.spidr import SpidrPeer


def basic(text: str, scheme: str = "Basic") -> dict[str, str]:
    return {"Authorization": f"{scheme} {base64.b64encode(text.encode()).decode()}"}


SUBSCRIBE = {"subscribeRequest": {"expires": 3600, "service": ["call"]}}


# Who is asking


async def test_a_wrong_password_and_an_unknown_user_look_the_same(own_gateway, contract):
    own = own_gateway()
    refusals = []
    for name, password in (("alice", "wrong"), ("mallory", "dev"), ("mallory@elsewhere.example", "dev")):
        async with SpidrPeer(own.http, name, password, contract) as client:
            answer = await client.request("POST", "/subscription", SUBSCRIBE)
            refusals.append(answer.refused(403, 4, "subscribeResponse", "auth.wrong_password"))
    assert refusals[0] == refusals[1] == refusals[2]


async def test_passwords_cannot_be_tried_without_end(own_gateway, contract):
    own = own_gateway()
    async with (
        SpidrPeer(own.http, "alice", "wrong", contract) as guesser,
        SpidrPeer(own.http, "bob", "dev", contract) as bob,
    ):
        answers = [await guesser.request("POST", "/subscription", SUBSCRIBE) for _ in range(20)]
        assert [answer.status for answer in answers[:3]] == [403] * 3
        answers[-1].refused(429, 4, "subscribeResponse", "auth.rate_limited")
        assert int(answers[-1].headers["retry-after"]) >= 1
        await bob.register()  # another account of the same address


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Authorization": None}, "auth.missing"),
        ({"Authorization": "Basic ???"}, "auth.malformed"),
        (basic("no colon in here"), "auth.malformed"),
        ({"Authorization": "Digest username=alice"}, "auth.unsupported_scheme"),
    ],
    ids=["missing", "not base64", "no colon", "another scheme"],
)
async def test_missing_or_unreadable_credentials_are_asked_for(peer, headers, code):
    alice = await peer("alice", registered=False)
    answer = await alice.request("POST", "/subscription", SUBSCRIBE, headers=headers)
    answer.refused(401, 4, "subscribeResponse", code)


async def test_the_path_of_another_user_is_forbidden(peer):
    alice, bob = await peer("alice"), await peer("bob")
    for path in (bob.path("/subscription"), bob.path("/subscription/none"), bob.subscription):
        method = "POST" if path.endswith("/subscription") else "PUT"
        (await alice.request(method, path, SUBSCRIBE)).refused(403, 27, "subscribeResponse", "auth.wrong_user")
    (await alice.request("DELETE", bob.subscription)).refused(403, 27, "subscribeResponse", "auth.wrong_user")
    (await bob.extend()).succeeded()


async def test_credentials_are_taken_in_every_spelling_clients_use(peer):
    alice = await peer("alice")
    escaped = alice.path("/callControl/callSessions/none").replace("@", "%40")
    for headers in ({}, basic("alice@dev.local:dev", "basic"), basic("alice@dev.local:dev", "BASIC")):
        (await alice.request("GET", escaped, headers=headers)).refused(404, 47, "callControlResponse")


async def test_trailing_slashes_make_no_difference(peer):
    alice, bob = await peer("alice"), await peer("bob")
    body = {
        "callControlRequest": {
            "type": "callStart",
            "from": "sip:alice@dev.local",
            "to": "sip:bob@dev.local",
            "sdp": sdp.offer(),
        }
    }
    session = (await alice.request("POST", "/callControl/", body)).succeeded()["sessionData"]
    at_bob = (await bob.expect("call")).session
    body = {"callDispositionRequest": {"action": "reject", "sessionData": at_bob}}
    (await bob.request("POST", "/calldisposition/", body)).succeeded()
    await alice.expect("callEnd", session)
    (await alice.request("PUT", alice.subscription + "/", SUBSCRIBE)).succeeded()


# Which call


async def test_calls_that_do_not_exist_and_calls_of_others_look_the_same(peer):
    alice, bob, carol = await peer("alice"), await peer("bob"), await peer("carol")
    at_alice = await alice.call("bob", sdp.offer())
    at_bob = (await bob.expect("call")).session
    answers = []
    for session in ("none", at_alice, at_bob):
        answers.append(
            (await carol.operate(session, "audit")).refused(404, 42, "callControlResponse", "call.not_found")
        )
        answers.append((await carol.end(session)).refused(404, 42, "callControlResponse", "call.not_found"))
        answers.append(
            (await carol.answer(session, sdp.offer())).refused(404, 42, "callControlResponse", "call.not_found")
        )
        (await carol.state(session)).refused(404, 47, "callControlResponse", "call.session_not_found")
        (await carol.reject(session)).refused(404, 42, "callDispositionResponse", "call.not_found")
    assert all(answer == answers[0] for answer in answers)
    # Nor can the parties use each other's end.
    (await alice.operate(at_bob, "audit")).refused(404, 42, "callControlResponse", "call.not_found")
    (await bob.end(at_alice)).refused(404, 42, "callControlResponse", "call.not_found")
    assert (await alice.state(at_alice)).succeeded()["state"] == "RINGING"
    await alice.end(at_alice)


async def test_what_does_not_fit_the_state_of_a_call_is_refused_and_changes_nothing(peer):
    alice, bob = await peer("alice"), await peer("bob")
    at_alice = await alice.call("bob", sdp.offer())
    invitation = await bob.expect("call")
    for operation in (alice.operate(at_alice, "ringing"), alice.answer(at_alice, sdp.offer())):
        assert (await operation).refused(409, 37, "callControlResponse", "call.not_allowed")["state"] == "RINGING"
    (await alice.reject(at_alice)).refused(409, 37, "callDispositionResponse", "call.not_allowed")
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    refusal = (await bob.operate(invitation.session, "ringing")).refused(
        409, 37, "callControlResponse", "call.not_allowed"
    )
    assert refusal["state"] == "IN_CALL"
    refusal = (await bob.reject(invitation.session)).refused(
        409, 37, "callDispositionResponse", "call.already_answered"
    )
    assert refusal["state"] == "IN_CALL"
    assert (await alice.state(at_alice)).succeeded()["state"] == "ANSWERED"
    await alice.end(at_alice)


# The body


@pytest.mark.parametrize(
    ("data", "status_code", "code"),
    [
        (b"", 5, "request.body_missing"),
        (b"{", 1004, "request.malformed_json"),
        (b'{"subscribeRequest":{"service":["call"]}} trailing', 1004, "request.malformed_json"),
        (b"\xff\xfe\x00", 1004, "request.malformed_json"),
        (b"[" * 100_000, 1004, "request.malformed_json"),
        (b"{}", 5, "request.missing_field"),
        (b'{"subscribeRequest":{}}', 5, "request.missing_field"),
        (b'{"subscribeRequest":{"service":"call"}}', 37, "request.invalid_value"),
        (b'{"subscribeRequest":{"service":["call"],"expires":"soon"}}', 37, "request.invalid_value"),
        (b'{"subscribeRequest":{"service":["call"],"expires":-1}}', 15, "subscription.invalid_expiry"),
        (
            b'{"subscribeRequest":{"service":["call"],"notificationType":"Pigeon"}}', 12,
            "subscription.unsupported_notification_type",
        ),
    ],
    ids=[
        "empty", "cut off", "trailing text", "not UTF-8", "deep", "no wrapper", "no service", "wrong type",
        "not a number", "negative", "long poll",
    ],
)  # fmt: skip
async def test_a_bad_subscription_body_is_explained(peer, data, status_code, code):
    alice = await peer("alice", registered=False)
    (await alice.request("POST", "/subscription", data=data)).refused(400, status_code, "subscribeResponse", code)


@pytest.mark.parametrize("missing", ["type", "to"])
async def test_a_call_names_the_field_it_lacks(peer, missing):
    alice = await peer("alice")
    fields = {"type": "callStart", "from": "sip:alice@dev.local", "to": "sip:bob@dev.local", "sdp": sdp.offer()}
    del fields[missing]
    answer = await alice.request("POST", "/callControl", {"callControlRequest": fields})
    assert missing in answer.refused(400, 5, "callControlResponse", "request.missing_field")["reason"]


@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "chunked"])
async def test_a_body_of_two_megabytes_is_refused_as_json(peer, chunked):
    alice = await peer("alice")
    data = b'{"callControlRequest":{"type":"callStart","to":"sip:bob@dev.local","sdp":"' + b"x" * (2 << 20) + b'"}}'

    async def in_pieces():
        for start in range(0, len(data), 1 << 16):
            yield data[start : start + (1 << 16)]

    answer = await alice.request("POST", "/callControl", data=in_pieces() if chunked else data)
    answer.refused(413, 38, "callControlResponse", "request.body_too_large")
    (await alice.extend()).succeeded()


@pytest.mark.parametrize(
    ("description", "status_code", "code"),
    [
        ("hello", 16, "call.malformed_sdp"),
        (sdp.session(), 37, "call.unsupported_sdp"),
        (sdp.DATA_ONLY, 37, "call.unsupported_sdp"),
        (sdp.offer().replace("m=audio 50000", "m=audio 0"), 37, "call.unsupported_sdp"),
        (sdp.offer().replace("UDP/TLS/RTP/SAVPF", "RTP/AVP"), 37, "call.unsupported_sdp"),
        (sdp.offer().replace("a=ice-pwd", "x=ice-pwd"), 16, "call.malformed_sdp"),
    ],
    ids=["no SDP", "no media", "data channel only", "all refused", "unencrypted", "unknown line"],
)
async def test_a_description_without_usable_media_is_refused(peer, description, status_code, code):
    alice, bob = await peer("alice"), await peer("bob")
    answer = await alice.start("bob@dev.local", description)
    answer.refused(400, status_code, "callControlResponse", code)
    await bob.expect_silence("call", during=0.2)


async def test_unknown_operations_are_refused(peer):
    alice, bob = await peer("alice"), await peer("bob")
    at_alice = await alice.call("bob", sdp.offer())
    (await alice.operate(at_alice, "juggle")).refused(400, 37, "callControlResponse", "call.operation_unknown")
    (await alice.operate(at_alice, "refer", to="sip:carol@dev.local")).refused(
        403, 35, "callControlResponse", "call.operation_not_supported"
    )
    for operation in ("acceptCallReplace", "rejectCallReplace"):
        (await alice.operate(at_alice, operation, sdp=sdp.offer())).refused(
            409, 37, "callControlResponse", "call.not_allowed"
        )
    (await alice.operate(at_alice, "transfer", address="sip:carol@dev.local")).refused(
        409, 37, "callControlResponse", "call.not_allowed"
    )
    assert (await alice.state(at_alice)).succeeded()["state"] == "RINGING"
    await alice.end(at_alice)
    await bob.expect("callEnd")


# The path and the method


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/rest/version/1/nothing", 404, "resource.not_found"),
        ("GET", "/rest/version/2/user/alice@dev.local/subscription", 400, "request.unsupported_version"),
        ("PATCH", "/rest/version/1/user/alice@dev.local/subscription", 405, "resource.method_not_allowed"),
        (
            "POST",
            "/rest/version/1/user/alice@dev.local/callControl/callSessions/none",
            405,
            "resource.method_not_allowed",
        ),
    ],
)
async def test_what_is_not_there_says_so_in_json(peer, method, path, status, code):
    alice = await peer("alice", registered=False)
    answer = await alice.request(method, path)
    assert answer.status == status, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    content = answer.json if "code" in answer.json else answer.body
    assert content["code"] == code


# Browsers on another origin (§1.2)

CLIENT_HEADERS = "authorization, content-type, accept, x-token, x-session, x-cpaas-agent, x-requested-with"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
async def test_a_preflight_request_allows_what_clients_send(peer, method):
    alice = await peer("alice", registered=False)
    asked = {"Authorization": None, "Origin": "https://app.example", "Access-Control-Request-Method": method,
             "Access-Control-Request-Headers": CLIENT_HEADERS}  # fmt: skip
    answer = await alice.request("OPTIONS", "/callControl/callSessions/any", headers=asked)
    assert answer.status in (200, 204), answer.text
    assert answer.headers["access-control-allow-origin"] in ("*", "https://app.example")
    assert method in answer.headers["access-control-allow-methods"]
    allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
    assert set(CLIENT_HEADERS.split(", ")) <= allowed


async def test_answers_and_refusals_can_be_read_from_another_origin(peer):
    alice = await peer("alice")
    origin = {"Origin": "https://app.example"}
    answers = await asyncio.gather(
        alice.request("PUT", alice.subscription, SUBSCRIBE, headers=origin),
        alice.request("GET", "/callControl/callSessions/none", headers=origin),
        alice.request("POST", "/subscription", data=b"{", headers=origin),
        alice.request("POST", "/subscription", SUBSCRIBE, headers={**origin, "Authorization": None}),
    )
    assert [answer.status for answer in answers] == [200, 404, 400, 401]
    assert all(answer.headers["access-control-allow-origin"] in ("*", "https://app.example") for answer in answers)

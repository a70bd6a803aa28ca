"""Registration, notifications and calls on the wire, without media (spidr-wire §3 to §6, §12)."""
import asyncio

import pytest

from peers import sdp
from peers.spidr import Notification

NOBODY = "nobody@dev.local"


async def ringing_call(caller, callee) -> tuple[str, str]:
    """A call whose callee devices have been told; the sessions of both ends."""
    at_caller = await caller.call(callee.user, sdp.offer())
    at_callee = (await callee.expect("call")).session
    return at_caller, at_callee


async def answered_call(caller, callee) -> tuple[str, str]:
    at_caller = await caller.call(callee.user, sdp.offer())
    invitation = await callee.expect("call")
    (await callee.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await caller.expect("respondCallUpdate", at_caller)
    await callee.expect("callCancel", invitation.session)
    return at_caller, invitation.session


# Subscriptions (§3)


async def test_a_registration_is_granted_extended_and_ended(peer):
    alice = await peer("alice", registered=False)
    granted = await alice.register(expires=1800)
    assert granted["statusCode"] == 0
    assert granted["subscription"].startswith("/rest/version/1/user/alice@dev.local/subscription/")
    parameters = granted["subscriptionParams"]
    assert parameters["expires"] == 1800
    assert parameters["service"] == ["call"]
    assert "/websocket/" in parameters["notificationChannel"]
    assert "clientCorrelator" not in parameters  # or L5 extends by another path (§3.1)

    extended = (await alice.extend(expires=900)).succeeded()
    assert extended["subscription"] == granted["subscription"]
    assert extended["subscriptionParams"]["expires"] == 900
    assert extended["subscriptionParams"]["notificationChannel"] == parameters["notificationChannel"]

    path = alice.subscription
    (await alice.unregister()).succeeded()
    assert await alice.closed() == 1000
    (await alice.request("DELETE", path)).refused(404, 39, "subscribeResponse", "subscription.not_found")
    body = {"subscribeRequest": {"service": ["call"], "expires": 3600}}
    (await alice.request("PUT", path, body)).refused(404, 39, "subscribeResponse", "subscription.not_found")


async def test_numbers_may_be_strings_and_services_are_granted_in_part(peer):
    alice = await peer("alice", registered=False)
    wishes = {
        "expires": "7200",
        "service": ["call", "conversation", "custom"],
        "notificationType": "WebSocket",
        "useTurn": True,
        "unheardOf": [1],
    }
    answer = await alice.request("POST", "/subscription", {"subscribeRequest": wishes})
    granted = answer.succeeded()
    alice.subscription = granted["subscription"]
    assert granted["statusCode"] == 2
    assert granted["subscriptionParams"]["expires"] == 7200
    assert granted["subscriptionParams"]["service"] == ["call"]


async def test_a_wish_for_no_known_service_is_refused(peer):
    alice = await peer("alice", registered=False)
    answer = await alice.request(
        "POST", "/subscription", {"subscribeRequest": {"expires": 3600, "service": ["conversation"]}}
    )
    answer.refused(403, 35, "subscribeResponse", "subscription.unsupported_services")


async def test_force_log_out_sends_gone_to_the_other_devices(peer):
    first = await peer("alice")
    second = await peer("alice", alone=False)
    third = await peer("alice", alone=True)
    for older in (first, second):
        await older.expect("gone")
        assert await older.closed() == 1000
        older.subscription = None
    await third.expect_silence()


async def test_the_same_correlator_replaces_the_device(peer):
    old = await peer("alice", correlator="desk")
    other = await peer("alice", correlator="pocket", alone=False)
    new = await peer("alice", correlator="desk", alone=False)
    await old.expect("websocketOverridden")
    await old.closed()
    (await old.extend()).refused(404, 39, "subscribeResponse", "subscription.not_found")
    old.subscription = None
    (await other.extend()).succeeded()
    (await new.extend()).succeeded()


# The channel (§4)


async def test_a_second_socket_takes_the_channel_over(peer):
    alice = await peer("alice")
    shadow = await peer("alice", registered=False)
    shadow.channel = alice.channel
    await shadow.open_channel()
    await alice.expect("websocketOverridden")
    assert await alice.closed() != 1000  # 1000 would mean that the subscription is over
    (await alice.extend()).succeeded()

    bob = await peer("bob")
    session = await bob.call("alice", sdp.offer())
    await shadow.expect("call")
    await bob.end(session)
    await shadow.expect("callEnd")
    await shadow.close_channel()


async def test_what_was_missed_is_replayed_after_reconnection(peer):
    alice, bob = await peer("alice"), await peer("bob")
    first, _ = await ringing_call(bob, alice)
    await bob.end(first)
    before = [await alice.expect("callEnd")]

    await alice.lose_channel()
    second = await bob.call("alice", sdp.offer())
    await bob.end(second)
    await alice.open_channel()
    missed = [await alice.expect("call"), await alice.expect("callEnd")]
    assert [n.session for n in missed] == [missed[0].session] * 2
    assert missed[0].session != before[0].session

    # Once more: what comes again comes under its old id, so that clients can drop it.
    await alice.lose_channel()
    await alice.open_channel()
    await alice.expect_silence()
    assert len({notification.event_id for notification in alice.heard}) == 4  # call and callEnd, twice


async def test_the_first_notifications_wait_for_the_channel(peer):
    alice, bob = await peer("alice", listen=False), await peer("bob")
    session = await bob.call("alice", sdp.offer())
    await alice.open_channel()
    invitation = await alice.expect("call")
    assert invitation.message["callNotificationParams"]["callerDisplayNumber"] == "bob@dev.local"
    await bob.end(session)
    await alice.expect("callEnd")


async def test_an_unknown_channel_does_not_open(peer):
    alice = await peer("alice", registered=False)
    answer = await alice.request("GET", "/websocket/ws-0000", headers={"Connection": "Upgrade", "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})  # fmt: skip
    assert answer.status == 404
    assert answer.json["code"] == "channel.not_found"


async def test_foreign_frames_are_put_up_with(peer):
    """FCS sends the word `test`, others nothing but pings (§4.2)."""
    alice, bob = await peer("alice"), await peer("bob")
    for text in ("test", "{}", '{"message_type":"ping"}', "☎"):
        await alice._socket.send_str(text)
    session, _ = await ringing_call(bob, alice)
    await bob.end(session)


# Calls (§6)


async def test_an_answered_call_from_ring_to_end(peer):
    alice, bob = await peer("alice"), await peer("bob")
    at_alice = await alice.call("bob", sdp.offer(video=True), customParameters=[{"name": "X-GPS", "value": "1,2"}])
    invitation = await bob.expect("call")
    assert invitation.session != at_alice
    assert set(invitation.message["sessionParams"]["actions"]) >= {"answer", "reject"}
    assert invitation.message["customParameters"] == [{"name": "X-GPS", "value": "1,2"}]
    names = invitation.message["callNotificationParams"]
    assert has_all_names(invitation)
    assert (names["callerDisplayNumber"], names["calleeDisplayNumber"]) == ("alice@dev.local", "bob@dev.local")
    await alice.expect("ringing", at_alice)

    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    update = await alice.expect("respondCallUpdate", at_alice)
    assert update.message["callNotificationParams"]["remoteDisplayNumber"] == "bob@dev.local"
    await bob.expect("callCancel", invitation.session)

    for party, session in ((alice, at_alice), (bob, invitation.session)):
        assert (await party.state(session)).succeeded()["state"] == "ANSWERED"
        (await party.operate(session, "audit")).succeeded()
    (await alice.end(at_alice, "?reasonText=that%20was%20all%2C%20thanks")).succeeded()
    assert (await bob.expect("callEnd", invitation.session)).reason == (None, "that was all, thanks")
    await asyncio.gather(alice.expect_silence(), bob.expect_silence())


async def test_the_gateway_is_the_sdp_peer_of_both_legs(peer):
    """Its own ICE credentials, certificate and candidates; everything else fits what was offered (RFC 8829 §5.3)."""
    alice, bob = await peer("alice"), await peer("bob")
    offer = sdp.offer(video=True)
    at_alice = await alice.call("bob", offer)
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    answer = (await alice.expect("respondCallUpdate", at_alice)).sdp
    for description, setup in ((invitation.sdp, "actpass"), (answer, "passive")):
        assert "\r\na=ice-lite\r\n" in description
        assert f"a=setup:{setup}\r\n" in description
        assert "a=ice-ufrag:Ab12" not in description and "a=ice-ufrag:Cd34" not in description
        assert sdp.FINGERPRINT not in description
        assert " 127.0.0.1 50000 typ host" not in description and "a=candidate:" in description
        assert [line.split()[0] for line in description.split("\r\n") if line.startswith("m=")] == [
            "m=audio",
            "m=video",
        ]
        assert "a=rtpmap:111 opus/48000/2\r\n" in description and "a=rtpmap:96 VP8/90000\r\n" in description
        assert "a=mid:0\r\n" in description and "a=mid:1\r\n" in description and "a=rtcp-mux\r\n" in description
    await alice.end(at_alice)


async def test_without_ringing_feedback_the_gateway_rings_by_itself(peer):
    alice, bob = await peer("alice"), await peer("bob", ringing_feedback=False)
    at_alice, _ = await ringing_call(alice, bob)
    await alice.expect("ringing", at_alice)
    await alice.end(at_alice)


async def test_with_ringing_feedback_it_waits_for_the_device_and_rings_once(peer):
    alice, bob = await peer("alice"), await peer("bob", ringing_feedback=True)
    bobs_other = await peer("bob", ringing_feedback=True, alone=False)
    at_alice, at_bob = await ringing_call(alice, bob)
    await bobs_other.expect("call")
    await alice.expect_silence("ringing")
    (await bob.operate(at_bob, "ringing")).succeeded()
    await alice.expect("ringing", at_alice)
    (await bobs_other.operate(at_bob, "ringing")).succeeded()
    await alice.expect_silence("ringing")
    await alice.end(at_alice)


async def test_a_rejected_call_ends_for_the_caller_and_for_all_devices(peer):
    alice = await peer("alice")
    bob, bobs_other = await peer("bob"), await peer("bob", alone=False)
    at_alice, at_bob = await ringing_call(alice, bob)
    await bobs_other.expect("call", at_bob)
    (await bob.reject(at_bob)).succeeded()
    code, text = (await alice.expect("callEnd", at_alice)).reason
    assert code == 603 and text
    for device in (bob, bobs_other):
        await device.expect("callCancel", at_bob)
    (await alice.state(at_alice)).refused(404, 47, "callControlResponse")


async def test_a_cancelled_call_ends_for_both(peer):
    alice = await peer("alice")
    bob, bobs_other = await peer("bob"), await peer("bob", alone=False)
    at_alice, at_bob = await ringing_call(alice, bob)
    (await alice.end(at_alice, "?reasonText=changed%20my%20mind")).succeeded()
    for device in (bob, bobs_other):
        assert (await device.expect("callEnd", at_bob)).reason[1] == "changed my mind"
    await alice.expect("callEnd", at_alice)
    await bob.expect_silence("callCancel")  # it would read as "answered elsewhere"


async def test_the_first_device_that_answers_wins(peer):
    alice = await peer("alice")
    bob, bobs_other = await peer("bob"), await peer("bob", alone=False)
    at_alice = await alice.call("bob", sdp.offer())
    invitation = await bob.expect("call")
    assert (await bobs_other.expect("call")).session == invitation.session
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    late = await bobs_other.answer(invitation.session, sdp.answer(invitation.sdp))
    late.refused(409, 37, "callControlResponse", "call.already_answered")
    for device in (bob, bobs_other):
        await device.expect("callCancel", invitation.session)
    await alice.expect("respondCallUpdate", at_alice)
    (await bob.end(invitation.session, "?reasonText=bye")).succeeded()
    assert (await alice.expect("callEnd", at_alice)).reason[1] == "bye"
    # Neither names itself, so that nobody knows which of them has hung up: clients ignore it for a call that is over
    # (spidr-wire §6.7).
    for device in (bob, bobs_other):
        await device.expect("callEnd", invitation.session)
    await bobs_other.expect_silence()


async def test_an_over_long_reason_is_cut(peer):
    alice, bob = await peer("alice"), await peer("bob")
    at_alice, at_bob = await answered_call(alice, bob)
    (await alice.end(at_alice, "?reasonText=" + "x" * 4_000)).succeeded()
    assert (await bob.expect("callEnd", at_bob)).reason[1] == "x" * 256


async def test_the_state_follows_the_call(peer):
    alice, bob = await peer("alice"), await peer("bob")
    at_alice, at_bob = await ringing_call(alice, bob)
    for party, session in ((alice, at_alice), (bob, at_bob)):
        assert (await party.state(session)).succeeded()["state"] == "RINGING"
        (await party.operate(session, "audit")).succeeded()  # valid from the first moment (§12.9)
    await alice.end(at_alice)
    for party, session in ((alice, at_alice), (bob, at_bob)):
        (await party.state(session)).refused(404, 47, "callControlResponse", "call.session_not_found")
        await party.audit_until_forgotten(session)
        (await party.end(session)).refused(404, 42, "callControlResponse", "call.not_found")


@pytest.mark.parametrize(("callee", "code"), [(NOBODY, 404), ("dave@dev.local", 480)])
async def test_a_call_to_nobody_ends_with_a_reason(peer, callee, code):
    """Accepted first, because that is the path every client handles (§6.1): some begin with an audit, and take its
    failure for the end."""
    alice = await peer("alice")
    session = await alice.call(callee, sdp.offer())
    (await alice.operate(session, "audit")).succeeded()
    assert not alice.heard, "nothing is said before the client can know the session"
    ended = await alice.expect("callEnd", session)
    assert ended.reason[0] == code and ended.reason[1]


async def test_unregistering_ends_the_calls(peer):
    alice, bob = await peer("alice"), await peer("bob")
    _, at_bob = await answered_call(alice, bob)
    (await alice.unregister()).succeeded()
    end = (await bob.expect("callEnd", at_bob)).message["sessionParams"]
    assert (end["statusCode"], end["cause"], end["endedBy"]) == (480, "subscription_ended", "peer") and end[
        "reasonText"
    ]


async def test_a_device_that_comes_late_rings_too(peer):
    alice, bob = await peer("alice"), await peer("bob")
    at_alice, at_bob = await ringing_call(alice, bob)
    late = await peer("bob", alone=False)
    await late.expect("call", at_bob)
    await alice.end(at_alice)
    await late.expect("callEnd", at_bob)


async def test_a_call_over_tls_sounds_the_same(peer, gateway):
    alice, bob = await peer("alice", base=gateway.https), await peer("bob")
    at_alice, at_bob = await answered_call(alice, bob)
    await bob.end(at_bob)
    await alice.expect("callEnd", at_alice)


# The envelope (§5)


async def test_every_notification_has_an_id_of_its_own_and_a_time(peer):
    alice, bob = await peer("alice"), await peer("bob")
    for _ in range(3):
        at_alice, at_bob = await answered_call(alice, bob)
        await bob.end(at_bob)
        await alice.expect("callEnd", at_alice)
    for party in (alice, bob):
        identifiers = [notification.event_id for notification in party.heard]
        assert len(set(identifiers)) == len(identifiers) >= 6
        assert all(map(str.isdecimal, identifiers))
        assert all(int(notification.message["time"]) > 1_600_000_000_000 for notification in party.heard)
        assert all(has_all_names(notification) for notification in party.heard if notification.session)


FIVE_NAMES = {"callerName", "callerDisplayNumber", "calleeDisplayNumber", "remoteName", "remoteDisplayNumber"}
"""FCS searches in some of them without asking whether they are there (§5.2)."""


def has_all_names(notification: Notification) -> bool:
    names = notification.message["callNotificationParams"]
    return set(names) == FIVE_NAMES and all(isinstance(name, str) for name in names.values())

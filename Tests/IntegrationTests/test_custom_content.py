"""What clients say along: custom parameters and bodies at the start, with the answer, in mid-call and alone
(spidr-wire §8.4)."""
import pytest

from party import FCS, L5
from party.call import parameters
from situations import connected, forget

GPS = parameters(X_GPS="1,2", X_Floor="3")


async def test_custom_parameters_go_where_their_request_goes(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await alice.dial("bob", customParameters=GPS)
    at_bob = await bob.incoming()
    assert at_bob.invitation.message["customParameters"] == GPS
    (await at_bob.answer(customParameters=parameters(X_Mood="fine"))).succeeded()
    await at_alice.answered()
    assert alice.heard[-1].message["customParameters"] == parameters(X_Mood="fine")

    at_bob.answers_updates = False
    (await at_alice.offer_update("sendonly", customParameters=parameters(X_Step="1"))).succeeded()
    update = await bob.expect("startCallUpdate", at_bob.session)
    assert update.message["customParameters"] == parameters(X_Step="1")
    (await at_bob.respond(update, customParameters=parameters(X_Step="2"))).succeeded()
    answer = await at_alice.updated()
    assert answer.message["customParameters"] == parameters(X_Step="2")

    forget(alice, bob)
    (await at_alice.send_custom_headers(X_Alone="yes")).succeeded()
    told = await bob.expect("customParameters", at_bob.session)
    assert told.message["customParameters"] == parameters(X_Alone="yes")
    await alice.heard_exactly()


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_custom_bodies_go_where_their_request_goes(party, dialect):
    def bodies(text):
        return [
            {"contentType": "text/plain;charset=utf-8", "contentDisposition": "render", "body": text},
            {"contentType": "a/b", "body": ""},
        ]

    def carried(news):
        return news.message.get("customBodies")

    alice, bob = await party("alice", dialect=dialect), await party("bob", dialect=dialect)
    at_alice = await alice.dial("bob", customBodies=bodies("start"))
    at_bob = await bob.incoming()
    assert carried(at_bob.invitation) == bodies("start") and "customParameters" not in at_bob.invitation.message
    (await at_bob.answer(customBodies=bodies("☎ answer"), customParameters=GPS)).succeeded()
    await at_alice.answered()
    assert (carried(alice.heard[-1]), alice.heard[-1].message["customParameters"]) == (bodies("☎ answer"), GPS)

    at_bob.answers_updates = False
    (await at_alice.offer_update(dialect.hold_offer, customBodies=bodies("hold"))).succeeded()
    update = await bob.expect("startCallUpdate", at_bob.session)
    assert carried(update) == bodies("hold")
    (await at_bob.respond(update, customBodies=bodies("held"))).succeeded()
    assert carried(await at_alice.updated()) == bodies("held")

    forget(alice, bob)
    (await bob.operate(at_bob.session, "sendCustomHeaders", customBodies=bodies("alone"))).succeeded()
    assert carried(await alice.expect("customParameters", at_alice.session)) == bodies("alone")
    await bob.heard_exactly()


@pytest.mark.parametrize(
    "field, content, said",
    [
        ("customBodies", [{"contentType": "text/plain", "body": "x" * 16385}], "16385 bytes; 16384 are allowed"),
        ("customBodies", [{"contentType": "text/plain", "body": ""}] * 9, "9 entries; 8 are allowed"),
        ("customBodies", [{"contentType": "text", "body": ""}], "not a media type"),
        ("customParameters", [{"name": "X-Long", "value": "x" * 8192}], "8198 bytes; 8192 are allowed"),
    ],
    ids=["long body", "many bodies", "no type", "long parameter"],
)
async def test_too_much_custom_content_is_refused_and_changes_nothing(party, field, content, said):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    answer = await alice.operate(at_alice.session, "sendCustomHeaders", **{field: content})
    assert said in answer.refused(400, 37, "callControlResponse", "request.invalid_value")["reason"]
    answer = await alice.start("bob@dev.local", "v=0", **{field: content})
    assert said in answer.refused(400, 37, "callControlResponse", "request.invalid_value")["reason"]
    await bob.heard_exactly()


async def test_custom_parameters_without_a_name_are_refused(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    answer = await alice.operate(at_alice.session, "sendCustomHeaders", customParameters=[{"value": "1"}])
    assert answer.status == 400, answer.text
    await bob.heard_exactly()

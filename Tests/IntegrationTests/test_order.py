"""A request is answered before anything it causes is notified (spidr-wire §4.3, §12.1): L5 drops the rest."""
import asyncio

from peers import raw, sdp


async def test_the_answer_to_call_start_is_written_before_ringing(peer, gateway):
    """Bob leaves ringing to the gateway, which makes `ringing` follow the answer at once: the narrowest case."""
    alice, bob = await peer("alice", listen=False), await peer("bob", ringing_feedback=False)
    rest = await asyncio.to_thread(raw.connection, gateway.http_port)
    channel = await asyncio.to_thread(raw.open_websocket, gateway.http_port, alice.channel)
    with rest, channel:
        for _ in range(50):
            body = {
                "callControlRequest": {
                    "type": "callStart",
                    "from": "sip:alice@dev.local",
                    "to": "sip:bob@dev.local",
                    "sdp": sdp.offer(),
                }
            }
            raw.send_request(rest, "POST", alice.path("/callControl"), alice.credentials, body)
            await asyncio.to_thread(raw.wait_for_text, channel, 20)
            assert raw.is_readable(rest), "ringing came before the answer to callStart"
            session = raw.read_response(rest)["callControlResponse"]["sessionData"]
            ringing = raw.read_text_frame(channel)
            assert (ringing["eventType"], ringing["sessionParams"]["sessionData"]) == ("ringing", session)
            await bob.expect("call")

            # Cancelling notifies the caller itself as well.
            raw.send_request(rest, "DELETE", alice.path(f"/callControl/callSessions/{session}"), alice.credentials, {})
            await asyncio.to_thread(raw.wait_for_text, channel, 20)
            assert raw.is_readable(rest), "callEnd came before the answer to DELETE"
            assert raw.read_response(rest)["callControlResponse"]["statusCode"] == 0
            assert raw.read_text_frame(channel)["eventType"] == "callEnd"
            await bob.expect("callEnd")

"""A bot that was written for Twilio, on Twilio's own library `twilio-agent-connect`, talks to a caller of the gateway
without a change (docs/bots.md, *Other dialects*)."""
import pytest
import pytest_asyncio

from party import hear_now
from peers.bot import Bot
from peers.codecs import PCMU, encode
from peers.twilio_library import TwilioBot
from test_bots import answered
from test_streams import tone, told


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


def mu_law(name: str, seconds: float) -> bytes:
    return b"".join(encode(tone(name, seconds, 8_000), PCMU))


@pytest.mark.parametrize("way", ["in", "out"])
async def test_a_bot_on_the_library_of_twilio_hears_speaks_and_is_interrupted(party, bot, monkeypatch, way):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    agent = TwilioBot(monkeypatch.setattr)
    async with agent.talks(bot, session, way):
        await hear_now({call: {"alice"}})
        assert agent.model.asked[0]["type"] == "session.update"
        agent.model.echoes = False
        await hear_now({call: set()})

        agent.model.say(mu_law("carol", 30), "reply")
        await hear_now({call: {"carol"}})
        assert "clear" not in agent.socket.said
        agent.model.hear_speech()
        await hear_now({call: set()})
        # The library has told the gateway to stop, and the model how much of its reply it had passed on.
        assert agent.socket.said[-1] == "clear"
        truncated = agent.model.asked[-1]
        assert (truncated["type"], truncated["item_id"]) == ("conversation.item.truncate", "reply")
        assert truncated["audio_end_ms"] == 30_000

        agent.model.say(mu_law("dave", 20), "another")
        await hear_now({call: {"dave"}})
        (await alice.media(call.session, type="dtmf", digits="4")).succeeded()
        await told(agent.socket.heard, lambda event: event == "dtmf")
        await hear_now({call: {"dave"}})
        (await call.end()).succeeded()
        await agent.ended()
    assert agent.socket.heard[:3] == ["connected", "start", "media"] and agent.socket.heard[-1] == "stop"
    assert agent.conversation.call_sid == f"CA{session}"
    assert agent.conversation.metadata["stream_sid"].startswith("MZ")

"""A bot that says what a test wants, however little sense it makes, in the dialect of Twilio or in one of Asterisk."""
import asyncio
import base64
import json

from .echo_bot import EchoBot


class Talker(EchoBot):
    def __init__(self, dialect: str, **terms: str | int):
        """`terms`: those of the stream besides its dialect."""
        super().__init__(dialect, echoes=False, **terms)

    # What it says

    async def send(self, message: str | bytes):
        """A message, also one that the dialect does not have."""
        await self._socket.send(message)

    async def play(self, audio: bytes):
        """One message with this audio, in the format of the stream."""
        if self.dialect == "twilio":
            payload = base64.b64encode(audio).decode()
            await self.send(json.dumps({"event": "media", "media": {"payload": payload}}))
        else:
            await self.send(audio)

    async def mark(self, name: str):
        """Asks to be told when the audio before has been heard (`marked`)."""
        await self.send(mark(self.dialect, name))

    async def clear(self):
        """Drops what waits."""
        if self.dialect == "twilio":
            await self.send('{"event": "clear"}')
        else:
            await self.command("FLUSH_MEDIA")

    async def command(self, word: str):
        """A command of Asterisk."""
        await self.send(json.dumps({"command": word}) if self.dialect == "asterisk-json" else word)

    # What it is told

    async def has(self, event: str, number: int = 1, timeout: float = 20) -> str:
        """The message of that number, from 1, with this word, once it is there."""
        async with asyncio.timeout(timeout):
            while len(found := self.named(event)) < number:
                if self._fault:
                    raise self._fault
                await asyncio.sleep(0.02)
        return found[number - 1]

    def named(self, event: str) -> list[str]:
        """The messages so far with this word, as they came."""
        if self.dialect == "asterisk":
            return [each for each in self.words if each.split(" ")[0] == event]
        return [each for each in self.words if json.loads(each)["event"] == event]

    async def starts(self):
        """Waits until it is told that the stream has started, and may speak from then on."""
        await self.has("start" if self.dialect == "twilio" else "MEDIA_START", timeout=30)

    async def marked(self, name: str, timeout: float = 20):
        if self.dialect == "asterisk":
            await self.told(lambda word: word == f"MEDIA_MARK_PROCESSED {name}", timeout)
        else:
            event = "mark" if self.dialect == "twilio" else "MEDIA_MARK_PROCESSED"
            await self.told(lambda word: f'"{event}"' in word and f'"{name}"' in word, timeout)

    async def status(self, timeout: float = 60) -> dict:
        """How much waits, as Asterisk tells it: also that everything before was read."""
        number = len(self.named("STATUS")) + 1
        await self.command("GET_STATUS")
        word = await self.has("STATUS", number, timeout)
        if self.dialect == "asterisk-json":
            return json.loads(word)
        told = dict(each.split(":", 1) for each in word.split(" ")[1:])
        return told | {name: json.loads(value) for name, value in told.items() if name != "channel_id"}


def mark(dialect: str, name: str) -> str:
    """The message that sets a mark."""
    if dialect == "twilio":
        return json.dumps({"event": "mark", "mark": {"name": name}})
    if dialect == "asterisk-json":
        return json.dumps({"command": "MARK_MEDIA", "correlation_id": name})
    return f"MARK_MEDIA {name}"

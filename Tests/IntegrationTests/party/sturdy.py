"""A device on a bad network: repeats a request that is not answered, opens its channel again, and knows what to do when
it gives up."""
import aiohttp

from peers.spidr import Answer

from .call import PartyCall
from .device import Party
from .guest import Guest

_UNANSWERED = Answer(200, {}, '{"callControlResponse": {"statusCode": 0}}')
_NEEDS_ITS_ANSWER = {"callStart", "join", "callAnswer", "acceptCallReplace"}
"""Without it there is no session, or no way to know whose call it is. Of everything else a notification tells the
outcome."""


class GaveUp(Exception):
    pass


class SturdyParty(Party):
    _is_leaving = False

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.offers_again = True

    async def request(self, method: str, path: str, body: object = None, **options) -> Answer:
        for _ in range(2):
            try:
                return await super().request(method, path, body, **options)
            except aiohttp.ClientError:
                pass  # asked once more, and that is enough
        if isinstance(body, dict) and next(iter(body.values())).get("type") in _NEEDS_ITS_ANSWER:
            raise GaveUp
        return _UNANSWERED

    async def end_what_is_unknown(self):
        """What to do after a request that began or answered a call was given up."""
        known = {session for session, call in self.calls.items() if not call.ended}
        listed = (await self.request("GET", "/callControl/callSessions")).succeeded()["callSessions"]
        for session in {each["sessionData"] for each in listed} - known:
            await self.end(session)

    async def invited(self) -> PartyCall:
        """The next call that comes in and still rings: what came late may be over."""
        while (call := await self.incoming()).ended:
            pass
        return call

    async def close_channel(self):
        self._is_leaving = True
        await super().close_channel()

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse):
        await super()._listen(socket)
        if not self._is_leaving and socket is self._socket and socket.close_code != 1000:
            await self.open_channel()


class SturdyGuest(SturdyParty, Guest):
    async def end_what_is_unknown(self):
        """A guest cannot ask which calls it has. It leaves, and they end with it."""
        for call in self.calls.values():
            if not call.ended:
                await call.end()
        self._is_leaving = True
        await self.unregister()

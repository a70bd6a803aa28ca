"""A caller without an account (spidr-wire §7)."""
from peers.contract import Contract
from peers.spidr import Answer

from .device import Party


class Guest(Party):
    """Calls one account, under its path and without credentials."""

    def __init__(self, base: str, account: str, name: str = "erin", *, query: str = "", sounds: bool = False, contract: Contract | None = None):
        """`query`: what goes on every URL, such as `?tokenrealm=shop`. `name`: its tone."""
        super().__init__(base, name, sounds=sounds, contract=contract)
        self.account = account if "@" in account else f"{account}@dev.local"
        self.credentials = None
        self.resource = "callMe"
        self.wrapper = "callMeRequest"
        self._query = query

    def path(self, resource: str) -> str:
        return f"/rest/version/1/anonymous/{self.account}{resource}{self._query}"

    async def register(self, **wishes) -> dict:
        return await super().register(alone=False, services=["callMe"], **wishes)

    async def start(self, to: str, sdp: str, **fields) -> Answer:
        channel = self.channel.rsplit("/websocket/")[1]
        request = {"type": "callStart", "from": f"sip:{self.name}@guest.invalid", "to": f"sip:{to}", "sdp": sdp, "notifyChannelId": channel, **fields}
        return await self.request("POST", f"/{self.resource}", {self.wrapper: request})

    async def operate(self, session: str, operation: str, **fields) -> Answer:
        return await self.request("PUT", self._call(session), {self.wrapper: {"type": operation, **fields}})

    def _call(self, session: str) -> str:
        return f"/{self.resource}/callSessions/{session}"

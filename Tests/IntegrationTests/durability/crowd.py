"""All clients, and whoever kills their gateway."""
import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from peers.fleet import add_accounts
from peers.gateway import Gateway, orbweaver, write_configuration

from .client import ANSWERED, CALLEE, CALLER, CANCELLED, RACED, REJECTED, Client, Conversation, Message
from .services import PRESENCE, SERVICES, WATCHED, Publication, Text

PLANS = {ANSWERED: 75, RACED: 8, REJECTED: 8, CANCELLED: 9}
"""What happens to a call, and how often: one device answers, all devices answer at once, one device rejects, the caller
cancels."""


def configured(folder: Path, users: list[str], **sections: dict) -> tuple[str, ...]:
    """The options of a gateway with a database file, in which these users of `dev.local` have the password of `--dev`.
    Their hashes cost next to nothing."""
    options = write_configuration(folder, **sections)
    created = orbweaver("user", "list", *options, directory=folder)
    assert created.returncode == 0, created.stderr
    add_accounts(folder / "users.sqlite", [f"{user}@dev.local" for user in users], "dev", log_n=4)
    return options


def users_of(clients: int) -> dict[str, int]:
    """How many devices each user has; every third user has two."""
    users: dict[str, int] = {}
    while left := clients - sum(users.values()):
        users[f"user{len(users)}"] = min(left, 2 if len(users) % 3 == 2 else 1)
    return users


class Crowd:
    def __init__(self, gateway: Gateway, users: dict[str, int], seed: int, robots: Sequence[str] = ()):
        """`robots`: the addresses of applications that answer by themselves, which are called as well."""
        self.gateway, self.seed, self.robots = gateway, seed, robots
        self.chance = random.Random(seed)
        self.kills: list[float] = []
        """When the gateway was killed, in seconds since the clients began."""
        self.is_closing = False
        self.conversations: list[Conversation] = []
        self.messages: list[Message] = []
        self.texts: list[Text] = []
        self.publications: list[Publication] = []
        self.refused: list[str] = []
        """Refusals for which there is no reason, and subscriptions that were lost."""
        self.counts: Counter[str] = Counter()
        self._begin = time.monotonic()
        self._tasks: set[asyncio.Task] = set()
        self._failures: list[BaseException] = []
        self._stack = AsyncExitStack()
        self.clients = [
            Client(self, user, place, has_companion=devices > 1)
            for user, devices in users.items()
            for place in range(devices)
        ]
        self._devices = users
        self.pace = max(1, len(self.clients) / 60)
        """By how much longer a client waits than in a small crowd: many do as much together as sixty."""
        self.users = list(users)
        self.watched = {
            user: self.chance.sample([other for other in users if other != user], min(WATCHED, len(users) - 1))
            for user in users
        }
        """Whom each user watches."""
        self._killing: asyncio.Future | None = None

    @property
    def now(self) -> float:
        return time.monotonic() - self._begin

    async def __aenter__(self) -> "Crowd":
        async with self._stack:
            for client in self.clients:
                await self._stack.enter_async_context(client)
                await client.register(
                    alone=client.place == 0, listen=False, ringing_feedback=client.reports_ringing,
                    long_poll=client.polls, services=SERVICES,
                )
            for client in self.clients:
                if client.place == 0:
                    await client.services.watch(self.watched[client.name])
            self._stack.push_async_callback(self._dismiss)
            for client in self.clients:
                self.spawn(client.keep_listening())
            self._stack = self._stack.pop_all()
        return self

    async def __aexit__(self, *failure):
        return await self._stack.__aexit__(*failure)

    async def _dismiss(self):
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def spawn(self, work) -> asyncio.Task:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task):
        self._tasks.discard(task)
        if not task.cancelled() and task.exception():
            self._failures.append(task.exception())

    def listens_to(self, user: str) -> str:
        """The notification by which a user hears of the presence of others."""
        return PRESENCE[self.users.index(user) % 2]

    def was_answered(self):
        """A client has the answer to a request that others are told of."""
        if self._killing:
            self.gateway.kill()
            self.kills.append(self.now)
            self._killing.set_result(None)
            self._killing = None

    def draw(self, caller: Client) -> Conversation:
        """A call to somebody else."""
        chance = caller.chance
        callee = chance.choice([user for user in self._devices if user != caller.name])
        conversation = Conversation(
            len(self.conversations), caller.name, callee, *chance.choices(list(PLANS), PLANS.values()),
            hangs_up=chance.choice([CALLER, CALLEE]), device=chance.randrange(self._devices[callee]),
        )  # fmt: skip
        self.conversations.append(conversation)
        return conversation

    # The course of events

    async def survive(self, kills: int, calls: int = 0):
        """Everybody calls, talks and hangs up while the gateway is killed so often, and until there were so many calls;
        then all calls come to an end."""
        courses = [
            course
            for client in self.clients
            for course in (
                client.keep_calling(), client.services.keep_writing(),
                *([client.services.keep_publishing()] if client.place == 0 else []),
            )
        ]  # fmt: skip
        calling = [self.spawn(course) for course in courses]
        moving = [self.spawn(client.lose_channel_now_and_then()) for client in self.clients]
        while len(self.kills) < kills:
            self._check()
            await asyncio.sleep(self.chance.uniform(0.3, 5))
            if self.chance.random() < 0.3:  # or a client would miss more than the gateway keeps
                await self._everybody_listens()
            await (self._kill() if self.chance.random() < 0.5 else self._kill_on_an_answer())
            while len(self.kills) < kills and self.chance.random() < 0.25:
                await self._kill_while_it_starts(self.chance.uniform(0, 1))
            await asyncio.sleep(self.chance.uniform(0, 0.5))
            await asyncio.to_thread(self.gateway.start)
        await asyncio.sleep(3)  # so that there are calls which nothing disturbs
        while self.counts["calls"] + self.counts["calls of robots"] < calls:
            self._check()
            await asyncio.sleep(0.1)
        self.is_closing = True
        for task in moving:
            task.cancel()
        while not all(task.done() for task in calling) or len(self._tasks) > len(self.clients):
            self._check()
            await asyncio.sleep(0.1)  # until only the channels are left
        self._check()

    async def _kill(self):
        await asyncio.to_thread(self.gateway.kill)
        self.kills.append(self.now)

    async def _kill_on_an_answer(self):
        """As soon as a client has one, others may still have to be told."""
        self._killing = asyncio.get_running_loop().create_future()
        async with asyncio.timeout(60):
            await self._killing

    async def _kill_while_it_starts(self, after: float):
        """What a life before has left is not finished yet, or just so."""
        starting = asyncio.create_task(asyncio.to_thread(self.gateway.start))
        await asyncio.sleep(after)
        await self._kill()
        try:
            await starting
        except AssertionError as error:
            assert "ended with status -9" in str(error), error
        if self.gateway.is_running:  # it was killed before it was there
            await asyncio.to_thread(self.gateway.kill)

    async def open_channels_again(self):
        """Everybody, once more, and waits until nobody is told anything new."""
        for client in self.clients:
            client.drop_channel()
        told, since = -1, self.now
        while self.now - since < 2:
            await self._everybody_listens()
            await asyncio.sleep(0.1)
            if told != (told := sum(len(client.journal) for client in self.clients)):
                since = self.now
        self._check()

    async def _everybody_listens(self):
        """Waits until each client has been seen to; by then some may have lost their channel again."""
        waiting = self.clients
        while waiting := [client for client in waiting if not client.is_listening]:
            self._check()
            await asyncio.sleep(0.05)

    def _check(self):
        if self._failures:
            raise self._failures[0]

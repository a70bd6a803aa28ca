"""What every integration test can ask for: the running gateway, peers, browsers, and a place for pictures."""
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from party import HEADLESS, L5, Dialect, HeadlessParty, Party
from peers.bot import DEMO_KEY
from peers.chromium import Chromium
from peers.contract import Contract
from peers.event_contract import check_all
from peers.event_log import totals
from peers.firefox import Firefox
from peers.gateway import REPOSITORY, Gateway
from peers.python_client import Installed
from peers.spidr import SpidrPeer
from robots import DOMAIN, Robots


@pytest.fixture(scope="session")
def gateway() -> Iterator[Gateway]:
    """One gateway for all tests that leave it as they found it; at the end it must stop in good order."""
    gateway = Gateway().start()
    yield gateway
    if gateway.is_running:
        users = [(f"{user}@dev.local", "dev") for user in ("alice", "bob", "carol")]
        check_all(gateway.http, [*users, DEMO_KEY])
    gateway.stop()
    gateway.discard()


class GatewayStarter:
    def __init__(self):
        self.started: list[Gateway] = []

    def __call__(self, *arguments: str, **limits) -> Gateway:
        return self._started(Gateway(*arguments, **limits))

    def configured(self, *configuration: str, **limits) -> Gateway:
        """With a configuration and a database of the test's own."""
        return self._started(Gateway.configured(*configuration, **limits))

    def _started(self, own: Gateway) -> Gateway:
        self.started.append(own)
        return own.start()


@pytest.fixture
def own_gateway() -> Iterator[GatewayStarter]:
    """Starts gateways that the test may stop or spoil."""
    starter = GatewayStarter()
    yield starter
    with ExitStack() as stack:  # each is ended, whatever the event log of another says
        for own in starter.started:
            stack.callback(own.discard)


@pytest.fixture(scope="session")
def contract() -> Contract:
    return Contract(REPOSITORY / "openapi/orbweaver.yaml")


@pytest_asyncio.fixture
async def peer(gateway: Gateway, contract: Contract) -> AsyncIterator[Callable]:
    """Makes clients that are held against the contract; `await peer("bob", ringing_feedback=True)` is registered."""
    async with AsyncExitStack() as stack:

        async def make(
            name: str, registered: bool = True, base: str = gateway.http, password: str = "dev", **wishes
        ) -> SpidrPeer:
            client = await stack.enter_async_context(SpidrPeer(base, name, password, contract))
            if registered:
                await client.register(**wishes)
            return client

        yield make


@pytest_asyncio.fixture
async def party(gateway: Gateway, contract: Contract) -> AsyncIterator[Callable]:
    """Makes clients that look after their calls; `await party("bob", dialect=FCS, sounds=True)` is registered."""
    async with AsyncExitStack() as all_of_them:

        async def make(
            name: str,
            registered: bool = True,
            base: str = gateway.http,
            dialect: Dialect = L5,
            sounds: bool = False,
            voice: str | None = None,
            right: str | None = None,
            stack: Callable | None = None,
            shows: bool = False,
            **wishes,
        ) -> Party:
            own = Party(
                base, name, dialect=dialect, sounds=sounds, voice=voice, right=right, stack=stack, shows=shows,
                contract=contract,
            )  # fmt: skip
            client = await all_of_them.enter_async_context(own)
            if registered:
                await client.register(**wishes)
            return client

        yield make


@pytest.fixture(scope="session")
def robots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Robots]:
    """One gateway for all tests with headless parties."""
    with Robots(tmp_path_factory.mktemp("robots")) as robots:
        yield robots


@pytest_asyncio.fixture
async def anybody(robots: Robots, party: Callable) -> AsyncIterator[Callable]:
    """Makes parties as `party` does, at a gateway where each name is that of a user and of an application: `await
    anybody("bob", HEADLESS)` is `bob@robots.local`."""
    async with AsyncExitStack() as all_of_them:

        async def make(name: str, dialect: Dialect = L5, sounds: bool = True, **more) -> Party | HeadlessParty:
            if dialect is not HEADLESS:
                return await party(name, base=robots.gateway.http, dialect=dialect, sounds=sounds, **more)
            own = HeadlessParty(
                robots.gateway.http, name, robots.keys[name], user=f"{name}@{DOMAIN}", sounds=sounds, **more
            )  # fmt: skip
            return await all_of_them.enter_async_context(own)

        yield make


@pytest.fixture(scope="session")
def running_firefox() -> Iterator[Firefox]:
    with Firefox() as firefox:
        yield firefox


@pytest.fixture
def firefox(running_firefox: Firefox) -> Iterator[Firefox]:
    """The same for all tests, as its start takes seconds; without pages it does next to nothing."""
    yield running_firefox
    running_firefox.close_pages()


@pytest.fixture
def browser(request: pytest.FixtureRequest) -> Iterator[Callable[..., Chromium | Firefox]]:
    """Starts browsers; each takes some 400 MB. With `in_both_browsers` it may be Firefox, which has only its own
    microphone."""
    with ExitStack() as stack:
        if getattr(request, "param", "chromium") == "firefox":
            firefox = request.getfixturevalue("firefox")
            yield lambda microphone=None: firefox
        else:
            yield lambda microphone=None: stack.enter_context(Chromium(microphone))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel of `clients/python`, in an environment of its own."""
    return Installed(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def artifacts() -> Path:
    """Kept after the run and ignored by git."""
    directory = REPOSITORY / ".artifacts"
    directory.mkdir(exist_ok=True)
    return directory


def pytest_sessionfinish(session: pytest.Session):
    """A worker hands on what its gateways' event logs have been held against."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["event_logs"] = dict(totals)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    totals.update(getattr(node, "workeroutput", {}).get("event_logs", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter):
    """What the event logs of all gateways have been held against."""
    counted = (f"{round(count, 1)} {what}" for what, count in totals.items())
    terminalreporter.write_line("event logs: " + (", ".join(counted) or "none"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """A failure shows what the gateways involved had to say."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        arguments = getattr(item, "funcargs", {})
        involved = [arguments["gateway"]] if "gateway" in arguments else []
        involved += [arguments["robots"].gateway] if "robots" in arguments else []
        involved += arguments["own_gateway"].started if "own_gateway" in arguments else []
        for gateway in involved:
            report.sections.append((f"log of the gateway at {gateway.http}", gateway.log_tail()))

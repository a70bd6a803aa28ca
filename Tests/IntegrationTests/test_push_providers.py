"""Pushes to providers that hold every request against the documents: contract, errors, faults, and hostile URLs."""
import asyncio
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from durability import configured
from peers.gateway import BINARY, environment
from peers.push_provider import (
    BUNDLE,
    PROJECT,
    Answer,
    Drop,
    GoAway,
    PushProvider,
    Refuse,
    Stall,
)
from test_administration import Admin
from test_push_registrations import register

APPLE = ("--apple-voip-token", "ab12cd", "--apple-token", "ef34")
GOOGLE = ("--google-token", "token:of-a-device")


class Result:
    def __init__(self, status: int, output: str, errors: str, memory: int):
        self.status, self.lines, self.errors, self.memory = status, output.splitlines(), errors, memory


class Delivery(NamedTuple):
    """What has become of a push that an operator had sent."""

    is_taken: bool
    sentence: str
    seconds: float


async def push(*arguments: str, settings: list[str], bundle: str = BUNDLE) -> Result:
    """Runs `orbweaver push test`."""
    process = await asyncio.create_subprocess_exec(
        BINARY, "push", "test", "--bundle-id", bundle, *arguments, *settings, env=environment(),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    memory = 0

    async def watch():
        nonlocal memory
        while True:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                return
            if found := re.search(r"VmHWM:\s+(\d+) kB", status):
                memory = int(found[1]) * 1_024
            await asyncio.sleep(0.02)

    watcher = asyncio.ensure_future(watch())
    output, errors = await process.communicate()
    watcher.cancel()
    return Result(process.returncode, output.decode(), errors.decode(), memory)


@pytest_asyncio.fixture
async def provider(tmp_path: Path):
    async with PushProvider(tmp_path) as provider:
        provider.add_webhook_key()
        yield provider
        assert provider.faults == []


def reason(word: str, status: int) -> Answer:
    return Answer(status, {"reason": word})


async def test_a_call_to_an_apple_device(provider: PushProvider):
    result = await push(*APPLE, "--caller", "Ann Jones", "--number", "+4930123456", settings=provider.settings)
    (request,) = provider.requests
    assert result.lines == [f"call: the provider has taken the push as {request.fields['apns-id']}"]
    assert result.status == 0
    assert request.path == "/3/device/ab12cd"
    assert request.fields["apns-push-type"] == "voip"
    call = request.json["call"]
    assert call["state"] == "ringing" and call["callerName"] == "Ann Jones"
    assert call["handle"] == {"type": "phoneNumber", "value": "+4930123456"}
    assert abs(int(request.fields["apns-expiration"]) - call["expires"]) <= 1
    message = request.json["notificationMessage"]
    assert message["eventType"] == "call" and message["sessionParams"]["sessionData"] == call["sessionData"]
    assert request.fields["apns-collapse-id"] == call["sessionData"]


@pytest.mark.parametrize(
    ("kind", "token", "type_"),
    [("cancel", "ab12cd", "voip"), ("notification", "ef34", "alert"), ("refresh", "ef34", "background")],
)
async def test_other_pushes_to_an_apple_device(provider: PushProvider, kind: str, token: str, type_: str):
    result = await push(*APPLE, "--kind", kind, settings=provider.settings)
    (request,) = provider.requests
    assert result.status == 0, result.lines
    assert request.path == f"/3/device/{token}" and request.fields["apns-push-type"] == type_
    if kind == "cancel":
        call = request.json["call"]
        assert (call["state"], call["endedReason"]) == ("ended", "remoteEnded")
        assert request.json["notificationMessage"]["eventType"] == "callCancel"


@pytest.mark.parametrize(
    ("status", "word"),
    [(400, "BadDeviceToken"), (410, "Unregistered"), (410, "ExpiredToken")],
)
async def test_a_token_that_apple_does_not_take_any_more(provider: PushProvider, status: int, word: str):
    provider.steps.append(Answer(status, {"reason": word, "timestamp": 1_700_000_000_000}))
    result = await push(*APPLE, settings=provider.settings)
    assert result.status == 1
    assert result.lines == [f"call: the device cannot be reached any more: the provider says {word}"]
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (400, "BadCollapseId"), (400, "BadMessageId"), (400, "BadPriority"), (400, "BadTopic"),
        (400, "TopicDisallowed"), (403, "Forbidden"), (404, "BadPath"), (405, "MethodNotAllowed"),
        (413, "PayloadTooLarge"),
    ],
)  # fmt: skip
async def test_what_apple_refuses_is_not_sent_again(provider: PushProvider, status: int, word: str):
    provider.steps.append(reason(word, status))
    result = await push(*APPLE, settings=provider.settings)
    assert result.status == 1
    assert result.lines == [f"call: the push was given up: the provider refuses it with status {status}: {word}"]
    assert len(provider.requests) == 1


MISTAKES = {
    "apple": (
        reason("DeviceTokenNotForTopic", 400), "check bundleID of the registration, and push.apple_team or",
    ),
    "google": (
        Answer(403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "details": [{
            "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "SENDER_ID_MISMATCH",
        }]}}), "check the project of the app, and push.google_account_file or",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
async def test_what_follows_from_a_mistake_of_the_operator_ends_no_registration(
    kind: str, provider: PushProvider, own_gateway, tmp_path: Path, peer
):
    """Every device has the same answer. It is in the log, with what to look at, and the push is not sent again."""
    answer, advice = MISTAKES[kind]
    provider.steps.append(answer)
    own, admin = await asyncio.to_thread(started, own_gateway, tmp_path, provider)
    alice = await peer("alice", registered=False, base=own.http)
    path = await register(alice, kind, service=["mwi"])
    count = {"unheard": 1, "heard": 0}
    noted = await asyncio.to_thread(admin.ask, "PUT", "/users/alice@dev.local/voicemail", count)
    assert noted.status == 200, noted.text
    async with asyncio.timeout(10):
        while advice not in own.log_path.read_text():
            await asyncio.sleep(0.05)
    (line,) = [line for line in own.log_path.read_text().splitlines() if advice in line]
    assert "notice" in line and "a push was given up" in line
    assert len(provider.requests) == 1
    delivery = await tried(admin, path)
    assert delivery.is_taken, "the registration is still there"


@pytest.mark.parametrize(
    "step",
    [
        reason("TooManyRequests", 429), reason("TooManyProviderTokenUpdates", 429),
        reason("InternalServerError", 500), reason("ServiceUnavailable", 503), reason("Shutdown", 503),
        reason("IdleTimeout", 400), Answer(502), Drop(), GoAway(), Refuse(),
    ],
    ids=lambda step: step.body["reason"] if isinstance(step, Answer) and step.body else type(step).__name__,
)  # fmt: skip
async def test_what_may_succeed_later_is_sent_again(provider: PushProvider, step: object):
    provider.steps.append(step)
    result = await push(*APPLE, settings=provider.settings)
    assert result.status == 0, result.lines
    first, second = provider.requests
    # The same push, by its name and content, for the same time.
    for name in ("apns-id", "apns-collapse-id", "apns-expiration", "authorization"):
        assert first.fields[name] == second.fields[name]
    assert first.body == second.body
    if isinstance(step, Answer):
        assert second.time - first.time > 0.24


async def test_apple_names_the_time_to_wait(provider: PushProvider):
    provider.steps.append(Answer(429, {"reason": "TooManyRequests"}, {"retry-after": "2"}))
    result = await push(*APPLE, settings=provider.settings)
    assert result.status == 0
    first, second = provider.requests
    assert 2 <= second.time - first.time < 4


async def test_a_push_is_never_sent_after_its_time(provider: PushProvider):
    provider.every_step = reason("ServiceUnavailable", 503)
    result = await push(*APPLE, "--time", "5", settings=provider.settings)
    assert result.status == 1
    assert result.lines == ["call: the push was given up: its time was over; before, ServiceUnavailable"]
    times = [request.time for request in provider.requests]
    assert 3 <= len(times) <= 6 and times[-1] - times[0] < 5
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert gaps[-1] > gaps[0]

    await asyncio.sleep(3)
    assert len(provider.requests) == len(times)


async def test_a_push_that_would_have_to_wait_too_long_is_given_up_at_once(provider: PushProvider):
    provider.every_step = Answer(503, {"reason": "Shutdown"}, {"retry-after": "900"})
    result = await asyncio.wait_for(push(*APPLE, settings=provider.settings), 10)
    assert result.lines == ["call: the push was given up: its time was over; before, Shutdown"]
    assert len(provider.requests) == 1


async def test_an_answer_that_does_not_come_is_not_waited_for(provider: PushProvider):
    provider.steps.append(Stall())
    result = await push(*APPLE, settings=[*provider.settings, "--set", "push.answer_time=500ms"])
    assert result.status == 0, result.lines
    first, second = provider.requests
    assert 0.5 <= second.time - first.time < 5


@pytest.mark.parametrize("word", ["ExpiredProviderToken", "InvalidProviderToken"])
async def test_a_provider_token_that_is_not_taken_is_renewed_once(provider: PushProvider, word: str):
    provider.steps.append(reason(word, 403))
    assert (await push(*APPLE, settings=provider.settings)).status == 0
    first, second = (request.fields["authorization"] for request in provider.requests)
    assert first != second

    provider.requests.clear()
    provider.every_step = reason(word, 403)
    result = await push(*APPLE, settings=provider.settings)
    assert result.lines == [
        f"call: the push was given up: the provider does not take the gateway's credential: {word}"
    ]
    assert len(provider.requests) == 2


async def test_many_pushes_share_a_connection_and_a_token(provider: PushProvider):
    provider.every_step = None
    result = await push(*APPLE, "--count", "500", settings=provider.settings)
    assert result.status == 0
    assert provider.connections == 1
    assert len({request.fields["authorization"] for request in provider.requests}) == 1
    assert len(set(provider.taken)) == len(provider.taken) == 500
    # Each line names a push of its own.
    assert {line.split()[-1] for line in result.lines} == set(provider.taken)


async def test_many_requests_are_in_flight_at_once(provider: PushProvider):
    # The first one is answered at once: until then APNs allows one stream.
    provider.steps.extend([reason("ServiceUnavailable", 503)])
    provider.every_step = Answer(200, delay=0.5)
    result = await push(*APPLE, "--count", "150", settings=provider.settings)
    assert result.status == 0
    assert 80 <= provider.most_open_streams <= 100
    assert provider.connections == 1


@pytest.mark.parametrize("fault", [GoAway, Drop, Refuse], ids=lambda fault: fault.__name__)
async def test_a_connection_that_ends_loses_no_push(provider: PushProvider, fault: type):
    # Every 20th request meets the fault.
    for _ in range(6):
        provider.steps.extend([*[Answer(200) for _ in range(19)], fault()])
    result = await push(*APPLE, "--count", "120", settings=provider.settings)
    assert result.status == 0, [line for line in result.lines if "taken" not in line][:3]
    assert len(result.lines) == 120
    assert len({request.fields["apns-id"] for request in provider.requests}) == 120
    if fault is not Refuse:
        assert provider.connections > 1


async def test_firebase(provider: PushProvider):
    result = await push(*GOOGLE, "--caller", "Ann", "--count", "20", settings=provider.settings)
    assert result.status == 0, result.lines
    assert len(provider.token_requests) == 1 and len(provider.requests) == 20
    assert {line.split()[-1] for line in result.lines} == set(provider.taken)
    message = provider.requests[0].json["message"]
    assert message["token"] == "token:of-a-device"
    assert message["android"]["priority"] == "HIGH"
    assert 25 <= int(message["android"]["ttl"].rstrip("s")) <= 30
    assert '"eventType":"call"' in message["data"]["notificationMessage"]


def google_problem(status: int, word: str, code: str | None = None, fields: tuple[str, ...] = (), **more) -> Answer:
    details = []
    if code:
        details.append({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code})
    if fields:
        violations = [{"field": name, "description": "Invalid"} for name in fields]
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations})
    error = {"code": status, "message": more.get("message", "A text."), "status": word, "details": details}
    return Answer(status, {"error": error}, more.get("headers", {}))


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (
            google_problem(404, "NOT_FOUND", "UNREGISTERED"),
            "call: the device cannot be reached any more: the provider says UNREGISTERED",
        ),
        (
            google_problem(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
            "call: the push was given up: the provider refuses it with status 403: SENDER_ID_MISMATCH (the token is "
            "one of another Firebase project: check the project of the app, and push.google_account_file or the app's "
            "file in push.applications_folder)",
        ),
        (
            google_problem(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", ("message.token",)),
            "call: the device cannot be reached any more: the provider says INVALID_ARGUMENT",
        ),
        (
            google_problem(400, "INVALID_ARGUMENT", fields=("message.data[0].value",)),
            "call: the push was given up: the provider refuses it with status 400: INVALID_ARGUMENT",
        ),
        (
            google_problem(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"),
            "call: the push was given up: the provider refuses it with status 401: THIRD_PARTY_AUTH_ERROR",
        ),
        (
            google_problem(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
            "call: the push was given up: its time was over; before, QUOTA_EXCEEDED",
        ),
    ],
)
async def test_what_firebase_refuses(provider: PushProvider, step: Answer, line: str):
    provider.steps.append(step)
    result = await push(*GOOGLE, settings=provider.settings)
    assert (result.status, result.lines) == (1, [line])
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    "step",
    [
        google_problem(503, "UNAVAILABLE", "UNAVAILABLE", headers={"retry-after": "1"}),
        google_problem(500, "INTERNAL", "INTERNAL"),
        google_problem(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", headers={"retry-after": "1"}),
    ],
)
async def test_what_firebase_takes_later(provider: PushProvider, step: Answer):
    provider.steps.append(step)
    result = await push(*GOOGLE, settings=provider.settings)
    assert result.status == 0, result.lines
    first, second = provider.requests
    assert second.time - first.time > float(step.fields.get("retry-after", 0.24))


async def test_an_access_token_that_firebase_does_not_take_is_renewed(provider: PushProvider):
    provider.token_steps.append(Answer(200, {"access_token": "stale", "expires_in": 3_599, "token_type": "Bearer"}))
    result = await push(*GOOGLE, settings=provider.settings)
    assert result.status == 0, result.lines
    assert [request.fields["authorization"] for request in provider.requests][0] == "Bearer stale"
    assert len(provider.requests) == 2 and len(provider.token_requests) == 2


async def test_a_token_service_that_is_down_or_refuses(provider: PushProvider):
    provider.token_steps.extend([Answer(503), Drop()])
    assert (await push(*GOOGLE, settings=provider.settings)).status == 0
    assert len(provider.token_requests) == 3

    provider.token_steps.append(Answer(400, {"error": "invalid_grant"}))
    result = await push(*GOOGLE, settings=provider.settings)
    assert result.lines == [
        "call: the push was given up: the provider does not take the gateway's credential: "
        "the token service answers 400 invalid_grant"
    ]


def webhook(provider: PushProvider, path: str = "/hook?a=1") -> tuple[str, str]:
    return "--webhook", provider.url + path


async def test_a_webhook(provider: PushProvider):
    provider.add_webhook_key()
    result = await push(*webhook(provider), settings=provider.settings)
    assert (result.status, result.lines) == (0, ["call: the provider has taken the push"])
    (request,) = provider.requests
    assert request.path == "/hook?a=1"
    body = request.json
    assert body["type"] == "push.call" and body["data"]["bundleID"] == BUNDLE
    assert body["data"]["notificationMessage"]["eventType"] == "call"
    assert len(request.fields["webhook-signature"].split()) == 2


async def test_a_webhook_that_fails_gets_the_push_again_signed_anew(provider: PushProvider):
    provider.steps.extend([Answer(500), Answer(429, fields={"retry-after": "1"}), Drop()])
    result = await push(*webhook(provider), settings=provider.settings)
    assert result.status == 0, result.lines
    assert len({request.fields["webhook-id"] for request in provider.requests}) == 1
    assert len({request.fields["webhook-timestamp"] for request in provider.requests}) > 1
    assert len(provider.requests) == 4


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(provider: PushProvider, status: int):
    provider.steps.append(Answer(status, fields={"location": f"{provider.url}/elsewhere"}))
    result = await push(*webhook(provider), settings=provider.settings)
    assert result.lines == [
        f"call: the push was given up: the provider refuses it with status {status}: status {status}"
    ]
    assert [request.path for request in provider.requests] == ["/hook?a=1"]


async def test_a_webhook_that_is_gone_ends_the_registration(provider: PushProvider):
    provider.steps.append(Answer(410))
    result = await push(*webhook(provider), settings=provider.settings)
    assert result.lines == ["call: the device cannot be reached any more: the provider says status 410"]


async def test_a_webhook_of_an_app_without_a_key_is_not_asked(provider: PushProvider):
    result = await push(*webhook(provider), settings=provider.settings, bundle="com.example.other")
    assert "credential" in result.lines[0] and "com.example.other cannot be read" in result.lines[0]
    assert provider.connections == 0


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0", "169.254.169.254", "10.0.0.1",
     "192.168.1.1", "[::1]", "[fd00:ec2::254]", "100.64.0.1"],
)  # fmt: skip
async def test_addresses_that_the_internet_does_not_route_are_not_asked(provider: PushProvider, host: str):
    settings = [*provider.settings, "--set", "push.allowed_addresses=none"]
    result = await push("--webhook", f"https://{host}:{provider.port}/", settings=settings)
    assert result.status == 1
    assert re.fullmatch(
        r"call: the push was given up: the provider cannot be asked: requests to \S+ are refused: "
        r"the Internet does not route it",
        result.lines[0],
    ), result.lines
    assert provider.connections == 0


def changing_name(folder: Path, name: str, first: str, later: str) -> dict[str, str]:
    """The variables with which processes look a name up that has one address the first time, and later another."""
    library = folder / "changing_name.so"
    if not library.exists():
        source = Path(__file__).parent / "peers/changing_name.c"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return {
        "LD_PRELOAD": str(library), "CHANGING_NAME": name, "FIRST_ADDRESS": first, "LATER_ADDRESS": later,
        "LOOKUPS": str(folder / "lookups"),
    }  # fmt: skip


NAME = "push.example.com"
REFUSED = (
    "call: the push was given up: the provider cannot be asked: requests to 127.0.0.1 are refused: "
    "the Internet does not route it"
)


@pytest_asyncio.fixture
async def named_provider(tmp_path: Path):
    """It has a name, and listens where pushes may go, 127.0.0.2, and where they may not."""
    async with PushProvider(tmp_path, hosts=("127.0.0.2", "127.0.0.1"), names=(NAME,)) as provider:
        provider.add_webhook_key()
        yield provider
        assert provider.faults == []


async def push_by_name(provider: PushProvider, *arguments: str) -> Result:
    settings = [*provider.settings, "--set", "push.allowed_addresses=127.0.0.2"]
    return await push("--webhook", f"https://{NAME}:{provider.port}/hook", *arguments, settings=settings)


async def test_a_name_whose_address_changes_leads_nowhere_else(named_provider, tmp_path: Path, monkeypatch):
    """What is judged is the address of the connection: there is no second look-up between the check and the use, and
    whoever looks the name up later gets an address that is refused."""
    for key, value in changing_name(tmp_path, NAME, "127.0.0.2", "127.0.0.1").items():
        monkeypatch.setenv(key, value)
    first = await push_by_name(named_provider)
    assert (first.status, first.lines) == (0, ["call: the provider has taken the push"])
    assert (tmp_path / "lookups").stat().st_size == 1
    assert named_provider.connected == ["127.0.0.2"]

    second = await push_by_name(named_provider)
    assert (second.status, second.lines) == (1, [REFUSED])
    assert (tmp_path / "lookups").stat().st_size == 2
    assert named_provider.connected == ["127.0.0.2"]


@pytest.mark.nightly
async def test_a_name_that_changes_between_two_attempts_is_refused(named_provider, tmp_path: Path, monkeypatch):
    """In one process, whose resolver keeps an answer for a minute."""
    for key, value in changing_name(tmp_path, NAME, "127.0.0.2", "127.0.0.1").items():
        monkeypatch.setenv(key, value)
    named_provider.steps.append(Answer(503, fields={"retry-after": "62"}))
    attempt = asyncio.ensure_future(push_by_name(named_provider, "--time", "120"))
    async with asyncio.timeout(20):
        while not named_provider.requests:
            await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    named_provider.end_connections()
    result = await attempt
    assert (result.status, result.lines) == (1, [REFUSED])
    assert (tmp_path / "lookups").stat().st_size == 2
    assert named_provider.connected == ["127.0.0.2"]


async def test_a_proxy_of_the_environment_is_not_used(provider: PushProvider, monkeypatch: pytest.MonkeyPatch):
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await push(*webhook(provider), settings=provider.settings)).status == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "https://", "https://user:secret@127.0.0.1/"])
async def test_urls_that_are_no_webhooks(provider: PushProvider, url: str):
    result = await push("--webhook", url, settings=provider.settings)
    assert result.status == 1
    assert "url" in result.errors or "the URL cannot be used" in result.lines[0]
    assert provider.connections == 0


async def test_a_provider_that_is_not_trusted_is_not_told_anything(provider: PushProvider):
    result = await push(*APPLE, settings=[*provider.settings, "--set", "push.authority_file=system"])
    assert result.status == 1 and "the server is not trusted" in result.lines[0]
    assert provider.requests == []


async def test_a_provider_that_nobody_serves(provider: PushProvider):
    settings = [*provider.settings, "--set", "push.apple_development_url=https://127.0.0.1:1"]
    result = await push(*APPLE, "--time", "2", settings=settings)
    assert result.status == 1
    assert "its time was over; before, no connection" in result.lines[0]


# A gateway that runs


def started(own_gateway, folder: Path, provider: PushProvider, *options: str, **variables: str):
    """A gateway whose pushes go to the provider, unless the options say otherwise, and who asks it as an operator."""
    own = own_gateway.configured(
        *configured(folder, ["alice", "bob"]), *provider.settings, *options, logs_events=False, variables=variables
    )
    return own, Admin(folder, 0)


def device_name(path: str) -> str:
    return path.rsplit("/", 1)[1]


async def tried(admin: Admin, path: str) -> Delivery:
    """Sends a push to a device, and waits for what becomes of it."""
    before = time.monotonic()
    answer = await asyncio.to_thread(admin.ask, "POST", f"/push-registrations/{device_name(path)}/test", {})
    assert answer.status == 200, answer.text
    return Delivery(answer.body["delivered"], answer.body["detail"], time.monotonic() - before)


@pytest.mark.parametrize("kind", ["apple", "google"])
async def test_a_key_that_changes_in_its_file_is_used_from_then_on(
    kind: str, provider: PushProvider, own_gateway, tmp_path: Path, peer
):
    """Firebase: of another project. Until its token is there, pushes go to the old one with the old token."""
    own, admin = await asyncio.to_thread(started, own_gateway, tmp_path, provider)
    alice = await peer("alice", registered=False, base=own.http)
    path = await register(alice, kind)
    for _ in range(2):
        assert (await tried(admin, path)).is_taken
    assert {request.key for request in provider.requests} == {0}

    provider.token_delay = 0.5
    if kind == "apple":
        provider.replace_apple_key()
    else:
        provider.replace_account("orbweaver-other")
    async with asyncio.timeout(15):
        while provider.requests[-1].key == 0:
            assert (await tried(admin, path)).is_taken
    provider.requests.clear()
    for _ in range(3):
        assert (await tried(admin, path)).is_taken
    assert {request.key for request in provider.requests} == {1}
    if kind == "google":
        assert {request.path for request in provider.requests} == {"/v1/projects/orbweaver-other/messages:send"}
        assert len(provider.token_requests) == 2


async def test_an_app_has_accounts_of_its_own(provider: PushProvider, own_gateway, tmp_path: Path, peer):
    """Two teams have two connections. Other accounts of an app, and an app that gets some, need no restart."""
    other = "com.example.other"
    provider.add_app(other, "TEAM222222", "KEY2222222", "project-2")
    setting = f"push.applications_folder={provider.apps}"
    own, admin = await asyncio.to_thread(started, own_gateway, tmp_path, provider, "--set", setting)
    alice = await peer("alice", registered=False, base=own.http)
    devices = []
    for number, bundle in enumerate((BUNDLE, other)):
        tokens = {"voipDeviceToken": f"ab0{number}", "standardDeviceToken": f"cd0{number}"}
        devices.append(await register(alice, "apple", f"apple{number}", bundleID=bundle, **tokens))
        devices.append(
            await register(alice, "google", f"google{number}", bundleID=bundle, deviceToken=f"token{number}")
        )

    async def push_to_all() -> tuple[list[str], list[str]]:
        """The topics of what APNs got, signed with the key of each app, and the projects of what Firebase got."""
        provider.requests.clear()
        for path in devices:
            delivery = await tried(admin, path)
            assert delivery.is_taken, delivery.sentence
        topics = [request.fields.get("apns-topic") for request in provider.requests]
        projects = [each.path.split("/")[3] for each in provider.requests if each.path.startswith("/v1/projects/")]
        return [topic for topic in topics if topic], projects

    topics = [f"{BUNDLE}.voip", f"{other}.voip"]
    for _ in range(2):
        assert await push_to_all() == (topics, [PROJECT, "project-2"])
    of_apple = {request.connection for request in provider.requests if "/3/device/" in request.path}
    assert len(of_apple) == 2
    assert len(provider.token_requests) == 2

    provider.add_app(other, "TEAM333333", "KEY3333333", "project-3")
    await asyncio.sleep(1.1)  # files are looked at once a second
    assert await push_to_all() == (topics, [PROJECT, "project-3"])
    provider.add_app(BUNDLE, "TEAM444444", "KEY4444444", "project-4")
    await asyncio.sleep(1.1)
    assert await push_to_all() == (topics, ["project-4", "project-3"])

    (provider.apps / f"{other}.json").write_text("no JSON")
    await asyncio.sleep(1.1)
    assert await push_to_all() == (topics, ["project-4", "project-3"])
    assert "accounts of an app cannot be used" in own.log_path.read_text()


async def test_each_environment_of_apple_has_one_connection_of_its_own(
    provider: PushProvider, own_gateway, tmp_path: Path, peer
):
    async with PushProvider(tmp_path, like=provider) as production:
        url = f"push.apple_production_url={production.url}"
        own, admin = await asyncio.to_thread(started, own_gateway, tmp_path, provider, "--set", url)
        alice = await peer("alice", registered=False, base=own.http)
        paths = []
        for token in ("ab", "cd"):
            tokens = {"voipDeviceToken": token, "standardDeviceToken": token + "00"}
            paths.append(await register(alice, "apple", token, isProduction=token == "ab", **tokens))
        for _ in range(3):
            deliveries = await asyncio.gather(*(tried(admin, path) for path in paths))
            assert all(delivery.is_taken for delivery in deliveries), deliveries
        assert [request.path for request in production.requests] == ["/3/device/ab"] * 3
        assert [request.path for request in provider.requests] == ["/3/device/cd"] * 3
        assert (production.connections, provider.connections) == (1, 1)
        assert production.faults == []


async def test_a_provider_that_does_not_answer_keeps_no_other_waiting(
    provider: PushProvider, own_gateway, tmp_path: Path, peer
):
    """APNs takes more pushes than may be in flight, and answers none."""
    async with PushProvider(tmp_path, like=provider) as apple:
        apple.every_step = Stall()
        urls = [f"push.apple_{environment}_url={apple.url}" for environment in ("production", "development")]
        options = [word for url in urls for word in ("--set", url)]
        own, admin = await asyncio.to_thread(
            started, own_gateway, tmp_path, provider, *options, "--set", "push.requests_in_flight=5"
        )
        bob, alice = [await peer(name, registered=False, base=own.http) for name in ("bob", "alice")]
        for number in range(20):
            tokens = {"voipDeviceToken": f"aa{number:04x}", "standardDeviceToken": f"bb{number:04x}"}
            await register(bob, "apple", f"phone{number}", service=["mwi"], **tokens)
        path = await register(alice, "google")
        count = {"unheard": 1, "heard": 0}
        noted = await asyncio.to_thread(admin.ask, "PUT", "/users/bob@dev.local/voicemail", count)
        assert noted.status == 200, noted.text
        async with asyncio.timeout(10):
            # APNs allows one request until the first one was answered.
            while not apple.requests:
                await asyncio.sleep(0.01)
        assert await asyncio.to_thread(own.metric, "orbweaver_pushes_active") == 20
        for _ in range(5):
            delivery = await tried(admin, path)
            assert delivery.is_taken and delivery.seconds < 2, delivery
        assert await asyncio.to_thread(own.metric, "orbweaver_pushes_active") == 20
        assert apple.taken == [] and apple.faults == []


async def test_no_secret_is_shown(provider: PushProvider):
    arguments = ("--set", "log.level=trace")
    provider.every_step = reason("BadTopic", 400)
    for device in (APPLE, GOOGLE, webhook(provider)):
        result = await push(*device, settings=[*provider.settings, *arguments])
        text = "\n".join([*result.lines, result.errors])
        assert "push ended" in result.errors
        for secret in ("ab12cd", "ef34", "token:of-a-device", "whsec_", "PRIVATE", "Bearer", "eyJ", "ya29"):
            assert secret not in text, secret


async def test_the_command_says_what_it_needs(provider: PushProvider):
    for arguments, words in [
        ((), "name one device"),
        ((*APPLE, *GOOGLE), "name one device"),
        (("--apple-voip-token", "xyz"), "the value of voipDeviceToken cannot be used"),
        (("--apple-voip-token", "ab", "--set", "push.apple_team=none"), "are given together"),
    ]:
        result = await push(*arguments, settings=provider.settings)
        if "--set" in arguments:
            result = await push(*arguments[:2], settings=[*provider.settings, *arguments[2:]])
        assert result.status == 1 and words in result.errors, (arguments, result.errors)
    result = await push(*APPLE, settings=[])
    assert result.lines == ["call: the push was given up: push to this provider is not configured for this app"]


async def test_ten_thousand_pushes_at_once_take_bounded_memory(provider: PushProvider):
    few = await push(*APPLE, "--count", "100", settings=provider.settings)
    many = await push(*APPLE, "--count", "10000", "--time", "240", settings=provider.settings)
    assert few.status == many.status == 0
    assert len(provider.taken) == len(set(provider.taken)) == 10_100
    # Each has a task, a message and a place in the queue; none has a transfer of its own while it waits.
    assert (many.memory - few.memory) / 10_000 < 6_000, (few.memory, many.memory)

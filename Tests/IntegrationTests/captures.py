"""What parties send and are told in a scenario, written so that two runs can be compared: but for ids, times, keys and
ports."""
import json
import re

from party import Party
from peers.spidr import Answer

_RANDOM = {
    "origin": r"(?<=o=- )\d+",
    "ufrag": r"(?<=a=ice-ufrag:)\S+|(?<= ufrag )\S+",
    "password": r"(?<=a=ice-pwd:)\S+",
    "fingerprint": r"(?<=a=fingerprint:sha-256 )[0-9A-F:]+",
    "cname": r"(?<= cname:)\S+",
    "stream": r"(?<=msid:)(?!- )\S+ \S+",
    "ssrc": r"(?<=a=ssrc:)\d+|(?<=a=ssrc-group:FID )\d+ \d+",
    "port": r"(?<=m=audio )(?![09] )\d+|(?<=m=video )(?![09] )\d+|(?<=127\.0\.0\.1 )\d+(?= typ)",
}
"""What is random in a line of a description; it becomes `{ufrag-1}`, … in the order of appearance in a capture."""
_OF_THE_CHANNEL = ("eventId", "time", "notificationChannelId")


class RecordedParty(Party):
    """Keeps what it asks of its calls, and how it is answered; what it is told is in `heard`."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.asked: list[tuple[str, dict]] = []
        """With the session that each is about."""

    async def request(self, method: str, path: str, body: object = None, **options) -> Answer:
        answer = await super().request(method, path, body, **options)
        if path.startswith(("/callControl", "/calldisposition")) and method != "GET":
            content = json.loads(answer.text)
            exchange = {"request": f"{method} {path}", "body": body, "status": answer.status, "answer": content}
            self.asked.append((_session(path, content, body), exchange))
        return answer


def written(parties: list[RecordedParty]) -> str:
    """Each device's calls in the order in which it met them: what it asked of each, and what it was told.

    Not in one order: what comes on two connections, or from two calls, may overtake each other."""
    names: dict[tuple[str, str], str] = {}

    def named(kind: str, text: str) -> str:
        count = sum(each == kind for each, _ in names)
        return names.setdefault((kind, text), f"{{{kind}-{count + 1}}}")

    def plain(value: object) -> object:
        match value:
            case dict():
                return {name: plain(each) for name, each in value.items() if name not in _OF_THE_CHANNEL}
            case list():
                return [plain(each) for each in value]
            case str() if "\r\n" in value:
                return [_line(line, named) for line in value.split("\r\n")[:-1]]
            case str():
                return re.sub(
                    "|".join(map(re.escape, sessions)) or "(?!)",
                    lambda found: named("session", found[0]),
                    _line(value, named),
                )
        return value

    script, sessions = [], []
    for party in parties:
        own = list(
            dict.fromkeys(
                [session for session, _ in party.asked] + [each.session for each in party.heard if each.session]
            )
        )
        sessions += own
    for party in parties:
        calls = dict.fromkeys(
            [session for session, _ in party.asked] + [each.session for each in party.heard if each.session]
        )
        for session in calls:
            asked = [plain(exchange) for about, exchange in party.asked if about == session]
            told = [plain(each.message) for each in party.heard if each.session == session]
            script.append({"device": f"{party.name} ({party.dialect})", "asked": asked, "told": told})
    return json.dumps(script, indent=1, ensure_ascii=False) + "\n"


def _line(line: str, named) -> str:
    for kind, pattern in _RANDOM.items():
        line = re.sub(pattern, lambda found, kind=kind: named(kind, found[0]), line)
    return line


def _session(path: str, *bodies: dict | None) -> str:
    """The one in the path, or in the answer, or in the request."""
    if found := re.search(r"/callSessions/([^/?]+)", path):
        return found[1]
    inner = [next(iter(body.values())) for body in bodies if body]
    return next((each["sessionData"] for each in inner if isinstance(each, dict) and "sessionData" in each), "")

"""What documents say of tests, of the code and of the wire is true."""
import ast
import json
import re
from pathlib import Path

import pytest
import yaml

from peers.gateway import REPOSITORY

TESTS = REPOSITORY / "Tests/IntegrationTests"
THREATS = REPOSITORY / "docs/threats.md"
PROTOCOL = REPOSITORY / "docs/protocols/spidr.md"


def rows(columns: int) -> list[list[str]]:
    """The cells of the tables that are so wide, without their heads."""
    lines = [line for line in THREATS.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if len(row) == columns and row[0] not in ("Attack", "#")]


def known() -> str:
    """All tests, and the names of what holds them."""
    files = [
        path
        for path in (REPOSITORY / "Tests").rglob("*")
        if path.suffix in (".swift", ".py") and "__pycache__" not in path.parts
    ]
    names = [part for path in files for part in (path.name, path.stem, *path.relative_to(REPOSITORY).parts)]
    return "\n".join([*names, *(path.read_text() for path in files if path != Path(__file__))])


def test_every_test_that_a_defence_names_is_there():
    tests = known()
    named = [
        name for row in rows(5) + rows(4) for name in re.findall(r"`([^`]+)`", row[-1]) if not name.startswith("docs/")
    ]
    assert len(named) > 150
    assert [name for name in named if name not in tests] == []


def test_of_54_named_attacks_at_least_50_are_shown_to_fail():
    attacks = [row for row in rows(4) if row[0].isdigit()]
    assert [int(row[0]) for row in attacks] == list(range(1, 55))
    assert sum("`" in row[3] and not row[3].startswith("documented") for row in attacks) >= 50


# docs/interop.md and Tests/IntegrationTests/README.md

INTEROP, README = REPOSITORY / "docs/interop.md", TESTS / "README.md"
STACKS = {"wrtc": "Wrtc", "Pion": "Pion", "GStreamer": "GStreamer", "aiortc": "None"}
"""What tables of scenarios call the stacks that have columns."""
CITED = re.compile(
    r"`(test_\w+\.py)`|`[^`]*`"  # a file, or other code
    r"|(?<!\w)([A-Z])(?![\w.-])(?: ([a-z][a-z0-9]*)(?![\w…]))?"  # the letter of a file, and a name of one word
    r"|\[([a-z_]+)\](?!\()"  # a row of a test
    r"|(\w*[_…][\w…]*)"  # a name of several words, which may be cut
)


def blocks(document: Path) -> list[list[str]]:
    """The cells of each row of a table, the first of which names it; or a paragraph alone."""
    text = re.sub(r"^( *)```.*?^\1```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    paragraphs = re.split(r"\n\s*\n|\n(?=\|)", text)
    return [[cell.strip() for cell in each.split("|")[1:-1]] if each.startswith("|") else [each] for each in paragraphs]


def citations(document: Path) -> list[tuple[str, str, str]]:
    """What a document names, each with the file that it belongs to (none is empty) and the head of its column."""
    letters = dict(re.findall(r"\*\*([A-Z])\*\* (?:is )?`(test_\w+\.py)`", document.read_text()))
    cited, head = [], []
    for block in blocks(document):
        head = [""] if len(block) == 1 else block if len(block) != len(head) else head
        file = ""
        for column, cell in enumerate(block):
            for named, letter, word, row, name in CITED.findall(cell):
                if letter and (len(block) == 1 or not column):
                    continue
                file = named or letters.get(letter, file)
                cited += [(file, each, head[column]) for each in (word, row and f"[{row}]", name) if each]
    return cited


def contents(file: str) -> tuple[list[str], list[list[str]]]:
    """The names of its tests, and the rows of its tables of scenarios: a scenario and its stacks."""
    tree = ast.parse((TESTS / file).read_text())
    tests = [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_")
    ]
    decorators = [each for test in tests for each in test.decorator_list if isinstance(each, ast.Call)]
    scenarios = [row for each in decorators if ast.unparse(each.func) == "table" for row in each.args]
    return [each.name.removeprefix("test_") for each in tests], [
        [ast.unparse(part) for part in row.elts] for row in scenarios
    ]


def is_there(file: str, name: str, head: str) -> bool:
    if not (TESTS / file).is_file():
        return False
    names, scenarios = contents(file)
    if name.startswith("["):
        return any(name == f"[{scenario}]" and STACKS.get(head) in stacks for scenario, *stacks in scenarios)
    pattern = ".*".join(map(re.escape, name.split("…")))
    return any(re.fullmatch(pattern, each) for each in names)


@pytest.mark.parametrize(("document", "least"), [(INTEROP, 100), (README, 30)], ids=["interop", "tests"])
def test_every_test_that_is_cited_is_there(document, least):
    cited = citations(document)
    assert len(cited) > least
    assert [each for each in cited if not is_there(*each)] == []


def test_everything_that_is_called_shown_cites_a_test():
    shown = [(row[0], cell) for row in blocks(INTEROP) for cell in row[1:] if "●" in cell]
    assert len(shown) > 100
    assert [each for each in shown if not any(any(found[2:]) for found in CITED.findall(each[1]))] == []


def test_every_file_of_tests_is_in_the_list():
    listed = README.read_text()
    assert [each.name for each in TESTS.glob("test_*.py") if f"`{each.name}`" not in listed] == []


# docs/protocols/spidr.md

CITATION = re.compile(r"spidr-wire (§[\d.]*\d(?:\s*(?:,|–|and)\s*§[\d.]*\d)*)")
"""`spidr-wire §6.3`, and more after it: `§6.3, §6.6`, `§6–§8`."""


def sections() -> dict[str, str]:
    """The text of each section by its number; rules of §12 that stand in a table count as sections."""
    text = PROTOCOL.read_text()
    parts = re.split(r"^##+ ([\d.]+) ", text, flags=re.MULTILINE)
    rules = re.findall(r"^\| (12\.\d+) \| (.*)", text, flags=re.MULTILINE)
    return dict(rules) | dict(zip(parts[1::2], parts[2::2]))


def cited() -> dict[str, str]:
    """Each section that something cites, with one place where it does."""
    places = {}
    for folder in ("Sources", "Tests", "openapi", "docs"):
        for path in (REPOSITORY / folder).rglob("*"):
            if (
                path.suffix not in (".swift", ".py", ".js", ".yaml", ".md")
                or "__pycache__" in path.parts
                or path == Path(__file__)
            ):
                continue
            text = path.read_text()
            numbers = [number for found in CITATION.findall(text) for number in re.findall(r"§([\d.]*\d)", found)]
            if path.name == "call-states.md":  # which cites in brackets: [8.5, 12.7]
                numbers += re.findall(r"\d+\.\d+", " ".join(re.findall(r"\[(\d+\.\d+(?:, \d+\.\d+)*)\](?!\()", text)))
            places |= dict.fromkeys(numbers, str(path.relative_to(REPOSITORY)))
    return places


def table(number: str, columns: int) -> list[list[str]]:
    """The rows of a section's tables that are so wide, without heads."""
    lines = [line for line in sections()[number].splitlines() if line.startswith("| ")]
    return [row for row in ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines) if len(row) == columns]


def test_every_section_of_the_protocol_that_is_cited_is_there():
    known, places = sections(), cited()
    assert len(places) > 50
    assert {number: place for number, place in places.items() if number not in known} == {}


def test_every_fact_of_a_call_is_described():
    source = (REPOSITORY / "Sources/Core/CallControl/Events/CallEvent.swift").read_text()
    facts = set(
        re.findall(
            r"^        case (\w+)", source.split("package enum Fact", 1)[1].split("\n    }\n", 1)[0], re.MULTILINE
        )
    )
    section = (REPOSITORY / "docs/call-events.md").read_text().split("\n## Facts\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section.split("\n| Value |")[0], re.MULTILINE)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(facts) > 30
    assert facts == described


def examples() -> list[object]:
    """The JSON values of the protocol's examples; a block may hold several, one after the other."""
    values = []
    for block in re.findall(r"^```json\n(.*?)^```", PROTOCOL.read_text(), flags=re.MULTILINE | re.DOTALL):
        while block := block.strip():
            value, end = json.JSONDecoder().raw_decode(block)
            values.append(value)
            block = block[end:]
    return values


def schema(example: dict) -> str:
    """What describes it in openapi/orbweaver.yaml: `FooEnvelope` of what is wrapped in `foo`, `FooError` of a refusal
    in `fooResponse`."""
    (wrapper,) = example.keys() if len(example) == 1 else [""]
    if "code" in example.get(wrapper, example):
        return wrapper[:1].upper() + wrapper[1:].removesuffix("Response") + "Error" if wrapper else "PlainError"
    if example == {"subscribeResponse": {"statusCode": 0}}:
        return "UnsubscribeResponseEnvelope"
    if "bundleID" in example:  # registrations for push have no wrapper
        return "ApplePushDeviceRequest"
    return wrapper[:1].upper() + wrapper[1:] + "Envelope"


def test_the_examples_of_the_protocol_are_as_described(contract):
    values = examples()
    assert len(values) > 30
    for value in values:
        contract.check_value(value, schema(value))


def test_the_event_types_of_the_protocol_are_those_of_the_description(contract):
    message = contract.document["components"]["schemas"]["NotificationMessageEnvelope"]["properties"][
        "notificationMessage"
    ]
    named = [name for row in table("5.3", 4) for name in re.findall(r"`([\w:-]+)`", row[0]) if name != "eventType"]
    assert sorted(named) == sorted(message["properties"]["eventType"]["enum"])


def test_the_status_codes_of_the_protocol_are_those_of_the_errors():
    errors = re.findall(
        r"^\| `[\w.]+` \| (\d+) \| (\d+) \|", (REPOSITORY / "docs/errors.md").read_text(), flags=re.MULTILINE
    )
    sent = {(int(http), int(code)) for http, code in errors}
    assert len(sent) > 20
    listed = {int(cell) for row in table("1.6", 4) for cell in row[::2] if cell.isdigit()}
    assert listed == {code for _, code in sent} | {0, 2, 49, 52}  # in answers that are none, or notifications
    pairs = set()
    for row in table("1.4", 3):
        https, codes = ([int(number) for number in re.findall(r"\d+", cell)] for cell in row[:2])
        assert all(any((http, code) in sent for http in https) for code in codes), row
        pairs |= {(http, code) for http in https for code in codes}
    assert sent <= pairs


def test_the_settings_and_errors_that_the_protocol_names_are_there(contract):
    sample = re.search(
        r"^```yaml\n(.*?)^```", (REPOSITORY / "docs/configuration.md").read_text(), flags=re.MULTILINE | re.DOTALL
    )
    settings = {f"{section}.{key}" for section, keys in yaml.safe_load(sample[1]).items() for key in keys}
    errors = set(contract.document["components"]["schemas"]["ErrorCode"]["enum"])
    named = re.findall(r"`([a-z]+\.[a-z_]+)(?:: \w+)?`", PROTOCOL.read_text())
    assert len(named) > 25
    assert [name for name in named if name not in settings | errors] == []


# All documents


def documents() -> list[Path]:
    return [
        *REPOSITORY.glob("*.md"),
        *(REPOSITORY / "docs").rglob("*.md"),
        *(REPOSITORY / "Tests/IntegrationTests").glob("*.md"),
    ]


def anchors(document: Path) -> set[str]:
    """What a link can name in it: its headings, in lower case, without punctuation, and with hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_every_link_between_documents_leads_somewhere():
    links = [
        (document, *link)
        for document in documents()
        for link in re.findall(r"\]\(([\w./+-]*)(?:#([^)]*))?\)", document.read_text())
    ]
    assert len(links) > 50
    broken = []
    for document, path, anchor in links:
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or anchor and anchor not in anchors(target):
            broken.append(f"{document.relative_to(REPOSITORY)}: {path}#{anchor}")
    assert broken == []


def test_every_file_of_tests_that_a_document_names_is_there():
    named = {
        name for document in documents() for name in re.findall(r"\btest_\w+\.py\b|`\w+Tests`", document.read_text())
    }
    files = {path.name for path in (REPOSITORY / "Tests").rglob("*")}
    assert len(named) > 60
    assert [name for name in named if not {name, name.strip("`"), name.strip("`") + ".swift"} & files] == []


def test_every_file_that_contributing_names_is_there():
    named = re.findall(
        r"`((?:Sources|Tests|scripts|docs|fixtures|openapi)/[\w./+-]*)", (REPOSITORY / "CONTRIBUTING.md").read_text()
    )
    assert len(named) > 50
    assert [name for name in named if not (REPOSITORY / name).exists()] == []

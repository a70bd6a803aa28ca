"""Commands that the documents print, taken out of them to be run."""
import json
import re

from .gateway import REPOSITORY


def shell_blocks(path: str) -> list[str]:
    """What stands in the blocks marked `sh`, in their order."""
    return re.findall(r"^```sh\n(.*?)^```$", (REPOSITORY / path).read_text(), re.MULTILINE | re.DOTALL)


def block_with(path: str, part: str) -> str:
    """The one block that has this in it."""
    found = [block for block in shell_blocks(path) if part in block]
    assert len(found) == 1, f"{len(found)} blocks of {path} have {part!r}"
    return found[0]


def python_block(path: str) -> str:
    """What stands in its one block marked `python`."""
    (block,) = re.findall(r"^```python\n(.*?)^```$", (REPOSITORY / path).read_text(), re.MULTILINE | re.DOTALL)
    return block


def changed(text: str, **changes: str) -> str:
    """`a="b"` is written as `changed(text, **{"a": "b"})`: what is to be changed must be there."""
    for old, new in changes.items():
        assert old in text, f"{old!r} is not in:\n{text}"
        text = text.replace(old, new)
    return text


def inline_code(path: str) -> list[str]:
    """What stands in single backticks within sentences and tables, in its order; breaks of lines are spaces."""
    text = re.sub(r"^```.*?^```$", "", (REPOSITORY / path).read_text(), flags=re.MULTILINE | re.DOTALL)
    return [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", text)]


def inline_commands(path: str) -> list[str]:
    """Those of them that begin as something to type does, a program or an option of one; each once. Programs of
    `examples/` are none."""
    begins = re.compile(r"(?:orbweaver|curl|pip|python3?) |scripts/|--\w")
    return list(dict.fromkeys(filter(begins.match, inline_code(path))))


def indented_requests(path: str) -> list[tuple[str, str, str]]:
    """Method, path and what stands behind it, such as a body, of each indented line that is a request. A line that is
    indented further goes on with it."""
    request = r"^    (GET|POST|PUT|PATCH|DELETE) (/(?:\{[^}\n]*\}|\S)+)(?: +(.*(?:\n {20,}.*)*))?$"
    return re.findall(request, (REPOSITORY / path).read_text(), re.MULTILINE)


def indented_objects(path: str) -> list[dict]:
    """The indented lines that are a JSON object."""
    lines = re.findall(r'^    (\{"\w+": .*\})$', (REPOSITORY / path).read_text(), re.MULTILINE)
    return [json.loads(each) for each in lines]

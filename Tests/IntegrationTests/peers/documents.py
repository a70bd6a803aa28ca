"""Commands that the documents print, taken out of them to be run."""
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

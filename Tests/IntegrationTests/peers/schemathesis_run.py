"""schemathesis as a command, held to a run in which every phase ended and links were followed."""
import os
import re
import subprocess
import sys
from pathlib import Path

# What a description promises. Not `ignored_auth`: wrong passwords in bulk meet the rate limit, which has tests of its
# own.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,response_headers_conformance"
)

PHASES = {"examples": "Examples", "coverage": "Coverage", "fuzzing": "Fuzzing", "stateful": "Stateful"}
"""The description's examples; its keywords at and beyond their limits; chance; requests that follow from answers, by
`links`."""


def run_schemathesis(
    folder: Path, report: Path, description: str, configuration: str, base: str, *arguments: str, hooks: str,
    examples: int, seconds: str, has_examples: bool = True, **variables: str,
) -> str:  # fmt: skip
    """Runs all phases; returns what schemathesis has said, which is also left in `report`.

    `hooks`: a module of this package. `has_examples`: whether there are any in the description. `seconds`: for each
    phase. `variables`: for the hooks."""
    names = {"schemathesis.toml": configuration, "openapi.json": description}
    for name, text in names.items():
        (folder / name).write_text(text)
    command = [
        Path(sys.executable).with_name("schemathesis"), "--config-file", folder / "schemathesis.toml",
        "run", folder / "openapi.json", "--url", base, *arguments,
        "--checks", CHECKS, "--phases", ",".join(PHASES), "--max-time", seconds, "--max-examples", examples,
        "--seed", "20", "--suppress-health-check", "all", "--continue-on-failure", "--no-color",
    ]  # fmt: skip
    ended = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=folder, timeout=float(seconds) * 5 + 120,
        env=os.environ | variables | {
            "SCHEMATHESIS_HOOKS": f"peers.{hooks}", "PYTHONPATH": str(Path(__file__).parents[1]),
        },
    )  # fmt: skip
    said = ended.stdout + ended.stderr
    report.write_text(said)
    assert ended.returncode == 0, ended.stdout[-8_000:] + ended.stderr[-2_000:]
    for phase in PHASES.values():
        if has_examples or phase != "Examples":
            assert re.search(rf"✅ +{phase}", said), f"{phase} did not run to its end:\n{said[-3_000:]}"
    followed = re.search(r"API Links: +(\d+) covered", said)
    assert followed and int(followed[1]) > 0, f"no answer led to another request:\n{said[-3_000:]}"
    return said

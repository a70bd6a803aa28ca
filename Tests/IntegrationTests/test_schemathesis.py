"""Schemathesis makes up requests from openapi/orbweaver.yaml; none may break the server or the description."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

from peers.gateway import REPOSITORY

# What a description promises. Not `ignored_auth`: wrong passwords in bulk meet the rate limit, which has tests of its own.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance"
SECONDS = os.environ.get("ORBWEAVER_SCHEMATHESIS_SECONDS", "75")

# Requests below the authenticated user's own path reach further than 403.
CONFIGURATION = """
[parameters]
"path.user" = "alice@dev.local"
"""


def test_no_made_up_request_breaks_the_server_or_the_description(own_gateway, artifacts, tmp_path):
    own = own_gateway()
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    program = Path(sys.executable).with_name("schemathesis")
    command = [
        program if program.exists() else shutil.which("schemathesis"), "--config-file", tmp_path / "schemathesis.toml",
        "run", REPOSITORY / "openapi/orbweaver.yaml", "--url", own.http, "--auth", "alice@dev.local:dev",
        "--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--max-time", SECONDS, "--max-examples", "60",
        "--seed", "20", "--suppress-health-check", "all", "--continue-on-failure", "--no-color",
    ]  # fmt: skip
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=tmp_path, timeout=float(SECONDS) * 5 + 120)
    (artifacts / "schemathesis.txt").write_text(ended.stdout + ended.stderr)
    assert ended.returncode == 0, ended.stdout[-8_000:] + ended.stderr[-2_000:]
    assert own.readiness() == 200
    own.stop()

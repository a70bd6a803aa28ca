"""What the TLS port agrees to, held against what Mozilla recommends for servers that meet all kinds of clients."""
import subprocess
from pathlib import Path

import pytest
from sslyze import Scanner, ServerNetworkLocation, ServerScanRequest
from sslyze.mozilla_tls_profile.tls_config_checker import (
    MozillaTlsConfiguration,
    ServerNotCompliantWithTlsConfiguration,
    TlsConfigurationEnum,
    check_server_against_tls_configuration,
)

from peers.gateway import Gateway, free_ports, write_configuration

KEYS = {"ecdsa": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], "rsa": ["-newkey", "rsa:2048"]}
"""Which key a certificate has decides which suites of TLS 1.2 a server can offer at all."""

OF_THE_CERTIFICATE = {"certificate_path_validation"}
"""Not looked at: the test signs its certificate by itself, and nobody has reason to trust it."""


@pytest.fixture(params=KEYS)
def tls_gateway(request, tmp_path: Path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-days", "90",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", *KEYS[request.param],
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    plain = free_ports(1)
    options = write_configuration(
        tmp_path, tls={"certificate": certificate, "key": key}, listen={"host": "127.0.0.1", "plain_port": plain},
    )  # fmt: skip
    port, media = free_ports(1), free_ports(1)
    gateway = Gateway(
        arguments=[
            "serve",
            *options,
            "--https-port",
            str(port),
            "--media-port",
            str(media),
            "--set",
            "media.workers=1",
        ],
        http_port=plain,
    )
    gateway.https_port = port
    gateway.start()
    yield gateway
    gateway.stop()
    gateway.discard()


def test_the_tls_port_is_what_mozilla_calls_intermediate(tls_gateway):
    scanner = Scanner()
    scanner.queue_scans([ServerScanRequest(ServerNetworkLocation("localhost", tls_gateway.https_port, "127.0.0.1"))])
    (result,) = scanner.get_results()
    scan = result.scan_result
    assert scan, result.connectivity_error_trace
    try:
        check_server_against_tls_configuration(
            result, MozillaTlsConfiguration.get(TlsConfigurationEnum.MOZILLA_INTERMEDIATE)
        )
        issues = {}
    except ServerNotCompliantWithTlsConfiguration as error:
        issues = error.issues
    assert set(issues) == OF_THE_CERTIFICATE, issues
    # What is left can be used: the check above would also be content with a port that agrees to nothing.
    suites = {suite.cipher_suite.name for suite in scan.tls_1_2_cipher_suites.result.accepted_cipher_suites}
    assert len(suites) == 3 and all(
        "_ECDHE_" in name and ("_GCM_" in name or "CHACHA20" in name) for name in suites
    ), suites
    assert len(scan.tls_1_3_cipher_suites.result.accepted_cipher_suites) == 3
    assert {"X25519", "secp256r1"} <= {curve.name for curve in scan.elliptic_curves.result.supported_curves}
    old = (
        scan.ssl_2_0_cipher_suites,
        scan.ssl_3_0_cipher_suites,
        scan.tls_1_0_cipher_suites,
        scan.tls_1_1_cipher_suites,
    )
    assert not any(version.result.accepted_cipher_suites for version in old)

"""Whether a client believes a certificate, in Go's words (recorded for the same situations, go_net tls/…)."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.objects.x509 import CertificateProblem, certificates, distrust
from tests.webhooks import HOST, pem, read

NOW_MS = 1_767_603_600_000
PREFIX = "tls: failed to verify certificate: x509: "


@pytest.mark.parametrize(
    ("name", "host", "root", "problem"),
    [
        ("good", HOST, "ca", ""),
        ("wild", HOST, "ca", ""),
        (
            "expired",
            HOST,
            "ca",
            "certificate has expired or is not yet valid: current time 2026-01-05T09:00:00Z is after 2025-12-31T00:00:00Z",
        ),
        (
            "early",
            HOST,
            "ca",
            "certificate has expired or is not yet valid: current time 2026-01-05T09:00:00Z is before 2027-01-01T00:00:00Z",
        ),
        (
            "wrong",
            HOST,
            "ca",
            f"certificate is valid for guard.other.svc, guard.other.svc.cluster.local, not {HOST}",
        ),
        ("wild", "a.b.hooks.svc", "ca", "certificate is valid for *.hooks.svc, not a.b.hooks.svc"),
        ("legacy", HOST, "ca", "certificate relies on legacy Common Name field, use SANs instead"),
        ("nameless", HOST, "ca", f"certificate is not valid for any names, but wanted to match {HOST}"),
        (
            "good",
            "10.96.44.7",
            "ca",
            "cannot validate certificate for 10.96.44.7 because it doesn't contain any IP SANs",
        ),
        ("address", "10.96.44.7", "ca", "certificate is valid for 10.96.0.1, 127.0.0.1, not 10.96.44.7"),
        ("address", "10.96.0.1", "ca", ""),
        ("client", HOST, "ca", "certificate specifies an incompatible key usage"),
        (
            "good",
            HOST,
            "other",
            'certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while '
            'trying to verify candidate authority certificate "webhook-ca")',
        ),
        ("good", HOST, "wrong", "certificate signed by unknown authority"),
    ],
)
def test_certificates_are_believed_or_not_for_go_s_reasons(name, host, root, problem):
    assert distrust(read(name), read(root), host, NOW_MS) == (PREFIX + problem if problem else "")


def test_a_certificate_in_the_pool_needs_no_authority():
    assert distrust(read("good"), read("good"), HOST, NOW_MS) == ""
    assert distrust(read("good"), (), HOST, NOW_MS) == PREFIX + "certificate signed by unknown authority"


def test_the_parts_of_a_certificate_are_those_openssl_put_in():
    (good,) = read("good")
    assert good.common_name == HOST
    assert good.dns_names == (HOST, f"{HOST}.cluster.local")
    (authority,) = read("ca")
    assert authority.is_authority
    assert authority.key_id == good.authority_id
    assert certificates("no certificate at all") == ()


@given(st.integers(0, 400), st.integers(0, 255))
def test_a_broken_certificate_is_refused_and_nothing_else_happens(at, byte):
    lines = pem("good").splitlines()
    body = "".join(lines[1:-1])
    encoded = bytearray(base64.b64decode(body))
    encoded[at % len(encoded)] = byte
    text = f"{lines[0]}\n{base64.b64encode(bytes(encoded)).decode()}\n{lines[-1]}\n"
    try:
        read_back = certificates(text)
    except CertificateProblem as problem:
        read_back = str(problem)
    assert read_back == "x509: malformed certificate" or len(read_back) == 1

"""cert-manager's loops over objects: what is issued, renewed, refused, and what happens when it does not run.

Source: github.com/cert-manager/cert-manager 1.20, as named in env_core/controllers/_certmanager_*.
"""

from __future__ import annotations

import base64

import pytest

from env_core.cluster import Cluster
from env_core.objects.x509 import certificates, distrust, is_key_of
from env_core.objects.x509_keys import read
from env_core.sim.timefmt import parse_ms
from tests.controllers.certmanager_world import (
    CERTIFICATES,
    DAY_MS,
    HOUR_MS,
    ISSUERS,
    REQUESTS,
    build,
    get,
    issuer,
    make,
    row,
    text,
    told,
    wish,
)


@pytest.fixture
def cluster() -> Cluster:
    return build()


def test_a_certificate_is_issued_into_its_secret(cluster):
    issuer(cluster)
    make(
        cluster, "Certificate", "web", wish(commonName="web.example.com", subject={"organizations": ["shop"]})
    )
    found = get(cluster, CERTIFICATES, "web")
    assert row(found, "Ready") == ("True", "Ready", "Certificate is up to date and has not expired")
    assert row(found, "Issuing") is None
    assert found["status"]["revision"] == 1
    assert "nextPrivateKeySecretName" not in found["status"]
    secret = get(cluster, "secrets", "web-tls")
    assert secret["type"] == "kubernetes.io/tls"
    assert secret["metadata"]["annotations"] == {
        "cert-manager.io/alt-names": "web.example.com",
        "cert-manager.io/certificate-name": "web",
        "cert-manager.io/common-name": "web.example.com",
        "cert-manager.io/ip-sans": "",
        "cert-manager.io/issuer-group": "",
        "cert-manager.io/issuer-kind": "",
        "cert-manager.io/issuer-name": "own",
        "cert-manager.io/subject-organizations": "shop",
        "cert-manager.io/uri-sans": "",
    }
    issued = certificates(text(secret, "tls.crt"))[0]
    assert is_key_of(text(secret, "tls.key"), issued)
    assert text(secret, "ca.crt") == text(secret, "tls.crt")
    assert issued.not_after_ms - issued.not_before_ms == 90 * DAY_MS
    assert parse_ms(found["status"]["notAfter"]) == issued.not_after_ms
    assert parse_ms(found["status"]["renewalTime"]) == issued.not_after_ms - 30 * DAY_MS
    assert distrust((issued,), (issued,), "web.example.com", cluster.now_ms) == ""
    # Nothing is left of the issuance but its request.
    names = {each["metadata"]["name"] for each in cluster.store.list("secrets", "default")}
    assert names == {"web-tls"}


def test_the_events_name_each_loop_with_its_words(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    found = told(cluster, "web")
    names = [message.split('"')[1] for _, reason, message in found if reason == "Generated"]
    assert len(names) == 1
    assert names[0].startswith("web-")
    assert set(found) == {
        ("cert-manager-certificates-trigger", "Issuing", "Issuing certificate as Secret does not exist"),
        (
            "cert-manager-certificates-key-manager",
            "Generated",
            f'Stored new private key in temporary Secret resource "{names[0]}"',
        ),
        (
            "cert-manager-certificates-request-manager",
            "Requested",
            'Created new CertificateRequest resource "web-1"',
        ),
        ("cert-manager-certificates-issuing", "Issuing", "The certificate has been successfully issued"),
    }
    request = get(cluster, REQUESTS, "web-1")
    assert row(request, "Approved") == (
        "True",
        "cert-manager.io",
        "Certificate request has been approved by cert-manager.io",
    )
    assert row(request, "Ready") == ("True", "Issued", "Certificate fetched from issuer successfully")


def test_a_certificate_is_renewed_after_two_thirds_of_its_life(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish(duration="3h"))
    first = get(cluster, CERTIFICATES, "web")
    before = get(cluster, "secrets", "web-tls")
    cluster.advance(2 * HOUR_MS - 60_000)
    assert get(cluster, CERTIFICATES, "web")["status"]["revision"] == 1
    cluster.advance(120_000)
    found = get(cluster, CERTIFICATES, "web")
    after = get(cluster, "secrets", "web-tls")
    assert found["status"]["revision"] == 2
    assert text(after, "tls.crt") != text(before, "tls.crt")
    assert text(after, "tls.key") != text(before, "tls.key")
    planned = first["status"]["renewalTime"].replace("T", " ").replace("Z", " +0000 UTC")
    assert ("Issuing", f"Renewing certificate as renewal was scheduled at {planned}") in [
        each[1:] for each in told(cluster, "web")
    ]
    assert row(found, "Ready")[0] == "True"


def test_a_key_is_kept_where_the_policy_says_so(cluster):
    issuer(cluster)
    key = {"rotationPolicy": "Never", "algorithm": "ECDSA", "size": 384}
    make(cluster, "Certificate", "web", wish(duration="3h", privateKey=key))
    before = get(cluster, "secrets", "web-tls")
    assert read(text(before, "tls.key")).bits == 384
    cluster.advance(2 * HOUR_MS + 60_000)
    after = get(cluster, "secrets", "web-tls")
    assert text(after, "tls.key") == text(before, "tls.key")
    assert text(after, "tls.crt") != text(before, "tls.crt")
    assert ("Reused", 'Reusing private key stored in existing Secret resource "web-tls"') in [
        each[1:] for each in told(cluster, "web")
    ]


def test_a_secret_that_is_deleted_or_broken_is_made_anew(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    cluster.client().delete("secrets", "default", "web-tls")
    cluster.advance(2_000)
    assert get(cluster, CERTIFICATES, "web")["status"]["revision"] == 2
    patch = {"data": {"tls.crt": base64.b64encode(b"nonsense").decode()}}
    cluster.client().patch("secrets", "default", "web-tls", patch)
    cluster.advance(2_000)
    found = get(cluster, CERTIFICATES, "web")
    assert found["status"]["revision"] == 3
    assert row(found, "Ready")[0] == "True"
    messages = [message for _, reason, message in told(cluster, "web") if reason == "Issuing"]
    assert any("contains an invalid certificate" in each for each in messages)


def test_a_changed_wish_is_issued_and_says_which_field(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    patch = {"spec": {"dnsNames": ["web.example.com", "shop.example.com"]}}
    cluster.client().patch(CERTIFICATES, "default", "web", patch)
    cluster.advance(2_000)
    issued = certificates(text(get(cluster, "secrets", "web-tls"), "tls.crt"))[0]
    assert issued.dns_names == ("web.example.com", "shop.example.com")
    text_ = "Fields on existing CertificateRequest resource not up to date: [spec.dnsNames]"
    assert ("Issuing", text_) in [each[1:] for each in told(cluster, "web")]


def test_an_authority_signs_what_is_asked_of_it(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "root", wish("root-tls", isCA=True, commonName="our root", dnsNames=[]))
    make(cluster, "Issuer", "ca", {"ca": {"secretName": "root-tls"}})
    assert row(get(cluster, ISSUERS, "ca"), "Ready") == ("True", "KeyPairVerified", "Signing CA verified")
    make(cluster, "Certificate", "web", wish(issuer="ca", usages=["server auth"]))
    secret, root = get(cluster, "secrets", "web-tls"), get(cluster, "secrets", "root-tls")
    assert text(secret, "ca.crt") == text(root, "tls.crt")
    chain = certificates(text(secret, "tls.crt"))
    roots = certificates(text(root, "tls.crt"))
    assert roots[0].is_authority
    assert distrust(chain, roots, "web.example.com", cluster.now_ms) == ""
    assert "unknown authority" in distrust(chain, (), "web.example.com", cluster.now_ms)


def test_a_request_waits_for_an_issuer_and_goes_on_when_it_is_there(cluster):
    make(cluster, "Certificate", "web", wish(issuer="ca"))
    found = get(cluster, CERTIFICATES, "web")
    assert row(found, "Ready") == ("False", "DoesNotExist", "Issuing certificate as Secret does not exist")
    assert row(found, "Issuing") == ("True", "DoesNotExist", "Issuing certificate as Secret does not exist")
    message = 'Referenced "Issuer" not found: issuer.cert-manager.io "ca" not found'
    assert row(get(cluster, REQUESTS, "web-1"), "Ready") == ("False", "Pending", message)
    make(cluster, "Issuer", "ca", {"ca": {"secretName": "root-tls"}})
    problem = 'Error getting keypair for CA issuer: secrets "root-tls" not found'
    assert row(get(cluster, ISSUERS, "ca"), "Ready") == ("False", "ErrGetKeyPair", problem)
    assert (
        "cert-manager-issuers",
        "ErrInitIssuer",
        'Error initializing issuer: secrets "root-tls" not found',
    ) in told(cluster, "ca")
    message = "Referenced issuer does not have a Ready status condition"
    assert row(get(cluster, REQUESTS, "web-1"), "Ready") == ("False", "Pending", message)
    issuer(cluster)
    make(cluster, "Certificate", "root", wish("root-tls", isCA=True))
    cluster.advance(5_000)
    assert row(get(cluster, ISSUERS, "ca"), "Ready")[0] == "True"
    assert row(get(cluster, CERTIFICATES, "web"), "Ready")[0] == "True"


def test_a_certificate_that_is_no_authority_makes_no_issuer(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "leaf", wish("leaf-tls"))
    make(cluster, "Issuer", "ca", {"ca": {"secretName": "leaf-tls"}})
    problem = "Error getting keypair for CA issuer: certificate is not a CA"
    assert row(get(cluster, ISSUERS, "ca"), "Ready") == ("False", "ErrInvalidKeyPair", problem)


def test_without_a_ready_pod_certificates_expire_and_with_one_they_come_back(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish(duration="3h"))
    cluster.client().patch("deployments.apps", "cert-manager", "cert-manager", {"spec": {"replicas": 0}})
    cluster.advance(4 * HOUR_MS)
    found = get(cluster, CERTIFICATES, "web")
    assert found["status"]["revision"] == 1
    issued = certificates(text(get(cluster, "secrets", "web-tls"), "tls.crt"))[0]
    assert "has expired" in distrust((issued,), (issued,), "web.example.com", cluster.now_ms)
    cluster.client().patch("deployments.apps", "cert-manager", "cert-manager", {"spec": {"replicas": 1}})
    cluster.advance(60_000)
    found = get(cluster, CERTIFICATES, "web")
    assert found["status"]["revision"] == 2
    assert row(found, "Ready")[0] == "True"


def test_without_its_rights_it_writes_nothing_and_tries_again():
    cluster = build(may=False)
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    cluster.advance(600_000)
    assert "status" not in get(cluster, CERTIFICATES, "web")
    handled = cluster.loop.handled
    cluster.advance(HOUR_MS)
    assert cluster.loop.handled - handled < 2_000


def test_two_certificates_of_one_secret_do_not_fight(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    make(cluster, "Certificate", "rival", wish(dnsNames=["rival.example.com"]))
    cluster.advance(HOUR_MS)
    assert get(cluster, CERTIFICATES, "web")["status"]["revision"] == 1
    status = row(get(cluster, CERTIFICATES, "rival"), "Ready")
    assert status[:2] == ("False", "IncorrectCertificate")
    assert status[2].startswith('Secret was issued for "web". If this message is not transient')
    cluster.client().delete(CERTIFICATES, "default", "web")
    cluster.advance(5_000)
    assert row(get(cluster, CERTIFICATES, "rival"), "Ready")[0] == "True"


def test_a_cluster_issuer_serves_every_namespace_with_the_secret_of_its_own(cluster):
    make(cluster, "Issuer", "own", {"selfSigned": {}}, "cert-manager")
    make(cluster, "Certificate", "root", wish("root-tls", isCA=True), "cert-manager")
    make(cluster, "ClusterIssuer", "all", {"ca": {"secretName": "root-tls"}})
    make(cluster, "Certificate", "web", wish(issuerRef={"name": "all", "kind": "ClusterIssuer"}))
    assert row(get(cluster, CERTIFICATES, "web"), "Ready")[0] == "True"
    said = get(cluster, "secrets", "web-tls")["metadata"]["annotations"]
    assert said["cert-manager.io/issuer-kind"] == "ClusterIssuer"


def test_a_world_without_requests_and_cluster_issuers_issues_all_the_same():
    cluster = build(("Certificate", "Issuer"))
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    assert row(get(cluster, CERTIFICATES, "web"), "Ready")[0] == "True"
    assert "Requested" not in {reason for _, reason, _ in told(cluster, "web")}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"secretName": "x"},
        {"secretName": "x", "issuerRef": {"name": "own"}, "dnsNames": "no list", "duration": "ever"},
        {"secretName": "x", "issuerRef": {"name": "own"}, "ipAddresses": ["300.1.1.1"]},
        {"secretName": "x", "issuerRef": {"name": "own"}, "dnsNames": ["bücher.example"]},
        {"secretName": "x", "issuerRef": "own", "dnsNames": [1, None]},
        {"secretName": "x", "issuerRef": {"name": "own"}, "privateKey": {"algorithm": "Ed25519"}},
        {"secretName": "x", "issuerRef": {"name": "own"}, "privateKey": {"size": 10**9}},
        {"secretName": "x", "issuerRef": {"name": "own"}, "privateKey": "none", "secretTemplate": [], "usages": [1]},
        {"secretName": "Not A Name", "issuerRef": {"name": "own"}, "subject": "me", "isCA": "yes"},
    ],
)  # fmt: skip
def test_whatever_somebody_writes_nothing_breaks(cluster, spec):
    issuer(cluster)
    make(cluster, "Certificate", "odd", spec)
    make(cluster, "Issuer", "odd", {"ca": "none"})
    make(cluster, "Issuer", "odder", {"ca": {"secretName": ["x"]}, "selfSigned": None})
    handled = cluster.loop.handled
    cluster.advance(600_000)
    assert cluster.loop.handled - handled < 1_000


def test_a_fork_goes_on_as_its_origin(cluster):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish(duration="3h"))
    fork = cluster.fork()
    for each in (cluster, fork):
        each.advance(3 * HOUR_MS)
    assert cluster.digest() == fork.digest()
    assert text(get(cluster, "secrets", "web-tls"), "tls.crt") == text(
        get(fork, "secrets", "web-tls"), "tls.crt"
    )


@pytest.mark.parametrize(
    "status",
    [
        {"conditions": "all well"},
        {"conditions": ["well", {"type": "Issuing", "status": "True"}]},
        {"renewalTime": "never", "lastFailureTime": "once", "failedIssuanceAttempts": "many", "revision": "x"},
        {"revision": 10**12, "failedIssuanceAttempts": 10**12, "lastFailureTime": "2026-01-05T09:00:00Z"},
        {"nextPrivateKeySecretName": ["x"], "conditions": [{"type": "Issuing", "status": "True"}]},
    ],
)  # fmt: skip
def test_a_status_that_somebody_else_wrote_breaks_nothing(cluster, status):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    found = get(cluster, CERTIFICATES, "web")
    cluster.client().update_status(CERTIFICATES, "default", {**found, "status": status})
    handled = cluster.loop.handled
    cluster.advance(600_000)
    assert cluster.loop.handled - handled < 1_000


@pytest.mark.parametrize("key", ["tls.crt", "tls.key"])
def test_a_secret_with_mangled_keys_is_made_anew(cluster, key):
    issuer(cluster)
    make(cluster, "Certificate", "web", wish())
    whole = base64.b64decode(get(cluster, "secrets", "web-tls")["data"][key])
    for at in range(40, len(whole), 97):
        mangled = whole[:at] + whole[at + 8 :]
        patch = {"data": {key: base64.b64encode(mangled).decode()}}
        cluster.client().patch("secrets", "default", "web-tls", patch)
        cluster.advance(1_000)
        assert row(get(cluster, CERTIFICATES, "web"), "Ready")[0] == "True"

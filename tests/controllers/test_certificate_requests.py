"""Requests for certificates: who asked, who may approve, what is signed, what is refused, and when they go.

Source: k8s.io/kubernetes pkg/controller/certificates and plugin/pkg/admission/certificates, 1.37; tests/golden/l2/flows (tls-csr).
"""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Identity
from env_core.controllers.rootcacert import CERTIFICATE
from env_core.kinds.certificatesigningrequest import condition_text
from env_core.objects.x509 import certificates, distrust, public_key
from tests.controllers.world import World

RESOURCE = "certificatesigningrequests.certificates.k8s.io"
FILES = Path(__file__).parent.parent / "certificates"
CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING = "kubernetes.io/kubelet-serving"
NODE = Identity("system:node:node-1", ("system:nodes", "system:authenticated"))
DAY_MS = 86_400_000
HOUR_MS = 3_600_000


@pytest.fixture
def world():
    return World()


def client(world, identity):
    return ApiClient(world.server, identity, "kubectl")


def ask(world, name, file, signer, usages, identity=None, **spec):
    body = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {
            "request": base64.b64encode((FILES / file).read_bytes()).decode(),
            "signerName": signer,
            "usages": usages,
            **spec,
        },
    }
    api = world.api if identity is None else client(world, identity)
    created = api.create(RESOURCE, "", body)
    world.advance(100)
    return created


def decide(world, name, kind="Approved", identity=None):
    found = world.api.get(RESOURCE, "", name)
    row = {"type": kind, "status": "True", "reason": "Tested", "message": "by a test"}
    body = {**found, "status": {**found["status"], "conditions": [row]}}
    api = world.api if identity is None else client(world, identity)
    api.update(RESOURCE, "", body, subresource="approval")
    world.advance(100)


def state(world, name):
    return condition_text(world.api.get(RESOURCE, "", name))


def issued(world, name):
    text = world.api.get(RESOURCE, "", name)["status"]["certificate"]
    return certificates(base64.b64decode(text).decode())[0]


def grant(world, role, *, user="", group=""):
    subject = {"kind": "User", "name": user} if user else {"kind": "Group", "name": group}
    world.api.create(
        "clusterrolebindings.rbac.authorization.k8s.io",
        "",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"test-{role.replace(':', '-')}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", **subject}],
        },
    )


def test_an_approved_request_of_a_client_is_signed_within_the_second(world):
    created = ask(world, "jane", "jane.csr", CLIENT, ["client auth"])
    assert created["spec"]["username"] == "kubernetes-admin"
    assert created["spec"]["groups"] == ["system:masters", "system:authenticated"]
    world.advance(60_000)
    assert state(world, "jane") == "Pending"
    decide(world, "jane")
    assert state(world, "jane") == "Approved,Issued"
    signed_ms = world.loop.now_ms
    found, authority = issued(world, "jane"), certificates(CERTIFICATE)[0]
    assert found.common_name == "jane"
    assert found.issuer == authority.subject
    assert found.authority_id == authority.key_id
    assert not found.is_authority
    assert abs(found.not_before_ms - (signed_ms - 300_000)) <= 1_100
    assert found.not_after_ms - found.not_before_ms == 365 * DAY_MS
    assert len(public_key(found.encoded)) == 270
    row = world.api.get(RESOURCE, "", "jane")["status"]["conditions"][0]
    assert row["lastUpdateTime"] == row["lastTransitionTime"]


def test_a_kubelet_gets_its_client_certificate_by_itself_when_its_group_may(world):
    usages = ["digital signature", "key encipherment", "client auth"]
    grant(world, "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", group="system:nodes")
    ask(world, "csr-1", "node.csr", KUBELET, usages, NODE)
    assert state(world, "csr-1") == "Approved,Issued"
    row = world.api.get(RESOURCE, "", "csr-1")["status"]["conditions"][0]
    assert (row["reason"], row["message"]) == (
        "AutoApproved",
        "Auto approving self kubelet client certificate after SubjectAccessReview.",
    )
    grant(world, "system:certificates.k8s.io:certificatesigningrequests:nodeclient", user="bootstrap")
    grant(world, "system:node-bootstrapper", user="bootstrap")
    ask(world, "csr-2", "node.csr", KUBELET, usages, Identity("bootstrap"))
    row = world.api.get(RESOURCE, "", "csr-2")["status"]["conditions"][0]
    assert row["message"] == "Auto approving kubelet client certificate after SubjectAccessReview."


def test_a_kubelet_waits_for_the_right_and_gets_its_certificate_when_it_comes(world):
    usages = ["digital signature", "client auth"]
    ask(world, "csr-1", "node.csr", KUBELET, usages, NODE)
    world.advance(60_000)
    assert state(world, "csr-1") == "Pending"
    grant(world, "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", group="system:nodes")
    world.advance(120_000)
    assert state(world, "csr-1") == "Approved,Issued"


def test_serving_certificates_wait_for_somebody_and_keep_their_names(world):
    usages = ["digital signature", "key encipherment", "server auth"]
    ask(world, "csr-s", "serving.csr", SERVING, usages, NODE)
    world.advance(120_000)
    assert state(world, "csr-s") == "Pending"
    decide(world, "csr-s")
    found = issued(world, "csr-s")
    assert (found.dns_names, found.addresses) == (("node-1",), ("10.0.0.1",))
    authority = certificates(CERTIFICATE)[0]
    now_ms = authority.not_before_ms + 1
    assert distrust((found,), (authority,), "node-1", now_ms) == ""
    assert "is valid for node-1, not other" in distrust((found,), (authority,), "other", now_ms)


@pytest.mark.parametrize(
    ("file", "signer", "usages", "message"),
    [
        ("jane.csr", CLIENT, ["server auth"], "invalid usage for client certificate: server auth"),
        ("jane.csr", CLIENT, ["digital signature"],
         "missing required usage for client certificate: client auth"),
        ("jane.csr", KUBELET, ["client auth"], "subject organization is not system:nodes"),
        ("serving.csr", KUBELET, ["client auth"], "DNS subjectAltNames are not allowed"),
        ("node.csr", KUBELET, ["client auth"],
         "usages did not match [client auth digital signature key encipherment]"),
        ("node.csr", SERVING, ["server auth"], "DNS or IP subjectAltName is required"),
        ("serving.csr", SERVING, ["server auth"],
         "usages did not match [digital signature key encipherment server auth]"),
    ],
)  # fmt: skip
def test_what_a_signer_does_not_take_fails_with_its_reason(world, file, signer, usages, message):
    ask(world, "bad", file, signer, usages)
    decide(world, "bad")
    assert state(world, "bad") == "Approved,Failed"
    row = world.api.get(RESOURCE, "", "bad")["status"]["conditions"][1]
    assert (row["reason"], row["message"]) == ("SignerValidationFailure", message)
    assert "certificate" not in world.api.get(RESOURCE, "", "bad")["status"]


def test_the_signers_of_others_are_left_to_them(world):
    ask(world, "theirs", "jane.csr", "example.com/signer", ["client auth"])
    decide(world, "theirs")
    world.advance(60_000)
    assert state(world, "theirs") == "Approved"


@pytest.mark.parametrize(
    ("seconds", "lives_ms"),
    [(600, 900_000), (3_600, 3_900_000), (10 * 3_600, 36_000_000), (10**9, 365 * DAY_MS)],
)
def test_lives_are_as_long_as_asked_within_bounds(world, seconds, lives_ms):
    ask(world, "short", "jane.csr", CLIENT, ["client auth"], expirationSeconds=seconds)
    decide(world, "short")
    found = issued(world, "short")
    assert found.not_after_ms - found.not_before_ms == lives_ms


def test_denied_requests_are_not_signed_and_nothing_is_taken_back(world):
    ask(world, "no", "jane.csr", CLIENT, ["client auth"])
    decide(world, "no", "Denied")
    assert state(world, "no") == "Denied"
    with pytest.raises(StatusError, match='updates may not remove a condition of type "Denied"'):
        decide(world, "no", "Approved")
    found = world.api.get(RESOURCE, "", "no")
    rows = [*found["status"]["conditions"], {"type": "Approved", "status": "True", "reason": "r"}]
    with pytest.raises(StatusError, match="Approved and Denied conditions are mutually exclusive"):
        world.api.update(RESOURCE, "", {**found, "status": {"conditions": rows}}, subresource="approval")
    with pytest.raises(StatusError, match='updates may not add a condition of type "Approved"'):
        world.api.update_status(RESOURCE, "", {**found, "status": {"conditions": rows[1:] + rows[:1]}})


def test_approving_takes_the_right_to_it_for_the_signer(world):
    grant(world, "system:node-bootstrapper", user="helper")
    world.api.create(
        "clusterroles.rbac.authorization.k8s.io",
        "",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "helpers"},
            "rules": [
                {
                    "apiGroups": ["certificates.k8s.io"],
                    "resources": ["certificatesigningrequests/approval", "certificatesigningrequests/status"],
                    "verbs": ["update"],
                }
            ],
        },
    )
    grant(world, "helpers", user="helper")
    helper = Identity("helper")
    ask(world, "jane", "jane.csr", CLIENT, ["client auth"])
    with pytest.raises(StatusError) as refused:
        decide(world, "jane", identity=helper)
    assert str(refused.value) == (
        'certificatesigningrequests.certificates.k8s.io "jane" is forbidden: '
        'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"'
    )
    found = world.api.get(RESOURCE, "", "jane")
    with pytest.raises(StatusError, match="user not permitted to sign requests with signerName"):
        client(world, helper).update_status(
            RESOURCE,
            "",
            {**found, "status": {"certificate": base64.b64encode(CERTIFICATE.encode()).decode()}},
        )
    grant(world, "system:certificates.k8s.io:kube-apiserver-client-approver", user="helper")
    decide(world, "jane", identity=helper)
    assert state(world, "jane") == "Approved,Issued"


def test_nobody_asks_for_membership_of_the_masters(world):
    with pytest.raises(StatusError) as refused:
        ask(world, "root", "masters.csr", CLIENT, ["client auth"])
    assert str(refused.value) == (
        'certificatesigningrequests.certificates.k8s.io "root" is forbidden: '
        "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
    )


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"request": "eA=="}, "PEM block type must be CERTIFICATE REQUEST"),
        ({"usages": ["flying"]}, 'Unsupported value: "flying"'),
        ({"usages": ["any", "any"]}, "Duplicate value"),
        ({"expirationSeconds": 599}, "may not specify a duration less than 600 seconds (10 minutes)"),
        ({"signerName": "kubernetes.io/legacy-unknown"}, "the legacy signerName is not allowed via this API version"),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_is_refused(world, spec, text):
    with pytest.raises(StatusError) as refused:
        ask(
            world,
            "bad",
            "jane.csr",
            spec.pop("signerName", CLIENT),
            spec.pop("usages", ["client auth"]),
            **spec,
        )
    assert refused.value.code == 422
    assert text in str(refused.value)


def test_a_mangled_request_never_raises(world):
    pem = (FILES / "serving.csr").read_text().splitlines()
    for at in range(0, len(pem[1]), 3):
        body = base64.b64encode("\n".join([pem[0], pem[1][:at], *pem[3:]]).encode()).decode()
        with pytest.raises(StatusError):
            ask(world, "bad", "jane.csr", CLIENT, ["client auth"], request=body)


def test_requests_go_an_hour_after_they_were_decided_and_a_day_after_they_were_not(world):
    ask(world, "pending", "jane.csr", CLIENT, ["client auth"])
    ask(world, "approved", "jane.csr", CLIENT, ["client auth"])
    ask(world, "denied", "jane.csr", CLIENT, ["client auth"])
    ask(world, "unsigned", "jane.csr", "example.com/signer", ["client auth"])
    decide(world, "approved")
    decide(world, "denied", "Denied")
    decide(world, "unsigned")

    def left():
        return {each["metadata"]["name"] for each in world.api.list(RESOURCE, "")}

    world.advance(HOUR_MS - 10_000)
    assert left() == {"pending", "approved", "denied", "unsigned"}
    # Every hour it looks, and the first time they were not an hour old.
    world.advance(HOUR_MS + 20_000)
    assert left() == {"pending", "unsigned"}
    world.advance(22 * HOUR_MS)
    assert left() == {"pending", "unsigned"}
    world.advance(2 * HOUR_MS)
    assert left() == {"unsigned"}


def test_the_same_world_signs_the_same_certificate(world):
    def text():
        other = World()
        ask(other, "jane", "jane.csr", CLIENT, ["client auth"])
        decide(other, "jane")
        return other.api.get(RESOURCE, "", "jane")["status"]["certificate"]

    assert text() == text()

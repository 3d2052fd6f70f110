"""Warnings that come with answers about things that are on their way out, or do not mean what they seem to."""

import pytest

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import ADMIN, Options
from tests.apiserver.appliers import deployment, shop

LABEL = 'deprecated since v1.14; use "kubernetes.io/os" instead'
PSA = "pod-security.kubernetes.io/"
PLAIN = (
    'would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set '
    'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set '
    'securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set '
    'securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set '
    'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
)


@pytest.fixture
def api():
    made = ApiClient(shop().server, ADMIN)
    made.create("serviceaccounts", "shop", {"metadata": {"name": "default"}})
    return made


def pod(name="p", **spec):
    spec = {"containers": [{"name": "c", "image": "i"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def warned(api, resource, body, namespace="shop"):
    api.create(resource, namespace, body, options=Options(dry_run=True))
    return list(api.warnings)


def test_a_pods_name_is_to_be_a_host_name(api):
    text = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
    assert warned(api, "pods", pod("a.b")) == [f"metadata.name: {text}: [must not contain dots]"]


def ports(*given):
    return [{"name": "c", "image": "i", "ports": [{"containerPort": 80, **each} for each in given]}]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeSelector": {"beta.kubernetes.io/os": "linux"}}, [f"spec.nodeSelector[beta.kubernetes.io/os]: {LABEL}"]),
        ({"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}, ['spec.imagePullSecrets[1].name: duplicate name "a"']),
        (
            {"hostAliases": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]},
            ['spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'],
        ),
        (
            {"containers": ports({"name": "a"}, {"name": "b", "hostPort": 80})},
            ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
        ),
        (
            {"containers": ports({"hostPort": 80}, {"hostPort": 80, "hostIP": "10.0.0.1"})},
            ["spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"],
        ),
        (
            {"containers": [{"name": "c", "image": "i", "env": [{"name": "X", "value": "a"}, {"name": "X", "value": "$(X)b"}]}]},
            [],
        ),
    ],
)  # fmt: skip
def test_what_a_pod_asks_for(api, spec, expected):
    assert warned(api, "pods", pod(**spec)) == expected


def test_a_template_is_looked_at_again_only_when_it_changes(api):
    body = deployment()
    body["spec"]["template"]["spec"]["nodeSelector"] = {"beta.kubernetes.io/os": "linux"}
    expected = [f"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {LABEL}"]
    api.create("deployments.apps", "shop", body)
    assert list(api.warnings) == expected
    api.patch("deployments.apps", "shop", "web", {"metadata": {"labels": {"a": "b"}}})
    assert list(api.warnings) == []
    api.patch("deployments.apps", "shop", "web", {"spec": {"replicas": 2}})
    assert list(api.warnings) == expected


def test_claims_and_volumes(api):
    annotations = {"volume.beta.kubernetes.io/storage-class": "x"}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "w", "annotations": annotations}, "spec": spec}
    assert warned(api, "persistentvolumeclaims", claim) == [
        'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead'
    ]


class TestPodSecurity:
    @pytest.fixture
    def api(self, api):
        labels = {f"{PSA}warn": "restricted", f"{PSA}audit": "restricted"}
        api.create("namespaces", "", {"metadata": {"name": "guarded", "labels": labels}})
        api.create("serviceaccounts", "guarded", {"metadata": {"name": "default"}})
        return api

    def test_pods_and_templates_are_warned_of_and_remarked_on(self, api):
        assert warned(api, "pods", pod(), "guarded") == [PLAIN]
        assert dict(api.api.audit.records()[-1].annotations) == {
            f"{PSA}enforce-policy": "privileged:latest",
            f"{PSA}audit-violations": PLAIN,
        }
        body = deployment()
        assert warned(api, "deployments.apps", body, "guarded") == [PLAIN.replace('"c"', '"web"')]

    def test_a_stricter_level_tells_which_pods_it_would_refuse(self, api):
        for name in ("b", "a"):
            api.create("pods", "guarded", pod(name))
        api.patch("namespaces", "", "guarded", {"metadata": {"labels": {f"{PSA}enforce": "restricted"}}})
        assert list(api.warnings) == [
            'existing pods in namespace "guarded" violate the new PodSecurity enforce level "restricted:latest"',
            "a (and 1 other pod): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, "
            "seccompProfile",
        ]
        api.patch("namespaces", "", "guarded", {"metadata": {"labels": {f"{PSA}enforce": "baseline"}}})
        assert list(api.warnings) == []

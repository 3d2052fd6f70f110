"""Worlds and recorded objects over which the catalogue's tests run."""

import base64
import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from env_core.apiserver.request import ADMIN
from env_core.cluster import Cluster, registry
from env_core.kubectl.verb import Verb
from env_core.suites.tron import world as tron_world
from env_core.tools.terminal import Terminal
from env_core.world import Output

GOLDEN = Path(__file__).parent.parent / "golden"
REQUEST = Path(__file__).parent.parent / "certificates" / "jane.csr"
NAMESPACE = "catalogue"
LINE_MS_MAX = 600_000
_SERVERS_OWN = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "ownerReferences",
)


def lines(name: str) -> list[dict[str, Any]]:
    """Return the records of a golden file."""
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt", encoding="utf-8") as text:
        return [json.loads(line) for line in text]


def document(name: str) -> Any:
    """Return a golden JSON document."""
    with gzip.open(GOLDEN / f"{name}.json.gz", "rt", encoding="utf-8") as text:
        return json.load(text)


def bare(obj: dict[str, Any]) -> dict[str, Any]:
    """What a client would write to get such an object."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
    return {key: value for key, value in {**obj, "metadata": metadata}.items() if key != "status"}


@lru_cache(maxsize=1)
def _recorded() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Manifests by (apiVersion, kind) that a real server accepted; for other kinds objects that it printed."""
    accepted: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in lines("l0/defaulting"):
        if "created" in record:
            accepted.setdefault((record["apiVersion"], record["kind"]), []).append(record["input"])
    for record in lines("l2/defaults"):
        if record["status"] == 201:
            body = record["request"]
            accepted.setdefault((body["apiVersion"], body["kind"]), []).append(body)
    printed: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in lines("l0/printers"):
        obj = record["object"]
        if "apiVersion" in obj:
            printed.setdefault((obj["apiVersion"], obj["kind"]), []).append(bare(obj))
    for objects in document("l2/facts/default_objects").values():
        for obj in objects:
            if "apiVersion" in obj:
                printed.setdefault((obj["apiVersion"], obj["kind"]), []).append(bare(obj))
    return {**printed, **accepted}


UNRECORDED: dict[tuple[str, str], dict[str, Any]] = {
    ("apps/v1", "ControllerRevision"): {
        "revision": 1,
        "data": {"spec": {"template": {"metadata": {"labels": {"app": "web"}}}}},
    },
    ("storage.k8s.io/v1", "CSINode"): {"spec": {"drivers": []}},
    ("storage.k8s.io/v1", "VolumeAttachment"): {
        "spec": {
            "attacher": "csi.example.com",
            "nodeName": "node-1",
            "source": {"persistentVolumeName": "data"},
        }
    },
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): {
        "spec": {
            "request": base64.b64encode(REQUEST.read_bytes()).decode(),
            "signerName": "example.com/signer",
            "usages": ["client auth"],
        }
    },
    ("v1", "PodTemplate"): {
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        }
    },
    ("events.k8s.io/v1", "Event"): {
        "eventTime": "2026-01-05T09:00:00.000000Z",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "web"},
        "reason": "Tested",
        "action": "Testing",
        "note": "it was tested",
        "type": "Normal",
        "reportingController": "example.com/tester",
        "reportingInstance": "tester-0",
    },
    ("certificates.k8s.io/v1", "ClusterTrustBundle"): {
        "spec": {"trustBundle": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}
    },
    ("certificates.k8s.io/v1", "PodCertificateRequest"): {
        "spec": {
            "signerName": "example.com/signer",
            "podName": "web",
            "podUID": "1",
            "serviceAccountName": "default",
            "serviceAccountUID": "2",
            "nodeName": "node-1",
            "nodeUID": "3",
            "stubPKCS10Request": "AAAA",
        }
    },
    ("networking.k8s.io/v1", "IPAddress"): {
        "metadata": {"name": "192.0.2.7"},
        "spec": {"parentRef": {"resource": "gateways", "group": "example.com", "name": "web"}},
    },
    ("networking.k8s.io/v1", "ServiceCIDR"): {"spec": {"cidrs": ["198.51.100.0/24"]}},
    ("storage.k8s.io/v1", "CSIStorageCapacity"): {"storageClassName": "fast", "capacity": "10Gi"},
    ("storage.k8s.io/v1", "VolumeAttributesClass"): {
        "driverName": "csi.example.com",
        "parameters": {"iops": "3000"},
    },
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"): {
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ]
            },
            "mutations": [
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {"expression": '[JSONPatch{op: "test", path: "/kind", value: "Pod"}]'},
                }
            ],
            "reinvocationPolicy": "Never",
        }
    },
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"): {"spec": {"policyName": "absent"}},
    ("resource.k8s.io/v1", "DeviceTaintRule"): {
        "spec": {
            "deviceSelector": {"driver": "gpu.example.com"},
            "taint": {
                "key": "example.com/broken",
                "effect": "NoSchedule",
                "timeAdded": "2026-01-05T09:00:00Z",
            },
        }
    },
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): {
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}
    },
    ("resource.k8s.io/v1", "ResourceSlice"): {
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        }
    },
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): {
        "spec": {
            "type": "Limited",
            "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 16, "handSize": 4}}},
        }
    },
    ("storagemigration.k8s.io/v1", "StorageVersionMigration"): {
        "spec": {"resource": {"group": "apps", "resource": "deployments"}}
    },
}
"""Bodies for the kinds that no recording of an accepted object has."""


@lru_cache(maxsize=128)
def smallest(api_version: str, kind: str) -> dict[str, Any] | None:
    """Return the smallest recorded manifest of a kind, None when there is none. Do not change it."""
    if (api_version, kind) in UNRECORDED:
        return {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": "made-here"},
            **UNRECORDED[(api_version, kind)],
        }
    found = _recorded().get((api_version, kind), [])
    return min(found, key=lambda obj: len(json.dumps(obj)), default=None)


@lru_cache(maxsize=1)
def _booted() -> Cluster:
    cluster = Cluster(seed=1)
    cluster.boot()
    cluster.kubelets.join("node-1", cpu="4", memory="16Gi")
    cluster.client().create(
        "namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    )
    cluster.advance(5_000)
    return cluster


def booted() -> Cluster:
    """Return a fork of a cluster with one node and one empty namespace."""
    return _booted().fork()


def healthy() -> Cluster:
    """Return a fork of tron's healthy base world."""
    return tron_world.healthy(0).fork()


def terminal(cluster: Cluster, namespace: str = NAMESPACE) -> Terminal:
    """Return an administrator's terminal."""
    return Terminal(cluster, ADMIN, namespace=namespace)


def run(shell: Terminal, line: str) -> Output:
    """Run a line without any refusal."""
    return shell.run(line, lambda _argv: None, LINE_MS_MAX)


def apply(shell: Terminal, obj: dict[str, Any], verb: str = "apply") -> Output:
    """Feed an object to `kubectl apply -f -`."""
    return run(shell, f"kubectl {verb} -f - <<'END'\n{json.dumps(obj)}\nEND")


def own_kinds() -> list[Any]:
    """Return the kinds that can be created and stored."""
    return [kind for kind in registry().all() if "create" in kind.verbs and "update" in kind.verbs]


def as_stored(cluster: Cluster, kind: Any, namespace: str, name: str) -> Any:
    """Return an object as the store has it; of a form that is not stored, as the API has it."""
    if kind.conversion is None:
        return cluster.store.get(kind.resource, namespace, name)
    return cluster.client().get(kind.resource, namespace, name)


def named(obj: dict[str, Any], kind: Any, name: str = "") -> dict[str, Any]:
    """Return the object in the test's namespace, under a name of its own if it had none."""
    metadata = {
        key: value for key, value in obj["metadata"].items() if key not in ("namespace", "generateName")
    }
    metadata["name"] = name or metadata.get("name") or "made-here"
    if kind.is_namespaced:
        metadata["namespace"] = NAMESPACE
    moved: dict[str, Any] = (
        _at_home({**obj, "metadata": metadata}) if kind.is_namespaced else {**obj, "metadata": metadata}
    )
    return moved


def _at_home(value: Any) -> Any:
    """Return a value whose references all lead into the test's namespace."""
    if isinstance(value, dict):
        return {
            key: NAMESPACE if key == "namespace" and isinstance(inner, str) else _at_home(inner)
            for key, inner in value.items()
        }
    return [_at_home(inner) for inner in value] if isinstance(value, list) else value


def paths(verb: Verb, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Verb]]:
    """Return every command below a verb with the words that lead to it."""
    found = []
    for name, inner in verb.subverbs.items():
        found.append(((*path, name), inner))
        found.extend(paths(inner, (*path, name)))
    return found

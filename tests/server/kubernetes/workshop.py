"""A server whose one incident leaves room for work: no budget of steps, and a kind of its own that the on-call engineer may edit."""

from __future__ import annotations

import sys
from dataclasses import replace

STEPS_MAX = 10_000
GROUP, VERSION, PLURAL = "ops.example.com", "v1", "runbooks"
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["service"],
            "properties": {
                "service": {"type": "string"},
                "replicas": {"type": "integer", "default": 1, "maximum": 9},
            },
        },
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    },
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": PLURAL, "singular": "runbook", "kind": "Runbook", "shortNames": ["rb"]},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
            }
        ],
    },
}
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "runbooks"},
    "rules": [{"apiGroups": [GROUP], "resources": [PLURAL, f"{PLURAL}/scale"], "verbs": ["*"]}],
}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "runbooks"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "runbooks"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "on-call"}],
}


def _begin(task, seed, options):
    from env_core.suites.tron import SUITE

    incident = SUITE.begin(task, seed, options)
    client = incident.cluster.client()
    client.create("customresourcedefinitions.apiextensions.k8s.io", "", DEFINITION)
    client.create("clusterroles.rbac.authorization.k8s.io", "", ROLE)
    client.create("clusterrolebindings.rbac.authorization.k8s.io", "", BINDING)
    incident.cluster.advance(2_000)
    return incident


def install():
    """Make the roomy suite the only one of this process."""
    import env_core.episode
    from env_core.suites.tron import SUITE

    tasks = tuple(replace(task, steps_max=STEPS_MAX) for task in SUITE.tasks)
    suite = replace(SUITE, tasks=tasks, begin=_begin, warm=lambda: None)
    env_core.episode.all_suites = lambda: {suite.name: suite}


if __name__ == "__main__":
    install()
    from server.app import main

    main(sys.argv[1:])

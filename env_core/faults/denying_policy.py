"""A new rule of the platform denies pods that do not comply: the next roll-out of a workload makes none."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from env_core.apiserver.request import Identity
from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._words import (
    deleted,
    deployments,
    owner_of,
    pass_time,
    restart,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.objects.quantity import to_bytes
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

PLATFORM: Final = Identity("k.lindqvist", ("platform", "system:masters", "system:authenticated"))
"""Who makes the rules of the cluster."""

_WAITS_S: Final = (120, 400, 900)
_POLICIES: Final = "validatingadmissionpolicies.admissionregistration.k8s.io"
_BINDINGS: Final = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
_NAMES: Final = ("pods.rules.example.com", "workload-rules.example.com", "baseline.platform.example.com")
_LEAST, _MOST = 32 << 20, 8 << 30
"""What a container of these applications may reasonably write, in bytes."""
_STORAGE: Final = "ephemeral-storage"
_SCALERS: Final = ("512Mi", "1Gi", "2Gi")


class Rule(NamedTuple):
    """What the platform wants of every pod."""

    expression: str
    message: str


OWNER: Final = Rule(
    "has(object.metadata.labels) && 'team' in object.metadata.labels && object.metadata.labels['team'] != ''",
    "every pod says in its label team whose it is",
)
STORAGE: Final = Rule(
    "object.spec.containers.all(c, has(c.resources.limits) && 'ephemeral-storage' in c.resources.limits)",
    "every container has a limit on ephemeral-storage",
)


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {"name": stream.choice(_NAMES), "amount": stream.choice(_SCALERS), **waits(stream, _WAITS_S)}


def _objects(rule: Rule, case: Case) -> tuple[tuple[str, Object], tuple[str, Object]]:
    group, name = "admissionregistration.k8s.io/v1", case.params["name"]
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    policy = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": rule.expression, "message": rule.message}],
        },
    }
    spaces = {"matchLabels": {"kubernetes.io/metadata.name": case.namespace}}
    binding = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": spaces},
        },
    }
    return (_POLICIES, policy), (_BINDINGS, binding)


def _inject(rule: Rule, case: Case, cluster: Cluster) -> None:
    platform = cluster.client(PLATFORM)
    for resource, manifest in _objects(rule, case):
        platform.create(resource, "", manifest)
    cluster.advance(int(case.params["wait_s"]) * 1_500)
    restart(cluster, case.place)
    pass_time(cluster, case)


def no_pods_made(case: Case) -> Check:
    """The API refuses the pods that the Deployment wants."""

    def fails(view: View) -> str:
        conditions = owner_of(view, case).get("status", {}).get("conditions") or ()
        if any(each["type"] == "ReplicaFailure" and each["status"] == "True" for each in conditions):
            return ""
        return f"the pods of {case.name} are made"

    return Check("no pods are made", fails)


# Goals


def _team(case: Case) -> str:
    """Return whose namespace it is."""
    namespace = case.base.cluster.store.get("namespaces", "", case.namespace)
    assert namespace is not None
    return str((namespace["metadata"].get("labels") or {})["team"])


def names_its_team(case: Case) -> Check:
    """What the pods say of their team, if they say it, is the truth."""

    def fails(view: View) -> str:
        labels = owner_of(view, case)["spec"]["template"]["metadata"].get("labels") or {}
        return (
            ""
            if labels.get("team", _team(case)) == _team(case)
            else f"{case.name} is said to be {labels['team']}'s"
        )

    return Check(f"{case.name} names its team", fails)


def limits_what_it_writes(case: Case) -> Check:
    """What limits on ephemeral storage there are let the containers work and keep them in bounds."""

    def fails(view: View) -> str:
        for container in owner_of(view, case)["spec"]["template"]["spec"]["containers"]:
            amount = ((container.get("resources") or {}).get("limits") or {}).get(_STORAGE)
            if amount is not None and not _LEAST <= to_bytes(str(amount)) <= _MOST:
                return f"container {container['name']} may write {amount}"
        return ""

    return Check(f"{case.name} has sensible limits", fails)


# Command lines


def _labelled(case: Case, team: str) -> str:
    body = json.dumps({"spec": {"template": {"metadata": {"labels": {"team": team}}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _labelled_by_json(case: Case) -> str:
    operation = {"op": "add", "path": "/spec/template/metadata/labels/team", "value": _team(case)}
    return (
        f"kubectl -n {case.namespace} patch deployment {case.name} --type=json -p '{json.dumps([operation])}'"
    )


def _limited(case: Case, amount: str) -> str:
    return f"kubectl -n {case.namespace} set resources deployment/{case.name} --limits={_STORAGE}={amount}"


def _limited_by_patch(case: Case) -> str:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    resources = {"limits": {_STORAGE: case.params["amount"]}, "requests": {_STORAGE: "32Mi"}}
    containers = [
        {"name": entry["name"], "resources": resources}
        for entry in owner["spec"]["template"]["spec"]["containers"]
    ]
    body = json.dumps({"spec": {"template": {"spec": {"containers": containers}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _rule_deleted(case: Case) -> Script:
    name = case.params["name"]
    return (
        f"kubectl delete validatingadmissionpolicybinding {name}",
        f"kubectl delete validatingadmissionpolicy {name}",
        restarted(case),
    )


def _fault(
    fault_id: str,
    rule: Rule,
    paths: tuple[str, ...],
    is_sensible: Callable[[Case], Check],
    repairs: tuple[Callable[[Case], Script], Callable[[Case], Script]],
    nonsense: Callable[[Case], Script],
) -> Fault:
    return Fault(
        id=fault_id,
        sign=Sign.RELEASE,
        level=2,
        places=deployments,
        params=_params,
        inject=partial(_inject, rule),
        symptoms=lambda case: (no_pods_made(case),),
        evidence=lambda case: (
            Evidence(command=case.warnings, shows=rule.message),
            Evidence(
                command=f"kubectl -n {case.namespace} describe deployment {case.name}", shows="ReplicaFailure"
            ),
        ),
        repaired_when=lambda case: (is_sensible(case), rolled_out(case)),
        allowed=lambda case: (
            *(case.allow(path) for path in paths),
            *(
                case.allow(ADDED, resource=resource, name=case.params["name"], namespace="*")
                for resource in (_POLICIES, _BINDINGS)
            ),
        ),
        repairs=repairs,
        decoys=(
            Decoy(script=nonsense),
            Decoy(script=_rule_deleted),
            Decoy(script=lambda case: (undone(case),)),
            Decoy(script=lambda case: (restarted(case),)),
            Decoy(script=lambda case: (*repairs[0](case), stopped(case))),
            Decoy(script=lambda case: (deleted(case),), is_harmful=True),
        ),
        diagnosis=lambda case: Diagnosis(
            kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.ADMISSION
        ),
    )


FAMILY = Family(
    id="AD-10",
    tier=1,
    summary="A policy of the platform denies the pods of a workload that does not comply.",
    partners=("AD-03", "RO-04", "IM-01"),
    source="tests/golden/l1 (validating admission policies), tests/golden/l2/flows (pods that cannot be made); FAULTS AD-10",
    faults=(
        _fault(
            "unnamed-owner",
            OWNER,
            ("spec.template.metadata.labels.team", "metadata.labels.team"),
            names_its_team,
            (
                lambda case: (_labelled(case, _team(case)),),
                lambda case: (_labelled_by_json(case),),
            ),
            lambda case: (_labelled(case, "nobody"),),
        ),
        _fault(
            "unlimited-storage",
            STORAGE,
            (
                f"spec.template.spec.containers.*.resources.limits.{_STORAGE}",
                f"spec.template.spec.containers.*.resources.requests.{_STORAGE}",
            ),
            limits_what_it_writes,
            (
                lambda case: (_limited(case, case.params["amount"]),),
                lambda case: (_limited_by_patch(case),),
            ),
            lambda case: (_limited(case, "500Gi"),),
        ),
    ),
)

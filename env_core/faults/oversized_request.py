"""A workload requests more than any node has: its new pods are pending."""

from __future__ import annotations

import json

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._resources import amount, resources_of, set_resources
from env_core.faults._words import (
    container_of,
    deployments,
    has_compute_quota,
    owner_of,
    pass_time,
    patch_container,
    pods_pend,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_CPU = ("64", "48", "96")
_MEMORY = ("512Gi", "256Gi", "384Gi")
_WAITS_S = (150, 400, 900)


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    resource = stream.choice(("cpu", "memory"))
    return {
        "resource": resource,
        "amount": stream.choice(_CPU if resource == "cpu" else _MEMORY),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    amount = {case.params["resource"]: case.params["amount"]}
    patch_container(cluster, case.place, {"resources": {"requests": amount, "limits": amount}})
    pass_time(cluster, case)


def requests_what_it_uses(case: Case) -> Check:
    """CPU and memory requests lie between half and four times what they were, and none is missing."""

    def fails(view: View) -> str:
        now = container_of(owner_of(view, case), case.place.container).get("resources") or {}
        for section in ("requests", "limits"):
            for resource, text in sorted((resources_of(case.base, case.place).get(section) or {}).items()):
                if resource not in (now.get(section) or {}):
                    return f"{case.name} has no {section}.{resource}"
                was, is_now = amount(resource, text), amount(resource, now[section][resource])
                if not was <= 2 * is_now <= 8 * was:
                    return f"{case.name} has {section}.{resource} {now[section][resource]}"
        return ""

    return Check(f"{case.name} requests what it uses", fails)


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in deployments(base) if not has_compute_quota(base, base.workloads[role]))


def _zero(case: Case) -> str:
    container = {"name": case.place.container, "resources": {"requests": {"cpu": "0", "memory": "0"}}}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


FAMILY = Family(
    id="RS-05",
    tier=1,
    summary="A workload requests more of a resource than any node has.",
    partners=("SN-02", "AD-03"),
    source="tests/golden/l0/scheduling; FAULTS RS-05",
    faults=(
        Fault(
            id="wrong-unit",
            sign=Sign.RELEASE,
            level=2,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (pods_pend(case),),
            evidence=lambda case: (
                Evidence(
                    command=case.warnings,
                    shows=f"Insufficient {case.params['resource']}",
                ),
            ),
            repaired_when=lambda case: (requests_what_it_uses(case), rolled_out(case)),
            allowed=lambda case: (case.allow(case.container("resources")),),
            repairs=(
                lambda case: (set_resources(case, resources_of(case.base, case.place)),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (_zero(case),)),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(script=lambda case: (stopped(case),)),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.CAPACITY
            ),
        ),
    ),
)

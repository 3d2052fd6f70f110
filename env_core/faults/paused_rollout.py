"""Somebody paused a roll-out and forgot it: the template is of the new release, the pods are of the old one."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._releases import roll_out, set_image
from env_core.faults._words import (
    container_of,
    deployments,
    owner_of,
    pass_time,
    recreated,
    rolled_out,
    stopped,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_WAITS_S = (120, 700, 1_800)
_HALFWAY_MS = 3_000
"""Into a release: the first new pod has been made."""


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in deployments(base) if base.workloads[role].later_tags)


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    is_halfway = place.replicas > 1 and stream.below(2)
    return {
        "tag": place.later_tags[-1],
        "order": "halfway" if is_halfway else "before",
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    colleague = cluster.client(COLLEAGUE)
    is_halfway = case.params["order"] == "halfway"
    if not is_halfway:
        colleague.patch(case.place.resource, case.namespace, case.name, {"spec": {"paused": True}})
        cluster.advance(60_000)
    roll_out(cluster, case.place, case.params["tag"])
    if is_halfway:
        cluster.advance(_HALFWAY_MS)
        colleague.patch(case.place.resource, case.namespace, case.name, {"spec": {"paused": True}})
    pass_time(cluster, case)


def outdated_pods(case: Case) -> Check:
    """Not all of the pods that the Deployment wants are of its newest revision."""

    def fails(view: View) -> str:
        owner = owner_of(view, case)
        is_behind = owner.get("status", {}).get("updatedReplicas", 0) < owner["spec"].get("replicas", 1)
        return "" if is_behind else f"{case.name} is up to date"

    return Check("pods are outdated", fails)


def flows(case: Case) -> Check:
    """The Deployment rolls out what is changed."""

    def fails(view: View) -> str:
        return f"{case.name} is paused" if owner_of(view, case)["spec"].get("paused") else ""

    return Check(f"{case.name} is not paused", fails)


def runs_release(case: Case) -> Check:
    """The workload runs the release that the pipeline noted last."""

    def fails(view: View) -> str:
        owner = owner_of(view, case)
        image = container_of(owner, case.place.container)["image"]
        noted = (owner["metadata"].get("annotations") or {}).get("kubernetes.io/change-cause")
        is_it = noted in (None, f"release {image.rpartition(':')[2]}")
        return "" if is_it else f"{case.name} runs {image}"

    return Check(f"{case.name} runs the release", fails)


def _patched(case: Case, paused: str) -> str:
    return (
        f"""kubectl -n {case.namespace} patch deployment {case.name} -p '{{"spec":{{"paused":{paused}}}}}'"""
    )


def _resumed(case: Case) -> str:
    return f"kubectl -n {case.namespace} rollout resume deployment/{case.name}"


FAMILY = Family(
    id="RO-04",
    tier=1,
    summary="A roll-out was paused and never resumed.",
    partners=("IM-01", "AD-10", "AD-03"),
    source="tests/golden/l2/flows (paused deployments), kubernetes.io/docs, Pausing and Resuming a rollout; FAULTS RO-04",
    faults=(
        Fault(
            id="forgotten-pause",
            sign=Sign.RELEASE,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (outdated_pods(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
                    shows="paused: true",
                ),
                Evidence(
                    command=f"kubectl -n {case.namespace} describe deployment {case.name}",
                    shows="DeploymentPaused",
                ),
            ),
            repaired_when=lambda case: (flows(case), runs_release(case), rolled_out(case)),
            allowed=lambda case: (case.allow("spec.paused"), case.allow(case.container("image"))),
            repairs=(
                lambda case: (_resumed(case),),
                lambda case: (_patched(case, "null"), recreated(case)),
            ),
            decoys=(
                Decoy(script=lambda case: (recreated(case),)),
                Decoy(script=lambda case: (set_image(case, case.place.tag),)),
                Decoy(script=lambda case: (_resumed(case), set_image(case, case.place.tag))),
                Decoy(script=lambda case: (_resumed(case), stopped(case))),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete deployment {case.name} --cascade=orphan",
                    ),
                    is_harmful=True,
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.ROLLOUT
            ),
        ),
    ),
)

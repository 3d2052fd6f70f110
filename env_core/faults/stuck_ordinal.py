"""An ordered StatefulSet waits for a pod that can never be ready: a right template alone replaces nothing."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._storage import data_kept, pods_end, stateful_databases
from env_core.faults._words import (
    pass_time,
    patch_container,
    pods_wait,
    restarted,
    rolled_out,
    runs_image,
    stopped,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed

_SLIPS: Final = ("{}3.21", "{}-rc1", "v{}", "{}-slim", "{}.1")
_LATER_MAJORS: Final = ("17", "18", "17.7", "18.1")
_WAITS_S: Final = (100, 240, 600)


def _slipped(stream: Stream, _base: Base, place: Workload) -> Params:
    repository, _, tag = place.image.rpartition(":")
    return {
        "image": f"{repository}:{stream.choice(_SLIPS).format(tag)}",
        **waits(stream, _WAITS_S),
    }


def _upgraded(stream: Stream, _base: Base, place: Workload) -> Params:
    repository, _, tag = place.image.rpartition(":")
    suffix = tag.partition("-")[2]
    major = stream.choice(_LATER_MAJORS)
    return {
        "image": f"{repository}:{major}-{suffix}" if suffix else f"{repository}:{major}",
        **waits(stream, _WAITS_S),
    }


def _release(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {"image": case.params["image"]})
    pass_time(cluster, case)


def _image(case: Case, image: str) -> str:
    return f"kubectl -n {case.namespace} set image statefulset/{case.name} {case.place.container}={image}"


def _undo(case: Case) -> str:
    return f"kubectl -n {case.namespace} rollout undo statefulset/{case.name}"


def _delete_pod(case: Case) -> str:
    return f"kubectl -n {case.namespace} delete pod {case.name}-0"


def _goals(case: Case) -> tuple[Check, ...]:
    tags = (case.place.tag, *case.place.later_tags, *case.place.earlier_tags[:1])
    return (runs_image(case, *tags), rolled_out(case), *data_kept(case))


def _allowed(case: Case) -> tuple[Allowed, ...]:
    return (case.allow(case.container("image")),)


def _without_claim(case: Case) -> Script:
    return (
        _image(case, case.place.image),
        f"kubectl -n {case.namespace} delete pvc {case.place.claims[0]} --wait=false",
        _delete_pod(case),
    )


def _diagnosis(case: Case, mechanism: Mechanism) -> Diagnosis:
    return Diagnosis(kind="StatefulSet", namespace=case.namespace, name=case.name, mechanism=mechanism)


_LOST: Final = (
    Decoy(script=_without_claim, is_harmful=True),
    Decoy(
        script=lambda case: (f"kubectl -n {case.namespace} delete statefulset {case.name} --cascade=orphan",),
        is_harmful=True,
    ),
    Decoy(script=lambda case: (stopped(case),)),
    Decoy(script=lambda case: (restarted(case),)),
)
_FIXES: Final = (
    lambda case: (_image(case, case.place.image), _delete_pod(case)),
    lambda case: (_undo(case), _delete_pod(case)),
)
_TEMPLATE_ONLY: Final = (
    Decoy(script=lambda case: (_image(case, case.place.image),)),
    Decoy(script=lambda case: (_undo(case),)),
    Decoy(script=lambda case: (_delete_pod(case),)),
)


FAMILY = Family(
    id="RO-10",
    tier=1,
    summary="A StatefulSet that goes in order waits for a pod of a bad revision, which only its deletion replaces.",
    partners=("IM-01", "WC-01"),
    source="tests/golden/l2/flows (sts-stuck); FAULTS RO-10",
    faults=(
        Fault(
            id="tag-slip",
            sign=Sign.PODS,
            places=stateful_databases,
            params=_slipped,
            inject=_release,
            symptoms=lambda case: (pods_wait(case, "ErrImagePull", "ImagePullBackOff"),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} get statefulset {case.name} -o yaml",
                    shows=case.params["image"],
                ),
                Evidence(command=case.warnings, shows="Failed to pull image"),
            ),
            repaired_when=_goals,
            allowed=_allowed,
            repairs=_FIXES,
            decoys=(*_TEMPLATE_ONLY, *_LOST),
            diagnosis=lambda case: _diagnosis(case, Mechanism.IMAGE_REFERENCE),
            level=3,
        ),
        Fault(
            id="later-major",
            sign=Sign.PODS,
            places=stateful_databases,
            params=_upgraded,
            inject=_release,
            symptoms=lambda case: (pods_end(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} logs {case.name}-0",
                    shows="database files are incompatible with server",
                ),
            ),
            repaired_when=_goals,
            allowed=_allowed,
            repairs=_FIXES,
            decoys=(*_TEMPLATE_ONLY, *_LOST),
            diagnosis=lambda case: _diagnosis(case, Mechanism.BAD_RELEASE),
            level=4,
        ),
    ),
)

"""A release names an image that the registry does not have: the roll-out waits, and old pods still serve."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    deleted,
    deployments,
    pass_time,
    patch_container,
    pods_wait,
    restarted,
    rolled_out,
    runs_image,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream

_SLIPS = ("{}-rc", "v{}", "{}_final", "{}-linux", "release-{}")
"""How a tag goes wrong between a build and a manifest."""
_WAITS_S = (120, 300, 900)


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    repository, _, tag = place.image.rpartition(":")
    wanted = place.later_tags[0] if place.later_tags and stream.below(2) else tag
    return {
        "image": f"{repository}:{stream.choice(_SLIPS).format(wanted)}",
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {"image": case.params["image"]})
    pass_time(cluster, case)


def _set_image(case: Case, image: str) -> str:
    return f"kubectl -n {case.namespace} set image deployment/{case.name} {case.place.container}={image}"


FAMILY = Family(
    id="IM-01",
    tier=1,
    summary="A workload names an image tag that its registry does not have.",
    partners=("IM-02", "IM-03"),
    source="tests/golden/kubelet/timelines (image pulls); FAULTS IM-01",
    faults=(
        Fault(
            id="tag-slip",
            sign=Sign.RELEASE,
            places=deployments,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (pods_wait(case, "ErrImagePull", "ImagePullBackOff"),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="Failed to pull image"),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
                    shows=case.params["image"],
                ),
            ),
            repaired_when=lambda case: (
                runs_image(case, case.place.tag, *case.place.later_tags, *case.place.earlier_tags[:1]),
                rolled_out(case),
            ),
            allowed=lambda case: (case.allow(case.container("image")),),
            repairs=(
                lambda case: (_set_image(case, case.place.image),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (_set_image(case, "nginx:1.27"),)),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (
                        _set_image(case, case.place.image),
                        stopped(case),
                    )
                ),
                Decoy(
                    script=lambda case: (deleted(case),),
                    is_harmful=True,
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment",
                namespace=case.namespace,
                name=case.name,
                mechanism=Mechanism.IMAGE_REFERENCE,
            ),
        ),
    ),
)

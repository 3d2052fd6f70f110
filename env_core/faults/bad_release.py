"""A release starts well and then answers a share of its requests with errors; somebody may have restarted it since."""

from __future__ import annotations

from dataclasses import replace

from env_core.cluster import Cluster
from env_core.faults import _releases
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    behind_services,
    deleted,
    pass_time,
    restart,
    restarted,
    rolled_out,
    runs_image,
    stopped,
    undone,
    waits,
)
from env_core.programs._service_model import FAILING_EVERY
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks.entries import some_fail

_WAITS_S = (60, 240, 800)
_ROUNDS_MIN = 6
"""Of users' requests, after the release."""


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if base.workloads[role].failing_tags)


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {
        "tag": stream.choice(place.failing_tags),
        **waits(stream, _WAITS_S),
    }


def _rounds(case: Case, cluster: Cluster) -> int:
    """Return how many rounds of requests let every replica fail some: they take turns."""
    owner = cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    return max(_ROUNDS_MIN, FAILING_EVERY * int(owner["spec"]["replicas"]))


def _inject(case: Case, cluster: Cluster) -> None:
    _releases.roll_out(cluster, case.place, case.params["tag"])
    pass_time(cluster, case)
    _releases.users_come(case, cluster, _rounds(case, cluster))


def _inject_and_restart(case: Case, cluster: Cluster) -> None:
    """A colleague has tried a restart: the last revision but one is the bad release, too."""
    _inject(case, cluster)
    restart(cluster, case.place)
    pass_time(cluster, case)
    _releases.users_come(case, cluster, _rounds(case, cluster))


_RESTART = Decoy(script=lambda case: (restarted(case),))
_DECOYS = (
    _RESTART,
    # The next release looks like the patch that is wanted, and leaks.
    Decoy(script=lambda case: (_releases.set_image(case, case.place.leaking_tags[0]),)),
    # Too far back: what its data looked like then is long gone.
    Decoy(script=lambda case: (_releases.set_image(case, case.place.earlier_tags[-1]),)),
    Decoy(
        script=lambda case: (
            _releases.set_image(case, case.place.tag),
            stopped(case),
        )
    ),
    Decoy(
        script=lambda case: (deleted(case),),
        is_harmful=True,
    ),
)
_SINCE_RELEASE = Fault(
    id="errors-since-release",
    sign=Sign.ERRORS,
    level=2,
    places=_places,
    params=_params,
    inject=_inject,
    symptoms=lambda case: (some_fail(case.entries),),
    evidence=lambda case: (
        Evidence(
            command=f"kubectl -n {case.namespace} rollout history deployment/{case.name}",
            shows=f"release {case.params['tag']}",
        ),
        Evidence(
            command=f"kubectl -n {case.namespace} logs deployment/{case.name} --all-pods --tail=200",
            shows=" 500 ",
        ),
    ),
    repaired_when=lambda case: (
        runs_image(case, *_releases.good_tags(case.place)),
        rolled_out(case),
    ),
    allowed=lambda case: (case.allow(case.container("image")),),
    repairs=(
        lambda case: (undone(case),),
        lambda case: (_releases.set_image(case, _releases.patched(case.params["tag"])),),
        lambda case: (_releases.set_image(case, case.place.tag),),
    ),
    decoys=_DECOYS,
    diagnosis=lambda case: Diagnosis(
        kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.BAD_RELEASE
    ),
)
FAMILY = Family(
    id="RO-02",
    tier=1,
    summary="A release answers a share of its requests with errors.",
    partners=("IM-07", "PR-06", "NW-02"),
    source="tests/golden/programs/app-* (errors while serving); FAULTS RO-02",
    faults=(
        _SINCE_RELEASE,
        replace(
            _SINCE_RELEASE,
            id="errors-and-a-restart",
            level=3,
            inject=_inject_and_restart,
            repairs=(
                lambda case: (_releases.undo_to_healthy(case),),
                lambda case: (_releases.set_image(case, _releases.patched(case.params["tag"])),),
                lambda case: (_releases.set_image(case, case.place.tag),),
            ),
            decoys=(Decoy(script=lambda case: (undone(case),)), *_DECOYS),
        ),
    ),
)

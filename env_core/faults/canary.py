"""A canary of a new release stands beside the stable one behind the same Service, and is not well: it errs, or it leaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from env_core.cluster import Cluster
from env_core.faults import _releases
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    behind_services,
    container_of,
    deleted,
    pass_time,
    rolled_out,
    stopped,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.checks.entries import why_not_served
from env_core.verify.trials import passes
from env_core.verify.view import View
from env_core.world import Object, Objects

_WORDS: Final = ("canary", "next", "preview")
_KEYS: Final = ("track", "release-track", "channel")
_WAITS_S: Final = (120, 400, 900)
_ROUNDS: Final = 8
_LOOKS: Final = 48
_LOOK_MS: Final = 500
"""A canary gets a part of the requests, and fails a part of those: it takes many to see one fail."""


def _may_have_canary(place: Workload) -> bool:
    """Whether a second Deployment can stand beside a workload: a volume of its own would be in the way."""
    return bool(place.failing_tags) and not place.claims


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if _may_have_canary(base.workloads[role]))


def _leaking_places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in _places(base) if _releases.can_leak(base, base.workloads[role]))


def _drawn(stream: Stream) -> dict[str, str]:
    return {"word": stream.choice(_WORDS), "key": stream.choice(_KEYS)}


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {
        **_drawn(stream),
        "tag": stream.choice(place.failing_tags),
        **waits(stream, _WAITS_S),
    }


def _leaking_params(stream: Stream, base: Base, place: Workload) -> Params:
    horizon_s = _releases.leak_horizon_s(base, place)
    return {
        **_drawn(stream),
        "tag": stream.choice(place.leaking_tags),
        "wait_s": str(horizon_s + 30 + stream.below(horizon_s)),
    }


def _name(case: Case) -> str:
    return f"{case.name}-{case.params['word']}"


def _stable(case: Case) -> Object:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    return owner


def _template_spec(case: Case, tag: str) -> Object:
    """Return the stable workload's pod spec with another release."""
    spec = _stable(case)["spec"]["template"]["spec"]
    image = _releases.image_of(case.place, tag)
    containers = [
        {**each, "image": image} if each["name"] == case.place.container else each
        for each in spec["containers"]
    ]
    return {**spec, "containers": containers}


def _canary(case: Case) -> Object:
    stable = _stable(case)
    mark = {case.params["key"]: case.params["word"]}
    template = stable["spec"]["template"]
    kept = ("strategy", "revisionHistoryLimit")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": _name(case),
            "namespace": case.namespace,
            "labels": {**(stable["metadata"].get("labels") or {}), **mark},
            "annotations": {"kubernetes.io/change-cause": f"{case.params['word']} {case.params['tag']}"},
        },
        "spec": {
            **{key: stable["spec"][key] for key in kept if key in stable["spec"]},
            "replicas": 1,
            "selector": {"matchLabels": {**case.place.labels, **mark}},
            "template": {
                "metadata": {"labels": {**template["metadata"]["labels"], **mark}},
                "spec": _template_spec(case, case.params["tag"]),
            },
        },
    }


def _inject(case: Case, cluster: Cluster) -> None:
    cluster.client(DELIVERY).create(case.place.resource, case.namespace, _canary(case))
    cluster.advance(40_000)
    _releases.users_come(case, cluster, _ROUNDS)
    pass_time(cluster, case)
    _releases.users_come(case, cluster, _ROUNDS)


def _pods(view: View, case: Case) -> Objects:
    """Return the living pods that the stable workload's labels select: its own, and the canary's."""
    return [
        pod
        for pod in view.list("pods", case.namespace)
        if view.selects(dict(case.place.labels), pod["metadata"].get("labels") or {})
        and "deletionTimestamp" not in pod["metadata"]
    ]


def a_share_fails(case: Case) -> Check:
    """Of many requests through the workload, one at least is not served as promised."""

    def fails(view: View) -> str:
        trial = view.fork()
        for _ in range(_LOOKS):
            trial.advance(_LOOK_MS)
            if any(why_not_served(trial, entry) for entry in case.entries):
                return ""
        return "every request is served"

    return Check("some users notice", fails)


def killed_for_memory(case: Case) -> Check:
    """Some container beside the stable ones was killed at its memory limit."""

    def fails(view: View) -> str:
        return (
            "" if _releases.killed_for_memory(_pods(view, case)) else "no container was killed for its memory"
        )

    return Check("a container is killed for its memory", fails)


def all_run_good_releases(case: Case) -> Check:
    """All pods behind the Service run releases that their owners stand for, and none has been killed for its memory."""
    allowed = {_releases.image_of(case.place, tag) for tag in _releases.good_tags(case.place)}

    def fails(view: View) -> str:
        pods = _pods(view, case)
        for pod in pods:
            image = container_of({"spec": {"template": pod}}, case.place.container)["image"]
            if image not in allowed:
                return f"pod {pod['metadata']['name']} runs {image}"
        name = _releases.killed_for_memory(pods)
        return f"pod {name} was killed for its memory" if name else ""

    return Check(f"all pods of {case.name} run good releases", fails)


def differs_by_its_release(case: Case) -> Check:
    """The canary, where it is left, differs from the stable workload by its release alone, and is not larger."""

    def fails(view: View) -> str:
        found = view.get(case.place.resource, case.namespace, _name(case))
        if found is None:
            return ""
        if found["spec"].get("replicas", 1) > case.place.replicas:
            return f"{_name(case)} asks for {found['spec']['replicas']} pods"
        spec = found["spec"]["template"]["spec"]
        image = container_of(found, case.place.container)["image"]
        return "" if spec == _template_spec(case, image.rpartition(":")[2]) else f"{_name(case)} differs"

    return Check(f"{_name(case)} is like {case.name}", fails)


def _canary_line(case: Case, line: str) -> str:
    return f"kubectl -n {case.namespace} {line}".replace("{}", f"deployment/{_name(case)}")


def _set_canary(case: Case, tag: str) -> str:
    return _canary_line(case, f"set image {{}} {case.place.container}={_releases.image_of(case.place, tag)}")


def _log_of_canary(case: Case) -> str:
    return f"kubectl -n {case.namespace} logs deployment/{_name(case)} --all-pods --tail=200"


_ERRS = Fault(
    id="canary-errs",
    sign=Sign.ERRORS,
    level=3,
    places=_places,
    params=_params,
    inject=_inject,
    symptoms=lambda case: (a_share_fails(case),),
    evidence=lambda case: (
        Evidence(command=_log_of_canary(case), shows=" 500 "),
        Evidence(
            command=f"kubectl -n {case.namespace} get deployments -o wide", shows=f":{case.params['tag']}"
        ),
    ),
    repaired_when=lambda case: (
        all_run_good_releases(case),
        differs_by_its_release(case),
        rolled_out(case),
    ),
    allowed=lambda case: (case.allow(ADDED, name=_name(case)),),
    repairs=(
        lambda case: (_set_canary(case, case.place.tag),),
        lambda case: (_canary_line(case, "delete {}"),),
        lambda case: (_canary_line(case, "scale {} --replicas=0"),),
        lambda case: (_set_canary(case, _releases.patched(case.params["tag"])),),
    ),
    decoys=(
        Decoy(script=lambda case: (_canary_line(case, "rollout restart {}"),)),
        # Everybody gets what is not well.
        Decoy(
            script=lambda case: (
                _releases.set_image(case, case.params["tag"]),
                _canary_line(case, "delete {}"),
            )
        ),
        # Too far back: what its configuration looked like then is long gone.
        Decoy(
            script=lambda case: (
                _releases.set_image(case, case.place.earlier_tags[-1]),
                _canary_line(case, "delete {}"),
            )
        ),
        # Fewer requests meet it.
        Decoy(
            script=lambda case: (
                f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas={case.place.replicas + 4}",
            )
        ),
        Decoy(
            script=lambda case: (
                _set_canary(case, case.place.tag),
                f"kubectl -n {case.namespace} patch deployment {_name(case)} --type=json "
                """-p '[{"op":"remove","path":"/spec/template/spec/containers/0/livenessProbe"}]'""",
            )
        ),
        Decoy(
            script=lambda case: (
                _set_canary(case, case.place.tag),
                stopped(case),
            )
        ),
        Decoy(
            script=lambda case: (deleted(case),),
            is_harmful=True,
        ),
    ),
    diagnosis=lambda case: Diagnosis(
        kind="Deployment", namespace=case.namespace, name=_name(case), mechanism=Mechanism.BAD_RELEASE
    ),
)
FAMILY = Family(
    id="IM-07",
    tier=1,
    summary="A new release errs or leaks in the canary that stands behind the same Service.",
    partners=("RO-02", "NW-02", "PR-06", "RS-03"),
    source="tests/golden/programs/app-* (errors while serving), tests/golden/kubelet/timelines (OOM kills); FAULTS IM-07",
    faults=(
        _ERRS,
        replace(
            _ERRS,
            id="canary-leaks",
            sign=Sign.PODS,
            places=_leaking_places,
            params=_leaking_params,
            symptoms=lambda case: (killed_for_memory(case),),
            evidence=lambda case: (
                Evidence(command=f"kubectl describe pods {_releases.selected(case)}", shows="OOMKilled"),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployments -o wide",
                    shows=f":{case.params['tag']}",
                ),
            ),
            trials=lambda case: (passes(1_200 * _releases.leak_horizon_s(case.base, case.place)),),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=_name(case), mechanism=Mechanism.MEMORY
            ),
        ),
    ),
)

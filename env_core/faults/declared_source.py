"""A workload is brought back to what its source declares, and the source is wrong: what is mended by hand does not last."""

from __future__ import annotations

import json
from typing import Final

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.controllers.configsync import AGENT, INTERVAL_MS, SUSPEND, declared
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._words import container_of, rolled_out, runs_image
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.scope import Allowed
from env_core.verify.trials import Trial, passes
from env_core.verify.view import View

MAPS: Final = "configmaps"
_WAITS_S: Final = (60, 200, 500)
_RECONCILES: Final = 3
_PATHS: Final = ("/ready", "/health/ready", "/status/ready")


def managed(base: Base) -> tuple[str, ...]:
    """Return the roles of workloads that a source brings back, and that users reach."""
    return tuple(role for role in base.managed if base.entries_through(role))


def _with_failing(base: Base) -> tuple[str, ...]:
    return tuple(
        role for role in managed(base) if base.managed[role].failing_tags and base.managed[role].later_tags
    )


# The source


def source_of(place: Workload) -> tuple[str, str]:
    """Return the namespace and the name of a workload's source."""
    namespace, _, name = place.source.partition("/")
    return namespace, name


def key_and_text(case: Case) -> tuple[str, str]:
    """Return the key and the manifests of the case's source as they were."""
    found = case.base.cluster.store.get(MAPS, *source_of(case.place))
    assert found is not None
    data: dict[str, str] = found["data"]
    return next((key, text) for key, text in sorted(data.items()) if f"name: {case.name}\n" in text)


def _image(case: Case, tag: str) -> str:
    return f"{case.place.image.rpartition(':')[0]}:{tag}"


def tagged(case: Case, tag: str) -> str:
    """Return the manifests with another release."""
    return key_and_text(case)[1].replace(case.place.image, _image(case, tag))


def _asking(case: Case, path: str) -> str:
    """Return the manifests with another readiness path."""
    return key_and_text(case)[1].replace(f"path: {case.place.ready_path},", f"path: {path},")


def declare(case: Case, cluster: Cluster, text: str) -> None:
    """Let the pipeline bring a new revision of the source, and let a colleague mend the workload itself in vain."""
    (namespace, name), (key, before) = source_of(case.place), key_and_text(case)
    pipeline = cluster.client(DELIVERY)
    kept = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{name}-previous", "namespace": namespace},
        "data": {key: before},
    }
    pipeline.create(MAPS, namespace, kept)
    pipeline.patch(MAPS, namespace, name, {"data": {key: text}})
    cluster.advance(INTERVAL_MS + int(case.params["before_s"]) * 1_000)
    _mend_live(case, cluster)
    cluster.advance(INTERVAL_MS + int(case.params["wait_s"]) * 1_000)


def _mend_live(case: Case, cluster: Cluster) -> None:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    was = container_of(owner, case.place.container)
    fields = {"name": case.place.container, "image": was["image"], "readinessProbe": was["readinessProbe"]}
    patch = {"spec": {"replicas": case.place.replicas, "template": {"spec": {"containers": [fields]}}}}
    cluster.client(COLLEAGUE).patch(case.place.resource, case.namespace, case.name, patch, STRATEGIC_PATCH)


def write_source(case: Case, text: str) -> Script:
    """Return the command lines that change the source and wait until it is applied and rolled out."""
    namespace, name = source_of(case.place)
    body = json.dumps({"data": {key_and_text(case)[0]: text}})
    return (
        f"kubectl -n {namespace} patch configmap {name} --type=merge -p '{body}'",
        f"sleep {INTERVAL_MS // 1_000 + 15}",
        f"kubectl rollout status {case.target} --timeout=5m",
    )


def as_before(case: Case) -> Script:
    """Return the command lines that give the source what its previous revision has."""
    namespace, name = source_of(case.place)
    return (
        f"kubectl -n {namespace} get configmap {name}-previous -o json | jq '{{data}}' > /tmp/previous.json",
        f"kubectl -n {namespace} patch configmap {name} --type=merge --patch-file=/tmp/previous.json",
        f"sleep {INTERVAL_MS // 1_000 + 15}",
    )


def _good(case: Case) -> tuple[str, ...]:
    return (case.place.tag, *case.place.later_tags, *case.place.earlier_tags)


def declares_the_right(case: Case) -> Check:
    """The source declares what it did before, but for a good release and a readiness path that the program answers."""
    namespace, name = source_of(case.place)
    key, before = key_and_text(case)
    wanted = [
        declared(text.replace(f"path: {case.place.ready_path},", f"path: {path},"))
        for text in (before.replace(case.place.image, _image(case, tag)) for tag in _good(case))
        for path in (case.place.ready_path, case.place.health_path)
    ]

    def fails(view: View) -> str:
        source = view.get(MAPS, namespace, name)
        if source is None:
            return f"configmap {name} is gone"
        found = declared((source.get("data") or {}).get(key, ""))
        return "" if found in wanted else f"configmap {name} declares {case.name} wrongly"

    return Check("the source declares the right", fails)


def reconciled(_case: Case) -> tuple[Trial, ...]:
    """Return the trial that the agent looks again, and again."""
    return (passes(_RECONCILES * INTERVAL_MS),)


def stands_still(case: Case) -> Check:
    """The newest revision of the workload is not rolled out."""
    out = rolled_out(case)

    def fails(view: View) -> str:
        return "" if out.fails(view) else f"{case.name} is rolled out"

    return Check("the rollout stands still", fails)


# What is tempting


def _fields(case: Case) -> str:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    was = container_of(owner, case.place.container)
    fields = {"name": case.place.container, "image": was["image"], "readinessProbe": was["readinessProbe"]}
    spec = {"replicas": case.place.replicas, "template": {"spec": {"containers": [fields]}}}
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{json.dumps({'spec': spec})}'"


def _by_hand(case: Case) -> Script:
    return (_fields(case), f"kubectl rollout status {case.target} --timeout=50s")


def _suspended(case: Case) -> Script:
    namespace, name = source_of(case.place)
    return (f"kubectl -n {namespace} annotate configmap {name} {SUSPEND}=true", *_by_hand(case))


def _switched_off(case: Case) -> Script:
    namespace, _ = source_of(case.place)
    return (f"kubectl -n {namespace} scale deployment {AGENT} --replicas=0", *_by_hand(case))


def _source_deleted(case: Case) -> Script:
    namespace, name = source_of(case.place)
    return (f"kubectl -n {namespace} delete configmap {name}", *_by_hand(case))


REVERTED: Final = (
    Decoy(script=_by_hand),
    Decoy(script=lambda case: (f"kubectl rollout undo {case.target}",)),
    Decoy(script=_suspended),
    Decoy(script=_switched_off),
    Decoy(script=_source_deleted, is_harmful=True),
)
"""Repairs at the workload alone, or with whoever reverts them silenced."""


def wrong_source(case: Case) -> Diagnosis:
    """The source is wrong, and the agent that applies it reverts what is done elsewhere."""
    namespace, name = source_of(case.place)
    return Diagnosis(kind="ConfigMap", namespace=namespace, name=name, mechanism=Mechanism.CONTROLLER)


def allowed_in_source(case: Case) -> tuple[Allowed, ...]:
    """Return what may change of the source; its previous revision is there since the last change."""
    namespace, name = source_of(case.place)
    return (
        case.allow(f"data.{key_and_text(case)[0]}", resource=MAPS, name=name, namespace=namespace),
        case.allow(ADDED, resource=MAPS, name=f"{name}-previous", namespace=namespace),
    )


def _allowed(case: Case) -> tuple[Allowed, ...]:
    return (
        *allowed_in_source(case),
        case.allow(case.container("image")),
        case.allow(case.container("readinessProbe.httpGet.path")),
    )


def _release_params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {"shown": stream.choice(place.failing_tags), **source_waits(stream)}


def _probe_params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {"shown": stream.choice(_PATHS), **source_waits(stream)}


def source_waits(stream: Stream) -> dict[str, str]:
    """Return how long the source has been wrong before a colleague tries in vain, and how long ago that was."""
    return {
        "before_s": str(stream.choice(_WAITS_S) + stream.below(60)),
        "wait_s": str(20 + stream.below(200)),
    }


def source_shows(case: Case) -> tuple[Evidence, ...]:
    """The source shows what was drawn as wrong, and the agent says that it reverts."""
    namespace, name = source_of(case.place)
    return (
        Evidence(command=f"kubectl -n {namespace} get configmap {name} -o yaml", shows=case.params["shown"]),
        Evidence(command=f"kubectl -n {namespace} get events", shows="brought to the declared state"),
    )


FAMILY = Family(
    id="RO-16",
    tier=1,
    summary="A declared source is wrong, and what is repaired by hand is reverted.",
    partners=("RO-18", "OE-05", "IM-07"),
    source="fluxcd.io/flux/components/kustomize (drift correction); FAULTS RO-16",
    faults=(
        Fault(
            id="release-declared",
            sign=Sign.ERRORS,
            level=4,
            places=_with_failing,
            params=_release_params,
            inject=lambda case, cluster: declare(case, cluster, tagged(case, case.params["shown"])),
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=source_shows,
            repaired_when=lambda case: (declares_the_right(case), runs_image(case, *_good(case))),
            allowed=_allowed,
            trials=reconciled,
            repairs=(
                lambda case: write_source(case, tagged(case, case.place.later_tags[0])),
                as_before,
                lambda case: write_source(case, key_and_text(case)[1]),
            ),
            decoys=REVERTED,
            diagnosis=wrong_source,
        ),
        Fault(
            id="probe-declared",
            sign=Sign.RELEASE,
            level=3,
            places=managed,
            params=_probe_params,
            inject=lambda case, cluster: declare(case, cluster, _asking(case, case.params["shown"])),
            symptoms=lambda case: (stands_still(case),),
            evidence=source_shows,
            repaired_when=lambda case: (declares_the_right(case), rolled_out(case)),
            allowed=_allowed,
            trials=reconciled,
            repairs=(
                lambda case: write_source(case, key_and_text(case)[1]),
                as_before,
                lambda case: write_source(case, _asking(case, case.place.health_path)),
            ),
            decoys=REVERTED,
            diagnosis=wrong_source,
        ),
    ),
)

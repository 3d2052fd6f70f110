"""A release migrates its data when it starts, and liveness does not wait for that: it is restarted before it is done."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from env_core.cluster import Cluster
from env_core.faults import _probes, _releases
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    container_of,
    deployments,
    pass_time,
    restarted,
    rolled_out,
    runs_image,
    stopped,
    undone,
    waits,
)
from env_core.programs._service_model import JAVA, MIGRATE, MIGRATE_VARIABLE
from env_core.programs._service_starting import command, is_on
from env_core.programs.service import product_of
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_WAITS_S: Final = (200, 420, 900)
_ROLLED_MS: Final = 420_000
_PERIOD_S: Final = 5
_BUDGETS: Final = (18, 24, 30)
"""Failures that a startup probe allows every five seconds: 90 to 150 s."""


def _is_slow_in_vain(base: Base, place: Workload) -> bool:
    return bool(place.slow_tags) and _probes.asks_by_http(base, place, _probes.LIVENESS)


def _without_startup_probe(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in deployments(base)
        if _is_slow_in_vain(base, base.workloads[role])
        and not _probes.probe_before(base, base.workloads[role], _probes.STARTUP)
    )


def _all_slow(base: Base) -> tuple[str, ...]:
    return tuple(role for role in deployments(base) if _is_slow_in_vain(base, base.workloads[role]))


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {
        "tag": stream.choice(place.slow_tags),
        "budget": str(stream.choice(_BUDGETS)),
        **waits(stream, _WAITS_S),
    }


def _note(case: Case) -> str:
    return f"release {case.params['tag']}; migrates to schema 0042, cannot be rolled back"


def _said(case: Case) -> str:
    """Return what the release's log says of its migration."""
    return "schema to version 42" if product_of(case.place.image).language == JAVA else "0042"


def _startup(case: Case) -> dict[str, Any]:
    asked = _probes.probe_before(case.base, case.place, _probes.LIVENESS)["httpGet"]
    get = {"path": asked["path"], "port": asked["port"]}
    return {"httpGet": get, "periodSeconds": _PERIOD_S, "failureThreshold": int(case.params["budget"])}


def _inject(case: Case, cluster: Cluster) -> None:
    _releases.roll_out(cluster, case.place, case.params["tag"], _note(case))
    pass_time(cluster, case)


def _inject_lost(case: Case, cluster: Cluster) -> None:
    """The release went well with a startup probe, which a colleague has taken out since."""
    _releases.roll_out(
        cluster, case.place, case.params["tag"], _note(case), {_probes.STARTUP: _startup(case)}
    )
    view = View(cluster)
    cluster.advance_until(lambda: rolled_out(case).holds(view), _ROLLED_MS)
    cluster.advance(120_000)
    _probes.take_out(cluster, case.place, _probes.STARTUP)
    pass_time(cluster, case)


def _unready(case: Case) -> Check:
    """The workload's newest revision does not get ready."""

    def fails(view: View) -> str:
        return "" if rolled_out(case).fails(view) else f"{case.name} is rolled out"

    return Check("a roll-out is not finished", fails)


def _scaled_away(case: Case) -> tuple[str, ...]:
    return (
        _probes.patch_probes(case, {_probes.STARTUP: _startup(case)}),
        stopped(case),
    )


def _command(case: Case, word: str) -> list[str]:
    """Return what the workload's image starts, with a word of its own."""
    return [*command(product_of(case.place.image)), word]


def _migrate_first(case: Case) -> str:
    """Return the command line that moves the migration into an init container, with all that the server reads."""
    own = _probes.container_before(case.base, case.place)
    kept = {key: own[key] for key in ("env", "envFrom", "securityContext", "resources") if own.get(key)}
    image = _releases.image_of(case.place, case.params["tag"])
    first = {"name": "migrate", "image": image, "command": _command(case, MIGRATE), **kept}
    then = {"name": case.place.container, "env": [{"name": MIGRATE_VARIABLE, "value": "false"}]}
    body = json.dumps({"spec": {"template": {"spec": {"initContainers": [first], "containers": [then]}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _migrate_never(case: Case) -> str:
    env = [{"name": MIGRATE_VARIABLE, "value": "false"}]
    return _probes.patch_probes(case, {"env": env})


def _releases_of(case: Case, cluster: Cluster) -> int:
    """Return how often the pipeline has rolled the workload out."""
    return sum(
        record.user == DELIVERY.name
        and (record.resource, record.namespace, record.name)
        == (case.place.resource, case.namespace, case.name)
        and record.verb == "patch"
        and record.code < 400
        for record in cluster.server.audit.records()
    )


def keeps_its_release(case: Case) -> Check:
    """Once the pipeline has rolled out the release that migrates, the workload runs it: its data cannot go back."""

    def fails(view: View) -> str:
        is_out = _releases_of(case, view.cluster) > _releases_of(case, case.base.cluster)
        return runs_image(case, case.params["tag"] if is_out else case.place.tag).fails(view)

    return Check(f"{case.name} runs what its data is for", fails)


def migrates(case: Case) -> Check:
    """Somebody migrates: every server at its start, or its own image in an init container before it."""

    def fails(view: View) -> str:
        pods = view.pods_of(case.namespace, case.name)
        if not pods:
            return f"{case.name} has no pod"
        for pod in pods:
            first = pod["spec"].get("initContainers") or ()
            for container in first:
                if (
                    container["image"]
                    != container_of({"spec": {"template": pod}}, case.place.container)["image"]
                ):
                    return f"init container {container['name']} runs {container['image']}"
            is_done = any(
                MIGRATE in (*(each.get("command") or ()), *(each.get("args") or ())) for each in first
            )
            if not is_on(view.env_of(pod, case.place.container), MIGRATE_VARIABLE, "true") and not is_done:
                return f"nobody migrates for pod {pod['metadata']['name']}"
        return ""

    return Check(f"the data of {case.name} is migrated", fails)


_SLOW_RELEASE = Fault(
    id="slow-release",
    sign=Sign.RELEASE,
    level=3,
    places=_without_startup_probe,
    params=_params,
    inject=_inject,
    symptoms=lambda case: (_probes.containers_restart(case), _unready(case)),
    evidence=lambda case: (
        Evidence(
            command=f"kubectl -n {case.namespace} rollout history deployment/{case.name}",
            shows="cannot be rolled back",
        ),
        Evidence(command=case.warnings, shows="Liveness probe failed"),
        Evidence(command=f"kubectl logs {_releases.selected(case)} --tail=40", shows=_said(case)),
    ),
    repaired_when=lambda case: (
        keeps_its_release(case),
        _probes.liveness_asks_health(case),
        migrates(case),
        rolled_out(case),
    ),
    trials=lambda case: (_probes.is_left_alone(case), _probes.hangs(case)),
    allowed=lambda case: (
        case.allow(case.container("image")),
        case.allow(case.container(_probes.STARTUP)),
        case.allow(case.container(_probes.LIVENESS)),
        case.allow(case.container(f"env[{MIGRATE_VARIABLE}]")),
        case.allow(f"data.{MIGRATE_VARIABLE}", resource="configmaps", name=f"{case.name}-config"),
        case.allow("spec.template.spec.initContainers"),
    ),
    repairs=(
        lambda case: (_probes.patch_probes(case, {_probes.STARTUP: _startup(case)}),),
        lambda case: (_migrate_first(case),),
        lambda case: (
            _probes.patch_probes(
                case, {_probes.LIVENESS: {"initialDelaySeconds": 60, "failureThreshold": 3}}
            ),
        ),
    ),
    decoys=(
        Decoy(script=lambda case: (undone(case),)),
        Decoy(script=lambda case: (_releases.set_image(case, case.place.tag),)),
        Decoy(
            script=lambda case: (
                _probes.patch_probes(case, {_probes.LIVENESS: {"initialDelaySeconds": 900}}),
            )
        ),
        Decoy(script=lambda case: (_probes.patch_probes(case, {_probes.LIVENESS: None}),)),
        Decoy(
            script=lambda case: (
                _probes.patch_probes(case, {_probes.STARTUP: {**_startup(case), "failureThreshold": 10_000}}),
            )
        ),
        Decoy(script=lambda case: (_migrate_never(case),)),
        Decoy(script=lambda case: (restarted(case),)),
        Decoy(script=_scaled_away),
    ),
    diagnosis=lambda case: Diagnosis(
        kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.STARTUP
    ),
)
FAMILY = Family(
    id="PR-05",
    tier=1,
    summary="A release needs longer to start than its liveness probe waits.",
    partners=("PR-01", "PR-02", "RS-03"),
    source="tests/golden/kubelet/timelines (startup and liveness); FAULTS PR-05",
    faults=(
        _SLOW_RELEASE,
        replace(
            _SLOW_RELEASE,
            id="lost-startup-probe",
            sign=Sign.PODS,
            places=_all_slow,
            inject=_inject_lost,
            repairs=(
                lambda case: (undone(case),),
                lambda case: (_migrate_first(case),),
                lambda case: (_probes.patch_probes(case, {_probes.STARTUP: _startup(case)}),),
            ),
            decoys=_SLOW_RELEASE.decoys[1:],
        ),
    ),
)

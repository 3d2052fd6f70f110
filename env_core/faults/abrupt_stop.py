"""Pods stop at once when they are told to, while others still send to them: requests fail whenever pods are replaced.

The hook that made them wait was dropped, or became a command that the image does not have.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from env_core.faults import _releases
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    behind_services,
    container_of,
    owner_of,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.programs._service_model import GO
from env_core.programs.service import product_of
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_DELAY: Final = "SHUTDOWN_DELAY_MS"
_NOTES: Final = ("pods stop faster", "simplify the pod template", "no hooks in deployments")
_WAITS_S: Final = (120, 400, 900)
_GRACE_MAX_S: Final = 120
"""Longer, and every roll-out and drain waits for it."""


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role for role in behind_services(base) if _releases.rolls_unnoticed(base, base.workloads[role])
    )


def _places_without_commands(base: Base) -> tuple[str, ...]:
    """Return the roles of those whose image has nothing but the program."""
    return tuple(role for role in _places(base) if product_of(base.workloads[role].image).language == GO)


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        "note": stream.choice(_NOTES),
        "seconds": str(5 + 5 * stream.below(3)),
        **waits(stream, _WAITS_S),
    }


def stops_in_time(case: Case) -> Check:
    """Who is told to stop goes on for a moment, by a hook or by itself, and the grace period covers that and is no excuse."""

    def fails(view: View) -> str:
        owner = owner_of(view, case)
        container = container_of(owner, case.place.container)
        grace_s = owner["spec"]["template"]["spec"].get("terminationGracePeriodSeconds", 30)
        if grace_s > _GRACE_MAX_S:
            return f"{case.name} may take {grace_s} s to stop"
        has_hook = bool((container.get("lifecycle") or {}).get("preStop"))
        pods = view.pods_of(case.namespace, case.name)
        waits = [view.env_of(pod, case.place.container).get(_DELAY, "0") not in ("", "0") for pod in pods]
        return "" if pods and (has_hook or all(waits)) else f"{case.name} stops at once"

    return Check(f"{case.name} takes its time to stop", fails)


def _patched(case: Case, container: dict[str, Any], **spec: Any) -> str:
    inner = {**spec, "containers": [{"name": case.place.container, **container}]}
    body = json.dumps({"spec": {"template": {"spec": inner}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _hook(seconds: int) -> dict[str, Any]:
    return {"lifecycle": {"preStop": {"exec": None, "sleep": {"seconds": seconds}}}}


def _command(case: Case) -> dict[str, Any]:
    """Return the hook as a command, as other images allow."""
    words = ["sleep", case.params["seconds"]]
    return {"lifecycle": {"preStop": {"sleep": None, "exec": {"command": words}}}}


def _sleeps(case: Case, seconds: int) -> str:
    return _patched(case, _hook(seconds))


_NO_DRAIN = Fault(
    id="no-drain",
    sign=Sign.DOUBT,
    level=4,
    places=_places,
    params=_params,
    inject=lambda case, cluster: _releases.tidy_up(case, cluster, {"lifecycle": None}),
    symptoms=lambda case: (_releases.fails_while_rolled(case),),
    evidence=lambda case: (
        Evidence(
            command=f"kubectl -n {case.namespace} rollout history deployment/{case.name}",
            shows=case.params["note"],
        ),
    ),
    repaired_when=lambda case: (stops_in_time(case), rolled_out(case)),
    trials=lambda case: (_releases.rolled_under_traffic(case),),
    allowed=lambda case: (
        case.allow(case.container("lifecycle")),
        case.allow(case.container(f"env[{_DELAY}]")),
        case.allow(f"data.{_DELAY}", resource="configmaps", name=f"{case.name}-config"),
        case.allow("spec.template.spec.terminationGracePeriodSeconds"),
    ),
    repairs=(
        lambda case: (_sleeps(case, 5),),
        lambda case: (_patched(case, {"env": [{"name": _DELAY, "value": "8000"}]}),),
        lambda case: (_releases.undo_to_healthy(case),),
        lambda case: (
            _patched(
                case,
                _hook(15),
                terminationGracePeriodSeconds=60,
            ),
        ),
    ),
    decoys=(
        Decoy(script=lambda case: (restarted(case),)),
        # More time to stop, for who does not take it.
        Decoy(script=lambda case: (_patched(case, {}, terminationGracePeriodSeconds=90),)),
        # Too short to be of use.
        Decoy(script=lambda case: (_patched(case, {"env": [{"name": _DELAY, "value": "50"}]}),)),
        # Fewer roll-outs.
        Decoy(script=lambda case: (f"kubectl -n {case.namespace} rollout pause deployment/{case.name}",)),
        Decoy(
            script=lambda case: (
                _sleeps(case, 5),
                stopped(case),
            )
        ),
        Decoy(script=lambda case: (undone(case),)),
    ),
    diagnosis=lambda case: Diagnosis(
        kind="Deployment",
        namespace=case.namespace,
        name=case.name,
        mechanism=Mechanism.MISSING_CONFIG,
    ),
)
FAMILY = Family(
    id="NW-20",
    tier=1,
    summary="Requests fail while pods are replaced, for these stop before others know.",
    partners=("NW-01", "PR-06", "WC-17", "RO-01"),
    source="k8s.io/kubernetes pkg/proxy (minSyncPeriod), tests/golden/kubelet (del-*, prestop-*); FAULTS NW-20",
    faults=(
        _NO_DRAIN,
        replace(
            _NO_DRAIN,
            id="no-such-command",
            level=3,
            places=_places_without_commands,
            inject=lambda case, cluster: _releases.tidy_up(case, cluster, _command(case)),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="FailedPreStopHook"),
                Evidence(
                    command=f"kubectl -n {case.namespace} rollout history deployment/{case.name}",
                    shows=case.params["note"],
                ),
            ),
            decoys=(
                *_NO_DRAIN.decoys,
                # Neither is there a shell.
                Decoy(
                    script=lambda case: (
                        _patched(
                            case, {"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "sleep 10"]}}}}
                        ),
                    )
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.COMMAND
            ),
        ),
    ),
)

"""The on-call engineer may not read events in this cluster: the usual way to the cause is closed."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._model import Case, Params
from env_core.modifiers._model import Modifier
from env_core.sim.rng import Stream
from env_core.world import Object

_ROLE = "on-call"


def _params(_stream: Stream, _case: Case) -> Params | None:
    return {}


def _without(rule: Object) -> Object:
    return {**rule, "resources": [name for name in rule["resources"] if name != "events"]}


def _close(_case: Case, _params: Params, cluster: Cluster) -> None:
    client = cluster.client()
    role = client.get("clusterroles.rbac.authorization.k8s.io", "", _ROLE)
    rules = [_without(rule) for rule in role["rules"]]
    client.update(
        "clusterroles.rbac.authorization.k8s.io", "", {**role, "rules": [rule for rule in rules if rule["resources"]]}
    )  # fmt: skip


MODIFIER = Modifier(
    id="OB",
    summary="Events may not be read.",
    source='FAULTS §1, knobs "telemetry" and "rights"',
    params=_params,
    before=_close,
)

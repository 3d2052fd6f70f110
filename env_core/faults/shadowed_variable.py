"""A variable is defined twice: an explicit entry in the template hides what the ConfigMap says, which looks right."""

from __future__ import annotations

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.faults._config import (
    asked_addresses,
    entry_of,
    full_address,
    key_written,
    mistaken,
    need_of,
    starts_as_intended,
    variable_referred,
    variable_set,
    variable_unset,
    with_asked_addresses,
)
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import deleted, owner_of, pass_time, restarted, rolled_out, stopped, undone, waits
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.view import View

_WAITS_S = (90, 300, 800)


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    need = stream.choice(asked_addresses(base, place))
    return {"variable": need.variable, "value": mistaken(stream, need), **waits(stream, _WAITS_S)}


def _inject(case: Case, cluster: Cluster) -> None:
    entry = {"name": case.params["variable"], "value": case.params["value"]}
    containers = [{"name": case.place.container, "env": [entry]}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    cluster.client(COLLEAGUE).patch(case.place.resource, case.namespace, case.name, patch, STRATEGIC_PATCH)
    pass_time(cluster, case)


def map_rules(case: Case) -> Check:
    """No explicit entry hides the variable's ConfigMap: there is none, or it refers to the map."""
    need = need_of(case)

    def fails(view: View) -> str:
        entry = entry_of(owner_of(view, case), case)
        if entry is None:
            return ""
        reference = (entry.get("valueFrom") or {}).get("configMapKeyRef") or {}
        is_reference = (reference.get("name"), reference.get("key")) == (need.name, need.key)
        return "" if is_reference else f"{case.name} defines {need.variable} twice"

    return Check(f"{need.variable} comes from {need.name}", fails)


FAMILY = Family(
    id="WC-03",
    tier=1,
    summary="An explicit entry of a template hides a variable's value in the ConfigMap.",
    partners=("CF-02", "WC-05", "NW-03"),
    source="tests/golden/kubelet (env), kubernetes.io/docs, Container.envFrom: a key in env takes precedence; FAULTS WC-03",
    faults=(
        Fault(
            id="forgotten-override",
            sign=Sign.ERRORS,
            level=3,
            places=with_asked_addresses,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} set env deployment/{case.name} --list",
                    shows=f"{case.params['variable']}={case.params['value']}",
                ),
                Evidence(
                    command=f"kubectl -n {case.namespace} get configmap {need_of(case).name} -o yaml",
                    shows=need_of(case).value,
                ),
            ),
            repaired_when=lambda case: (map_rules(case), starts_as_intended(case), rolled_out(case)),
            allowed=lambda case: (case.allow(case.container(f"env[{case.params['variable']}]")),),
            repairs=(
                lambda case: (variable_unset(case),),
                lambda case: (variable_referred(case),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (variable_set(case, need_of(case).value),)),
                Decoy(script=lambda case: (key_written(case, full_address(case)), restarted(case))),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} exec deployment/{case.name} -c {case.place.container} -- "
                        f"sh -c 'export {case.params['variable']}={need_of(case).value}; kill -HUP 1'",
                    )
                ),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(script=lambda case: (variable_unset(case), stopped(case))),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete configmap {need_of(case).name}",
                        variable_set(case, need_of(case).value),
                    ),
                    is_harmful=True,
                ),
                Decoy(script=lambda case: (deleted(case),), is_harmful=True),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.WRONG_CONFIG
            ),
        ),
    ),
)

"""A secret was rotated, and its server took the new one: pods that read it at their start hold the old one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from env_core.apiserver.client import ApiClient
from env_core.cluster import Cluster
from env_core.faults._config import (
    SECRET,
    drawn_need,
    encoded,
    is_of_store,
    keeps_secret,
    logged,
    need_of,
    secret_value,
    store_named,
    store_of,
    takers,
    variable_set,
)
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._words import deleted, pass_time, restarted, rolled_out, stopped, waits
from env_core.programs import Request, _postgres_wire
from env_core.programs._service_model import password_file_of
from env_core.programs._service_starting import password
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import DELIVERY
from env_core.sim.rng import Stream
from env_core.sim.timefmt import rfc3339
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.trials import Trial
from env_core.verify.view import View
from env_core.world import Object

_WAITS_S: Final = (90, 300, 800)
_MOUNT: Final = "/etc/credentials"
_FOLLOWED_MS: Final = 180_000
"""Until a rotation has reached everybody who follows it: a kubelet refreshes files within a minute and a half."""
_POLICY: Final = "the pipeline renders checksum/{} anew in every pod template that carries it"


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    need = drawn_need(stream, place, is_of_store)
    values = [f"{need.value[:3]}{stream.below(1 << 48):012x}" for _ in range(2)]
    return {"variable": need.variable, "value": values[0], "later": values[1], **waits(stream, _WAITS_S)}


def _checksum(case: Case) -> str:
    return f"checksum/{need_of(case).name}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _template_noted(key: str, value: str) -> Object:
    return {"spec": {"template": {"metadata": {"annotations": {key: value}}}}}


def _prefix(case: Case) -> str:
    """Return the prefix of the variables of the server that the secret is for."""
    return need_of(case).variable.removesuffix("_PASSWORD")


def _followers(case: Case) -> tuple[str, ...]:
    """Return the names of the other Deployments that read the Secret: their charts carry its checksum."""
    return tuple(
        sorted(
            place.name
            for place in case.base.workloads.values()
            if place.namespace == case.namespace
            and place.resource == "deployments.apps"
            and place.name != case.name
            and any((need.source, need.name) == (SECRET, need_of(case).name) for need in place.needs)
        )
    )


def _tell_server(cluster: Cluster, case: Case, value: str) -> None:
    """Give the role its next password, as its administrator does in a shell on the server; Redis reads its own at its start."""
    store, view = store_of(case), View(cluster)
    known = {need.variable: need.value for need in store.needs}
    if "POSTGRES_USER" not in known:
        return
    user = known["POSTGRES_USER"]
    query = _postgres_wire.Query(
        user, secret_value(view, case), known["POSTGRES_DB"], f"ALTER ROLE {user} PASSWORD '{value}'"
    )
    for pod in view.list("pods", store.namespace):
        if store.labels.items() <= (pod["metadata"].get("labels") or {}).items():
            address = pod["status"].get("podIP", "")
            asked = Request(
                method="", path="", body=_postgres_wire.encode(query), protocol=_postgres_wire.PROTOCOL
            )
            cluster.network.request_pod(address, store.container_port, asked, address)


def rotate(cluster: Cluster, client: ApiClient, case: Case, value: str, followers: Sequence[str]) -> None:
    """Give the server its next password, write it into the Secret, and render the followers' checksums anew."""
    need = need_of(case)
    _tell_server(cluster, case, value)
    notes = {
        "rotation.example.com/rotated-at": rfc3339(cluster.now_ms),
        "rotation.example.com/interval": "720h",
        "rotation.example.com/note": _POLICY.format(need.name),
    }
    change = {"metadata": {"annotations": notes}, "data": {need.key: encoded(value)}}
    client.patch(SECRET, case.namespace, need.name, change)
    for name in followers:
        client.patch(
            "deployments.apps", case.namespace, name, _template_noted(_checksum(case), _digest(value))
        )


def _inject(case: Case, cluster: Cluster) -> None:
    rotate(cluster, cluster.client(DELIVERY), case, case.params["value"], _followers(case))
    pass_time(cluster, case)


def _was_rotated(case: Case, cluster: Cluster) -> bool:
    """Whether there was a first rotation: before the incident there was none."""
    ref = (SECRET, case.namespace, need_of(case).name)
    return cluster.store.get(*ref) != case.base.cluster.store.get(*ref)


def _second_rotation(case: Case) -> Trial:
    def act(cluster: Cluster) -> None:
        if not _was_rotated(case, cluster):
            return
        owners = cluster.store.list("deployments.apps", case.namespace)
        noted = [
            owner["metadata"]["name"]
            for owner in owners
            if _checksum(case) in (owner["spec"]["template"]["metadata"].get("annotations") or {})
        ]
        rotate(cluster, cluster.client(), case, case.params["later"], noted)
        cluster.advance(_FOLLOWED_MS)

    return Trial("second rotation", act)


# Goals


def rotation_stands(case: Case) -> Check:
    """The Secret, once written, holds what a rotation wrote and not what was there before."""
    need = need_of(case)

    def fails(view: View) -> str:
        if not _was_rotated(case, view.cluster):
            return ""
        is_new = secret_value(view, case) in (case.params["value"], case.params["later"])
        return "" if is_new else f"Secret {need.name} was set back"

    return Check(f"{need.name} stays rotated", fails)


def uses_current(case: Case) -> Check:
    """Every pod of the workload would connect with what the Secret holds now."""

    def fails(view: View) -> str:
        pods = view.pods_of(case.namespace, case.name)
        if not pods:
            return f"{case.name} has no pods"
        for pod in pods:
            process = view.process_of(pod, case.place.container)
            if process is None or password(process, _prefix(case)) != secret_value(view, case):
                return f"pod {pod['metadata']['name']} does not hold what {need_of(case).name} does"
        return ""

    return Check(f"{case.name} uses the current {need_of(case).variable}", fails)


# Command lines


def _patched(case: Case, body: Object) -> str:
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{json.dumps(body)}'"


def _checked(case: Case) -> str:
    return _patched(case, _template_noted(_checksum(case), _digest(case.params["value"])))


def _mounted(case: Case, path: str, mount: Object) -> str:
    need = need_of(case)
    container = {
        "name": case.place.container,
        "env": [
            {"name": need.variable, "$patch": "delete"},
            {"name": password_file_of(_prefix(case)), "value": path},
        ],
        "volumeMounts": [{"name": "credentials", "readOnly": True, **mount}],
    }
    volumes = [{"name": "credentials", "secret": {"secretName": need.name}}]
    return _patched(case, {"spec": {"template": {"spec": {"volumes": volumes, "containers": [container]}}}})


def _as_file(case: Case) -> str:
    return _mounted(case, f"{_MOUNT}/{need_of(case).key}", {"mountPath": _MOUNT})


def _as_sub_path(case: Case) -> str:
    path = f"{_MOUNT}/{need_of(case).key}"
    return _mounted(case, path, {"mountPath": path, "subPath": need_of(case).key})


def _set_back(case: Case) -> Script:
    need = need_of(case)
    body = json.dumps({"data": {need.key: encoded(need.value)}})
    return (
        f"kubectl -n {case.namespace} patch secret {need.name} -p '{body}'",
        f"kubectl -n {case.namespace} rollout restart {store_named(case)}",
    )


FAMILY = Family(
    id="CF-04",
    tier=1,
    summary="A secret was rotated, and running pods hold the old one.",
    partners=("CF-03", "NW-01", "PR-04"),
    source="tests/golden/kubelet (volumes are refreshed, variables are not); kubernetes.io/docs, Secrets, mounted Secrets are "
    "updated automatically; helm.sh/docs, Automatically Roll Deployments; FAULTS CF-04",
    faults=(
        Fault(
            id="stale-environment",
            sign=Sign.ERRORS,
            level=4,
            places=lambda base: takers(base, is_of_store),
            params=_params,
            inject=_inject,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                logged(case, "password"),
                Evidence(
                    command=f"kubectl -n {case.namespace} get secret {need_of(case).name} -o yaml",
                    shows="rotation.example.com/rotated-at",
                ),
            ),
            repaired_when=lambda case: (
                rotation_stands(case),
                uses_current(case),
                keeps_secret(case),
                rolled_out(case),
            ),
            allowed=lambda case: (
                case.allow(f"data.{need_of(case).key}", resource=SECRET, name=need_of(case).name),
                case.allow("metadata.annotations", resource=SECRET, name=need_of(case).name),
                case.allow(f"spec.template.metadata.annotations.{_checksum(case)}", name="*"),
                case.allow("spec.template.spec.volumes"),
                case.allow(case.container("volumeMounts")),
                case.allow(case.container(f"env[{need_of(case).variable}]")),
                case.allow(case.container(f"env[{password_file_of(_prefix(case))}]")),
            ),
            repairs=(
                lambda case: (_checked(case),),
                lambda case: (_as_file(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(script=_set_back),
                Decoy(script=lambda case: (_as_sub_path(case),)),
                Decoy(script=lambda case: (variable_set(case, case.params["value"]),)),
                Decoy(script=lambda case: (_checked(case), stopped(case))),
                Decoy(
                    script=lambda case: (f"kubectl -n {case.namespace} delete {store_named(case)}",),
                    is_harmful=True,
                ),
                Decoy(script=lambda case: (deleted(case),), is_harmful=True),
            ),
            trials=lambda case: (_second_rotation(case),),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.STALE_CONFIG
            ),
        ),
    ),
)

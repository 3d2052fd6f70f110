"""What families about configuration share: which variables can break, how they are changed, and what "as intended" means."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from env_core.cluster import Cluster
from env_core.faults._model import Case, Decoy, Evidence, Script
from env_core.faults._words import container_of, deployments, owner_of, stopped
from env_core.scenarios._app import CREDENTIAL, UPSTREAM, Base, Need, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

CONFIG: Final = "configmaps"
SECRET: Final = "secrets"
_PASSWORD: Final = "_PASSWORD"
_SUFFIXES: Final = ((), ("svc",), ("svc", "cluster", "local"))
_ADDRESS: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>[^\s/:]+)(?::(?P<port>\d+))?(?P<path>/\S*)?"
)

# Places


def takers(base: Base, fits: Callable[[Workload, Need], bool]) -> tuple[str, ...]:
    """Return the roles of Deployments that have a variable which fits."""
    found = base.workloads
    return tuple(
        role for role in deployments(base) if any(fits(found[role], need) for need in found[role].needs)
    )


def drawn_need(stream: Stream, place: Workload, fits: Callable[[Workload, Need], bool]) -> Need:
    """Return one of a workload's variables that fit."""
    return stream.choice([need for need in place.needs if fits(place, need)])


def need_of(case: Case) -> Need:
    """Return the variable that the case is about."""
    return next(need for need in case.place.needs if need.variable == case.params["variable"])


def is_asked_for(base: Base, place: Workload, need: Need) -> bool:
    """Whether some way in goes from a workload to the one behind an address of its configuration."""
    return need.kind == UPSTREAM and any(
        place.role in entry.through and need.target in entry.through for entry in base.entries
    )


def asked_addresses(base: Base, place: Workload) -> tuple[Need, ...]:
    """Return the addresses in a workload's ConfigMap that users notice when they are wrong.

    Where readiness asks the server behind one, nobody but the pipeline would notice.
    """
    return tuple(
        need
        for need in place.needs
        if need.source == CONFIG
        and need.is_required
        and is_asked_for(base, place, need)
        and (need.value.startswith("http") or not place.ready_path)
    )


def with_asked_addresses(base: Base) -> tuple[str, ...]:
    """Return the roles of Deployments that have such addresses."""
    return tuple(role for role in deployments(base) if asked_addresses(base, base.workloads[role]))


_HOSTS: Final = ("{}-svc", "{}-v2", "{}-internal", "new-{}", "{}-prod")


def mistaken(stream: Stream, need: Need) -> str:
    """Return an address like the right one, of a Service that nobody has."""
    host = need.value.removeprefix("http://").partition(":")[0].partition(".")[0]
    return need.value.replace(host, stream.choice(_HOSTS).format(host), 1)


# Edits


def write_key(cluster: Cluster, case: Case, value: str | None) -> None:
    """Change (or with None remove) the key of the ConfigMap from which the case's variable comes, as a colleague does."""
    need = need_of(case)
    cluster.client(COLLEAGUE).patch(CONFIG, case.namespace, need.name, {"data": {need.key: value}})


# Command lines


def key_written(case: Case, value: str) -> str:
    """Return the command line that writes the key of the variable's ConfigMap."""
    need = need_of(case)
    body = json.dumps({"data": {need.key: value}})
    return f"kubectl -n {case.namespace} patch configmap {need.name} --type=merge -p '{body}'"


def map_replaced(case: Case, value: str) -> str:
    """Return the command line that replaces the variable's ConfigMap by what it was, but for one value."""
    need = need_of(case)
    was = case.base.cluster.store.get(CONFIG, case.namespace, need.name)
    assert was is not None
    metadata = {"name": need.name, "namespace": case.namespace, "labels": was["metadata"].get("labels") or {}}
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {**was["data"], need.key: value},
    }
    return f"kubectl replace -f - <<'EOF'\n{json.dumps(manifest)}\nEOF"


def variable_set(case: Case, value: str) -> str:
    """Return the command line that writes the variable's value into the template."""
    return (
        f"kubectl -n {case.namespace} set env deployment/{case.name} -c {case.place.container} "
        f"{case.params['variable']}='{value}'"
    )


def variable_unset(case: Case) -> str:
    """Return the command line that removes the variable's entry from the template."""
    return f"kubectl -n {case.namespace} set env deployment/{case.name} -c {case.place.container} {case.params['variable']}-"


def variable_referred(case: Case) -> str:
    """Return the command line that lets the template take the variable from its ConfigMap or Secret."""
    need = need_of(case)
    field = "secretKeyRef" if need.source == SECRET else "configMapKeyRef"
    entry = {"name": need.variable, "value": None, "valueFrom": {field: {"name": need.name, "key": need.key}}}
    body = json.dumps(
        {"spec": {"template": {"spec": {"containers": [{"name": case.place.container, "env": [entry]}]}}}}
    )
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def full_address(case: Case) -> str:
    """Return the right address of the variable, with the whole name of its host."""
    need = need_of(case)
    found = _ADDRESS.fullmatch(need.value)
    assert found is not None
    host = found["host"]
    if "." in host:
        return need.value
    return need.value.replace(host, f"{host}.{case.namespace}.svc.cluster.local", 1)


def map_recreated(case: Case, value: str) -> Script:
    """Return the command lines that throw the variable's ConfigMap away and make one with this key alone."""
    need = need_of(case)
    return (
        f"kubectl -n {case.namespace} delete configmap {need.name}",
        f"kubectl -n {case.namespace} create configmap {need.name} --from-literal={need.key}={value}",
    )


# Evidence


def logged(case: Case, text: str) -> Evidence:
    """Some pod of the workload says a text."""
    return Evidence(
        command=f"kubectl -n {case.namespace} get pods -o name | grep {case.name} | "
        f"xargs -n1 kubectl -n {case.namespace} logs --tail=60 -c {case.place.container}",
        shows=text,
    )


# Symptoms


def some_unready(case: Case) -> Check:
    """Some living pod of the workload is not ready, or it has none."""

    def fails(view: View) -> str:
        pods = view.pods_of(case.namespace, case.name)
        ready = view.ready_pods_of(case.namespace, case.name)
        return f"every pod of {case.name} is ready" if pods and len(ready) == len(pods) else ""

    return Check("pods are not ready", fails)


def pods_crash(case: Case) -> Check:
    """Some container of the workload's pods has ended with an error and is not back."""

    def fails(view: View) -> str:
        for pod in view.pods_of(case.namespace, case.name):
            for status in pod.get("status", {}).get("containerStatuses") or ():
                ends = (status.get(field, {}).get("terminated") or {} for field in ("state", "lastState"))
                if not status.get("ready") and any(end.get("exitCode") for end in ends):
                    return ""
        return f"no pod of {case.name} crashes"

    return Check("pods crash", fails)


# Goals


class Address(NamedTuple):
    """Where an address leads: the same for all ways of writing it."""

    scheme: str
    name: str
    namespace: str
    port: str
    path: str


def address_of(text: str, namespace: str) -> Address | None:
    """Return where an address leads when it is used in a namespace, None when it is none of a Service."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        return None
    name, *rest = found["host"].removesuffix(".").split(".")
    if rest and tuple(rest[1:]) not in _SUFFIXES:
        return None
    port = found["port"] or ("80" if found["scheme"] else "")
    return Address(
        found["scheme"] or "", name, rest[0] if rest else namespace, port, (found["path"] or "").rstrip("/")
    )


def means(case: Case, need: Need, value: str) -> bool:
    """Whether a value is the right one of a variable, written in any way."""
    if value == need.value:
        return True
    if need.kind != UPSTREAM:
        return False
    right = address_of(need.value, case.namespace)
    return right is not None and address_of(value, case.namespace) == right


def starts_as_intended(case: Case, is_right: Callable[[str], bool] | None = None) -> Check:
    """Every pod of the workload, and as many as it had, runs with the right value of the variable."""
    need = need_of(case)

    def fits(value: str) -> bool:
        return is_right(value) if is_right is not None else means(case, need, value)

    def fails(view: View) -> str:
        pods = view.pods_of(case.namespace, case.name)
        if not pods:
            return f"{case.name} has no pods"
        for pod in pods:
            env = view.env_of(pod, case.place.container)
            if need.variable not in env:
                return f"pod {pod['metadata']['name']} runs without {need.variable}"
            if not fits(env[need.variable]):
                return f"pod {pod['metadata']['name']} has another {need.variable}"
        return ""

    return Check(f"{case.name} starts with its own {need.variable}", fails)


def keeps_secret(case: Case) -> Check:
    """A credential, as it was or as its Secret holds it, is spelled out in no template and no ConfigMap of its namespace."""
    need = need_of(case)

    def fails(view: View) -> str:
        words = {need.value, secret_value(view, case)} - {""}
        if any(_is_spelled_out(owner_of(view, case)["spec"]["template"], word) for word in words):
            return f"{case.name} spells {need.variable} out"
        for entry in view.list(CONFIG, case.namespace):
            if any(_is_spelled_out(entry, word) for word in words):
                return f"ConfigMap {entry['metadata']['name']} holds {need.variable}"
        return ""

    return Check(f"{need.variable} stays secret", fails)


def encoded(text: str) -> str:
    """Return a text as a Secret holds it."""
    return base64.b64encode(text.encode()).decode()


def secret_value(view: View, case: Case) -> str:
    """Return the variable's value as its Secret holds it now, "" when it holds none."""
    need = need_of(case)
    found = view.get(need.source, case.namespace, need.name) or {}
    return base64.b64decode((found.get("data") or {}).get(need.key, "")).decode(errors="replace")


def _is_spelled_out(value: object, word: str) -> bool:
    if isinstance(value, Mapping):
        return any(_is_spelled_out(each, word) for each in value.values())
    if isinstance(value, list):
        return any(_is_spelled_out(each, word) for each in value)
    return isinstance(value, str) and word in value


def map_holds(case: Case, is_right: Callable[[str], bool] | None = None) -> Check:
    """The ConfigMap of the variable holds its right value."""
    need = need_of(case)

    def fails(view: View) -> str:
        found = view.get(CONFIG, case.namespace, need.name)
        if found is None:
            return f"ConfigMap {need.name} is gone"
        value = (found.get("data") or {}).get(need.key, "")
        fits = is_right(value) if is_right is not None else means(case, need, value)
        return "" if fits else f"ConfigMap {need.name} has another {need.key}"

    return Check(f"{need.name} holds {need.key}", fails)


def entry_of(owner: Object, case: Case) -> Object | None:
    """Return the explicit definition of the variable in a workload's template, None when there is none."""
    for entry in container_of(owner, case.place.container).get("env") or ():
        if entry["name"] == case.params["variable"]:
            found: Object = entry
            return found
    return None


def is_credential(_place: Workload, need: Need) -> bool:
    """Whether a variable is a secret, and comes from one; the name of a user is none."""
    return need.kind == CREDENTIAL and need.source == SECRET and need.key != "username"


def is_of_store(place: Workload, need: Need) -> bool:
    """Whether a variable is a password that a server checks, and the workload's readiness asks that server."""
    return is_credential(place, need) and need.variable.endswith(_PASSWORD) and bool(place.ready_path)


def store_of(case: Case) -> Workload:
    """Return the server that the variable is the password for."""
    host = need_of(case).variable.removesuffix(_PASSWORD) + "_HOST"
    role = next(need.target for need in case.place.needs if need.variable == host)
    return case.base.workloads[role]


def store_named(case: Case) -> str:
    """Return that server as kubectl takes it: "statefulset/postgres"."""
    store = store_of(case)
    return f"{store.resource.partition('.')[0].removesuffix('s')}/{store.name}"


HALF_REPAIRS: Final = (
    Decoy(script=lambda case: (key_written(case, need_of(case).value), stopped(case))),
    Decoy(script=lambda case: map_recreated(case, need_of(case).value), is_harmful=True),
)
"""The right value in a map from which nobody starts, and in a map that has lost all else."""

"""A dependency at the end of the chain is down: everybody who calls it alarms first, and none of them is to blame."""

from __future__ import annotations

import json
from typing import Any, Final

from env_core.apiserver.request import Options
from env_core.cluster import Cluster
from env_core.faults._admission import comes_to_roll_out
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._network import callers_of, patched, upstreams
from env_core.faults._words import (
    container_of,
    deployments,
    owner_of,
    pass_time,
    patch_container,
    restarted,
    waits,
)
from env_core.programs._redis_config import memory_bytes
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.view import View

_WAITS_S: Final = (90, 240, 600)
_MEGABYTES: Final = ("{}megabytes", "{},0mb", "{}mib")


def _leaves(base: Base) -> tuple[str, ...]:
    """Return the roles that others call and users need, and that call nobody."""
    return tuple(
        role
        for role, place in base.workloads.items()
        if not upstreams(base, place) and callers_of(base, place) and base.entries_through(role)
    )


def _callers_restart(case: Case) -> tuple[str, ...]:
    callers = {caller.name: caller for caller in callers_of(case.base, case.place)}
    return tuple(
        f"kubectl -n {caller.namespace} rollout restart deployment/{caller.name}"
        for caller in callers.values()
        if caller.resource == "deployments.apps"
    )


def _restart(case: Case) -> tuple[str, ...]:
    return (restarted(case),)


# A store whose arguments were changed: its only pod is replaced at once


def _args(base: Base, place: Workload) -> list[str]:
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    found: list[str] = container_of(owner, place.container).get("args") or []
    return found


def _spoilt(args: list[str], style: str) -> list[str]:
    """Return a store's arguments with one value that it cannot read; the same where there is none to spoil."""
    for number, word in enumerate(args):
        if word.startswith("max_connections="):
            return [*args[:number], word.replace("0", "O"), *args[number + 1 :]]
        if args[number - 1 : number] == ["--maxmemory"]:
            return [*args[:number], style.format(word.removesuffix("mb")), *args[number + 1 :]]
    return args


def _stores(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in _leaves(base)
        for args in (_args(base, base.workloads[role]),)
        if _spoilt(args, _MEGABYTES[0]) != args
    )


def _store_params(stream: Stream, base: Base, place: Workload) -> Params:
    args = _spoilt(_args(base, place), stream.choice(_MEGABYTES))
    return {"args": json.dumps(args), **waits(stream, _WAITS_S)}


def _spoil(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {"args": json.loads(case.params["args"])})
    pass_time(cluster, case)


def _wrong_word(case: Case) -> str:
    before = _args(case.base, case.place)
    args: list[str] = json.loads(case.params["args"])
    return next(word for word in args if word not in before)


def _again(case: Case) -> str:
    """Return the command line that removes the pods which cannot start: a StatefulSet waits for them for ever."""
    pairs = ",".join(f"{key}={value}" for key, value in sorted(case.place.labels.items()))
    return f"kubectl -n {case.namespace} delete pods -l {pairs}"


def _given(case: Case, args: list[str]) -> str:
    container: dict[str, Any] = {"name": case.place.container, "args": args}
    return patched(
        case,
        case.target.partition(f"-n {case.namespace} ")[2],
        {"spec": {"template": {"spec": {"containers": [container]}}}},
    )


def _without(case: Case) -> list[str]:
    """Return the arguments without the setting that cannot be read: the server's default stands."""
    args: list[str] = json.loads(case.params["args"])
    number = args.index(_wrong_word(case))
    return [*args[: number - 1], *args[number + 1 :]]


def _spoilt_at(case: Case) -> int:
    args: list[str] = json.loads(case.params["args"])
    return args.index(_wrong_word(case))


def _tenth(case: Case) -> list[str]:
    """Return the arguments with a tenth of what the spoilt one stood for."""
    before, number = _args(case.base, case.place), _spoilt_at(case)
    word = before[number]
    least = "max_connections=6" if "=" in word else "4mb"
    return [*before[:number], least, *before[number + 1 :]]


def arguments_hold(case: Case) -> Check:
    """The server is given what it was given before: of what was changed about as much, or nothing at all."""
    before, number = _args(case.base, case.place), _spoilt_at(case)

    def fails(view: View) -> str:
        now = container_of(owner_of(view, case), case.place.container).get("args") or []
        if now == _without(case):
            return ""
        rest = [*now[:number], *now[number + 1 :]]
        if len(now) != len(before) or rest != [*before[:number], *before[number + 1 :]]:
            return f"{case.name} is started with {' '.join(now)}"
        was, found = (memory_bytes(word.rpartition("=")[2]) for word in (before[number], now[number]))
        is_enough = was is not None and found is not None and was <= 2 * found <= 4 * was
        return "" if is_enough else f"{case.name} is started with {now[number]}"

    return Check(f"{case.name} is started as it should be", fails)


# A leaf whose configuration was changed, and whose pods were deleted to load it


_SETTINGS: Final = {
    "SHUTDOWN_DELAY_MS": ("5s", "3000ms"),
    "UPSTREAM_TIMEOUT_MS": ("2s", "1500ms"),
    "UPSTREAM_RETRIES": ("two", "2x"),
}
_RIGHT: Final = {"SHUTDOWN_DELAY_MS": "3000", "UPSTREAM_TIMEOUT_MS": "2000", "UPSTREAM_RETRIES": "2"}
_MOST: Final = {"SHUTDOWN_DELAY_MS": 25_000, "UPSTREAM_TIMEOUT_MS": 60_000, "UPSTREAM_RETRIES": 7}


def _config(place: Workload) -> str:
    return f"{place.name}-config"


def _services(base: Base) -> tuple[str, ...]:
    leaves = _leaves(base)
    return tuple(
        role
        for role in deployments(base)
        if role in leaves
        and any(need.name == _config(base.workloads[role]) for need in base.workloads[role].needs)
    )


def _leaf_params(stream: Stream, _base: Base, _place: Workload) -> Params:
    key = stream.choice(sorted(_SETTINGS))
    return {
        "key": key,
        "value": stream.choice(_SETTINGS[key]),
        "before_s": str(20 + stream.below(100)),
        **waits(stream, _WAITS_S),
    }


def _misconfigure(case: Case, cluster: Cluster) -> None:
    client = cluster.client(COLLEAGUE)
    data = {case.params["key"]: case.params["value"]}
    client.patch("configmaps", case.namespace, _config(case.place), {"data": data})
    cluster.advance(int(case.params["before_s"]) * 1_000)
    for pod in cluster.store.list("pods", case.namespace):
        if case.place.labels.items() <= (pod["metadata"].get("labels") or {}).items():
            client.delete("pods", case.namespace, pod["metadata"]["name"], Options(grace_period_seconds=5))
    pass_time(cluster, case)


def _set(case: Case, value: str | None) -> tuple[str, ...]:
    data = {"data": {case.params["key"]: value}}
    return (patched(case, f"configmap/{_config(case.place)}", data), _again(case))


def settings_hold(case: Case) -> Check:
    """The leaf's map has no value under the changed key, or one that its program can read and its pods can bear."""
    key = case.params["key"]

    def fails(view: View) -> str:
        found = view.get("configmaps", case.namespace, _config(case.place))
        if found is None:
            return f"configmap {_config(case.place)} is gone"
        value = (found.get("data") or {}).get(key, "0")
        return "" if value.isdigit() and int(value) <= _MOST[key] else f"{key} of {case.name} is {value}"

    return Check(f"{case.name} can read its settings", fails)


def _set_beside(case: Case) -> tuple[str, ...]:
    """Return the command line that sets the variable in the template, where the map's value does not count."""
    key = case.params["key"]
    return (f"kubectl -n {case.namespace} set env deployment/{case.name} {key}={_RIGHT[key]}",)


FAMILY = Family(
    id="AP-01",
    tier=1,
    summary="A dependency is down, and its callers alarm first.",
    partners=("NW-06", "CF-02", "RS-04"),
    source="tests/golden/programs (redis config_error, postgres config_error, app-*); FAULTS AP-01",
    faults=(
        Fault(
            id="store-arguments",
            sign=Sign.ERRORS,
            level=3,
            places=_stores,
            params=_store_params,
            inject=_spoil,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl logs {case.target} --tail=20",
                    shows=_wrong_word(case).rpartition("=")[2],
                ),
            ),
            repaired_when=lambda case: (arguments_hold(case), comes_to_roll_out(case)),
            allowed=lambda case: (case.allow(case.container("args")),),
            repairs=(
                lambda case: (_given(case, _args(case.base, case.place)), _again(case)),
                lambda case: (f"kubectl rollout undo {case.target}", _again(case)),
                lambda case: (_given(case, _without(case)), _again(case)),
            ),
            decoys=(
                Decoy(script=_callers_restart),
                Decoy(script=_restart),
                Decoy(script=lambda case: (_again(case),)),
                Decoy(script=lambda case: (_given(case, _tenth(case)), _again(case))),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="StatefulSet" if case.place.resource.startswith("stateful") else "Deployment",
                namespace=case.namespace,
                name=case.name,
                mechanism=Mechanism.DEPENDENCY,
            ),
        ),
        Fault(
            id="leaf-settings",
            sign=Sign.ERRORS,
            level=3,
            places=_services,
            params=_leaf_params,
            inject=_misconfigure,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(command=f"kubectl logs {case.target} --tail=40", shows=case.params["key"]),
                Evidence(
                    command=f"kubectl -n {case.namespace} get configmap {_config(case.place)} -o yaml",
                    shows=f"{case.params['key']}: {case.params['value']}",
                ),
            ),
            repaired_when=lambda case: (settings_hold(case), comes_to_roll_out(case)),
            allowed=lambda case: (
                case.allow(f"data.{case.params['key']}", resource="configmaps", name=_config(case.place)),
            ),
            repairs=(
                lambda case: _set(case, _RIGHT[case.params["key"]]),
                lambda case: _set(case, None),
            ),
            decoys=(
                Decoy(script=_callers_restart),
                Decoy(script=_restart),
                Decoy(script=_set_beside),
                Decoy(script=lambda case: (f"kubectl rollout undo {case.target}",)),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="ConfigMap",
                namespace=case.namespace,
                name=_config(case.place),
                mechanism=Mechanism.DEPENDENCY,
            ),
        ),
    ),
)

"""A workload's pods are to run as an account that is not there: the API does not make them."""

from __future__ import annotations

from typing import Any, Final

from env_core.cluster import Cluster
from env_core.faults._admission import comes_to_roll_out, pods_not_made, release, rolls_by_surge
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._network import applied, patched
from env_core.faults._words import deployments, owner_of, pass_time, restarted, runs_image
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.changes import IDENTITY
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

_ACCOUNTS: Final = "serviceaccounts"
_MISSING: Final = "error looking up service account"
_WAITS_S: Final = (60, 110, 170)
_NAMES: Final = ("{}-sa", "{}-runner", "{}-app", "svc-{}")
_MOUNTS: Final = "automountServiceAccountToken"


def _account_of(base: Base, place: Workload) -> str:
    """Return the account that a workload's pods run as, "" for that of their namespace."""
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    found: str = owner["spec"]["template"]["spec"].get("serviceAccountName", "")
    return found


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in deployments(base)
        for place in (base.workloads[role],)
        if place.later_tags
        and rolls_by_surge(base, place)
        and _account_of(base, place) not in ("", "default")
    )


def _account(case: Case) -> Object:
    found = case.base.cluster.store.get(_ACCOUNTS, case.namespace, _account_of(case.base, case.place))
    assert found is not None
    return found


def runs_as_its_account(case: Case) -> Check:
    """New pods run as the workload's own account, which hands out its token as it did."""
    was = _account(case)
    name = was["metadata"]["name"]

    def fails(view: View) -> str:
        spec = owner_of(view, case)["spec"]["template"]["spec"]
        if spec.get("serviceAccountName") != name:
            return f"{case.name} runs as {spec.get('serviceAccountName', 'default')}"
        found = view.get(_ACCOUNTS, case.namespace, name)
        if found is None:
            return f"service account {name} is missing"
        if spec.get(_MOUNTS, found.get(_MOUNTS, True)) != was.get(_MOUNTS, True):
            return f"pods of {case.name} get a token, or none, unlike before"
        return ""

    return Check(f"{case.name} runs as its account", fails)


def _goals(case: Case) -> tuple[Check, ...]:
    good = (case.place.tag, *case.place.later_tags)
    return (runs_as_its_account(case), comes_to_roll_out(case), runs_image(case, *good))


# Scripts


def _template(case: Case, spec: Object) -> str:
    return patched(case, f"deployment/{case.name}", {"spec": {"template": {"spec": spec}}})


def _as(case: Case, name: str) -> str:
    return _template(case, {"serviceAccountName": name, "serviceAccount": name})


def _status(case: Case) -> str:
    return f"kubectl rollout status {case.target} --timeout=5m"


def _made(case: Case, name: str) -> str:
    return f"kubectl -n {case.namespace} create serviceaccount {name}"


def _made_as_it_was(case: Case) -> str:
    was = _account(case)
    metadata = {
        key: was["metadata"][key] for key in ("name", "namespace", "labels") if key in was["metadata"]
    }
    kept: dict[str, Any] = {_MOUNTS: was[_MOUNTS]} if _MOUNTS in was else {}
    return applied({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, **kept})


def _made_by_hand(case: Case) -> Script:
    name = _account_of(case.base, case.place)
    patch = {_MOUNTS: _account(case).get(_MOUNTS, True)}
    return (_made(case, name), patched(case, f"serviceaccount/{name}", patch))


def _bad_release(case: Case) -> str:
    image = f"{case.place.image.rpartition(':')[0]}:{case.place.failing_tags[0]}"
    return f"kubectl -n {case.namespace} set image deployment/{case.name} {case.place.container}={image}"


# A release that names another account


def _mistyped_params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {
        "account": stream.choice(_NAMES).format(place.name),
        "wait_s": str(stream.choice(_WAITS_S) + stream.below(40)),
    }


def _mistype(case: Case, cluster: Cluster) -> None:
    name = case.params["account"]
    patch = {"spec": {"template": {"spec": {"serviceAccountName": name, "serviceAccount": name}}}}
    cluster.client(DELIVERY).patch(case.place.resource, case.namespace, case.name, patch)
    pass_time(cluster, case)


# An account that was cleaned up


def _deleted_params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        "before_s": str(60 + stream.below(600)),
        "wait_s": str(stream.choice(_WAITS_S) + stream.below(40)),
    }


def _delete(case: Case, cluster: Cluster) -> None:
    name = _account_of(case.base, case.place)
    cluster.client(COLLEAGUE).delete(_ACCOUNTS, case.namespace, name)
    cluster.advance(int(case.params["before_s"]) * 1_000)
    release(case, cluster, case.place.later_tags[0])
    pass_time(cluster, case)


FAMILY = Family(
    id="AD-02",
    tier=1,
    summary="The service account that a workload's pods are to run as is missing.",
    partners=("AD-03", "AD-05", "AD-01"),
    source="k8s.io/kubernetes plugin/pkg/admission/serviceaccount; FAULTS AD-02",
    faults=(
        Fault(
            id="account-mistyped",
            sign=Sign.RELEASE,
            level=1,
            places=_places,
            params=_mistyped_params,
            inject=_mistype,
            symptoms=lambda case: (pods_not_made(case, _MISSING),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows=f'serviceaccount "{case.params["account"]}" not found'),
            ),
            repaired_when=lambda case: (runs_as_its_account(case), comes_to_roll_out(case)),
            allowed=lambda case: (
                case.allow("spec.template.spec.serviceAccountName"),
                case.allow("spec.template.spec.serviceAccount"),
            ),
            repairs=(
                lambda case: (_as(case, _account_of(case.base, case.place)),),
                lambda case: (f"kubectl rollout undo {case.target}",),
            ),
            decoys=(
                Decoy(script=lambda case: (_made(case, case.params["account"]), _status(case))),
                Decoy(script=lambda case: (_as(case, "default"),)),
                Decoy(script=lambda case: (restarted(case),)),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.ADMISSION
            ),
        ),
        Fault(
            id="account-deleted",
            sign=Sign.RELEASE,
            level=2,
            places=lambda base: tuple(role for role in _places(base) if base.workloads[role].failing_tags),
            params=_deleted_params,
            inject=_delete,
            symptoms=lambda case: (pods_not_made(case, _MISSING),),
            evidence=lambda case: (Evidence(command=case.warnings, shows=_MISSING),),
            repaired_when=_goals,
            allowed=lambda case: (
                case.allow(IDENTITY, resource=_ACCOUNTS, name=_account_of(case.base, case.place)),
                case.allow("metadata.labels", resource=_ACCOUNTS, name=_account_of(case.base, case.place)),
                case.allow(_MOUNTS, resource=_ACCOUNTS, name=_account_of(case.base, case.place)),
                case.allow(f"spec.template.spec.{_MOUNTS}"),
                case.allow(case.container("image")),
            ),
            repairs=(
                lambda case: (_made_as_it_was(case), _status(case)),
                lambda case: (*_made_by_hand(case), restarted(case)),
            ),
            decoys=(
                Decoy(script=lambda case: (_as(case, "default"),)),
                Decoy(script=lambda case: (_made(case, _account_of(case.base, case.place)), _status(case))),
                Decoy(script=lambda case: (_made_as_it_was(case), _bad_release(case))),
                Decoy(script=lambda case: (f"kubectl rollout undo {case.target}",)),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="ServiceAccount",
                namespace=case.namespace,
                name=_account_of(case.base, case.place),
                mechanism=Mechanism.ADMISSION,
            ),
        ),
    ),
)

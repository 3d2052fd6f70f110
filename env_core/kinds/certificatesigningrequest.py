"""Certificate signing requests."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, SubresourceWrite
from env_core.kinds import _certificate_signing as strategy
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.problems import Problem
from env_core.sim import timefmt
from env_core.world import Object

_DEFAULT_USAGES = ["digital signature", "key encipherment"]


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    return obj if spec.get("usages") else {**obj, "spec": {**spec, "usages": _DEFAULT_USAGES}}


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _prepare_update(new: Object, old: Object) -> Object:
    return kept_status(kept_spec(new, old), old)


def _validate_update(_new: Object, _old: Object) -> list[Problem]:
    return []


def _cell_signer(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("signerName") or "<none>")


def _cell_requestor(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("username") or "")


def _cell_duration(obj: Object, _now_ms: int) -> str:
    seconds = (obj.get("spec") or {}).get("expirationSeconds")
    return "<none>" if seconds is None else timefmt.human_duration(int(seconds) * 1000)


def condition_text(obj: Object) -> str:
    """Return "Pending", "Approved", "Denied", "Failed", with ",Issued" when there is a certificate."""
    status = obj.get("status") or {}
    types = [each.get("type", "") for each in status.get("conditions") or ()]
    text = "Denied" if "Denied" in types else "Approved" if "Approved" in types else ""
    if "Failed" in types:
        text += ",Failed" if text else "Failed"
    if status.get("certificate"):
        text += ",Issued" if text else "Issued"
    return text or "Pending"


def _cell_condition(obj: Object, _now_ms: int) -> str:
    return condition_text(obj)


KIND = Kind(
    group="certificates.k8s.io",
    version="v1",
    kind="CertificateSigningRequest",
    plural="certificatesigningrequests",
    singular="certificatesigningrequest",
    short_names=("csr",),
    is_namespaced=False,
    subresources=("approval", "status"),
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    signed_by=strategy.signed_by,
    stamp_status=strategy.stamped,
    validate_name=subdomain_name,
    validate=strategy.problems,
    validate_update=_validate_update,
    field_labels=("metadata.name", "spec.signerName"),
    writes={
        "approval": SubresourceWrite(strategy.prepare_approval, strategy.approval_problems),
        "status": SubresourceWrite(strategy.prepare_status, strategy.status_problems),
    },
    columns=(
        NAME,
        AGE,
        Column("SignerName", _cell_signer),
        Column("Requestor", _cell_requestor),
        Column("RequestedDuration", _cell_duration),
        Column("Condition", _cell_condition),
    ),
    describe=describe_unstructured,
    source="k8s.io/api certificates/v1 CertificateSigningRequest, 1.37; tests/golden/l2/flows/tls-csr.json.gz",
    unrecorded="describe: kubectl decodes the request there; the words for requests and conditions that are refused",
)

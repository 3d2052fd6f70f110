"""Pod certificate requests: what a kubelet asks a signer for on behalf of a pod."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._certificate_rules import signer_name_problems
from env_core.kinds._columns_workload import NAME, equality_text
from env_core.kinds._policy_rules import IMMUTABLE, kept_spec, kept_status
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, required, too_long
from env_core.world import Object

EXPIRATION_SECONDS_MIN = 3600
EXPIRATION_SECONDS_MAX = 91 * 86_400
_KUBERNETES_SECONDS_MAX = 86_400
_UID_LENGTH_MAX = 128
_DEFAULT_SECONDS = 86_400
_STATES = ("Denied", "Failed", "Issued")


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    if spec.get("maxExpirationSeconds") is not None:
        return obj
    return {**obj, "spec": {**spec, "maxExpirationSeconds": _DEFAULT_SECONDS}}


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    """Check a new request; keys and signatures are not verified.

    Source: k8s.io/kubernetes pkg/apis/certificates/validation ValidatePodCertificateRequestCreate.
    """
    spec = obj.get("spec") or {}
    signer = spec.get("signerName") or ""
    found = signer_name_problems(signer, "spec.signerName")
    for who in ("pod", "serviceAccount", "node"):
        name = spec.get(f"{who}Name") or ""
        found += [invalid(f"spec.{who}Name", name, text) for text in names.is_dns1123_subdomain(name)]
        uid = spec.get(f"{who}UID") or ""
        if not uid:
            found.append(invalid(f"spec.{who}UID", uid, "must not be empty"))
        if len(uid) > _UID_LENGTH_MAX:
            found.append(too_long(f"spec.{who}UID", _UID_LENGTH_MAX))
    seconds = spec.get("maxExpirationSeconds")
    if seconds is None:
        return [*found, required("spec.maxExpirationSeconds", "must be set")]
    domain = signer.partition("/")[0]
    is_own = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    most = _KUBERNETES_SECONDS_MAX if is_own else EXPIRATION_SECONDS_MAX
    if not EXPIRATION_SECONDS_MIN <= seconds <= most:
        text = f"must be in the range [{EXPIRATION_SECONDS_MIN}, {most}]"
        found.append(invalid("spec.maxExpirationSeconds", seconds, text))
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    spec = new.get("spec")
    return [] if spec == old.get("spec") else [invalid("spec", spec, IMMUTABLE)]


def _spec_cell(field: str) -> Column:
    def cell(obj: Object, _now_ms: int) -> str:
        return str((obj.get("spec") or {}).get(field) or "")

    return Column(field[0].upper() + field[1:], cell)


def _cell_state(obj: Object, _now_ms: int) -> str:
    types = [each.get("type") for each in (obj.get("status") or {}).get("conditions") or ()]
    return next((state for state in _STATES if state in types), "Pending")


def _cell_annotations(obj: Object, _now_ms: int) -> str:
    return equality_text((obj.get("spec") or {}).get("unverifiedUserAnnotations"))


KIND = Kind(
    group="certificates.k8s.io",
    version="v1",
    kind="PodCertificateRequest",
    plural="podcertificaterequests",
    singular="podcertificaterequest",
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate=_validate,
    validate_update=_validate_update,
    field_labels=("metadata.name", "metadata.namespace", "spec.signerName", "spec.podName", "spec.nodeName"),
    columns=(
        NAME,
        *map(_spec_cell, ("podName", "serviceAccountName", "nodeName", "signerName")),
        Column("State", _cell_state),
        Column("UnverifiedUserAnnotations", _cell_annotations),
    ),
    describe=describe_unstructured,
    source="k8s.io/api certificates/v1 PodCertificateRequest, 1.37; pkg/apis/certificates; tests/golden/l2/facts",
    unrecorded="objects of this kind, their cells and texts; keys and signatures are not verified",
)

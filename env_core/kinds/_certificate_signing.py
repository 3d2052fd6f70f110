"""The registry's rules of certificate signing requests: who asked, what may be said of them later, and when.

Source: k8s.io/kubernetes pkg/registry/certificates/certificates strategy.go and pkg/apis/certificates/validation, 1.37.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from env_core.apiserver.request import Identity
from env_core.kinds._certificate_rules import signer_name_problems
from env_core.objects.conditions import conditions_of
from env_core.objects.problems import Problem, duplicate, forbidden, invalid, not_supported, required
from env_core.objects.x509 import CertificateProblem, certificates
from env_core.objects.x509_making import USAGES
from env_core.objects.x509_requests import RequestProblem, of_object
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

APPROVED: Final = "Approved"
DENIED: Final = "Denied"
FAILED: Final = "Failed"
_TERMINAL: Final = (APPROVED, DENIED, FAILED)
_LEGACY: Final = "kubernetes.io/legacy-unknown"
_SECONDS_MIN: Final = 600
_CONDITIONS: Final = "status.conditions"
_CERTIFICATE: Final = "status.certificate"


def certificate_of(obj: Object) -> str:
    """Return the certificate that was issued, as PEM; "" for none."""
    text = str((obj.get("status") or {}).get("certificate") or "")
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return text


def signed_by(obj: Object, identity: Identity) -> Object:
    """Say who asked; what a client says of that does not count."""
    told = ("username", "uid", "groups", "extra")
    spec = {key: value for key, value in (obj.get("spec") or {}).items() if key not in told}
    spec |= {"username": identity.name, "groups": list(identity.groups)}
    if identity.uid:
        spec["uid"] = identity.uid
    return {**obj, "spec": spec}


def prepare_approval(new: Object, old: Object) -> Object:
    """Take over the conditions, and nothing else."""
    status = {key: value for key, value in (old.get("status") or {}).items() if key != "conditions"}
    if "conditions" in (new.get("status") or {}):
        status["conditions"] = conditions_of(new)
    return {**new, "spec": old["spec"], "status": status}


def prepare_status(new: Object, old: Object) -> Object:
    """Take over the status; conditions of approval stay as they are unless some were added or left out."""
    status = dict(new.get("status") or {})
    rows = list(status.get("conditions") or ())
    for kind in (APPROVED, DENIED):
        before = _of_type(old, kind)
        places = [index for index, row in enumerate(rows) if row.get("type") == kind]
        if len(before) == len(places):
            for index, row in zip(places, before, strict=True):
                rows[index] = row
    if rows:
        status["conditions"] = rows
    return {**new, "spec": old["spec"], "status": status}


def stamped(new: Object, old: Object, now_ms: int) -> Object:
    """Give conditions the times that they lack."""
    stamp = rfc3339(now_ms)
    rows = conditions_of(new)
    if all(row.get("lastUpdateTime") and row.get("lastTransitionTime") for row in rows):
        return new
    since = {
        (row.get("type"), row.get("status")): row.get("lastTransitionTime") for row in conditions_of(old)
    }
    timed = [
        {
            **row,
            "lastUpdateTime": row.get("lastUpdateTime") or stamp,
            "lastTransitionTime": row.get("lastTransitionTime")
            or since.get((row.get("type"), row.get("status")))
            or stamp,
        }
        for row in rows
    ]
    return {**new, "status": {**new["status"], "conditions": timed}}


def _of_type(obj: Object, kind: str) -> list[Object]:
    return [row for row in conditions_of(obj) if row.get("type") == kind]


def problems(obj: Object) -> list[Problem]:
    """Check a new request."""
    spec = obj.get("spec") or {}
    found = []
    try:
        of_object(obj)
    except RequestProblem as problem:
        found.append(invalid("spec.request", spec.get("request") or "", str(problem)))
    usages: list[str] = spec.get("usages") or []
    if not usages:
        found.append(required("spec.usages"))
    for index, usage in enumerate(usages):
        if usage not in USAGES:
            found.append(not_supported(f"spec.usages[{index}]", usage, USAGES))
        if usage in usages[:index]:
            found.append(duplicate(f"spec.usages[{index}]", usage))
    signer = str(spec.get("signerName") or "")
    if signer == _LEGACY:
        found.append(
            invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version")
        )
    else:
        found += signer_name_problems(signer, "spec.signerName")
    seconds = spec.get("expirationSeconds")
    if isinstance(seconds, int) and seconds < _SECONDS_MIN:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        found.append(invalid("spec.expirationSeconds", seconds, text))
    return found


def approval_problems(new: Object, old: Object) -> list[Problem]:
    """Check what was written through `approval`."""
    return [*_condition_problems(new), *_removed(new, old)]


def status_problems(new: Object, old: Object) -> list[Problem]:
    """Check what was written through `status`."""
    found = [*_condition_problems(new), *_removed(new, old)]
    found += [
        forbidden(_CONDITIONS, f'updates may not add a condition of type "{kind}"')
        for kind in (APPROVED, DENIED)
        if len(_of_type(new, kind)) > len(_of_type(old, kind))
    ]
    before, after = ((each.get("status") or {}).get("certificate") or "" for each in (old, new))
    if before == after:
        return found
    problem = _certificate_problem(new)
    if problem:
        found.append(invalid(_CERTIFICATE, "<certificate data>", problem))
    if before:
        found.append(forbidden(_CERTIFICATE, "updates may not modify existing certificate content"))
    return found


def _certificate_problem(obj: Object) -> str:
    try:
        found = certificates(certificate_of(obj))
    except CertificateProblem as problem:
        return str(problem)
    return "" if found else "must contain at least one CERTIFICATE PEM block"


def _removed(new: Object, old: Object) -> list[Problem]:
    return [
        forbidden(_CONDITIONS, f'updates may not remove a condition of type "{kind}"')
        for kind in _TERMINAL
        if len(_of_type(new, kind)) < len(_of_type(old, kind))
    ]


def _condition_problems(obj: Object) -> list[Problem]:
    found: list[Problem] = []
    seen: set[str] = set()
    for index, row in enumerate(conditions_of(obj)):
        field, kind = f"{_CONDITIONS}[{index}]", row.get("type") or ""
        if not kind:
            found.append(required(f"{field}.type"))
        allowed = ("True",) if kind in _TERMINAL else ("False", "True", "Unknown")
        status = row.get("status") or ""
        if not status:
            found.append(required(f"{field}.status"))
        elif status not in allowed:
            found.append(not_supported(f"{field}.status", status, allowed))
        if {APPROVED: DENIED, DENIED: APPROVED}.get(kind) in seen:
            text = "Approved and Denied conditions are mutually exclusive"
            found.append(invalid(_CONDITIONS, kind, text))
        if kind in seen:
            found.append(duplicate(f"{field}.type", kind))
        seen.add(kind)
    return found

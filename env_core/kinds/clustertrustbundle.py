"""Cluster trust bundles: sets of root certificates that a signer publishes."""

from __future__ import annotations

import base64
import binascii
import re

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._certificate_rules import signer_name_problems
from env_core.kinds._columns_workload import NAME
from env_core.kinds._policy_rules import IMMUTABLE, masked
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, too_long
from env_core.world import Object

TRUST_BUNDLE_BYTES_MAX = 1024 * 1024
_OMITTED = "<value omitted>"
_BLOCK = re.compile(r"-----BEGIN ([^-\n]+)-----\n(.*?)-----END \1-----", re.DOTALL)


def _name_problems(signer: str, name: str) -> list[Problem]:
    """Check that the name begins with the signer's, slash made colon; without a signer it has no colon.

    Source: k8s.io/kubernetes pkg/apis/core/validation ValidateClusterTrustBundleName.
    """
    if signer:
        prefix = f"{signer.replace('/', ':')}:"
        if not name.startswith(prefix):
            text = f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
            return [invalid("metadata.name", name, text)]
        rest = name.removeprefix(prefix)
        return [
            invalid("metadata.name", name, text) for text in names.is_dns1123_subdomain(masked(rest, False))
        ]
    if ":" in name:
        text = 'ClusterTrustBundle without signer name must not have ":" in its name'
        return [invalid("metadata.name", name, text)]
    return [invalid("metadata.name", name, text) for text in names.is_dns1123_subdomain(name)]


def _bundle_problems(text: str) -> list[Problem]:
    """Check that a bundle is PEM certificates; the certificates themselves are not parsed.

    Source: k8s.io/kubernetes pkg/apis/certificates/validation validateTrustBundle.
    """
    field = "spec.trustBundle"
    if len(text.encode()) > TRUST_BUNDLE_BYTES_MAX:
        return [too_long(field, TRUST_BUNDLE_BYTES_MAX)]
    found: list[Problem] = []
    places: dict[bytes, list[int]] = {}
    for index, match in enumerate(_BLOCK.finditer(text)):
        title, body = match[1], match[2]
        if title != "CERTIFICATE":
            found.append(invalid(field, _OMITTED, f"entry {index} has bad block type: {title}"))
        elif ":" in body:
            found.append(invalid(field, _OMITTED, f"entry {index} has PEM block headers"))
        else:
            try:
                places.setdefault(base64.b64decode("".join(body.split()), validate=True), []).append(index)
            except binascii.Error:
                found.append(invalid(field, _OMITTED, f"entry {index} does not parse as X.509"))
    if found:
        return found
    if not places:
        return [invalid(field, _OMITTED, "at least one trust anchor must be provided")]
    return [
        invalid(field, _OMITTED, f"duplicate trust anchor (indices [{' '.join(map(str, indices))}])")
        for indices in places.values()
        if len(indices) > 1
    ]


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    return _named_problems(obj) + _bundle_problems(spec.get("trustBundle") or "")


def _named_problems(obj: Object) -> list[Problem]:
    signer = (obj.get("spec") or {}).get("signerName") or ""
    found = _name_problems(signer, obj["metadata"].get("name", ""))
    return found + (signer_name_problems(signer, "spec.signerName") if signer else [])


def _validate_update(new: Object, old: Object) -> list[Problem]:
    before, after = old.get("spec") or {}, new.get("spec") or {}
    is_same = after.get("trustBundle") == before.get("trustBundle")
    found = _named_problems(new) if is_same else _validate(new)
    signer = after.get("signerName") or ""
    if signer != (before.get("signerName") or ""):
        found.append(invalid("spec.signerName", signer, IMMUTABLE))
    return found


def _cell_signer(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("signerName") or "")


KIND = Kind(
    group="certificates.k8s.io",
    version="v1",
    kind="ClusterTrustBundle",
    plural="clustertrustbundles",
    singular="clustertrustbundle",
    is_namespaced=False,
    subresources=(),
    has_status=False,
    validate_name=lambda _name, _is_prefix: [],
    validate=_validate,
    validate_update=_validate_update,
    field_labels=("metadata.name", "metadata.namespace", "spec.signerName"),
    columns=(NAME, Column("SignerName", _cell_signer)),
    describe=describe_unstructured,
    source="k8s.io/api certificates/v1 ClusterTrustBundle, 1.37; tests/golden/l2/facts",
    unrecorded="validation texts; certificates are not parsed",
)

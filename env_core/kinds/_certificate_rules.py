"""What requests for certificates and trust bundles share: the rules of signer names.

Source: k8s.io/kubernetes pkg/apis/core/validation names.go ValidateSignerName.
"""

from __future__ import annotations

from env_core.objects import names
from env_core.objects.problems import Problem, invalid, quoted, required, too_long

_DOMAIN_LENGTH_MAX = 253
_PATH_LENGTH_MAX = 253 + 63 + 1
_FORM = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
_TOO_SHORT = "should be a domain with at least two segments separated by dots"


def signer_name_problems(signer: str, field: str) -> list[Problem]:
    """Check the name of a signer, "example.com/signer-name"."""
    if not signer:
        return [required(field)]
    segments = signer.split("/")
    if len(segments) != 2:
        return [invalid(field, signer, _FORM)]
    domain, path = segments
    found: list[Problem] = []
    if len(domain) > _DOMAIN_LENGTH_MAX:
        found.append(too_long(field, _DOMAIN_LENGTH_MAX))
    labels = domain.split(".")
    found += _label_problems(field, domain, [(label, names.is_dns1123_label(label)) for label in labels])
    if len(labels) < 2:
        found.append(invalid(field, domain, _TOO_SHORT))
    found += _label_problems(
        field, path, [(label, names.is_dns1123_subdomain(label)) for label in path.split(".")]
    )
    length_max = _DOMAIN_LENGTH_MAX + _PATH_LENGTH_MAX + 1
    if len(signer) > length_max:
        found.append(too_long(field, length_max))
    return found


def _label_problems(field: str, segment: str, labels: list[tuple[str, list[str]]]) -> list[Problem]:
    """Return the problems of the first label that has any."""
    for label, complaints in labels:
        if complaints:
            return [
                invalid(field, segment, f"validating label {quoted(label)}: {text}") for text in complaints
            ]
    return []

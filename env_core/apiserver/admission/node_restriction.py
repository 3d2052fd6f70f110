"""NodeRestriction: a kubelet may change only its own node and its own pods.

Status writes do not pass through admission here, so only those of specs and deletions are held back.
"""

from __future__ import annotations

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes

_PREFIX = "system:node:"
_GROUP = "system:nodes"


def _validate(attributes: Attributes) -> None:
    identity = attributes.identity
    if not identity.name.startswith(_PREFIX) or _GROUP not in identity.groups:
        return
    node = identity.name.removeprefix(_PREFIX)
    if attributes.kind.resource == "nodes":
        name = attributes.name or (attributes.object or {}).get("metadata", {}).get("name", "")
        if name != node:
            raise refusal(attributes, f'node "{node}" is not allowed to modify node "{name}"')
    elif attributes.operation == "CREATE":
        metadata = (attributes.object or {}).get("metadata") or {}
        if "kubernetes.io/config.mirror" not in (metadata.get("annotations") or {}):
            why = f'pod does not have "kubernetes.io/config.mirror" annotation, node "{node}" can only create mirror pods'
            raise refusal(attributes, why)
    elif attributes.operation == "DELETE":
        if ((attributes.old or {}).get("spec") or {}).get("nodeName") != node:
            raise refusal(attributes, f'node "{node}" can only delete pods with spec.nodeName set to itself')


ADMISSION = Admission(
    name="NodeRestriction",
    order=70,
    operations=("CREATE", "UPDATE", "DELETE"),
    resources=("nodes", "pods"),
    validate=_validate,
    source="k8s.io/kubernetes plugin/pkg/admission/noderestriction",
)

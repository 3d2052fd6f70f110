"""How `kubectl describe` shows the source, node affinity and topologies of volumes and classes.

Source: k8s.io/kubectl pkg/describe; tests/golden/l0/describe.jsonl.gz.
"""

from __future__ import annotations

from typing import Any

from env_core.kinds._describe_text import NONE, LineWriter
from env_core.kinds._describe_volumes import write_csi_attributes, write_source_fields, write_volume_source
from env_core.kinds._storage_diff import SOURCE_FIELDS
from env_core.objects import goformat
from env_core.world import Object

_Row = tuple[str, str, Any]
_CSI: tuple[_Row, ...] = (
    ("Driver", "driver", ""),
    ("FSType", "fsType", ""),
    ("VolumeHandle", "volumeHandle", ""),
    ("ReadOnly", "readOnly", False),
)
# Types that print other fields in a volume than inline in a pod.
_OWN: dict[str, tuple[str, tuple[_Row, ...]]] = {
    "glusterfs": (
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        (
            ("EndpointsName", "endpoints", ""),
            ("EndpointsNamespace", "endpointsNamespace", "<unset>"),
            ("Path", "path", ""),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "rbd": (
        "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        (
            ("CephMonitors", "monitors", []),
            ("RBDImage", "image", ""),
            ("FSType", "fsType", ""),
            ("RBDPool", "pool", ""),
            ("RadosUser", "user", ""),
            ("Keyring", "keyring", ""),
            ("SecretRef", "secretRef", None),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "cinder": (
        "Cinder (a Persistent Disk resource in OpenStack)",
        (
            ("VolumeID", "volumeID", ""),
            ("FSType", "fsType", ""),
            ("ReadOnly", "readOnly", False),
            ("SecretRef", "secretRef", None),
        ),
    ),
    "cephfs": (
        "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        (
            ("Monitors", "monitors", []),
            ("Path", "path", ""),
            ("User", "user", ""),
            ("SecretFile", "secretFile", ""),
            ("SecretRef", "secretRef", None),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "azureFile": (
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        (
            ("SecretName", "secretName", ""),
            ("SecretNamespace", "secretNamespace", ""),
            ("ShareName", "shareName", ""),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "flexVolume": (
        "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        (
            ("Driver", "driver", ""),
            ("FSType", "fsType", ""),
            ("SecretRef", "secretRef", None),
            ("ReadOnly", "readOnly", False),
            ("Options", "options", {}),
        ),
    ),
    "iscsi": (
        "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
        (
            ("TargetPortal", "targetPortal", ""),
            ("IQN", "iqn", ""),
            ("Lun", "lun", 0),
            ("ISCSIInterface", "iscsiInterface", ""),
            ("FSType", "fsType", ""),
            ("ReadOnly", "readOnly", False),
            ("Portals", "portals", []),
            ("DiscoveryCHAPAuth", "chapAuthDiscovery", False),
            ("SessionCHAPAuth", "chapAuthSession", False),
            ("SecretRef", "secretRef", None),
            ("InitiatorName", "initiatorName", NONE),
        ),
    ),
}


def write_source(writer: LineWriter, spec: Object) -> None:
    """Append the part `Source` of a volume."""
    writer.line(0, "Source:")
    field = next((each for each in SOURCE_FIELDS if spec.get(each) is not None), "")
    source = spec.get(field)
    if source is None:
        writer.line(1, "<unknown>")
    elif field == "csi":
        write_source_fields(writer, "CSI (a Container Storage Interface (CSI) volume source)", _CSI, source)
        write_csi_attributes(writer, source.get("volumeAttributes"))
    elif field in _OWN:
        text, rows = _OWN[field]
        writer.line(2, f"Type:\t{text}")
        for label, key, unset in rows:
            value = source.get(key)
            # kubectl forgets the colon of this one label.
            colon = "" if label == "ISCSIInterface" else ":"
            writer.line(2, f"{label}{colon}\t{_text(unset if value is None else value)}")
    elif not write_volume_source(writer, {field: source}):
        writer.line(1, "<unknown>")


def _text(value: Any) -> str:
    if isinstance(value, dict) and set(value) <= {"name", "namespace"}:
        return f"&SecretReference{{Name:{value.get('name', '')},Namespace:{value.get('namespace', '')},}}"
    return value if isinstance(value, str) else goformat.value_text(value)


def write_node_affinity(writer: LineWriter, affinity: Object | None) -> None:
    """Append the part `Node Affinity` of a volume."""
    wanted = (affinity or {}).get("required")
    if wanted is None:
        writer.line(0, f"Node Affinity:\t{NONE}")
        return
    writer.line(0, "Node Affinity:\t")
    terms = wanted.get("nodeSelectorTerms") or []
    writer.line(1, "Required Terms:\t" if terms else f"Required Terms:\t{NONE}")
    for index, term in enumerate(terms):
        _write_term(writer, 2, index, term.get("matchExpressions") or [])


def write_topologies(writer: LineWriter, topologies: list[Object]) -> None:
    """Append the part `AllowedTopologies` of a storage class."""
    if not topologies:
        writer.line(0, f"AllowedTopologies:\t{NONE}")
        return
    writer.line(0, "AllowedTopologies:\t")
    for index, term in enumerate(topologies):
        _write_term(writer, 1, index, term.get("matchLabelExpressions") or [])


def _write_term(writer: LineWriter, level: int, index: int, expressions: list[Object]) -> None:
    if not expressions:
        writer.line(level, f"Term {index}:\t{NONE}")
    for position, expression in enumerate(expressions):
        text = f"{expression.get('key', '')} {expression.get('operator', 'In').lower()}"
        if expression.get("values"):
            text += f" [{', '.join(expression['values'])}]"
        writer.line(level, f"{'' if position else f'Term {index}:'}\t{text}")

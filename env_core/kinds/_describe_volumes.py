"""The volumes of a pod or pod template, as `kubectl describe` prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from env_core.kinds._describe_text import (
    ANNOTATION_LENGTH_MAX,
    LAST_APPLIED,
    NONE,
    LineWriter,
    labels_lines,
    list_text,
)
from env_core.objects import quantity
from env_core.world import Object

_Row = tuple[str, str, Any]

_TYPES: dict[str, tuple[str, tuple[_Row, ...]]] = {
    "hostPath": (
        "HostPath (bare host directory volume)",
        (("Path", "path", ""), ("HostPathType", "type", NONE)),
    ),
    "gcePersistentDisk": (
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        (
            ("PDName", "pdName", ""),
            ("FSType", "fsType", ""),
            ("Partition", "partition", 0),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "awsElasticBlockStore": (
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        (
            ("VolumeID", "volumeID", ""),
            ("FSType", "fsType", ""),
            ("Partition", "partition", 0),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "gitRepo": (
        "GitRepo (a volume that is pulled from git when the pod is created)",
        (("Repository", "repository", ""), ("Revision", "revision", "")),
    ),
    "secret": (
        "Secret (a volume populated by a Secret)",
        (("SecretName", "secretName", ""), ("Optional", "optional", False)),
    ),
    "configMap": (
        "ConfigMap (a volume populated by a ConfigMap)",
        (("Name", "name", ""), ("Optional", "optional", False)),
    ),
    "nfs": (
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (("Server", "server", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", False)),
    ),
    "glusterfs": (
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        (("EndpointsName", "endpoints", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", False)),
    ),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        (("ClaimName", "claimName", ""), ("ReadOnly", "readOnly", False)),
    ),
    "quobyte": (
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        (("Registry", "registry", ""), ("Volume", "volume", ""), ("ReadOnly", "readOnly", False)),
    ),
    "vsphereVolume": (
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        (
            ("VolumePath", "volumePath", ""),
            ("FSType", "fsType", ""),
            ("StoragePolicyName", "storagePolicyName", ""),
        ),
    ),
    "photonPersistentDisk": (
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        (("PdID", "pdID", ""), ("FSType", "fsType", "")),
    ),
    "portworxVolume": ("PortworxVolume (a Portworx Volume resource)", (("VolumeID", "volumeID", ""),)),
    "azureFile": (
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        (("SecretName", "secretName", ""), ("ShareName", "shareName", ""), ("ReadOnly", "readOnly", False)),
    ),
    "azureDisk": (
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        (
            ("DiskName", "diskName", ""),
            ("DiskURI", "diskURI", ""),
            ("Kind: ", "kind", ""),
            ("FSType", "fsType", ""),
            ("CachingMode", "cachingMode", ""),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "storageos": (
        "StorageOS (a StorageOS Persistent Disk resource)",
        (
            ("VolumeName", "volumeName", ""),
            ("VolumeNamespace", "volumeNamespace", ""),
            ("FSType", "fsType", ""),
            ("ReadOnly", "readOnly", False),
        ),
    ),
    "flocker": (
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        (("DatasetName", "datasetName", ""), ("DatasetUUID", "datasetUUID", "")),
    ),
    "image": (
        "Image (a container image or OCI artifact)",
        (("Reference", "reference", ""), ("PullPolicy", "pullPolicy", "")),
    ),
    "local": ("LocalVolume (a persistent volume backed by local storage on a node)", (("Path", "path", ""),)),
}
"""Volume types whose fields are printed as they are: the text behind `Type`, then (label, field, default)."""


def write_volumes(writer: LineWriter, volumes: list[Object] | None, indent: str = "") -> None:
    """Append every volume with its source; `indent` is "  " inside a pod template.

    Source: k8s.io/kubectl pkg/describe describeVolumes; tests/golden/l0/describe.jsonl.gz.
    """
    if not volumes:
        writer.line(0, f"{indent}Volumes:\t{NONE}")
        return
    writer.line(0, f"{indent}Volumes:")
    for volume in volumes:
        writer.line(1, f"{' ' if indent else ''}{volume['name']}:")
        if not write_volume_source(writer, volume):
            writer.line(1, "<unknown>")


def write_volume_source(writer: LineWriter, volume: Object) -> bool:
    """Append the fields of the one source in `volume`; return False when its type is not known.

    The same types print the same way in a persistent volume's `spec`, `csi` and the types with references
    to secrets excepted.
    """
    for key, source in volume.items():
        if source is None:
            continue
        simple = _TYPES.get(key)
        if simple is not None:
            write_source_fields(writer, *simple, source)
            return True
        special = _SPECIAL.get(key)
        if special is not None:
            special(writer, source)
            return True
    return False


def write_source_fields(writer: LineWriter, type_text: str, rows: tuple[_Row, ...], source: Object) -> None:
    """Append the line `Type` and one line for each (label, field, default) of a volume source."""
    writer.line(2, f"Type:\t{type_text}")
    for label, field, default in rows:
        value = source.get(field)
        value = default if value is None else value
        if isinstance(value, bool):
            value = "true" if value else "false"
        writer.line(2, f"{label}:\t{value}")


def _write_empty_dir(writer: LineWriter, source: Object) -> None:
    limit = str(source.get("sizeLimit") or "0")
    limit = quantity.canonical(limit) if quantity.to_milli(limit) > 0 else "<unset>"
    writer.line(2, "Type:\tEmptyDir (a temporary directory that shares a pod's lifetime)")
    writer.line(2, f"Medium:\t{source.get('medium', '')}")
    writer.line(2, f"SizeLimit:\t{limit}")


def _write_projected(writer: LineWriter, source: Object) -> None:
    writer.line(2, "Type:\tProjected (a volume that contains injected data from multiple sources)")
    for part in source.get("sources") or ():
        if part.get("secret") is not None:
            _write_projected_reference(writer, "SecretName", part["secret"])
        elif part.get("downwardAPI") is not None:
            writer.line(2, "DownwardAPI:\ttrue")
        elif part.get("configMap") is not None:
            _write_projected_reference(writer, "ConfigMapName", part["configMap"])
        elif part.get("serviceAccountToken") is not None:
            seconds = part["serviceAccountToken"].get("expirationSeconds", 3600)
            writer.line(2, f"TokenExpirationSeconds:\t{seconds}")


def _write_projected_reference(writer: LineWriter, label: str, reference: Object) -> None:
    writer.line(2, f"{label}:\t{reference.get('name', '')}")
    writer.line(2, f"Optional:\t{'true' if reference.get('optional') else 'false'}")


def _write_downward_api(writer: LineWriter, source: Object) -> None:
    writer.line(2, "Type:\tDownwardAPI (a volume populated by information about the pod)")
    writer.line(2, "Items:")
    for item in source.get("items") or ():
        if item.get("fieldRef") is not None:
            writer.line(3, f"{item['fieldRef'].get('fieldPath', '')} -> {item.get('path', '')}")
        if item.get("resourceFieldRef") is not None:
            writer.line(3, f"{item['resourceFieldRef'].get('resource', '')} -> {item.get('path', '')}")


def _write_csi(writer: LineWriter, source: Object) -> None:
    rows = (("Driver", "driver", ""), ("FSType", "fsType", ""), ("ReadOnly", "readOnly", False))
    write_source_fields(writer, "CSI (a Container Storage Interface (CSI) volume source)", rows, source)
    write_csi_attributes(writer, source.get("volumeAttributes"))


def write_csi_attributes(writer: LineWriter, attributes: dict[str, str] | None) -> None:
    """Append `VolumeAttributes` of a CSI volume source, cut at 140 characters a line."""
    if not attributes:
        writer.line(2, f"VolumeAttributes:\t{NONE}")
        return
    for position, key in enumerate(sorted(attributes)):
        text = f"{key}={attributes[key]}"
        if len(text.encode()) > ANNOTATION_LENGTH_MAX:
            text = text.encode()[:ANNOTATION_LENGTH_MAX].decode(errors="replace") + "..."
        # Every piece of a line is written with its own indent of level 2, hence the blanks behind the tab.
        writer.line(2, f"{'    ' if position else 'VolumeAttributes:'}\t    {text}")


def _write_ephemeral(writer: LineWriter, source: Object) -> None:
    writer.line(
        2,
        "Type:\tEphemeralVolume "
        "(an inline specification for a volume that gets created and deleted with the pod)",
    )
    template = source.get("volumeClaimTemplate")
    if template is None:
        return
    metadata = template.get("metadata") or {}
    spec = template.get("spec") or {}
    writer.line(2, f"StorageClass:\t{claim_class(metadata, spec)}")
    writer.line(2, f"Volume:\t{spec.get('volumeName', '')}")
    labels = metadata.get("labels") or {}
    annotations = {
        key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED
    }
    _write_nested(writer, "Labels", [f"{key}={labels[key]}" for key in sorted(labels)])
    _write_nested(writer, "Annotations", [f"{key}: {annotations[key]}" for key in sorted(annotations)])
    named = bool(spec.get("volumeName"))
    writer.line(2, f"Capacity:\t{'0' if named else ''}")
    writer.line(2, "Access Modes:\t")
    if spec.get("volumeMode"):
        writer.line(2, f"VolumeMode:\t{spec['volumeMode']}")
    data_source = spec.get("dataSource")
    if data_source is not None:
        writer.line(2, "DataSource:")
        if data_source.get("apiGroup") is not None:
            writer.line(3, f"APIGroup:\t{data_source['apiGroup']}")
        writer.line(3, f"Kind:\t{data_source.get('kind', '')}")
        writer.line(3, f"Name:\t{data_source.get('name', '')}")


def _write_nested(writer: LineWriter, title: str, texts: list[str]) -> None:
    """Append entries as kubectl's nested writer leaves them: each piece of a line is indented anew."""
    for position, text in enumerate(texts or [NONE]):
        writer.line(2, f"{'    ' if position else title + ':'}\t    {text}")


def claim_class(metadata: Object, spec: Object) -> str:
    """Return a claim's storage class: the beta annotation first, then the field, else ""."""
    annotation = (metadata.get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class")
    return str(spec.get("storageClassName") or "") if annotation is None else str(annotation)


def _write_fibre_channel(writer: LineWriter, source: Object) -> None:
    writer.line(2, "Type:\tFC (a Fibre Channel disk)")
    writer.line(2, f"TargetWWNs:\t{', '.join(source.get('targetWWNs') or ())}")
    writer.line(2, f"LUN:\t{NONE if source.get('lun') is None else source['lun']}")
    writer.line(2, f"FSType:\t{source.get('fsType', '')}")
    writer.line(2, f"ReadOnly:\t{'true' if source.get('readOnly') else 'false'}")


_SPECIAL: dict[str, Callable[[LineWriter, Object], None]] = {
    "emptyDir": _write_empty_dir,
    "projected": _write_projected,
    "downwardAPI": _write_downward_api,
    "csi": _write_csi,
    "ephemeral": _write_ephemeral,
    "fc": _write_fibre_channel,
}


def write_claim_templates(writer: LineWriter, templates: list[Object]) -> None:
    """Append a stateful set's volume claim templates."""
    if not templates:
        writer.line(0, f"Volume Claims:\t{NONE}")
        return
    writer.line(0, "Volume Claims:")
    for claim in templates:
        metadata = claim.get("metadata") or {}
        spec = claim.get("spec") or {}
        storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
        writer.line(1, f"Name:\t{metadata.get('name', '')}")
        writer.line(1, f"StorageClass:\t{claim_class(metadata, spec)}")
        writer.lines(labels_lines("Labels", metadata.get("labels"), "  "))
        writer.lines(labels_lines("Annotations", metadata.get("annotations"), "  "))
        writer.line(1, f"Capacity:\t{'<default>' if storage is None else quantity.canonical(str(storage))}")
        writer.line(1, f"Access Modes:\t{list_text(spec.get('accessModes') or ())}")

"""Validation of a pod's volumes.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import orjson

from env_core.kinds._field_rules import unsupported
from env_core.kinds._podspec_claims import claim_template_problems
from env_core.kinds._podspec_env import VOLUME_FIELDS, field_ref_problems, resource_ref_problems
from env_core.kinds._podspec_paths import file_mode, non_reserved, without_backsteps
from env_core.objects import names, quantity
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import Problem, duplicate, forbidden, invalid, required
from env_core.world import Object

_ONE_TYPE = "may not specify more than 1 volume type"
_CONFLICT = "conflicting duplicate paths"
_HOST_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_TOKEN_SECONDS_MIN = 600
_TOKEN_SECONDS_MAX = 1 << 32
_DRIVER_LENGTH_MAX = 63
_SHARED_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_MANAGED_DISK = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
)


def volume_problems(volumes: list[Object], field: str) -> tuple[dict[str, Object], list[Problem]]:
    """Check volumes; also return those that containers may mount, by name."""
    usable: dict[str, Object] = {}
    found: list[Problem] = []
    for index, volume in enumerate(volumes):
        path = f"{field}[{index}]"
        name = volume.get("name") or ""
        problems = [] if _is_fine_source(_source_text(volume)) else _source_problems(volume, path)
        if not name:
            problems.append(required(f"{path}.name"))
        else:
            complaints = names.is_dns1123_label(name)
            if complaints:
                problems += invalid_each(f"{path}.name", name, complaints)
        if name in usable:
            problems.append(duplicate(f"{path}.name", name))
        if problems:
            found += problems
        else:
            usable[name] = volume
    return usable, found


def _source_text(volume: Object) -> bytes:
    return orjson.dumps({key: value for key, value in volume.items() if key != "name"})


@lru_cache(maxsize=1024)
def _is_fine_source(text: bytes) -> bool:
    return not _source_problems({"name": "", **orjson.loads(text)}, "")


def _source_problems(volume: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    count = 0
    for key in volume if len(volume) <= 2 else _ORDER:
        source = volume.get(key)
        if source is None or key == "name":
            continue
        count += 1
        if count > 1:
            found.append(forbidden(f"{field}.{key}", _ONE_TYPE))
            continue
        check = _CHECKS.get(key)
        if check is not None:
            found += check(source, f"{field}.{key}")
    if count == 0:
        found.append(required(field, "must specify a volume type"))
    return found


def _empty_dir(source: Object, field: str) -> list[Problem]:
    limit = source.get("sizeLimit")
    if limit is not None and quantity.from_value(limit).sign() < 0:
        return [forbidden(f"{field}.sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


def _host_path(source: Object, field: str) -> list[Problem]:
    path, kind = source.get("path"), source.get("type")
    if not path:
        return [required(f"{field}.path")]
    found = without_backsteps(path, f"{field}.path")
    if kind is not None and kind not in _HOST_TYPES:
        found.append(unsupported(f"{field}.type", kind, _HOST_TYPES))
    return found


def _secret(source: Object, field: str) -> list[Problem]:
    found = [] if source.get("secretName") else [required(f"{field}.secretName")]
    return found + _mode_and_items(source, field)


def _config_map(source: Object, field: str) -> list[Problem]:
    found = [] if source.get("name") else [required(f"{field}.name")]
    return found + _mode_and_items(source, field)


def _mode_and_items(source: Object, field: str) -> list[Problem]:
    found = file_mode(source.get("defaultMode"), f"{field}.defaultMode")
    for index, item in enumerate(source.get("items") or ()):
        found += _item_problems(item, f"{field}.items[{index}]")
    return found


def _item_problems(item: Object, field: str) -> list[Problem]:
    path = item.get("path")
    found = [] if item.get("key") else [required(f"{field}.key")]
    if not path:
        found.append(required(f"{field}.path"))
    else:
        found += non_reserved(path, f"{field}.path")
    return found + file_mode(item.get("mode"), f"{field}.mode")


def _claim(source: Object, field: str) -> list[Problem]:
    return [] if source.get("claimName") else [required(f"{field}.claimName")]


def _nfs(source: Object, field: str) -> list[Problem]:
    path = source.get("path") or ""
    found = [] if source.get("server") else [required(f"{field}.server")]
    if not path:
        found.append(required(f"{field}.path"))
    if not path.startswith("/"):
        found.append(invalid(f"{field}.path", path, "must be an absolute path"))
    return found


def driver_problems(driver: str, field: str) -> list[Problem]:
    """Check the name of a CSI driver."""
    if not driver:
        return [required(field)]
    if len(driver) > _DRIVER_LENGTH_MAX:
        from env_core.objects.problems import too_long

        return [too_long(field, _DRIVER_LENGTH_MAX)]
    return invalid_each(field, driver, names.is_dns1123_subdomain(driver.lower()))


def _csi(source: Object, field: str) -> list[Problem]:
    found = driver_problems(source.get("driver") or "", f"{field}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None and not secret.get("name"):
        found.append(required(f"{field}.nodePublishSecretRef.name"))
    return found


def _downward(source: Object, field: str) -> list[Problem]:
    found = file_mode(source.get("defaultMode"), f"{field}.defaultMode")
    for item in source.get("items") or ():
        found += _downward_file(item, field)
    return found


def _downward_file(item: Object, field: str) -> list[Problem]:
    # Upstream gives the volume's path here, not the item's.
    path = item.get("path") or ""
    found = non_reserved(path, f"{field}.path") if path else [required(f"{field}.path")]
    reference, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if reference is not None:
        found += field_ref_problems(reference, VOLUME_FIELDS, f"{field}.fieldRef")
        if resource is not None:
            text = "fieldRef and resourceFieldRef can not be specified simultaneously"
            found.append(invalid(field, "resource", text))
    elif resource is not None:
        found += resource_ref_problems(resource, f"{field}.resourceFieldRef", is_container_named=True)
    else:
        found.append(required(field, "one of fieldRef and resourceFieldRef is required"))
    return found + file_mode(item.get("mode"), f"{field}.mode")


def _projected(source: Object, field: str) -> list[Problem]:
    found = file_mode(source.get("defaultMode"), f"{field}.defaultMode")
    paths: list[str] = []
    for index, projection in enumerate(source.get("sources") or ()):
        path = f"{field}.sources[{index}]"
        count = 0
        for key in ("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle"):
            part = projection.get(key)
            if part is None:
                continue
            count += 1
            if count > 1:
                found.append(forbidden(f"{path}.{key}", _ONE_TYPE))
            elif key in ("secret", "configMap"):
                found += _projected_items(part, f"{path}.{key}", field, paths)
            elif key == "downwardAPI":
                for item in part.get("items") or ():
                    found += _downward_file(item, f"{path}.{key}")
                    found += _path_conflict(item.get("path"), item.get("path"), field, paths)
            elif key == "serviceAccountToken":
                found += _projected_token(part, f"{path}.{key}", field)
    return found


def _projected_items(part: Object, field: str, volume_field: str, paths: list[str]) -> list[Problem]:
    found = [] if part.get("name") else [required(f"{field}.name")]
    for index, item in enumerate(part.get("items") or ()):
        found += _item_problems(item, f"{field}.items[{index}]")
        found += _path_conflict(item.get("path"), part.get("name"), volume_field, paths)
    return found


def _path_conflict(path: str | None, shown: str | None, field: str, paths: list[str]) -> list[Problem]:
    if not path:
        return []
    if path in paths:
        return [invalid(field, shown or "", _CONFLICT)]
    paths.append(path)
    return []


def _projected_token(part: Object, field: str, volume_field: str) -> list[Problem]:
    found: list[Problem] = []
    seconds = part.get("expirationSeconds")
    if seconds is not None and seconds < _TOKEN_SECONDS_MIN:
        text = "may not specify a duration less than 10 minutes"
        found.append(invalid(f"{field}.expirationSeconds", seconds, text))
    if seconds is not None and seconds > _TOKEN_SECONDS_MAX:
        text = "may not specify a duration larger than 2^32 seconds"
        found.append(invalid(f"{field}.expirationSeconds", seconds, text))
    path = part.get("path")
    if not path:
        found.append(required(f"{volume_field}.path"))
    else:
        found += non_reserved(path, f"{volume_field}.path")
    return found


def _ephemeral(source: Object, field: str) -> list[Problem]:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{field}.volumeClaimTemplate")]
    return claim_template_problems(template, f"{field}.volumeClaimTemplate")


def _image(source: Object, field: str) -> list[Problem]:
    found = [] if source.get("reference") else [required(f"{field}.reference")]
    policy = source.get("pullPolicy")
    if policy and policy not in _PULL_POLICIES:
        found.append(unsupported(f"{field}.pullPolicy", policy, _PULL_POLICIES))
    return found


def _azure_disk(source: Object, field: str) -> list[Problem]:
    uri, kind = source.get("diskURI") or "", source.get("kind")
    found = [] if source.get("diskName") else [required(f"{field}.diskName")]
    if not uri:
        found.append(required(f"{field}.diskURI"))
    elif kind == "Managed" and not uri.startswith("/subscriptions/"):
        found.append(unsupported(f"{field}.diskURI", uri, (_MANAGED_DISK,)))
    elif kind != "Managed" and kind is not None and not uri.startswith("https://"):
        found.append(unsupported(f"{field}.diskURI", uri, (_SHARED_DISK,)))
    return found


def _flocker(source: Object, field: str) -> list[Problem]:
    if source.get("datasetName") or source.get("datasetUUID"):
        return []
    return [required(field, "one of datasetName and datasetUUID is required")]


def _needed(*keys: str) -> Callable[[Object, str], list[Problem]]:
    def check(source: Object, field: str) -> list[Problem]:
        return [required(f"{field}.{key}") for key in keys if not source.get(key)]

    return check


_CHECKS: dict[str, Callable[[Object, str], list[Problem]]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _needed("repository"),
    "gcePersistentDisk": _needed("pdName"),
    "awsElasticBlockStore": _needed("volumeID"),
    "secret": _secret,
    "nfs": _nfs,
    "iscsi": _needed("targetPortal", "iqn"),
    "glusterfs": _needed("endpoints", "path"),
    "flocker": _flocker,
    "persistentVolumeClaim": _claim,
    "rbd": _needed("monitors", "image"),
    "cinder": _needed("volumeID"),
    "cephfs": _needed("monitors"),
    "quobyte": _needed("registry", "volume"),
    "downwardAPI": _downward,
    "fc": _needed(),
    "flexVolume": _needed("driver"),
    "configMap": _config_map,
    "azureFile": _needed("secretName", "shareName"),
    "vsphereVolume": _needed("volumePath"),
    "photonPersistentDisk": _needed("pdID"),
    "portworxVolume": _needed("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": _needed("volumeName"),
    "projected": _projected,
    "scaleIO": _needed("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
_ORDER = tuple(_CHECKS)

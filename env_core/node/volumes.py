"""Volumes: which can be mounted, why not, and the files that a container sees.

Source: k8s.io/kubernetes pkg/volume/{configmap,secret,projected,downwardapi} and pkg/kubelet/volumemanager;
texts in tests/golden/kubelet/event-texts.jsonl.gz (FailedMount).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from env_core.node._host import Host
from env_core.node._records import PodRecord
from env_core.node.environment import ConfigError, expand, field_text, keys_of, resource_text, text_of
from env_core.world import Object

FIRST_RETRY_MS: Final = 500
RETRY_MAX_MS: Final = 122_000
FIRST_TRY_MS: Final = 160
MOUNTED_AFTER_MS: Final = 300
"""The sync polls for its volumes every 300 ms."""
MOUNT_TIMEOUT_MS: Final = 123_000
PROPAGATION_MAX_MS: Final = 75_000
_SOURCES: Final = (("configMap", "configmaps", "configmap"), ("secret", "secrets", "secret"))


def has_volumes(pod: Object) -> bool:
    """Whether a pod waits for volumes at all."""
    return bool(pod["spec"].get("volumes"))


def claim_problem(host: Host, record: PodRecord, pod: Object) -> str:
    """Return why a PersistentVolumeClaim keeps the pod from starting, "" if none does."""
    failed = []
    why = ""
    for volume in pod["spec"].get("volumes") or ():
        claim = volume.get("persistentVolumeClaim")
        if claim is None:
            continue
        name = claim["claimName"]
        found = host.store.get("persistentvolumeclaims", record.namespace, name)
        if found is None:
            failed.append(volume["name"])
            why = why or (
                f"error processing PVC {record.namespace}/{name}: failed to fetch PVC from API server: "
                f'persistentvolumeclaims "{name}" not found'
            )
    if not failed:
        return ""
    listed = ", ".join(failed)
    return (
        f"Unable to attach or mount volumes: unmounted volumes=[{listed}], unattached volumes=[], "
        f"failed to process volumes=[{listed}]: {why}"
    )


def failure(host: Host, record: PodRecord, pod: Object, volume: Object) -> str:
    """Return what is said of a volume that cannot be mounted, "" when it can."""
    claim = volume.get("persistentVolumeClaim")
    if claim is not None:
        return _claim_failure(host, record, claim["claimName"])
    why = problem(host, record, pod, volume)
    return f'MountVolume.SetUp failed for volume "{volume["name"]}" : {why}' if why else ""


def persistent_volume(host: Host, namespace: str, claim_name: str) -> Object | None:
    """Return the PersistentVolume that a claim is bound to, None without one."""
    claim = host.store.get("persistentvolumeclaims", namespace, claim_name)
    name = (claim.get("spec") or {}).get("volumeName") if claim is not None else None
    return host.store.get("persistentvolumes", "", name) if name else None


def _claim_failure(host: Host, record: PodRecord, claim_name: str) -> str:
    """What a CSI driver answers for the volume of a claim: it is staged on the node, then published to the pod."""
    found = persistent_volume(host, record.namespace, claim_name)
    source = (found.get("spec") or {}).get("csi") if found is not None else None
    node = host.node(record.node)
    if found is None or source is None or node is None:
        return ""
    name, driver = found["metadata"]["name"], source["driver"]
    if node.settings.csi_drivers is not None and driver not in node.settings.csi_drivers:
        why = (
            "kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name "
            f"{driver} not found in the list of registered CSI drivers"
        )
        return f'MountVolume.MountDevice failed for volume "{name}" : {why}'
    for operation, call in (("MountDevice", "NodeStageVolume"), ("SetUp", "NodePublishVolume")):
        why = host.images.volume_error(call, driver, source.get("volumeHandle", ""))
        if why:
            return f'MountVolume.{operation} failed for volume "{name}" : {why}'
    return ""


def is_held(host: Host, record: PodRecord, pod: Object) -> bool:
    """Whether a CSI driver fails to take a volume from a pod that has ended: its object stays till then."""
    for volume in pod["spec"].get("volumes") or ():
        claim = volume.get("persistentVolumeClaim")
        found = persistent_volume(host, record.namespace, claim["claimName"]) if claim is not None else None
        source = (found.get("spec") or {}).get("csi") if found is not None else None
        if source is not None and host.images.volume_error(
            "NodeUnpublishVolume", source["driver"], source.get("volumeHandle", "")
        ):
            return True
    return False


def problem(host: Host, record: PodRecord, pod: Object, volume: Object) -> str:
    """Return why a volume cannot be set up, "" when it can."""
    for key, resource, singular in _SOURCES:
        source = volume.get(key)
        if source is not None:
            name = source.get("name") or source.get("secretName") or ""
            return _source_problem(host, record, resource, singular, name, source)
    projected = volume.get("projected")
    if projected is not None:
        for part in projected.get("sources") or ():
            for key, resource, singular in _SOURCES:
                source = part.get(key)
                if source is not None:
                    found = _source_problem(host, record, resource, singular, source.get("name", ""), source)
                    if found:
                        return found
        return ""
    path = volume.get("hostPath")
    if path is not None and path.get("type") in ("Directory", "File", "Socket"):
        return _path_problem(path)
    csi = volume.get("csi")
    if csi is not None:
        return (
            "kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name "
            f"{csi['driver']} not found in the list of registered CSI drivers"
        )
    return ""


_NODE_DIRECTORIES: Final = (
    "/",
    "/etc",
    "/home",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/var",
)
_NODE_FILES: Final = (
    "/etc/hostname",
    "/etc/hosts",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/resolv.conf",
    "/etc/timezone",
)
_NODE_SOCKETS: Final = ("/run/containerd/containerd.sock", "/var/run/docker.sock")


def _path_problem(source: Object) -> str:
    path, wanted = source["path"].rstrip("/") or "/", source["type"]
    label = {"Directory": "a directory", "File": "a file", "Socket": "a socket"}[wanted]
    found = ""
    if path in _NODE_FILES:
        found = "File"
    elif path in _NODE_SOCKETS:
        found = "Socket"
    elif path in _NODE_DIRECTORIES or path.startswith(
        ("/etc/kubernetes", "/run/", "/var/lib", "/var/log", "/var/run")
    ):
        found = "Directory"
    if not found:
        return (
            f"hostPath type check failed, {source['path']} is not {label}, unable to determine its type: "
            f'path "{source["path"]}" does not exist'
        )
    if found != wanted:
        return f"hostPath type check failed: {source['path']} is not {label}, it's a {found}"
    return ""


def _source_problem(
    host: Host, record: PodRecord, resource: str, singular: str, name: str, source: Object
) -> str:
    is_optional = bool(source.get("optional"))
    found = host.store.get(resource, record.namespace, name)
    if found is None:
        return "" if is_optional else f'{singular} "{name}" not found'
    if is_optional:
        return ""
    for item in source.get("items") or ():
        if text_of(resource, found, item["key"]) is None:
            what = (
                "configmap references non-existent config key"
                if resource == "configmaps"
                else "references non-existent secret key"
            )
            return f"{what}: {item['key']}"
    return ""


def sources(pod: Object) -> Iterator[tuple[str, str]]:
    """Yield (resource, name) of each ConfigMap and Secret whose changes reach the pod's volumes."""
    for volume in pod["spec"].get("volumes") or ():
        parts: list[Any] = [volume]
        if "projected" in volume:
            parts = volume["projected"].get("sources") or []
        for part in parts:
            for key, resource, _singular in _SOURCES:
                source = part.get(key)
                if source is not None:
                    yield resource, source.get("name") or source.get("secretName") or ""


def files(
    host: Host, record: PodRecord, pod: Object, container: Object, env: dict[str, str]
) -> dict[str, str]:
    """Return the mounted files of a container by absolute path.

    Raises:
        ConfigError: when a `subPathExpr` names an unknown variable.
    """
    mounts = container.get("volumeMounts") or ()
    if not mounts:
        return {}
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    built: dict[str, str] = {}
    for mount in mounts:
        part = mount.get("subPath") or ""
        if mount.get("subPathExpr"):
            part = _expanded(mount["subPathExpr"], env)
        volume = volumes.get(mount["name"])
        if volume is None:
            continue
        content = volume_files(host, record, pod, container, volume)
        root = mount["mountPath"].rstrip("/")
        if not part:
            built |= {f"{root}/{path}": text for path, text in content.items()}
        elif part in content:
            built[root] = content[part]
        else:
            inside = part.rstrip("/") + "/"
            built |= {
                f"{root}/{path.removeprefix(inside)}": text
                for path, text in content.items()
                if path.startswith(inside)
            }
    return built


def _expanded(text: str, env: dict[str, str]) -> str:
    expanded = expand(text, env)
    start = expanded.find("$(")
    if start >= 0:
        raise ConfigError(f"missing value for {expanded[start + 2 : expanded.index(')', start)]}")
    return expanded


def volume_files(
    host: Host, record: PodRecord, pod: Object, container: Object, volume: Object
) -> dict[str, str]:
    """Return the files of one volume by relative path; what is empty or a directory of the node is {}."""
    for key, resource, _singular in _SOURCES:
        source = volume.get(key)
        if source is not None:
            return _source_files(
                host, record, resource, source.get("name") or source.get("secretName") or "", source
            )
    if "downwardAPI" in volume:
        return _downward_files(host, record, pod, container, volume["downwardAPI"])
    built: dict[str, str] = {}
    for part in (volume.get("projected") or {}).get("sources") or ():
        for key, resource, _singular in _SOURCES:
            source = part.get(key)
            if source is not None:
                built |= _source_files(host, record, resource, source.get("name", ""), source)
        if "downwardAPI" in part:
            built |= _downward_files(host, record, pod, container, part["downwardAPI"])
        token = part.get("serviceAccountToken")
        if token is not None:
            account = pod["spec"].get("serviceAccountName", "default")
            built[token["path"]] = f"token.{record.namespace}.{account}.{record.uid}"
    return built


def _source_files(host: Host, record: PodRecord, resource: str, name: str, source: Object) -> dict[str, str]:
    found = host.store.get(resource, record.namespace, name)
    if found is None:
        return {}
    items = source.get("items")
    if not items:
        return {key: text_of(resource, found, key) or "" for key in keys_of(found)}
    built = {}
    for item in items:
        text = text_of(resource, found, item["key"])
        if text is not None:
            built[item["path"]] = text
    return built


def _downward_files(
    host: Host, record: PodRecord, pod: Object, container: Object, source: Object
) -> dict[str, str]:
    built = {}
    for item in source.get("items") or ():
        if "fieldRef" in item:
            built[item["path"]] = field_text(host, record, pod, item["fieldRef"]["fieldPath"])
        elif "resourceFieldRef" in item:
            built[item["path"]] = resource_text(host, record, pod, container, item["resourceFieldRef"])
    return built


def refreshed(
    host: Host, record: PodRecord, pod: Object, container: Object, old: dict[str, str]
) -> dict[str, str]:
    """Return a running container's files after its volumes were brought up to date; subPath mounts keep theirs."""
    whole = [
        mount
        for mount in container.get("volumeMounts") or ()
        if not mount.get("subPath") and not mount.get("subPathExpr")
    ]
    roots = tuple(mount["mountPath"].rstrip("/") + "/" for mount in whole)
    kept = {path: text for path, text in old.items() if not path.startswith(roots)} if roots else dict(old)
    return kept | files(host, record, pod, {**container, "volumeMounts": whole}, {})

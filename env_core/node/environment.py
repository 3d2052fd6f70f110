"""A container's environment: variables of the image, the spec, ConfigMaps, Secrets, fields and services.

Source: k8s.io/kubernetes pkg/kubelet/kubelet_pods.go (makeEnvironmentVariables), pkg/kubelet/envvars and
third_party/forked/golang/expansion; error texts in tests/golden/kubelet (env-cm-missing and others).
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from env_core.node._host import Host
from env_core.node._records import PodRecord
from env_core.objects import quantity
from env_core.world import Object

DEFAULT_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_references = re.compile(r"\$(?:\$|\(([^()$]*)\))").finditer
WORD_MAX: Final = 131_072
"""Characters of one argument or variable, its end counted: Linux's MAX_ARG_STRLEN."""
WORDS_MAX: Final = 2 * 1024 * 1024
"""Characters of all arguments, or of all variables: a quarter of the usual stack limit of 8 MiB."""
_subscript = re.compile(r"(metadata\.(?:labels|annotations))\['([^']*)'\]").fullmatch
CONFIG_ERROR: Final = "CreateContainerConfigError"


class ConfigError(Exception):
    """The container's configuration cannot be made; the text is the waiting message."""


def expand(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with $(NAME) replaced where the name is known, and $$ as $; cut one past `WORD_MAX` characters."""
    if "$" not in text:
        return text
    parts: list[str] = []
    size = at = 0
    for found in _references(text):
        name = found[1]
        parts += (text[at : found.start()], "$" if name is None else values.get(name, found[0]))
        at = found.end()
        size += len(parts[-2]) + len(parts[-1])
        if size > WORD_MAX:
            return "".join(parts)[: WORD_MAX + 1]
    return "".join(parts) + text[at:]


def check_words(words: Iterable[str]) -> None:
    """Refuse arguments or variables with which Linux starts no program.

    Raises:
        ConfigError: E2BIG's text. The reason that a pod shows then isn't recorded.

    Source: https://man7.org/linux/man-pages/man2/execve.2.html (limits on size of arguments and environment).
    """
    total = 0
    for word in words:
        total += len(word) + 1
        if len(word) >= WORD_MAX or total > WORDS_MAX:
            raise ConfigError("argument list too long")


def text_of(kind: str, obj: Object, key: str) -> str | None:
    """Return the text under a key of a ConfigMap or Secret, or None."""
    value = (obj.get("data") or {}).get(key)
    if value is not None:
        return _decoded(value) if kind == "secrets" else str(value)
    binary = (obj.get("binaryData") or {}).get(key)
    return _decoded(binary) if binary is not None else None


@lru_cache(maxsize=2048)
def _decoded(value: str) -> str:
    return b64decode(value).decode("utf-8", "replace")


def keys_of(obj: Object) -> list[str]:
    """Return the keys of a ConfigMap or Secret, sorted."""
    return sorted({*(obj.get("data") or {}), *(obj.get("binaryData") or {})})


def environment(
    host: Host, record: PodRecord, pod: Object, container: Object, image_env: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables with which a container starts.

    Raises:
        ConfigError: when a ConfigMap, Secret or key that must exist does not.
    """
    spec = pod["spec"]
    services = (
        service_variables(host, record.namespace) if spec.get("enableServiceLinks", True) is not False else ()
    )
    master = service_variables(host, "default", only="kubernetes")
    known = {**dict(master), **dict(services)}
    hostname = spec.get("hostname") or record.name[:63]
    built: dict[str, str] = {
        "PATH": DEFAULT_PATH,
        **image_env,
        "HOSTNAME": record.node if spec.get("hostNetwork") else hostname,
    }
    own: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        own |= _from_source(host, record, source)
    for entry in container.get("env") or ():
        value = entry.get("value") or ""
        if "valueFrom" in entry:
            found = _value_from(host, record, pod, container, entry["valueFrom"])
            if found is None:
                continue
            value = found
        else:
            value = expand(value, {**known, **own})
        own[entry["name"]] = value
    built |= own
    for name, value in (*master, *services):
        built.setdefault(name, value)
    check_words(built.values())
    return built


def _from_source(host: Host, record: PodRecord, source: Object) -> dict[str, str]:
    prefix = source.get("prefix") or ""
    for key, resource, singular in (
        ("configMapRef", "configmaps", "configmap"),
        ("secretRef", "secrets", "secret"),
    ):
        reference = source.get(key)
        if reference is None:
            continue
        name = reference.get("name", "")
        found = host.store.get(resource, record.namespace, name)
        if found is None:
            if reference.get("optional"):
                return {}
            raise ConfigError(f'{singular} "{name}" not found')
        return {prefix + each: text_of(resource, found, each) or "" for each in keys_of(found)}
    return {}


def _value_from(host: Host, record: PodRecord, pod: Object, container: Object, source: Object) -> str | None:
    if "fieldRef" in source:
        return field_text(host, record, pod, source["fieldRef"]["fieldPath"])
    if "resourceFieldRef" in source:
        return resource_text(host, record, pod, container, source["resourceFieldRef"])
    for key, resource, singular, kind in (
        ("configMapKeyRef", "configmaps", "configmap", "ConfigMap"),
        ("secretKeyRef", "secrets", "secret", "Secret"),
    ):
        reference = source.get(key)
        if reference is None:
            continue
        name = reference.get("name", "")
        found = host.store.get(resource, record.namespace, name)
        if found is None:
            if reference.get("optional"):
                return None
            raise ConfigError(f'{singular} "{name}" not found')
        value = text_of(resource, found, reference["key"])
        if value is None:
            if reference.get("optional"):
                return None
            raise ConfigError(f"couldn't find key {reference['key']} in {kind} {record.namespace}/{name}")
        return value
    if "fileKeyRef" in source:
        if source["fileKeyRef"].get("optional"):
            return None
        raise ConfigError("couldn't parse env file")
    return ""


def field_text(host: Host, record: PodRecord, pod: Object, path: str) -> str:
    """Return the value of a downward API field of a pod."""
    metadata, spec = pod["metadata"], pod["spec"]
    subscript = _subscript(path)
    if subscript is not None:
        field = subscript[1].removeprefix("metadata.")
        return str((metadata.get(field) or {}).get(subscript[2], ""))
    node = host.node(record.node)
    address = node.address if node is not None else ""
    sandbox = record.sandbox
    values = {
        "metadata.name": metadata["name"],
        "metadata.namespace": record.namespace,
        "metadata.uid": record.uid,
        "spec.nodeName": record.node,
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.hostIP": address,
        "status.hostIPs": address,
        "status.podIP": sandbox.address if sandbox is not None else "",
        "status.podIPs": sandbox.address if sandbox is not None else "",
    }
    if path in ("metadata.labels", "metadata.annotations"):
        rows = metadata.get(path.removeprefix("metadata.")) or {}
        return "\n".join(f"{key}={_quoted(rows[key])}" for key in sorted(rows))
    return str(values.get(path, ""))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def resource_text(host: Host, record: PodRecord, pod: Object, container: Object, reference: Object) -> str:
    """Return a container's resource amount, divided and rounded up; limits fall back to the node's."""
    name = reference.get("containerName") or container["name"]
    target = next((each for each in _all_containers(pod) if each["name"] == name), container)
    side, _, resource = reference["resource"].partition(".")
    amounts = (target.get("resources") or {}).get(side) or {}
    text = amounts.get(resource)
    divisor = quantity.parse(str(reference.get("divisor") or "1"))
    if divisor.is_zero():
        divisor = quantity.parse("1")
    if text is None:
        node = host.node(record.node)
        if side != "limits" or node is None:
            return "0"
        text = f"{node.cpu_millis}m" if resource == "cpu" else str(node.memory_bytes)
    amount = quantity.parse(str(text))
    if resource == "cpu":
        return str(-(-amount.milli_value() // divisor.milli_value()))
    return str(-(-amount.value() // divisor.value()))


def _all_containers(pod: Object) -> list[Any]:
    spec = pod["spec"]
    return [*spec["containers"], *(spec.get("initContainers") or ())]


def service_variables(host: Host, namespace: str, only: str = "") -> tuple[tuple[str, str], ...]:
    """Return the variables that announce a namespace's services (or one of them) to its pods."""
    key = (f"{namespace}/{only}", host.store.last_write("services"))
    found = host.service_env.get(key)
    if found is None:
        if len(host.service_env) > 64:
            host.service_env.clear()
        rows: list[tuple[str, str]] = []
        for service in host.store.list("services", namespace):
            if not only or service["metadata"]["name"] == only:
                rows.extend(_service_rows(service))
        found = host.service_env[key] = tuple(rows)
    return found


def _service_rows(service: Object) -> list[tuple[str, str]]:
    spec = service.get("spec") or {}
    address, ports = spec.get("clusterIP"), spec.get("ports") or ()
    if not address or address == "None" or not ports:
        return []
    name = service["metadata"]["name"].replace("-", "_").upper()
    rows = [(f"{name}_SERVICE_HOST", address), (f"{name}_SERVICE_PORT", str(ports[0]["port"]))]
    rows += [
        (f"{name}_SERVICE_PORT_{port['name'].replace('-', '_').upper()}", str(port["port"]))
        for port in ports
        if port.get("name")
    ]
    first = ports[0]
    rows.append((f"{name}_PORT", f"{(first.get('protocol') or 'TCP').lower()}://{address}:{first['port']}"))
    for port in ports:
        protocol = port.get("protocol") or "TCP"
        prefix = f"{name}_PORT_{port['port']}_{protocol}"
        rows += [
            (prefix, f"{protocol.lower()}://{address}:{port['port']}"),
            (f"{prefix}_PROTO", protocol.lower()),
            (f"{prefix}_PORT", str(port["port"])),
            (f"{prefix}_ADDR", address),
        ]
    return rows

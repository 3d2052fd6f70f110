"""ServiceAccount: pods run as an account that exists, and get its token as a projected volume."""

from __future__ import annotations

from collections.abc import Iterator

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_MIRROR = "kubernetes.io/config.mirror"
_ENFORCE = "kubernetes.io/enforce-mountable-secrets"
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_VOLUME_PREFIX = "kube-api-access-"
_TOKEN_SOURCES = [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {
        "downwardAPI": {
            "items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
            ]
        }
    },
]
_GROUPS = (("initContainers", "init container"), ("containers", "container"))


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    if _MIRROR in (body["metadata"].get("annotations") or {}):
        _check_mirror(attributes, body["spec"])
        return body
    spec = dict(body["spec"])
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    namespace = attributes.namespace
    account = attributes.store.get("serviceaccounts", namespace, name)
    if account is None:
        why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        raise refusal(attributes, why, is_mutating=True)
    if (account["metadata"].get("annotations") or {}).get(_ENFORCE) in _TRUE:
        for why in _secret_problems(account, spec):
            raise refusal(attributes, why, is_mutating=True)
    if _mounts_token(account, spec):
        spec = _with_token(attributes, spec)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = account["imagePullSecrets"]
    return {**body, "spec": spec}


def _check_mirror(attributes: Attributes, spec: Object) -> None:
    if spec.get("serviceAccountName"):
        raise refusal(attributes, "a mirror pod may not reference service accounts", is_mutating=True)
    if any("secret" in volume for volume in spec.get("volumes") or ()):
        raise refusal(attributes, "a mirror pod may not reference secrets", is_mutating=True)


def _mounts_token(account: Object, spec: Object) -> bool:
    wanted = spec.get("automountServiceAccountToken")
    if wanted is None:
        wanted = account.get("automountServiceAccountToken")
    return wanted is not False


def _with_token(attributes: Attributes, spec: Object) -> Object:
    volumes = spec.get("volumes") or []
    known = [volume["name"] for volume in volumes if volume.get("name", "").startswith(_VOLUME_PREFIX)]
    name = known[0] if known else ""
    changed = dict(spec)
    is_needed = False
    for group, _ in _GROUPS:
        containers = spec.get(group)
        if not containers:
            continue
        mounted = []
        for container in containers:
            mounts = container.get("volumeMounts") or []
            if any(mount.get("mountPath") == _MOUNT_PATH for mount in mounts):
                mounted.append(container)
                continue
            if not name:
                name = _VOLUME_PREFIX + attributes.streams.stream("names").suffix()
            mount = {"name": name, "readOnly": True, "mountPath": _MOUNT_PATH}
            mounted.append({**container, "volumeMounts": [*mounts, mount]})
            is_needed = True
        changed[group] = mounted
    if is_needed and not known:
        volume = {"name": name, "projected": {"sources": _TOKEN_SOURCES, "defaultMode": 420}}
        changed["volumes"] = [*volumes, volume]
    return changed


def _secret_problems(account: Object, spec: Object) -> Iterator[str]:
    """Yield what keeps an account that enforces its list of mountable secrets from running the pod."""
    name = account["metadata"]["name"]
    known = {entry.get("name") for entry in account.get("secrets") or ()}
    end = f"is not allowed because service account {name} does not reference that secret"
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName")
        if secret is not None and secret not in known:
            yield f'volume with secret.secretName="{secret}" {end}'
    for group, title in _GROUPS:
        for container in spec.get(group) or ():
            for where, secret in _references(container):
                if secret not in known:
                    yield f'{title} {container["name"]} with {where} referencing secret.secretName="{secret}" {end}'
    pulls = {entry.get("name") for entry in account.get("imagePullSecrets") or ()}
    for index, entry in enumerate(spec.get("imagePullSecrets") or ()):
        if entry.get("name") not in pulls:
            yield (
                f'imagePullSecrets[{index}].name="{entry.get("name")}" is not allowed because service account '
                f"{name} does not reference that imagePullSecret"
            )


def _references(container: Object) -> Iterator[tuple[str, str]]:
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        if reference is not None:
            yield f"envVar {variable['name']}", reference.get("name", "")
    for source in container.get("envFrom") or ():
        reference = source.get("secretRef")
        if reference is not None:
            yield "envFrom", reference.get("name", "")


ADMISSION = Admission(
    name="ServiceAccount",
    order=60,
    operations=("CREATE",),
    resources=("pods",),
    mutate=_mutate,
    source="tests/golden/l0/serviceaccount_admission.jsonl.gz; tests/golden/l2/flows/deploy-sa-missing.json.gz",
)

"""`apply --prune`: what was applied before and is not among the manifests any more goes.

Source: k8s.io/kubectl pkg/cmd/apply prune.go, pkg/util/prune; tests/golden/l2/flows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import Options
from env_core.kubectl.context import Context
from env_core.kubectl.last_applied import original_text
from env_core.kubectl.output.printing import Printer
from env_core.kubectl.screen import Failure, Screen

_NAMESPACED = (
    ("", "configmaps"), ("", "endpoints"), ("", "persistentvolumeclaims"), ("", "pods"),
    ("", "replicationcontrollers"), ("", "secrets"), ("", "services"), ("batch", "jobs"), ("batch", "cronjobs"),
    ("networking.k8s.io", "ingresses"), ("apps", "daemonsets"), ("apps", "deployments"), ("apps", "replicasets"),
    ("apps", "statefulsets"),
)  # fmt: skip
_CLUSTER_SCOPED = (("", "namespaces"), ("", "persistentvolumes"))


def pruned_kinds(ctx: Context, allowlist: Iterable[str]) -> list[Kind]:
    """Return the kinds that are looked through: those of --prune-allowlist, or the usual ones.

    Raises:
        Failure: for an entry that is not group/version/kind.
    """
    entries = list(allowlist)
    if not entries:
        rows = (*_NAMESPACED, *_CLUSTER_SCOPED)
        found = [ctx.discovery.find(f"{plural}.{group}" if group else plural) for group, plural in rows]
        return [kind for kind in found if kind is not None]
    kinds: list[Kind] = []
    for entry in entries:
        parts = entry.split("/")
        if len(parts) != 3:
            raise Failure(f"invalid GroupVersionKind format: {entry}, please follow <group/version/kind>")
        group = "" if parts[0] == "core" else parts[0]
        kind = ctx.discovery.by_gvk(f"{group}/{parts[1]}" if group else parts[1], parts[2])
        if kind is None:
            where = f"{group}/{parts[1]}" if group else parts[1]
            raise Failure(f'no matches for kind "{parts[2]}" in version "{where}"')
        kinds.append(kind)
    return kinds


def prune(
    ctx: Context,
    screen: Screen,
    kinds: list[Kind],
    namespaces: list[str],
    visited: frozenset[str],
    selector: str,
    options: Options | None,
    printer: Callable[[str], Printer],
) -> None:
    """Delete (with `options`) and print what has the annotation of apply and was not visited.

    Raises:
        Failure: when something cannot be listed or deleted.
    """
    scopes = [(kind, namespace) for namespace in namespaces for kind in kinds if kind.is_namespaced]
    scopes += [(kind, "") for kind in kinds if not kind.is_namespaced]
    for kind, namespace in scopes:
        try:
            for obj in ctx.api.list(kind.resource, namespace, label_selector=selector):
                metadata = obj["metadata"]
                if original_text(obj) is None or metadata["uid"] in visited:
                    continue
                if options is not None:
                    ctx.api.delete(kind.resource, namespace, metadata["name"], options)
                printer("pruned").print(obj, screen)
        except StatusError as error:
            scope = "namespaced" if kind.is_namespaced else "nonNamespaced"
            name = f"{kind.group}/{kind.version}, Kind={kind.kind}"
            raise Failure(f"error pruning {scope} object {name}: {error.message}") from None

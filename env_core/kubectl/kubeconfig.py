"""The terminal's kubeconfig: clusters, users and contexts by name, and which context is current.

A value that never changes: `config set…` puts another one in its place. What a terminal starts with has one cluster,
one user and one context.

Source: k8s.io/client-go tools/clientcmd/api/types.go and api/v1/types.go (fields and their order).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from env_core.objects.yamlin import read_yaml
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.kubectl.context import Context

CLUSTER_FIELDS: Mapping[str, type] = {
    "server": str,
    "tls-server-name": str,
    "insecure-skip-tls-verify": bool,
    "certificate-authority": str,
    "certificate-authority-data": bytes,
    "proxy-url": str,
    "disable-compression": bool,
}
USER_FIELDS: Mapping[str, type] = {
    "client-certificate": str,
    "client-certificate-data": bytes,
    "client-key": str,
    "client-key-data": bytes,
    "token": str,
    "tokenFile": str,
    "as": str,
    "as-uid": str,
    "as-groups": list,
    "as-user-extra": dict,
    "username": str,
    "password": str,
    "auth-provider": object,
    "exec": object,
}
CONTEXT_FIELDS: Mapping[str, type] = {"cluster": str, "user": str, "namespace": str}
_PARTS = (
    ("clusters", "cluster", CLUSTER_FIELDS),
    ("users", "user", USER_FIELDS),
    ("contexts", "context", CONTEXT_FIELDS),
)
_ALWAYS = {"clusters": ("server",), "users": (), "contexts": ("cluster", "user")}
"""Fields that are printed when they are empty, too: the others are "omitempty"."""

Entries = Mapping[str, Object]


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """What a kubeconfig file holds."""

    clusters: Entries
    users: Entries
    contexts: Entries
    current_context: str = ""

    def entries(self, part: str) -> Entries:
        """Return one of its maps: "clusters", "users" or "contexts"."""
        found: Entries = getattr(self, part)
        return found

    def with_entry(self, part: str, name: str, entry: Object | None) -> Kubeconfig:
        """Return the config with an entry in place of the one of its name, or without it."""
        entries = {key: value for key, value in self.entries(part).items() if key != name}
        if entry is not None:
            entries[name] = entry
        return self.with_entries(part, entries)

    def with_entries(self, part: str, entries: Entries) -> Kubeconfig:
        """Return the config with another one of its maps."""
        parts = {"clusters": self.clusters, "users": self.users, "contexts": self.contexts, part: entries}
        return Kubeconfig(**parts, current_context=self.current_context)

    def object(self) -> Object:
        """Return the file as an object, fields in the order of the Go type and entries by name."""
        shown: Object = {"kind": "Config", "apiVersion": "v1"}
        for part, singular, fields in _PARTS:
            entries = self.entries(part)
            shown[part] = [
                {"name": name, singular: _ordered(entries[name], fields, _ALWAYS[part])}
                for name in sorted(entries)
            ] or None
        shown["current-context"] = self.current_context
        return shown


def _ordered(entry: Object, fields: Mapping[str, type], always: tuple[str, ...]) -> Object:
    kept = {name: entry[name] for name in fields if entry.get(name)}
    return {name: kept.get(name, "") for name in fields if name in kept or name in always}


def pristine(ctx: Context) -> Kubeconfig:
    """Return the kubeconfig that a terminal starts with."""
    name = f"{ctx.user}@{ctx.cluster}"
    return Kubeconfig(
        clusters={ctx.cluster: {"server": ctx.server, "insecure-skip-tls-verify": True}},
        users={ctx.user: {"token": token_of(ctx)}},
        contexts={name: {"cluster": ctx.cluster, "user": ctx.user, "namespace": ctx.namespace}},
        current_context=name,
    )


def token_of(ctx: Context) -> str:
    """Return the bearer token of the terminal's user."""
    return f"tok-{ctx.user}"


def kubeconfig_of(ctx: Context) -> Kubeconfig:
    """Return the terminal's kubeconfig as it is now."""
    return ctx.kubeconfig or pristine(ctx)


def store(ctx: Context, config: Kubeconfig) -> None:
    """Make `config` the terminal's kubeconfig; the namespace of its current context is the current one."""
    ctx.kubeconfig = config
    ctx.namespace = namespace_of(config, config.current_context)


def namespace_of(config: Kubeconfig, context: str) -> str:
    """Return the namespace of a context, "default" if it has none."""
    return str((config.contexts.get(context) or {}).get("namespace") or "default")


def read(text: str) -> Kubeconfig:
    """Return the kubeconfig in a file's text; what is no map or list there counts as absent.

    Raises:
        YamlProblem: when the text is no YAML.
    """
    loaded: Any = read_yaml(text)
    found: dict[str, Any] = loaded if isinstance(loaded, dict) else {}
    parts: dict[str, Entries] = {}
    for part, singular, fields in _PARTS:
        rows = found.get(part)
        entries = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        parts[part] = {
            str(row.get("name", "")): {
                name: value for name, value in (row.get(singular) or {}).items() if name in fields
            }
            for row in entries
        }
    return Kubeconfig(**parts, current_context=str(found.get("current-context") or ""))

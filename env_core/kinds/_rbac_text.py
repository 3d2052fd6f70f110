"""The columns and describe texts of roles and bindings."""

from __future__ import annotations

from env_core.apiserver._authz_rules import listed, texts
from env_core.apiserver.kind import Column, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines
from env_core.objects import goformat
from env_core.world import Object


def _cell_created(obj: Object, _now_ms: int) -> str:
    return str(obj["metadata"].get("creationTimestamp") or "0001-01-01T00:00:00Z")


CREATED = Column("Created At", _cell_created, type="date")


def _cell_role(obj: Object, _now_ms: int) -> str:
    reference = obj.get("roleRef") or {}
    return f"{reference.get('kind', '')}/{reference.get('name', '')}"


def _names(obj: Object, kind: str) -> str:
    return ", ".join(each.get("name", "") for each in obj.get("subjects") or () if each.get("kind") == kind)


def _cell_users(obj: Object, _now_ms: int) -> str:
    return _names(obj, "User")


def _cell_groups(obj: Object, _now_ms: int) -> str:
    return _names(obj, "Group")


def _cell_service_accounts(obj: Object, _now_ms: int) -> str:
    accounts = [each for each in obj.get("subjects") or () if each.get("kind") == "ServiceAccount"]
    return ", ".join(f"{each.get('namespace', '')}/{each.get('name', '')}" for each in accounts)


ROLE_COLUMNS = (NAME, CREATED)
BINDING_COLUMNS = (
    NAME,
    Column("Role", _cell_role),
    AGE,
    Column("Users", _cell_users, priority=1),
    Column("Groups", _cell_groups, priority=1),
    Column("ServiceAccounts", _cell_service_accounts, priority=1),
)


def _heading(obj: Object) -> LineWriter:
    metadata = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    return writer


def describe_role(obj: Object, _reader: Reader, _show_events: bool) -> str:
    """Return the text of a role or cluster role: one line for each group, resource and name."""
    writer = _heading(obj)
    writer.line(0, "PolicyRule:")
    writer.line(1, "Resources\tNon-Resource URLs\tResource Names\tVerbs")
    writer.line(1, "---------\t-----------------\t--------------\t-----")
    for rule in listed(obj.get("rules") or ()):
        lists = [
            goformat.value_text(texts(rule, field)) for field in ("nonResourceURLs", "resourceNames", "verbs")
        ]
        writer.line(1, "\t".join((_qualified(rule), *lists)))
    return writer.text()


def _qualified(rule: Object) -> str:
    """Return "deployments.apps/scale" for the one resource of a broken-down rule."""
    resources, groups = texts(rule, "resources"), texts(rule, "apiGroups")
    if not resources:
        return ""
    resource, slash, subresource = resources[0].partition("/")
    group = f".{groups[0]}" if groups and groups[0] else ""
    return f"{resource}{group}{slash}{subresource}"


def describe_binding(obj: Object, _reader: Reader, _show_events: bool) -> str:
    """Return the text of a role binding or cluster role binding."""
    writer = _heading(obj)
    reference = obj.get("roleRef") or {}
    writer.line(0, "Role:")
    writer.line(1, f"Kind:\t{reference.get('kind', '')}")
    writer.line(1, f"Name:\t{reference.get('name', '')}")
    writer.line(0, "Subjects:")
    writer.line(1, "Kind\tName\tNamespace")
    writer.line(1, "----\t----\t---------")
    for subject in obj.get("subjects") or ():
        writer.line(1, "\t".join(subject.get(field, "") for field in ("kind", "name", "namespace")))
    return writer.text()

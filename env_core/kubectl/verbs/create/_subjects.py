"""Subjects of role bindings from --user, --group and --serviceaccount.

Source: k8s.io/kubectl pkg/cmd/create create_rolebinding.go; tests/golden/l0/kubectl_commands.
"""

from __future__ import annotations

from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag
from env_core.world import Object

RBAC = "rbac.authorization.k8s.io"
SUBJECT_FLAGS = (
    Flag("group", Array, words="Group to bind."),
    Flag("serviceaccount", Array, words="NAMESPACE:NAME to bind."),
    Flag("user", Array, words="User to bind."),
)


def subjects_of(args: Args) -> list[Object]:
    """Return the subjects that the flags name.

    Raises:
        Failure: for a service account that is not namespace:name.
    """
    subjects: list[Object] = [{"kind": "User", "apiGroup": RBAC, "name": user} for user in args.items("user")]
    subjects += [{"kind": "Group", "apiGroup": RBAC, "name": group} for group in args.items("group")]
    for account in args.items("serviceaccount"):
        parts = account.split(":")
        if len(parts) != 2 or not parts[0] or not parts[1]:
            raise Failure("serviceaccount must be <namespace>:<name>")
        subjects.append({"kind": "ServiceAccount", "namespace": parts[0], "name": parts[1]})
    return subjects


def binding(kind: str, metadata: Object, role_kind: str, role: str, subjects: list[Object]) -> Object:
    """Return a RoleBinding or ClusterRoleBinding."""
    obj: Object = {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": role},
    }
    if subjects:
        obj["subjects"] = subjects
    return obj

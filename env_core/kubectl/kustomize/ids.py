"""Names of resources as kustomize compares and prints them.

Source: sigs.k8s.io/kustomize/kyaml resid (gvk.go, resid.go), openapi (the kinds known to be cluster-wide).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NOT_A_NAMESPACE: Final = "_non_namespaceable_"
DEFAULT_NAMESPACE: Final = "default"
_CLUSTER_WIDE: Final = frozenset(
    f"{group}/{version}/{kind}" if group else f"{version}/{kind}"
    for group, versions, kinds in (
        ("admissionregistration.k8s.io", "v1 v1beta1", "MutatingWebhookConfiguration ValidatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"),
        ("apiextensions.k8s.io", "v1 v1beta1", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "v1 v1beta1", "APIService"),
        ("certificates.k8s.io", "v1 v1beta1", "CertificateSigningRequest"),
        ("flowcontrol.apiserver.k8s.io", "v1beta1", "FlowSchema PriorityLevelConfiguration"),
        ("networking.k8s.io", "v1 v1beta1", "IngressClass"),
        ("node.k8s.io", "v1 v1beta1", "RuntimeClass"),
        ("policy", "v1beta1", "PodSecurityPolicy"),
        ("rbac.authorization.k8s.io", "v1 v1beta1", "ClusterRole ClusterRoleBinding"),
        ("scheduling.k8s.io", "v1 v1beta1", "PriorityClass"),
        ("storage.k8s.io", "v1 v1beta1", "CSIDriver CSINode StorageClass VolumeAttachment"),
        ("", "v1", "ComponentStatus Namespace Node NodeProxyOptions PersistentVolume"),
    )
    for version in versions.split()
    for kind in kinds.split()
)  # fmt: skip
_FIRST: Final = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
]
_LAST: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def ranks(first: list[str], last: list[str]) -> dict[str, int]:
    """Return the ranks of kinds: those of `first` are below zero, those of `last` above it."""
    found = {kind: index - len(first) for index, kind in enumerate(first)}
    found.update({kind: index + 1 for index, kind in enumerate(last)})
    return found


RANKS: Final = ranks(_FIRST, list(_LAST))
"""The order of kinds in which a build prints them."""


@dataclass(frozen=True, slots=True)
class Gvk:
    """A group, version and kind; empty parts of a selector match everything."""

    group: str = ""
    version: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.kind or '[noKind]'}.{self.version or '[noVer]'}.{self.group or '[noGrp]'}"

    @property
    def api_version(self) -> str:
        """The group and version as objects have them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_cluster_wide(self) -> bool:
        """Whether the kind is known to have no namespace."""
        return f"{self.api_version}/{self.kind}" in _CLUSTER_WIDE

    @property
    def sort_text(self) -> str:
        """The text by which kinds of the same rank are ordered."""
        return f"{self.group or '~G'}_{self.version or '~V'}_{self.kind or '~K'}"

    @property
    def sort_key(self) -> tuple[int, str]:
        """The place among other kinds."""
        return RANKS.get(self.kind, 0), self.sort_text

    def is_selected(self, selector: Gvk) -> bool:
        """Whether every part that the selector has is the same."""
        return (
            selector.group in ("", self.group)
            and selector.version in ("", self.version)
            and selector.kind in ("", self.kind)
        )


def gvk_of(api_version: str, kind: str) -> Gvk:
    """Return the parts of an object's apiVersion and kind."""
    group, slash, version = api_version.partition("/")
    return Gvk(group, version, kind) if slash else Gvk("", api_version, kind)


@dataclass(frozen=True, slots=True)
class ResId:
    """A kind, a name, and the namespace as written."""

    gvk: Gvk
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.gvk}/{self.name or '[noName]'}.{self.namespace or '[noNs]'}"

    @property
    def go_text(self) -> str:
        """How Go's %#v prints it."""
        gvk = self.gvk
        return (
            f'resid.ResId{{Gvk:resid.Gvk{{Group:"{gvk.group}", Version:"{gvk.version}", Kind:"{gvk.kind}", '
            f"isClusterScoped:{str(gvk.is_cluster_wide).lower()}}}, "
            f'Name:"{self.name}", Namespace:"{self.namespace}"}}'
        )

    @property
    def effective_namespace(self) -> str:
        """The namespace that counts: none for cluster-wide kinds, default for an empty one."""
        return NOT_A_NAMESPACE if self.gvk.is_cluster_wide else self.namespace or DEFAULT_NAMESPACE

    def equals(self, other: ResId) -> bool:
        """Whether both mean the same object."""
        return (
            self.effective_namespace == other.effective_namespace
            and self.name == other.name
            and self.gvk == other.gvk
        )

    def is_selected_by(self, selector: ResId) -> bool:
        """Whether a selector's parts, those that it has, are the same."""
        return (
            selector.name in ("", self.name)
            and (not selector.namespace or selector.effective_namespace == self.effective_namespace)
            and self.gvk.is_selected(selector.gvk)
        )

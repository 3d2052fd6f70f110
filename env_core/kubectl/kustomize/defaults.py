"""Where labels, names and other things stand in the kinds that kustomize knows, as it has them built in.

Source: sigs.k8s.io/kustomize/api internal/konfig/builtinpluginconsts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from env_core.kubectl.kustomize.fieldspecs import FieldSpec, merge_specs
from env_core.kubectl.kustomize.ids import Gvk
from env_core.kubectl.kustomize.problem import KustomizeError

_POD: Final = "spec"
_TEMPLATE: Final = "spec/template/spec"
_CRON: Final = "spec/jobTemplate/spec/template/spec"
_TEMPLATES: Final = (
    ("Pod", _POD),
    ("PodTemplate", "template/spec"),
    ("Deployment", _TEMPLATE),
    ("ReplicaSet", _TEMPLATE),
    ("DaemonSet", _TEMPLATE),
    ("StatefulSet", _TEMPLATE),
    ("Job", _TEMPLATE),
    ("CronJob", _CRON),
)
_WORKLOADS: Final = (
    ("Pod", _POD),
    ("StatefulSet", _TEMPLATE),
    ("Deployment", _TEMPLATE),
    ("ReplicationController", _TEMPLATE),
    ("CronJob", _CRON),
    ("Job", _TEMPLATE),
    ("DaemonSet", _TEMPLATE),
)
_RBAC: Final = "rbac.authorization.k8s.io"
_NGINX: Final = "metadata/annotations/nginx.ingress.kubernetes.io\\/"

FIELDS: Final = {
    "namePrefix": "NamePrefix", "nameSuffix": "NameSuffix", "namespace": "NameSpace",
    "commonAnnotations": "CommonAnnotations", "commonLabels": "CommonLabels", "labels": "Labels",
    "templateLabels": "TemplateLabels",
    "varReference": "VarReference", "images": "Images", "replicas": "Replicas",
}  # fmt: skip
"""The lists of field specs that a configuration may have, and what errors call them."""


@dataclass(frozen=True, slots=True)
class BackReference:
    """A kind, and the fields of others that hold its name."""

    gvk: Gvk
    referrers: tuple[FieldSpec, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """Where transformers look."""

    specs: dict[str, list[FieldSpec]] = field(default_factory=dict)
    references: tuple[BackReference, ...] = ()

    def of(self, name: str) -> list[FieldSpec]:
        """Return the field specs of a list in `FIELDS`."""
        return self.specs.get(name, [])

    def merged(self, other: Config) -> Config:
        """Return this with what another one has more, in the order of kinds.

        Raises:
            KustomizeError: when both differ in what a field spec creates.
        """
        specs: dict[str, list[FieldSpec]] = {}
        for name, shown in FIELDS.items():
            try:
                found = merge_specs(self.of(name), other.of(name))
            except KustomizeError as error:
                raise error.within(f"failed to merge {shown} fieldSpec") from None
            specs[name] = sorted(found, key=lambda spec: spec.gvk.sort_key)
        references = list(self.references)
        for one in other.references:
            index = next((index for index, mine in enumerate(references) if mine.gvk == one.gvk), None)
            if index is None:
                references.append(one)
                continue
            try:
                joined = merge_specs(references[index].referrers, one.referrers)
            except KustomizeError as error:
                raise error.within("failed to merge NameReference fieldSpec") from None
            references[index] = replace(references[index], referrers=tuple(joined))
        references.sort(key=lambda one: one.gvk.sort_key)
        return Config(specs, tuple(references))


def _spec(
    path: str, kind: str = "", group: str = "", version: str = "", *, creates: bool = False
) -> FieldSpec:
    return FieldSpec(path, Gvk(group, version, kind), creates)


def _metadata(what: str) -> list[FieldSpec]:
    """Return where labels or annotations stand in objects and their templates."""
    template, cron = f"spec/template/metadata/{what}", "spec/jobTemplate"
    apps = "apps" if what == "labels" else ""
    return [
        _spec(f"metadata/{what}", creates=True),
        _spec(template, "ReplicationController", version="v1", creates=True),
        *(_spec(template, kind, creates=True) for kind in ("Deployment", "ReplicaSet", "DaemonSet")),
        _spec(template, "StatefulSet", apps, creates=True),
        _spec(template, "Job", "batch", creates=True),
        _spec(f"{cron}/metadata/{what}", "CronJob", "batch", creates=True),
        _spec(f"{cron}/spec/template/metadata/{what}", "CronJob", "batch", creates=True),
    ]


def _selectors() -> list[FieldSpec]:
    matching = "spec/selector/matchLabels"
    inner = "labelSelector/matchLabels"
    spreads = [
        f"{_TEMPLATE}/affinity/{one}/{path}"
        for one in ("podAffinity", "podAntiAffinity")
        for path in (
            f"preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/{inner}",
            f"requiredDuringSchedulingIgnoredDuringExecution/{inner}",
        )
    ] + [f"{_TEMPLATE}/topologySpreadConstraints/{inner}"]
    network = "networking.k8s.io"
    return [
        _spec("spec/selector", "Service", version="v1", creates=True),
        _spec("spec/selector", "ReplicationController", version="v1", creates=True),
        _spec(matching, "Deployment", creates=True),
        *(_spec(path, "Deployment", "apps") for path in spreads),
        _spec(matching, "ReplicaSet", creates=True),
        _spec(matching, "DaemonSet", creates=True),
        _spec(matching, "StatefulSet", "apps", creates=True),
        *(_spec(path, "StatefulSet", "apps") for path in spreads),
        _spec(matching, "Job", "batch"),
        _spec("spec/jobTemplate/spec/selector/matchLabels", "CronJob", "batch"),
        _spec(matching, "PodDisruptionBudget", "policy"),
        _spec("spec/podSelector/matchLabels", "NetworkPolicy", network),
        _spec("spec/ingress/from/podSelector/matchLabels", "NetworkPolicy", network),
        _spec("spec/egress/to/podSelector/matchLabels", "NetworkPolicy", network),
    ]


def _images() -> list[FieldSpec]:
    return [
        _spec(f"{spec}/{path}", creates=True)
        for spec in (_POD, _TEMPLATE)
        for path in ("containers[]/image", "initContainers[]/image", "volumes[]/image/reference")
    ]


def _in_templates(paths: Iterable[str]) -> list[FieldSpec]:
    found: list[FieldSpec] = []
    for kind, spec in _TEMPLATES:
        version = "v1" if kind == "Pod" else ""
        found.extend(_spec(f"{spec}/{path}", kind, version=version) for path in paths)
    return found


def _in_workloads(path: str) -> list[FieldSpec]:
    return [_spec(f"{spec}/{path}", kind) for kind, spec in _WORKLOADS]


_ROLES: Final = (_spec("rules/resourceNames", "Role"), _spec("rules/resourceNames", "ClusterRole"))


def _config_maps() -> list[FieldSpec]:
    return [
        *_in_templates(
            (
                "volumes/configMap/name",
                "containers/env/valueFrom/configMapKeyRef/name",
                "initContainers/env/valueFrom/configMapKeyRef/name",
                "containers/envFrom/configMapRef/name",
                "initContainers/envFrom/configMapRef/name",
                "volumes/projected/sources/configMap/name",
            )
        ),
        _spec("spec/configSource/configMap", "Node"),
        *_ROLES,
        _spec(f"{_NGINX}fastcgi-params-configmap", "Ingress"),
    ]


def _secrets() -> list[FieldSpec]:
    return [
        *_in_templates(
            (
                "volumes/secret/secretName",
                "containers/env/valueFrom/secretKeyRef/name",
                "initContainers/env/valueFrom/secretKeyRef/name",
                "containers/envFrom/secretRef/name",
                "initContainers/envFrom/secretRef/name",
                "imagePullSecrets/name",
                "volumes/projected/sources/secret/name",
            )
        ),
        _spec("spec/tls/secretName", "Ingress"),
        _spec("metadata/annotations/ingress.kubernetes.io\\/auth-secret", "Ingress"),
        _spec(f"{_NGINX}auth-secret", "Ingress"),
        _spec(f"{_NGINX}auth-tls-secret", "Ingress"),
        _spec("imagePullSecrets/name", "ServiceAccount"),
        *(
            _spec(f"parameters/{name}", "StorageClass")
            for name in ("secretName", "adminSecretName", "userSecretName", "secretRef")
        ),
        *_ROLES,
        _spec(
            f"{_TEMPLATE}/containers/env/valueFrom/secretKeyRef/name", "Service", "serving.knative.dev", "v1"
        ),
        _spec("spec/azureFile/secretName", "PersistentVolume"),
    ]


def _services() -> list[FieldSpec]:
    hooks = "admissionregistration.k8s.io"
    return [
        _spec("spec/serviceName", "StatefulSet", "apps"),
        _spec("spec/rules/http/paths/backend/serviceName", "Ingress"),
        _spec("spec/backend/serviceName", "Ingress"),
        _spec("spec/rules/http/paths/backend/service/name", "Ingress"),
        _spec("spec/defaultBackend/service/name", "Ingress"),
        _spec("spec/service/name", "APIService", "apiregistration.k8s.io"),
        _spec("webhooks/clientConfig/service", "ValidatingWebhookConfiguration", hooks),
        _spec("webhooks/clientConfig/service", "MutatingWebhookConfiguration", hooks),
    ]


def _references() -> list[BackReference]:
    scaled = (_spec("spec/scaleTargetRef/name", "HorizontalPodAutoscaler"),)
    storage = "spec/storageClassName"
    bindings = [_spec("roleRef/name", kind, _RBAC) for kind in ("RoleBinding", "ClusterRoleBinding")]
    subjects = [_spec("subjects", kind, _RBAC) for kind in ("RoleBinding", "ClusterRoleBinding")]
    rows: list[tuple[Gvk, Iterable[FieldSpec]]] = [
        *(
            (Gvk("", "", kind), scaled)
            for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
        ),
        (Gvk("", "v1", "ConfigMap"), _config_maps()),
        (Gvk("", "v1", "Secret"), _secrets()),
        (Gvk("", "v1", "Service"), _services()),
        (Gvk(_RBAC, "", "Role"), bindings[:1]),
        (Gvk(_RBAC, "", "ClusterRole"), bindings),
        (Gvk("", "v1", "ServiceAccount"), [*subjects, *_in_workloads("serviceAccountName")]),
        (Gvk("", "v1", "PersistentVolumeClaim"), _in_workloads("volumes/persistentVolumeClaim/claimName")),
        (
            Gvk("", "v1", "PersistentVolume"),
            [_spec("spec/volumeName", "PersistentVolumeClaim"), _spec("rules/resourceNames", "ClusterRole")],
        ),
        (
            Gvk("storage.k8s.io", "v1", "StorageClass"),
            [
                _spec(storage, "PersistentVolume"),
                _spec(storage, "PersistentVolumeClaim"),
                _spec(f"spec/volumeClaimTemplates/{storage}", "StatefulSet"),
            ],
        ),
        (Gvk("scheduling.k8s.io", "v1", "PriorityClass"), _in_workloads("priorityClassName")),
        (Gvk("networking.k8s.io/v1", "v1", "IngressClass"), [_spec("spec/ingressClassName", "Ingress")]),
        (
            Gvk("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicy"),
            [_spec("spec/policyName", "ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io")],
        ),
    ]
    return [BackReference(gvk, tuple(specs)) for gvk, specs in rows]


def _variables() -> list[FieldSpec]:
    found: list[FieldSpec] = []
    for kind, spec in (("CronJob", _CRON), *((kind, _TEMPLATE) for kind in (
        "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")), ("Pod", _POD)):  # fmt: skip
        for part in ("containers", "initContainers"):
            found.extend(
                _spec(f"{spec}/{part}/{path}", kind)
                for path in ("args", "command", "env/value", "volumeMounts/mountPath")
            )
        found.append(_spec(f"{spec}/volumes/nfs/server", kind))
    found.append(_spec("spec/template/metadata/annotations", "Deployment"))
    found.extend(
        _spec(path, "Ingress") for path in ("spec/rules/host", "spec/tls/hosts", "spec/tls/secretName")
    )
    found.extend(
        [_spec("spec/ports/port", "Service"), _spec("metadata/labels"), _spec("metadata/annotations")]
    )
    return found


@cache
def default_config() -> Config:
    """Return what every kustomization starts with."""
    claims = [_spec("spec/volumeClaimTemplates[]/metadata/labels", "StatefulSet", "apps", creates=True)]
    labels = _metadata("labels")
    replicas = ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
    specs = {
        "namePrefix": [_spec("metadata/name")],
        "nameSuffix": [_spec("metadata/name")],
        "namespace": [
            _spec("metadata/name", "Namespace", creates=True),
            _spec("spec/service/namespace", "APIService", "apiregistration.k8s.io", creates=True),
            _spec(
                "spec/conversion/webhook/clientConfig/service/namespace",
                "CustomResourceDefinition",
                "apiextensions.k8s.io",
            ),
        ],
        "commonLabels": [*_selectors(), *labels, *claims],
        "templateLabels": [*labels, *claims],
        "commonAnnotations": _metadata("annotations"),
        "images": _images(),
        "replicas": [_spec("spec/replicas", kind, creates=True) for kind in replicas],
        "varReference": _variables(),
    }
    return Config().merged(Config(specs, tuple(_references())))

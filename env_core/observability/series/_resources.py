"""What kube-state-metrics says of nodes, services, storage, quotas and configuration, and which resource has which rows.

Source: https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics (cluster, service, storage, policy)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from env_core.objects import quantity
from env_core.observability.series import _workloads as workloads
from env_core.observability.series._pods import condition_rows, label_name, pod_rows, seconds, unit_of
from env_core.observability.series._sampling import Row, RowsOf
from env_core.observability.series._workloads import named
from env_core.world import Object


def _created(obj: Object, name: str, own: dict[str, str]) -> Iterator[Row]:
    created = seconds(obj["metadata"].get("creationTimestamp"))
    if created is not None:
        yield Row(name, own, created)


def _node_rows(obj: Object) -> Iterator[Row]:
    own, spec, status = named(obj, "node"), obj["spec"], obj.get("status") or {}
    told = status.get("nodeInfo") or {}
    addresses = {each["type"]: each["address"] for each in status.get("addresses") or ()}
    info = {
        "kernel_version": told.get("kernelVersion", ""),
        "os_image": told.get("osImage", ""),
        "container_runtime_version": told.get("containerRuntimeVersion", ""),
        "kubelet_version": told.get("kubeletVersion", ""),
        "provider_id": spec.get("providerID", ""),
        "pod_cidr": spec.get("podCIDR", ""),
        "system_uuid": told.get("systemUUID", ""),
        "internal_ip": addresses.get("InternalIP", ""),
    }
    yield Row("kube_node_info", {**own, **info}, 1)
    yield from _created(obj, "kube_node_created", own)
    for name in obj["metadata"].get("labels") or {}:
        if name.startswith("node-role.kubernetes.io/"):
            yield Row("kube_node_role", {**own, "role": name.rpartition("/")[2]}, 1)
    yield Row("kube_node_spec_unschedulable", own, float(bool(spec.get("unschedulable"))))
    for taint in spec.get("taints") or ():
        labels = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
        yield Row("kube_node_spec_taint", {**own, **labels}, 1)
    for each in status.get("conditions") or ():
        labels = {**own, "condition": each["type"]}
        yield from condition_rows("kube_node_status_condition", labels, each["status"], "status")
    for field in ("capacity", "allocatable"):
        for resource, text in (status.get(field) or {}).items():
            labels = {**own, "resource": label_name(resource), "unit": unit_of(resource)}
            yield Row(f"kube_node_status_{field}", labels, quantity.to_milli(text) / 1000)


def _namespace_rows(obj: Object) -> Iterator[Row]:
    own = {"namespace": obj["metadata"]["name"]}
    yield from _created(obj, "kube_namespace_created", own)
    phase = (obj.get("status") or {}).get("phase", "")
    for each in ("Active", "Terminating"):
        yield Row("kube_namespace_status_phase", {**own, "phase": each}, float(each == phase))


def _service_rows(obj: Object) -> Iterator[Row]:
    own, spec = {**named(obj, "service"), "uid": obj["metadata"]["uid"]}, obj["spec"]
    info = {
        "cluster_ip": spec.get("clusterIP", ""),
        "external_name": spec.get("externalName", ""),
        "external_traffic_policy": spec.get("externalTrafficPolicy", ""),
        "load_balancer_ip": spec.get("loadBalancerIP", ""),
    }
    yield Row("kube_service_info", {**own, **info}, 1)
    yield from _created(obj, "kube_service_created", own)
    yield Row("kube_service_spec_type", {**own, "type": spec.get("type", "ClusterIP")}, 1)


def _slice_rows(obj: Object) -> Iterator[Row]:
    own = named(obj, "endpointslice")
    yield Row("kube_endpointslice_info", {**own, "addresstype": obj.get("addressType", "")}, 1)
    yield from _created(obj, "kube_endpointslice_created", own)
    for each in obj.get("endpoints") or ():
        told = each.get("conditions") or {}
        target = each.get("targetRef") or {}
        labels = {
            **{name: str(bool(told.get(name, name != "terminating"))).lower() for name in ("ready", "serving", "terminating")},
            "hostname": each.get("hostname", ""),
            "targetref_kind": target.get("kind", ""),
            "targetref_name": target.get("name", ""),
            "targetref_namespace": target.get("namespace", ""),
            "endpoint_nodename": each.get("nodeName", ""),
            "endpoint_zone": each.get("zone", ""),
        }  # fmt: skip
        for address in each.get("addresses") or ():
            yield Row("kube_endpointslice_endpoints", {**own, **labels, "address": address}, 1)
    for port in obj.get("ports") or ():
        labels = {
            "port_name": port.get("name", ""),
            "port_protocol": port.get("protocol", ""),
            "port_number": str(port.get("port", "")),
            "app_protocol": port.get("appProtocol", ""),
        }
        yield Row("kube_endpointslice_ports", {**own, **labels}, 1)


def _ingress_rows(obj: Object) -> Iterator[Row]:
    own, spec = named(obj, "ingress"), obj["spec"]
    yield Row("kube_ingress_info", {**own, "ingressclass": spec.get("ingressClassName", "_default")}, 1)
    yield from _created(obj, "kube_ingress_created", own)
    for rule in spec.get("rules") or ():
        for path in (rule.get("http") or {}).get("paths") or ():
            service = (path.get("backend") or {}).get("service") or {}
            port = service.get("port") or {}
            labels = {
                "host": rule.get("host", ""),
                "path": path.get("path", ""),
                "path_type": path.get("pathType", ""),
                "service_name": service.get("name", ""),
                "service_port": str(port.get("number") or port.get("name") or ""),
            }
            yield Row("kube_ingress_path", {**own, **labels}, 1)


def _claim_rows(obj: Object) -> Iterator[Row]:
    own, spec = named(obj, "persistentvolumeclaim"), obj["spec"]
    info = {
        "storageclass": spec.get("storageClassName", ""),
        "volumename": spec.get("volumeName", ""),
        "volumemode": spec.get("volumeMode", ""),
    }
    yield Row("kube_persistentvolumeclaim_info", {**own, **info}, 1)
    yield from _created(obj, "kube_persistentvolumeclaim_created", own)
    phase = (obj.get("status") or {}).get("phase", "")
    for each in ("Lost", "Bound", "Pending"):
        name = "kube_persistentvolumeclaim_status_phase"
        yield Row(name, {**own, "phase": each}, float(each == phase))
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is not None:
        name = "kube_persistentvolumeclaim_resource_requests_storage_bytes"
        yield Row(name, own, quantity.to_bytes(storage))


def _volume_rows(obj: Object) -> Iterator[Row]:
    own, spec = named(obj, "persistentvolume"), obj["spec"]
    yield Row("kube_persistentvolume_info", {**own, "storageclass": spec.get("storageClassName", "")}, 1)
    phase = (obj.get("status") or {}).get("phase", "")
    for each in ("Pending", "Available", "Bound", "Released", "Failed"):
        yield Row("kube_persistentvolume_status_phase", {**own, "phase": each}, float(each == phase))
    storage = (spec.get("capacity") or {}).get("storage")
    if storage is not None:
        yield Row("kube_persistentvolume_capacity_bytes", own, quantity.to_bytes(storage))


def _quota_rows(obj: Object) -> Iterator[Row]:
    own = named(obj, "resourcequota")
    yield from _created(obj, "kube_resourcequota_created", own)
    for type_ in ("hard", "used"):
        for resource, text in ((obj.get("status") or {}).get(type_) or {}).items():
            labels = {**own, "resource": resource, "type": type_}
            yield Row("kube_resourcequota", labels, quantity.to_milli(text) / 1000)


def _configmap_rows(obj: Object) -> Iterator[Row]:
    own = named(obj, "configmap")
    yield Row("kube_configmap_info", own, 1)
    yield from _created(obj, "kube_configmap_created", own)


def _secret_rows(obj: Object) -> Iterator[Row]:
    own = named(obj, "secret")
    yield Row("kube_secret_info", own, 1)
    yield Row("kube_secret_type", {**own, "type": obj.get("type", "")}, 1)
    yield from _created(obj, "kube_secret_created", own)


ROWS: Final[Mapping[str, tuple[str, RowsOf]]] = {
    "pods": ("kube_pod_", pod_rows),
    "deployments.apps": ("kube_deployment_", workloads.deployment_rows),
    "replicasets.apps": ("kube_replicaset_", workloads.replicaset_rows),
    "statefulsets.apps": ("kube_statefulset_", workloads.statefulset_rows),
    "daemonsets.apps": ("kube_daemonset_", workloads.daemonset_rows),
    "jobs.batch": ("kube_job_", workloads.job_rows),
    "cronjobs.batch": ("kube_cronjob_", workloads.cronjob_rows),
    "horizontalpodautoscalers.autoscaling": ("kube_horizontalpodautoscaler_", workloads.autoscaler_rows),
    "poddisruptionbudgets.policy": ("kube_poddisruptionbudget_", workloads.budget_rows),
    "nodes": ("kube_node_", _node_rows),
    "namespaces": ("kube_namespace_", _namespace_rows),
    "services": ("kube_service_", _service_rows),
    "endpointslices.discovery.k8s.io": ("kube_endpointslice_", _slice_rows),
    "ingresses.networking.k8s.io": ("kube_ingress_", _ingress_rows),
    "persistentvolumeclaims": ("kube_persistentvolumeclaim_", _claim_rows),
    "persistentvolumes": ("kube_persistentvolume_", _volume_rows),
    "resourcequotas": ("kube_resourcequota", _quota_rows),
    "configmaps": ("kube_configmap_", _configmap_rows),
    "secrets": ("kube_secret_", _secret_rows),
}
"""By resource: how the names of its metrics begin, and its rows."""

"""Every application, in every variant, is well: served, declared as it is, and the same whenever it is built."""

import base64

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.cluster import registry
from env_core.controllers.configsync import SUSPEND
from env_core.node.images import Images, parse_reference
from env_core.objects.conditions import is_pod_ready
from env_core.programs import Request
from env_core.scenarios.apps import all_apps, base

VARIANTS = [(app.id, number) for app in all_apps().values() for number in range(app.variants)]
every_variant = pytest.mark.parametrize(("app", "number"), VARIANTS)
first_variants = pytest.mark.parametrize("app", list(all_apps()))
STRICT_DRY_RUN = Options(field_validation="Strict", dry_run=True)


def pods_of(world, workload):
    return [
        pod
        for pod in world.cluster.store.list("pods", workload.namespace)
        if workload.labels.items() <= (pod["metadata"].get("labels") or {}).items()
        and pod["status"].get("phase") == "Running"
    ]


def asked(cluster, entry):
    request = Request(
        method=entry.method, path=entry.path, host=entry.host, body=entry.body, timeout_ms=5_000
    )
    return cluster.network.request_ingress(request)


@every_variant
def test_every_way_in_is_served_again_and_again(app, number):
    world = base(app, number)
    cluster = world.cluster.fork()
    assert world.entries
    for _ in range(5):
        for entry in world.entries:
            reply = asked(cluster, entry)
            assert (reply.failure, reply.status) == ("", entry.status), (entry.name, reply.body)
            assert entry.contains in reply.body
            assert reply.latency_ms <= entry.latency_ms_max
        cluster.advance(20_000)


@every_variant
def test_nothing_is_broken_before_anybody_breaks_it(app, number):
    world = base(app, number)
    store = world.cluster.store
    for namespace in world.namespaces:
        pods = store.list("pods", namespace)
        assert [
            pod["metadata"]["name"]
            for pod in pods
            if not is_pod_ready(pod) and pod["status"]["phase"] != "Succeeded"
        ] == []
        assert all(
            claim["status"]["phase"] == "Bound" for claim in store.list("persistentvolumeclaims", namespace)
        )
        for job in store.list("jobs.batch", namespace):
            assert not job["status"].get("failed")
        for scaler in store.list("horizontalpodautoscalers.autoscaling", namespace):
            found = {each["type"]: each["status"] for each in scaler["status"]["conditions"]}
            assert found["AbleToScale"] == found["ScalingActive"] == "True"


@every_variant
def test_an_hour_changes_nothing_for_the_worse(app, number):
    world = base(app, number)
    cluster = world.cluster.fork()
    before = {
        pod["metadata"]["uid"]: pod
        for pod in cluster.store.list("pods")
        if pod["status"]["phase"] == "Running"
    }
    cluster.advance(3_600_000)
    after = {pod["metadata"]["uid"]: pod for pod in cluster.store.list("pods")}
    for uid, pod in before.items():
        statuses = zip(
            pod["status"]["containerStatuses"], after[uid]["status"]["containerStatuses"], strict=True
        )
        assert all(old["restartCount"] == new["restartCount"] for old, new in statuses), pod["metadata"][
            "name"
        ]
    assert all(asked(cluster, entry).status == entry.status for entry in world.entries)


@every_variant
def test_workloads_are_what_is_declared(app, number):
    world = base(app, number)
    store = world.cluster.store
    for role, workload in world.workloads.items():
        assert role == workload.role
        found = store.get(workload.resource, workload.namespace, workload.name)
        assert found is not None, role
        spec = found["spec"]
        template = (
            spec["jobTemplate"]["spec"]["template"]
            if workload.resource == "cronjobs.batch"
            else spec["template"]
        )
        container = next(
            each for each in template["spec"]["containers"] if each["name"] == workload.container
        )
        assert container["image"] == workload.image
        assert workload.labels.items() <= template["metadata"]["labels"].items()
        if workload.resource in ("deployments.apps", "statefulsets.apps"):
            assert spec["replicas"] == workload.replicas
            assert spec["selector"]["matchLabels"] == dict(workload.labels)
            assert len(pods_of(world, workload)) == workload.replicas
        limit = (container.get("resources") or {}).get("limits", {})
        assert "memory" in limit
        for claim in workload.claims:
            assert store.get("persistentvolumeclaims", workload.namespace, claim) is not None


@every_variant
def test_services_lead_to_ports_that_answer(app, number):
    world = base(app, number)
    for workload in world.workloads.values():
        if not workload.service:
            continue
        service = world.cluster.store.get("services", workload.namespace, workload.service)
        assert workload.service_port in [port["port"] for port in service["spec"]["ports"]]
        for pod in pods_of(world, workload):
            assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
            run = world.cluster.runtime.run(pod["metadata"]["uid"], workload.container)
            assert run.listens_on(workload.container_port, world.cluster.now_ms)
            for path in filter(None, (workload.health_path, workload.ready_path)):
                request = Request(path=path, host="probe", timeout_ms=1_000)
                reply = world.cluster.fork().network.request_pod(
                    pod["status"]["podIP"], workload.container_port, request, "10.0.0.1"
                )
                assert reply.status == 200, (workload.role, path, reply)


@every_variant
def test_needs_are_what_processes_have(app, number):
    world = base(app, number)
    for workload in world.workloads.values():
        for need in workload.needs:
            if need.source:
                found = world.cluster.store.get(need.source, workload.namespace, need.name)
                assert found is not None, (workload.role, need)
                value = found["data"][need.key]
                assert (base64.b64decode(value).decode() if need.source == "secrets" else value) == need.value
            for pod in pods_of(world, workload):
                env = world.cluster.runtime.run(pod["metadata"]["uid"], workload.container).container.env
                assert env[need.variable] == need.value, (workload.role, need)
            assert not need.target or need.target in world.workloads


@every_variant
def test_every_image_and_every_named_release_is_in_a_registry(app, number):
    world = base(app, number)
    images = [each["image"] for pod in world.cluster.store.list("pods") for each in pod["spec"]["containers"]]
    for workload in world.workloads.values():
        repository = workload.image.rpartition(":")[0]
        images.append(workload.image)
        for tags in (
            workload.earlier_tags,
            workload.later_tags,
            workload.leaking_tags,
            workload.failing_tags,
            workload.slow_tags,
        ):
            images += [f"{repository}:{tag}" for tag in tags]
    missing = [image for image in sorted(set(images)) if Images().find(parse_reference(image)) is None]
    assert missing == []


@every_variant
def test_the_api_takes_every_object_back_as_it_is(app, number):
    world = base(app, number)
    cluster = world.cluster.fork()
    client = cluster.client()
    for kind in registry().all():
        if not kind.is_namespaced or kind.resource in ("events", "pods", "events.events.k8s.io"):
            continue
        for namespace in world.namespaces:
            for each in cluster.store.list(kind.resource, namespace):
                try:
                    client.update(kind.resource, namespace, each, options=STRICT_DRY_RUN)
                except StatusError as error:
                    pytest.fail(f"{kind.resource} {each['metadata']['name']}: {error}")


@first_variants
def test_building_twice_gives_the_same_world(app):
    number = all_apps()[app].variants - 1
    again = all_apps()[app].build(number)
    assert again.cluster.digest() == base(app, number).cluster.digest()
    assert again.workloads == base(app, number).workloads


@first_variants
def test_variants_differ_in_namespaces_or_names(app):
    names = {
        (base(app, number).namespaces, *(each.name for each in base(app, number).workloads.values()))
        for number in range(all_apps()[app].variants)
    }
    assert len(names) == all_apps()[app].variants


@every_variant
def test_each_workload_of_a_way_in_is_load_bearing(app, number):
    world = base(app, number)
    for role in sorted({role for entry in world.entries for role in entry.through}):
        workload = {**world.managed, **world.workloads}[role]
        cluster = world.cluster.fork()
        if workload.source:
            # Else it would be brought back while nobody asks.
            space, name = workload.source.split("/")
            cluster.client().patch(
                "configmaps", space, name, {"metadata": {"annotations": {SUSPEND: "true"}}}
            )
        plural = workload.resource.partition(".")[0]
        cluster.client().patch(plural, workload.namespace, workload.name, {"spec": {"replicas": 0}})
        cluster.advance(90_000)
        for entry in world.entries_through(role):
            reply = asked(cluster, entry)
            is_served = reply.status == entry.status and entry.contains in reply.body
            assert not is_served, f"{entry.name} is served without {role}"

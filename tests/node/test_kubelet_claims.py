"""What the kubelets promise beyond the recorded time lines."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ExecOptions
from env_core.apiserver.store import dump
from env_core.node.environment import expand
from env_core.node.images import Images, parse_reference
from tests.node.world import World

IMAGE = "registry.example.com/present/app:1.0"


def pod_of(name: str = "web", **spec: Any) -> Any:
    container = {"name": "app", "image": IMAGE, **spec.pop("container", {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def world_of(script: Any = None, **options: Any) -> World:
    world = World(script, **options)
    world.kubelets.join("node-1", cpu="8", memory="32Gi")
    return world


def run_of(world: World, name: str = "web", container: str = "app") -> Any:
    run = world.runtime.run(world.pod(name)["metadata"]["uid"], container)
    assert run is not None
    return run


def state_of(world: World, name: str = "web") -> Any:
    return world.pod(name)["status"]["containerStatuses"][0]["state"]


def test_a_pod_start_needs_three_status_writes():
    world = world_of()
    world.watch()
    world.add_pod(pod_of())
    world.run_for(5_000)
    writes = [change for _, change in world.changes if change.ref.resource == "pods"]
    assert len(writes) == 2 + 3  # created, bound; then waiting, sandbox ready, running
    assert world.pod("web")["status"]["phase"] == "Running"


def test_steady_pods_cost_nothing():
    script = {"containers": {"app": {"tcp": [8080], "runs": [{"log": ["up"]}]}}}
    world = world_of(script)
    probe = {"tcpSocket": {"port": 8080}, "periodSeconds": 2}
    for index in range(20):
        container = {"readinessProbe": probe, "livenessProbe": probe}
        world.add_pod(pod_of(f"web-{index}", container=container))
    world.run_for(30_000)
    handled = world.loop.handled
    world.run_for(3_600_000)
    assert world.loop.handled == handled


def test_a_fork_goes_on_alone_and_the_same_way():
    script = {"containers": {"app": {"runs": [{"exitMs": 1000, "code": 1}]}}}
    world = world_of(script)
    world.add_pod(pod_of())
    world.run_for(20_000)
    fork = world.fork()
    before = dump(world.store)
    fork.run_for(120_000)
    assert dump(world.store) == before
    world.run_for(120_000)
    assert dump(world.store) == dump(fork.store)


def test_a_node_registers_with_lease_and_addresses():
    world = world_of()
    world.kubelets.join("node-2", cpu="4", memory="16Gi", labels={"zone": "b"})
    node = world.admin.get("nodes", "", "node-2")
    assert node["status"]["addresses"][0] == {"type": "InternalIP", "address": "10.0.0.12"}
    assert node["spec"]["podCIDR"] == "10.244.1.0/24"
    assert node["metadata"]["labels"]["zone"] == "b"
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.37.2"
    lease = world.admin.get("leases.coordination.k8s.io", "kube-node-lease", "node-2")
    assert lease["spec"]["holderIdentity"] == "node-2"


def test_heartbeats_and_leases_are_those_of_the_moment_of_reading():
    world = world_of()
    world.run_for(601_000)
    revision = world.store.revision
    lease = world.admin.get("leases.coordination.k8s.io", "kube-node-lease", "node-1")
    assert lease["spec"]["renewTime"] == "2026-01-05T09:10:00.400000Z"
    ready = world.admin.get("nodes", "", "node-1")["status"]["conditions"][-1]
    assert ready["lastHeartbeatTime"] == "2026-01-05T09:10:00Z"
    assert ready["lastTransitionTime"] == "2026-01-05T09:00:00Z"
    assert world.store.revision == revision


def test_a_dead_node_renews_no_lease_and_its_pods_answer_no_more():
    world = world_of()
    world.add_pod(pod_of())
    world.run_for(5_000)
    address = world.pod("web")["status"]["podIP"]
    assert world.runtime.pod_at(address) is not None
    world.kubelets.stop_node("node-1")
    world.run_for(100_000)
    lease = world.admin.get("leases.coordination.k8s.io", "kube-node-lease", "node-1")
    assert lease["spec"]["renewTime"] == "2026-01-05T09:00:00.400000Z"
    assert world.runtime.pod_at(address) is None
    assert world.pod("web")["status"]["phase"] == "Running"
    with pytest.raises(StatusError, match="no route to host"):
        world.logs(world.pod("web"))


def test_a_node_that_comes_back_starts_its_pods_again():
    world = world_of()
    world.add_pod(pod_of())
    world.run_for(5_000)
    world.kubelets.stop_node("node-1")
    world.run_for(60_000)
    world.kubelets.start_node("node-1")
    world.run_for(10_000)
    row = world.pod("web")["status"]["containerStatuses"][0]
    assert "running" in row["state"]
    assert row["restartCount"] == 1
    assert row["lastState"]["terminated"]["exitCode"] == 137
    reasons = [event["reason"] for event in world.store.list("events", "default")]
    assert "SandboxChanged" in reasons


def test_changed_configuration_reaches_volumes_late_and_the_environment_never():
    world = world_of()
    world.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg"}, "data": {"k": "old"}})
    container = {
        "env": [{"name": "K", "valueFrom": {"configMapKeyRef": {"name": "cfg", "key": "k"}}}],
        "volumeMounts": [
            {"name": "v", "mountPath": "/etc/cfg"},
            {"name": "v", "mountPath": "/etc/k.conf", "subPath": "k"},
        ],
    }
    world.add_pod(pod_of(container=container, volumes=[{"name": "v", "configMap": {"name": "cfg"}}]))
    world.run_for(5_000)
    world.admin.patch("configmaps", "default", "cfg", {"data": {"k": "new"}})
    world.run_for(80_000)
    subject = run_of(world).container
    assert subject.files["/etc/cfg/k"] == "new"
    assert subject.files["/etc/k.conf"] == "old"
    assert subject.env["K"] == "old"


def test_the_environment_has_services_fields_and_secrets():
    world = world_of()
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "aHVudGVy"}})
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "my-db"},
        "spec": {"ports": [{"name": "pg", "port": 5432, "protocol": "TCP"}], "clusterIP": "10.96.3.4"},
    }
    world.store.put("services", {**service, "metadata": {"name": "my-db", "namespace": "default"}})
    env = [
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "p"}}},
        {"name": "URL", "value": "db://$(PASSWORD)@$(MY_DB_SERVICE_HOST)/$$(X)$(NOPE)"},
    ]
    world.add_pod(pod_of(container={"env": env, "args": ["--url=$(URL)"]}))
    world.run_for(5_000)
    subject = run_of(world).container
    assert subject.env["NODE"] == "node-1"
    assert subject.env["CPU"] == "8"
    assert subject.env["URL"] == "db://hunter@10.96.3.4/$(X)$(NOPE)"
    assert subject.env["MY_DB_SERVICE_PORT_PG"] == "5432"
    assert subject.env["MY_DB_PORT_5432_TCP_ADDR"] == "10.96.3.4"
    assert subject.env["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"
    assert subject.env["HOSTNAME"] == "web"
    assert subject.argv[-1] == f"--url={subject.env['URL']}"


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)-$(B)", "1-$(B)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A", "$A"),
        ("$(A", "$(A"),
    ],
)
def test_references_to_variables_are_expanded_like_upstream(text, expanded):
    assert expand(text, {"A": "1"}) == expanded


def test_logs_follow_tail_since_timestamps_and_limit():
    script = {"containers": {"app": {"runs": [{"log": ["one", "!two", "three"]}]}}}
    world = world_of(script)
    pod = world.add_pod(pod_of())
    world.run_for(5_000)
    assert world.logs(pod) == "one\ntwo\nthree\n"
    assert world.logs(pod, tail_lines=1) == "three\n"
    assert world.logs(pod, limit_bytes=5) == "one\nt"
    assert world.logs(pod, since_seconds=1) == ""
    assert world.logs(pod, timestamps=True).startswith("2026-01-05T09:00:00.711000000Z one\n")


def test_the_log_before_last_is_gone_once_the_second_run_has_ended():
    script = {"containers": {"app": {"runs": [{"exitMs": 1500, "code": 1, "log": ["boom"]}]}}}
    world = world_of(script)
    pod = world.add_pod(pod_of())
    world.run_for(1_000)
    with pytest.raises(StatusError, match='previous terminated container "app" in pod "web" not found'):
        world.logs(pod, previous=True)
    assert world.loop.now_ms
    while world.pod("web")["status"]["containerStatuses"][0]["restartCount"] < 1:
        world.run_for(100)
    assert world.logs(pod, previous=True) == "boom\n"
    world.run_for(4_000)
    assert world.logs(pod, previous=True).startswith("unable to retrieve container logs for containerd://")
    assert world.logs(pod) == "boom\n"


def test_logs_of_a_container_that_waits_are_refused_with_the_reason():
    world = world_of()
    pod = world.add_pod(pod_of(container={"image": "registry.example.com/err/notfound:1"}))
    world.run_for(5_000)
    with pytest.raises(
        StatusError, match=r"waiting to start: (image can't be pulled|trying and failing to pull image)"
    ):
        world.logs(pod)


def test_exec_needs_a_running_container():
    script = {
        "containers": {
            "app": {"runs": [{"exitMs": 1000, "code": 1}], "exec": [{"match": "ls", "out": "a\n"}]}
        }
    }
    world = world_of(script)
    pod = world.add_pod(pod_of())
    world.run_for(1_000)
    output = world.admin.exec("default", "web", ExecOptions(command=("ls",)))
    assert output.stdout == "a\n"
    world.run_for(9_000)
    with pytest.raises(StatusError, match=r'container not found \("app"\)'):
        world.admin.exec("default", "web", ExecOptions(command=("ls",)))
    assert pod["metadata"]["name"] == "web"


def test_a_run_that_is_ended_from_outside_is_seen_within_a_second():
    world = world_of()
    pod = world.add_pod(pod_of())
    world.run_for(5_000)
    world.end(pod, "app", 137, "OOMKilled")
    world.run_for(1_100)
    row = world.pod("web")["status"]["containerStatuses"][0]
    assert row["restartCount"] == 1
    assert row["lastState"]["terminated"]["reason"] == "OOMKilled"


def test_images_come_from_the_declared_programs():
    world = world_of(images=Images())
    world.add_pod(pod_of("good", container={"image": "nginx:1.27"}))
    world.add_pod(pod_of("tag", container={"image": "nginx:no-such-tag"}))
    world.add_pod(pod_of("unknown", container={"image": "no-such-image-anywhere:1"}))
    world.run_for(8_000)
    row = world.pod("good")["status"]["containerStatuses"][0]
    assert "running" in row["state"]
    assert row["image"] == "docker.io/library/nginx:1.27"
    assert row["imageID"].startswith("docker.io/library/nginx@sha256:")
    name = "docker.io/library/nginx:no-such-tag"
    waiting = state_of(world, "tag")["waiting"]
    assert waiting["message"].endswith(f'failed to resolve reference "{name}": {name}: not found')
    assert "pull access denied" in state_of(world, "unknown")["waiting"]["message"]


def test_a_command_that_is_not_in_the_image_is_a_start_error():
    world = world_of(images=Images())
    world.add_pod(pod_of(container={"image": "nginx:1.27", "command": ["foo"]}, restartPolicy="Never"))
    world.run_for(10_000)
    ended = state_of(world)["terminated"]
    assert ended["reason"] == "StartError"
    assert ended["exitCode"] == 128
    assert ended["startedAt"] == "1970-01-01T00:00:00Z"
    assert ended["message"].endswith('exec: "foo": executable file not found in $PATH')


def test_a_pulled_image_is_present_for_the_next_pod_of_the_node():
    world = world_of(images=Images())
    world.add_pod(pod_of("one", container={"image": "nginx:1.27"}))
    world.run_for(8_000)
    world.add_pod(pod_of("two", container={"image": "docker.io/library/nginx:1.27"}))
    world.run_for(8_000)
    messages = [event["message"] for event in world.store.list("events", "default")]
    assert any(message.startswith("Successfully pulled image") for message in messages)
    assert any("already present on machine" in message for message in messages)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("bitnami/redis:7", "docker.io/bitnami/redis:7"),
        ("docker.io/library/nginx:1.27", "docker.io/library/nginx:1.27"),
        ("ghcr.io/acme/shop:2.0", "ghcr.io/acme/shop:2.0"),
        ("localhost:5000/x", "localhost:5000/x:latest"),
    ],
)
def test_references_have_one_canonical_form(text, name):
    reference = parse_reference(text)
    assert reference is not None
    assert reference.name == name


def test_a_full_node_refuses_pods_bound_to_it():
    world = world_of()
    request = {"resources": {"requests": {"cpu": "5"}}}
    world.add_pod(pod_of("one", container=request))
    world.run_for(3_000)
    world.add_pod(pod_of("two", container=request))
    world.run_for(3_000)
    status = world.pod("two")["status"]
    assert status["reason"] == "OutOfcpu"
    assert status["message"].endswith("cpu, requested: 5000, used: 5000, capacity: 8000")
    world.admin.delete("pods", "default", "one")
    world.run_for(40_000)
    world.add_pod(pod_of("three", container=request))
    world.run_for(3_000)
    assert world.pod("three")["status"]["phase"] == "Running"


def test_a_deleted_pod_leaves_nothing_behind():
    world = world_of()
    world.add_pod(pod_of())
    world.run_for(3_000)
    address = world.pod("web")["status"]["podIP"]
    uid = world.pod("web")["metadata"]["uid"]
    world.admin.delete("pods", "default", "web")
    world.run_for(10_000)
    assert world.store.get("pods", "default", "web") is None
    assert world.runtime.pod_at(address) is None
    assert world.runtime.run(uid, "app") is None
    assert len(world.state.table("kubelet/pods")) == 0
    assert len(world.state.table("kubelet/probes")) == 0
    assert world.loop.next_ms() is None


def test_a_leading_sleep_of_a_hook_takes_its_time_without_being_run():
    world = world_of({"containers": {"app": {"term": {"ms": 100}}}})
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "sleep 5; nginx -s quit"]}}}
    world.add_pod(pod_of(container={"lifecycle": hook}))
    world.run_for(3_000)
    world.admin.delete("pods", "default", "web")
    world.run_for(5_000)
    assert world.store.get("pods", "default", "web") is not None
    world.run_for(2_000)
    assert world.store.get("pods", "default", "web") is None


def test_probes_of_a_steady_program_are_asked_once():
    script = {"containers": {"app": {"http": {"8080": [{"status": 200}]}}}}
    world = world_of(script)
    world.images._program = dataclasses.replace(world.program, is_steady=lambda _container, _request: True)
    world.images._catalogue = dataclasses.replace(
        world.images.catalogue, programs={"scripted": world.images._program}
    )
    probe = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
    world.add_pod(pod_of(container={"readinessProbe": probe}))
    world.run_for(3_000)
    assert world.pod("web")["status"]["containerStatuses"][0]["ready"]
    assert world.loop.next_ms() is None

from __future__ import annotations

import pytest

from env_core.apiserver.request import ExecOptions
from env_core.shell.clients import outside_programs
from env_core.shell.context import Process
from env_core.shell.inside import run_inside
from tests.dataplane.world import World, tron_world


@pytest.fixture
def world() -> World:
    return tron_world()


def run(world: World, pod: str, container: str, *command: str, namespace: str = "tron", stdin: str = ""):
    return run_inside(
        world.runtime.run(f"uid-{namespace}-{pod}", container),
        ExecOptions(command=command, container=container, stdin=stdin),
        network=world.network,
        runtime=world.runtime,
        loop=world.loop,
        advance=lambda duration_ms: world.loop.run_until(world.loop.now_ms + duration_ms),
    )


@pytest.mark.parametrize(
    ("container", "command", "wanted"),
    [
        ("redis-bridge", ("printenv", "REDIS_HOST"), "redis\n"),
        ("nginx", ("sh", "-c", "cat /etc/nginx/conf.d/default.conf | grep -c listen"), "1\n"),
        (
            "nginx",
            ("cat", "/etc/resolv.conf"),
            "search tron.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
        ),
        ("nginx", ("curl", "-s", "localhost:8080/health"), "ok\n"),
        ("nginx", ("wget", "-qO-", "http://127.0.0.1:9000/data"), '{"status": "ok", "value": "$-1\\r\\n"}'),
        ("nginx", ("hostname",), "nginx\n"),
        ("redis-bridge", ("sh", "-c", "echo $REDIS_PORT"), "6379\n"),
        ("redis-bridge", ("cat", "/sys/fs/cgroup/cpu.max"), "25000 100000\n"),
    ],
)
def test_commands_see_the_containers_world(
    world: World, container: str, command: tuple[str, ...], wanted: str
) -> None:
    output = run(world, "nginx", container, *command)
    assert (output.stdout, output.stderr, output.exit_code) == (wanted, "", 0)


@pytest.mark.parametrize(
    ("pod", "container", "namespace", "command", "problem"),
    [
        ("nginx", "nginx", "tron", "foo", 'exec: "foo": executable file not found in $PATH'),
        (
            "nginx",
            "nginx",
            "tron",
            "/usr/bin/foo",
            'exec: "/usr/bin/foo": stat /usr/bin/foo: no such file or directory',
        ),
        ("nginx", "nginx", "tron", "bash", 'exec: "bash": executable file not found in $PATH'),
        ("nginx", "nginx", "tron", "/etc", 'exec: "/etc": permission denied'),
        ("coredns", "coredns", "kube-system", "sh", 'exec: "sh": executable file not found in $PATH'),
    ],
)
def test_what_the_image_lacks_is_the_runtimes_error(
    world: World, pod: str, container: str, namespace: str, command: str, problem: str
) -> None:
    output = run(world, pod, container, command, namespace=namespace)
    assert (
        output.stderr
        == f"OCI runtime exec failed: exec failed: unable to start container process: {problem}: unknown\n"
    )
    assert output.exit_code == 126


def test_files_that_a_command_writes_stay_for_the_run(world: World) -> None:
    run(world, "redis", "redis", "sh", "-c", "echo hi > /tmp/x")
    assert run(world, "redis", "redis", "cat", "/tmp/x").stdout == "hi\n"
    run(world, "redis", "redis", "rm", "/tmp/x")
    assert run(world, "redis", "redis", "cat", "/tmp/x").exit_code == 1
    assert run(world, "nginx", "nginx", "cat", "/tmp/x").exit_code == 1


def test_redis_cli_speaks_to_the_server_beside_it(world: World) -> None:
    assert run(world, "redis", "redis", "redis-cli", "ping").stdout == "PONG\n"
    run(world, "redis", "redis", "redis-cli", "set", "tron:data", "hi")
    assert (
        run(world, "nginx", "nginx", "curl", "-s", "http://localhost:8080/data").stdout
        == '{"status": "ok", "value": "$2\\r\\nhi\\r\\n"}'
    )


def test_a_denied_connection_takes_its_time(world: World) -> None:
    policy = {
        "metadata": {"namespace": "tron", "name": "deny"},
        "spec": {"podSelector": {"matchLabels": {"app": "nginx"}}, "policyTypes": ["Egress"]},
    }
    world.put("networkpolicies.networking.k8s.io", policy)
    before = world.loop.now_ms
    output = run(world, "nginx", "redis-bridge", "nc", "-zv", "-w", "2", "redis", "6379")
    assert output.stderr == "nc: bad address 'redis'\n"
    assert world.loop.now_ms - before == 5_000


def test_python_tells_the_errors_of_connections(world: World) -> None:
    script = "import socket, os; socket.create_connection((os.environ['REDIS_HOST'], 6380), 2)"
    output = run(world, "nginx", "redis-bridge", "python", "-c", script)
    assert output.exit_code == 1


def test_the_outside_has_curl(world: World) -> None:
    curl = outside_programs(world.network)["curl"]
    process = Process(now_ms=lambda: world.loop.now_ms)
    output = curl(
        process, ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "http://tron.localhost/health"]
    )
    assert output.stdout == "200"

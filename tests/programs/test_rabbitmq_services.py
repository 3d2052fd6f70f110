"""Our own services with a queue of RabbitMQ between them."""

import pytest

from env_core.programs import Request
from tests.programs.brokers import CONTAINER, Broker, release_of
from tests.programs.clusters import NAMESPACE


@pytest.fixture(scope="module")
def lab():
    return Broker()


@pytest.fixture
def node(lab):
    fork = object.__new__(Broker)
    fork.cluster = lab.cluster.fork()
    fork.client = fork.cluster.client()
    return fork


def service(name, tag, port, **env):
    known = {
        "MQ_HOST": "queue",
        "MQ_USER": "app",
        "MQ_PASSWORD": "s3cret",
        "READINESS_DEPENDENCIES": "true",
        **env,
    }
    container = {
        "name": name, "image": f"registry.example.com/fulfilment/{name}:{tag}", "ports": [{"containerPort": port}],
        "env": [{"name": each, "value": value} for each, value in known.items()],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": port}, "periodSeconds": 5},
    }  # fmt: skip
    return {"containers": [container]}


def test_services_put_orders_into_a_queue_and_take_them_from_it(node):
    node.service("intake", 8080)
    node.service("booking", 8000)
    node.workload("Deployment", "intake", service("intake", release_of("intake"), 8080))
    node.workload("Deployment", "booking", service("booking", release_of("booking"), 8000))
    node.cluster.advance(60_000)
    for _ in range(3):
        assert node.ask("toolbox", "intake", 8080, Request(method="POST", path="/orders")).status == 202
    assert node.ctl("rabbitmqctl -q list_queues name messages").stdout.endswith("orders\t3\n")
    done = node.ask("toolbox", "booking", 8000, Request(method="POST", path="/run"))
    assert '"booked":3' in done.body
    node.client.delete("services", NAMESPACE, "queue")
    node.cluster.advance(60_000)
    assert not node.status("booking", "booking")["ready"]
    assert any(
        "socket.gaierror: [Errno -2] Name or service not known" in line
        for line in node.log("booking", "booking")
    )


def test_a_service_with_a_wrong_password_is_told_no_more_than_that(node):
    node.service("booking", 8000)
    node.workload("Deployment", "booking", service("booking", release_of("booking"), 8000, MQ_PASSWORD="old"))
    node.cluster.advance(60_000)
    told = "(403) 'ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.'"
    assert any(told in line for line in node.log("booking", "booking"))
    assert any(
        "PLAIN login refused: user 'app' - invalid credentials" in line
        for line in node.log("queue", CONTAINER)
    )

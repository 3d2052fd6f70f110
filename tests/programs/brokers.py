"""A RabbitMQ node in a cluster, a pod that asks it, and the words for what it is asked."""

from env_core.programs._rabbitmq_wire import Dialogue, answer, request
from env_core.programs.service import product_of
from tests.programs.clusters import NAMESPACE, Lab

CONTAINER = "rabbitmq"
DATA = "/var/lib/rabbitmq"
TOOLBOX = {
    "containers": [{"name": "toolbox", "image": "curlimages/curl:8.11.1", "command": ["sleep", "infinity"]}]
}


def broker(image="rabbitmq:3.13-management", *, volume=True, config="", **more):
    container = {
        "name": CONTAINER, "image": image, "ports": [{"containerPort": 5672}],
        "env": [{"name": "RABBITMQ_DEFAULT_USER", "value": "app"}, {"name": "RABBITMQ_DEFAULT_PASS", "value": "s3cret"}], **more,
    }  # fmt: skip
    spec = {"containers": [container]}
    mounts = [{"name": "data", "mountPath": DATA}] if volume else []
    if config:
        mounts.append(
            {"name": "config", "mountPath": "/etc/rabbitmq/rabbitmq.conf", "subPath": "rabbitmq.conf"}
        )
        spec["volumes"] = [{"name": "config", "configMap": {"name": "broker"}}]
    container["volumeMounts"] = mounts
    return spec


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}},
}


class Broker(Lab):
    def __init__(self, config="", **given):
        super().__init__()
        if config:
            self.config("broker", {"rabbitmq.conf": config})
        self.service("queue", 5672, 15672, 15692)
        claims = {"volumeClaimTemplates": [CLAIM]} if given.get("volume", True) else {}
        self.workload("StatefulSet", "queue", broker(config=config, **given), serviceName="queue", **claims)
        self.workload("Deployment", "toolbox", TOOLBOX)
        self.cluster.advance(60_000)

    def amqp(self, *operations, user="app", password="s3cret", connection=None, timeout_ms=0, vhost="/"):
        dialogue = Dialogue(user, password, operations, vhost)
        return self.ask(
            "toolbox", "queue", 5672, request(dialogue, connection=connection, timeout_ms=timeout_ms)
        )

    def results(self, *operations, **given):
        found = answer(self.amqp(*operations, **given))
        assert found.closed is None
        return found.results

    def ctl(self, line):
        return self.sh("queue", CONTAINER, line)

    def restart(self):
        self.client.delete("pods", NAMESPACE, "queue-0")
        self.cluster.advance(60_000)


def release_of(name):
    return product_of(f"registry.example.com/fulfilment/{name}").releases[-1].tag


def declare(queue="orders", **given):
    return {"do": "declare", "queue": queue, **given}


def publish(queue="orders", body="x", **given):
    return {"do": "publish", "queue": queue, "body": body, **given}


def get(queue="orders", **given):
    return {"do": "get", "queue": queue, **given}

"""A MariaDB server in a cluster, beside a pod with its clients."""

from __future__ import annotations

import functools

from env_core.apiserver.request import ExecOptions, LogOptions
from env_core.scenarios.apps import base

ENV = (
    ("MARIADB_ROOT_PASSWORD", "r00t"),
    ("MARIADB_USER", "app"),
    ("MARIADB_PASSWORD", "s3cret"),
    ("MARIADB_DATABASE", "shop"),
)


def pod_of(name, container, **more):
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": {"containers": [container], **more}}


def _server(env, args, image="mariadb:10.11"):
    template = pod_of(
        "db",
        {
            "name": "mariadb",
            "image": image,
            "args": args,
            "env": [{"name": name, "value": value} for name, value in env.items()],
            "ports": [{"containerPort": 3306}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
            "readinessProbe": {
                "exec": {"command": ["mysqladmin", "ping", "-uroot", "-pr00t"]},
                "periodSeconds": 5,
            },
            "volumeMounts": [{"name": "data", "mountPath": "/var/lib/mysql"}],
        },
    )
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    return {
        "metadata": {"name": "db"},
        "spec": {
            "serviceName": "db",
            "replicas": 1,
            "selector": {"matchLabels": {"app": "db"}},
            "template": template,
            "volumeClaimTemplates": [claim],
        },
    }


@functools.cache
def _cluster(env=ENV, args=(), image="mariadb:10.11"):
    cluster = base("shop", 0).cluster.fork()
    client = cluster.client()
    client.create("statefulsets.apps", "shop", _server(dict(env), list(args), image))
    service = {"selector": {"app": "db"}, "ports": [{"port": 3306}]}
    client.create("services", "shop", {"metadata": {"name": "db"}, "spec": service})
    toolbox = {
        "name": "toolbox",
        "image": image,
        "command": ["sleep", "infinity"],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
    }
    client.create("pods", "shop", pod_of("toolbox", toolbox))
    cluster.advance(120_000)
    return cluster


class World:
    """The server, and a pod with its clients."""

    def __init__(self, **parts):
        self.cluster = _cluster(**parts).fork()

    def sh(self, line, pod="toolbox", container="toolbox"):
        return self.cluster.client().exec(
            "shop", pod, ExecOptions(command=("sh", "-c", line), container=container)
        )

    def mysql(self, statements, *, user="app", password="s3cret", database="shop"):
        return self.sh(f'mysql -h db -u{user} -p{password} {database} -e "{statements}"')

    def rows(self, statements, **who):
        output = self.mysql(statements, **who)
        assert output.exit_code == 0, output.stderr
        return [line.split("\t") for line in output.stdout.splitlines()[1:]]

    def error(self, statements, **who):
        output = self.mysql(statements, **who)
        assert output.exit_code == 1
        return output.stderr.splitlines()[-1]

    @property
    def log(self):
        return self.cluster.client().logs("shop", "db-0", LogOptions(container="mariadb")).splitlines()

    def pod(self):
        return self.cluster.client().get("pods", "shop", "db-0")

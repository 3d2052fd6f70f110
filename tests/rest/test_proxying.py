"""The proxy subresources of services, pods and nodes, and groups behind an APIService."""

from __future__ import annotations

import json

import pytest

from env_core.apiserver.request import ADMIN, Identity
from env_core.cluster import Cluster
from env_core.rest.api import RestApi
from env_core.rest.message import HttpRequest
from env_core.scenarios.platform import with_platform

SHOP = "/api/v1/namespaces/shop"


def _web():
    container = {"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}]}
    service = {
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 8080, "targetPort": 80}, {"name": "dead", "port": 81}],
        },
    }
    return {
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"containers": [container]},
    }, service


@pytest.fixture(scope="module")
def base() -> Cluster:
    cluster = with_platform(seed=3)
    api = cluster.client()
    api.create("namespaces", "", {"metadata": {"name": "shop"}})
    cluster.advance(2_000)
    pod, service = _web()
    api.create("pods", "shop", pod)
    api.create("services", "shop", service)
    cluster.advance(60_000)
    return cluster


@pytest.fixture
def world(base):
    return base.fork()


def ask(world, target, identity=ADMIN, method="GET"):
    return RestApi(world.server).handle(HttpRequest(method=method, target=target), identity)


def refused(answer):
    status = json.loads(answer.body)
    return answer.code, status["reason"], status["message"]


@pytest.mark.parametrize(
    "name", ["services/web:http", "services/web:8080", "services/http:web:http", "pods/web", "pods/web:80"]
)
def test_a_request_reaches_the_program_behind(world, name):
    answer = ask(world, f"{SHOP}/{name}/proxy/")
    assert answer.code == 200
    assert b"Welcome to nginx!" in answer.body
    assert answer.header("content-type") == "text/html"


def test_paths_go_on_and_so_do_refusals_of_the_program(world):
    answer = ask(world, f"{SHOP}/pods/web/proxy/nothing/here?a=b")
    assert answer.code == 404
    assert b"nginx" in answer.body


def test_the_path_without_its_slash_is_sent_to_the_one_with_it(world):
    answer = ask(world, f"{SHOP}/pods/web/proxy?a=b")
    assert (answer.code, answer.header("location")) == (301, f"{SHOP}/pods/web/proxy/?a=b")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("services/web", (503, "ServiceUnavailable", 'no endpoints available for service "web"')),
        ("services/nope", (503, "ServiceUnavailable", 'no endpoints available for service "nope"')),
        ("services/web:9", (503, "ServiceUnavailable", 'no service port 9 found for service "web"')),
        ("services/a:b:c:d", (400, "BadRequest", 'invalid service request "a:b:c:d"')),
        ("pods/nope", (404, "NotFound", 'pods "nope" not found')),
        ("pods/https:web:80", (503, "ServiceUnavailable", "error trying to reach service: http: server gave HTTP response to HTTPS client")),
    ],
)  # fmt: skip
def test_what_cannot_be_reached_says_why(world, name, expected):
    assert refused(ask(world, f"{SHOP}/{name}/proxy/")) == expected


def test_a_port_that_nothing_listens_to_refuses(world):
    address = world.client().get("pods", "shop", "web")["status"]["podIP"]
    code, reason, message = refused(ask(world, f"{SHOP}/pods/web:81/proxy/"))
    assert (code, reason) == (503, "ServiceUnavailable")
    assert message == f"error trying to reach service: dial tcp {address}:81: connect: connection refused"


def test_the_right_to_read_pods_is_not_the_right_to_reach_them(world):
    api = world.client()
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    api.create("roles.rbac.authorization.k8s.io", "shop", {"metadata": {"name": "r"}, "rules": rules})
    subject = {"kind": "User", "name": "dev", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {
        "metadata": {"name": "r"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [subject],
    }
    api.create("rolebindings.rbac.authorization.k8s.io", "shop", binding)
    assert refused(ask(world, f"{SHOP}/pods/web/proxy/", Identity("dev", ()))) == (
        403,
        "Forbidden",
        'pods "web" is forbidden: User "dev" cannot get resource "pods/proxy" in API group "" in the namespace "shop"',
    )


def test_a_nodes_kubelet_tells_its_pods_and_their_logs(world):
    node = world.client().get("pods", "shop", "web")["spec"]["nodeName"]
    assert ask(world, f"/api/v1/nodes/{node}/proxy/healthz").body == b"ok"
    pods = json.loads(ask(world, f"/api/v1/nodes/{node}/proxy/pods").body)["items"]
    assert "web" in [pod["metadata"]["name"] for pod in pods]
    ask(world, f"{SHOP}/pods/web/proxy/")
    world.advance(1_000)
    log = ask(world, f"/api/v1/nodes/{node}/proxy/containerLogs/shop/web/web")
    assert b'"GET / HTTP/1.1" 200' in log.body
    world.kubelets.stop_node(node)
    code, reason, message = refused(ask(world, f"/api/v1/nodes/{node}/proxy/healthz"))
    assert (code, reason) == (503, "ServiceUnavailable")
    assert message.endswith(":10250: connect: no route to host")


def test_a_group_behind_a_service_that_is_not_there_is_stale_and_unavailable(world):
    spec = {
        "group": "dead.example.com", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10,
        "insecureSkipTLSVerify": True, "service": {"namespace": "shop", "name": "ghost"},
    }  # fmt: skip
    body = {"metadata": {"name": "v1.dead.example.com"}, "spec": spec}
    world.client().create("apiservices.apiregistration.k8s.io", "", body)
    world.advance(3_000)
    answer = ask(world, "/apis/dead.example.com/v1")
    assert (answer.code, answer.body) == (503, b"service unavailable\n")
    assert ask(world, "/apis/dead.example.com/v1/namespaces/shop/things").code == 503
    groups = json.loads(ask(world, "/apis").body)["groups"]
    assert groups[-1]["name"] == "dead.example.com"

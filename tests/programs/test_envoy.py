"""Envoy in a cluster: retries, breakers, time limits, and a proxy beside a container."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.programs import Request
from env_core.programs._envoy_config import ConfigProblem, parse
from env_core.programs._redis_session import encode
from tests.programs.clusters import NAMESPACE, Lab

TOOLBOX = {
    "containers": [{"name": "toolbox", "image": "curlimages/curl:8.11.1", "command": ["sleep", "infinity"]}]
}
FORM = "%RESPONSE_CODE% %RESPONSE_FLAGS% %UPSTREAM_REQUEST_ATTEMPT_COUNT% %RESPONSE_CODE_DETAILS%\n"
NOWHERE = "10.244.0.250"
"""An address of the pods' network that no pod has."""


def address(host, port):
    return {"socket_address": {"address": host, "port_value": port}}


def cluster(name, *places, kind="STRICT_DNS", **more):
    endpoints = [{"endpoint": {"address": address(*place)}} for place in places]
    return {
        "name": name,
        "type": kind,
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]},
        **more,
    }


def listener(*routes, port=8080, form=FORM, host="0.0.0.0"):
    manager = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "front",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": list(routes)}]},
        "http_filters": [{"name": "envoy.filters.http.router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
        "access_log": [{"name": "out", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
            **({"log_format": {"text_format_source": {"inline_string": form}}} if form else {}),
        }}],
    }  # fmt: skip
    filters = [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]
    return {"name": f"on_{port}", "address": address(host, port), "filter_chains": [{"filters": filters}]}


def route(name, prefix="/", **action):
    return {"match": {"prefix": prefix}, "route": {"cluster": name, **action}}


def configured(listeners, clusters):
    return json.dumps({
        "admin": {"address": address("0.0.0.0", 9901)},
        "static_resources": {"listeners": listeners, "clusters": clusters},
    })  # fmt: skip


def nginx(status, text):
    server = f"server {{ listen 8000; location / {{ return {status} '{text}'; }} }}"
    return server, {
        "containers": [{
            "name": "web", "image": "nginx:1.27.5", "ports": [{"containerPort": 8000}],
            "volumeMounts": [{"name": "conf", "mountPath": "/etc/nginx/conf.d"}],
        }],
    }  # fmt: skip


class Mesh(Lab):
    def __init__(self):
        super().__init__()
        self.workload("Deployment", "toolbox", TOOLBOX)

    def web(self, name, status, text="", *, replicas=1, is_headless=False):
        server, spec = nginx(status, text)
        self.config(name, {"default.conf": server})
        spec["volumes"] = [{"name": "conf", "configMap": {"name": name}}]
        self.service(name, 8000, is_headless=is_headless)
        self.workload("Deployment", name, spec, replicas=replicas)

    def gateway(self, listeners, clusters, *containers):
        self.config("edge", {"envoy.yaml": configured(listeners, clusters)})
        envoy = {
            "name": "envoy", "image": "envoyproxy/envoy:v1.34.1", "volumeMounts": [{"name": "conf", "mountPath": "/etc/envoy"}],
        }  # fmt: skip
        spec = {
            "containers": [envoy, *containers],
            "volumes": [{"name": "conf", "configMap": {"name": "edge"}}],
        }
        self.service("edge", 8080, 9901, 6379)
        self.workload("Deployment", "edge", spec)
        self.cluster.advance(60_000)

    def get(self, path="/", port=8080, **more):
        return self.ask("toolbox", "edge", port, Request(path=path, **more))

    def at_once(self, count):
        """Send requests that come at the same moment."""
        source = self.cluster.network.source_of_pod(NAMESPACE, self.pods("toolbox")[0]["metadata"]["name"])
        return [self.cluster.network.request(source, "edge", 8080, Request(path="/")) for _ in range(count)]

    def stat(self, name):
        found = dict(line.split(": ") for line in self.get("/stats", 9901).body.splitlines())
        return int(found[name])

    @property
    def access(self):
        return [line for line in self.log("edge", "envoy") if line[:1].isdigit()]


@pytest.fixture(scope="module")
def base_mesh():
    mesh = Mesh()
    mesh.web("good", 200, "fine")
    mesh.web("bad", 503, "broken")
    mesh.cluster.advance(30_000)
    return mesh


@pytest.fixture
def mesh(base_mesh):
    fork = object.__new__(Mesh)
    fork.cluster = base_mesh.cluster.fork()
    fork.client = fork.cluster.client()
    return fork


BOTH = (("bad", 8000), ("good", 8000))


def test_a_retry_goes_to_the_next_host(mesh):
    policy = {"retry_on": "5xx", "num_retries": 1}
    mesh.gateway([listener(route("both", retry_policy=policy))], [cluster("both", *BOTH)])
    replies = [mesh.get() for _ in range(4)]
    assert [(each.status, each.body) for each in replies] == [(200, "fine")] * 4
    # One after another: the retry takes the turn of the good one, so that the next request meets the bad one again.
    assert mesh.access == ["200 - 2 via_upstream"] * 4
    assert mesh.stat("cluster.both.upstream_rq_retry") == 4
    assert mesh.stat("cluster.both.upstream_rq_retry_success") == 4
    assert mesh.stat("cluster.both.upstream_rq_total") == 8


def test_without_a_policy_every_other_request_fails(mesh):
    mesh.gateway([listener(route("both"))], [cluster("both", *BOTH)])
    assert sorted(mesh.get().status for _ in range(4)) == [200, 200, 503, 503]


def test_a_client_may_ask_for_retries_and_time_limits(mesh):
    clusters = [cluster("both", *BOTH), cluster("slow", (NOWHERE, 8000), kind="STATIC")]
    mesh.gateway([listener(route("slow", "/slow"), route("both"))], clusters)
    wanted = {"x-envoy-retry-on": "5xx", "x-envoy-max-retries": "3"}
    assert [mesh.get(headers=wanted).status for _ in range(4)] == [200] * 4
    found = mesh.get("/slow", headers={"x-envoy-upstream-rq-timeout-ms": "300"})
    assert (found.status, found.latency_ms < 400) == (504, True)


def test_retries_that_do_not_help_are_told(mesh):
    policy = {"retry_on": "gateway-error", "num_retries": 2}
    mesh.gateway([listener(route("bad", retry_policy=policy))], [cluster("bad", ("bad", 8000))])
    found = mesh.get()
    assert (found.status, found.body) == (503, "broken")
    assert mesh.access == ["503 URX 3 via_upstream"]
    assert mesh.stat("cluster.bad.upstream_rq_retry_limit_exceeded") == 1


def test_a_host_that_fails_is_taken_out_and_comes_back(mesh):
    outlier = {"consecutive_5xx": 3, "interval": "5s", "base_ejection_time": "20s"}
    mesh.gateway([listener(route("both"))], [cluster("both", *BOTH, outlier_detection=outlier)])
    assert [mesh.get().status for _ in range(6)].count(503) == 3
    assert [mesh.get().status for _ in range(6)] == [200] * 6
    assert mesh.stat("cluster.both.outlier_detection.ejections_active") == 1
    clusters = mesh.get("/clusters", 9901).body
    assert clusters.count("health_flags::/failed_outlier_check") == 1
    assert clusters.count("health_flags::healthy") == 1
    mesh.cluster.advance(26_000)
    assert mesh.stat("cluster.both.outlier_detection.ejections_active") == 0
    assert 503 in [mesh.get().status for _ in range(2)]
    assert mesh.stat("cluster.both.outlier_detection.ejections_enforced_consecutive_5xx") == 1


@pytest.mark.parametrize(
    ("panic", "status", "body"), [({"value": 0}, 503, "no healthy upstream"), (None, 503, "broken")]
)
def test_when_all_hosts_are_out_it_panics_unless_told_not_to(mesh, panic, status, body):
    more = {"outlier_detection": {"consecutive_5xx": 2}}
    if panic is not None:
        more["common_lb_config"] = {"healthy_panic_threshold": panic}
    mesh.gateway([listener(route("bad"))], [cluster("bad", ("bad", 8000), **more)])
    for _ in range(2):
        mesh.get()
    found = mesh.get()
    assert (found.status, found.body) == (status, body)
    assert mesh.access[-1] == ("503 UH 0 no_healthy_upstream" if panic else "503 - 1 via_upstream")


def test_the_breaker_opens_for_what_is_too_much_at_once_and_closes(mesh):
    limits = {"thresholds": [{"max_requests": 2}]}
    mesh.gateway(
        [listener(route("slow"))], [cluster("slow", (NOWHERE, 8000), kind="STATIC", circuit_breakers=limits)]
    )
    replies = mesh.at_once(3)
    text = "upstream connect error or disconnect/reset before headers. reset reason: overflow"
    assert (replies[2].status, replies[2].body) == (503, text)
    assert dict(replies[2].headers)["x-envoy-overloaded"] == "true"
    assert mesh.stat("cluster.slow.circuit_breakers.default.rq_open") == 1
    mesh.cluster.advance(10_000)
    assert mesh.stat("cluster.slow.circuit_breakers.default.rq_open") == 0
    assert mesh.stat("cluster.slow.upstream_rq_pending_overflow") == 1
    after = mesh.get()
    assert after.body.endswith(
        "reset reason: remote connection failure, transport failure reason: delayed connect error: No route to host"
    )
    overflow = "503 UO 0 upstream_reset_before_response_started{overflow}"
    assert mesh.access.count(overflow) == 1


def test_few_connections_make_requests_wait(mesh):
    limits = {"thresholds": [{"max_connections": 1, "max_pending_requests": 1}]}
    mesh.gateway(
        [listener(route("slow"))], [cluster("slow", (NOWHERE, 8000), kind="STATIC", circuit_breakers=limits)]
    )
    first, second, third = mesh.at_once(3)
    assert second.latency_ms >= 2 * first.latency_ms - 100
    assert third.body.endswith("reset reason: overflow")


def test_a_time_limit_ends_a_request(mesh):
    more = {"kind": "STATIC", "connect_timeout": "5s"}
    routes = [
        route("slow", "/all", timeout="1s"),
        route("slow", "/quick", retry_policy={"retry_on": "5xx", "per_try_timeout": "0.5s"}),
    ]
    mesh.gateway([listener(*routes)], [cluster("slow", (NOWHERE, 8000), **more)])
    found = mesh.get("/all")
    assert (found.status, found.body) == (504, "upstream request timeout")
    assert 1_000 <= found.latency_ms < 1_100
    again = mesh.get("/quick")
    assert 1_000 <= again.latency_ms < 1_200
    assert mesh.access == ["504 UT 1 response_timeout", "504 UT,URX 2 upstream_per_try_timeout"]


def test_a_connection_that_cannot_be_made_in_time_is_told(mesh):
    policy = {"retry_on": "connect-failure", "num_retries": 1}
    clusters = [cluster("slow", (NOWHERE, 8000), kind="STATIC", connect_timeout="0.25s")]
    mesh.gateway([listener(route("slow", retry_policy=policy))], clusters)
    found = mesh.get()
    assert found.status == 503
    assert found.latency_ms < 1_000
    assert "retried and the latest reset reason: " in found.body
    assert mesh.access[0].startswith("503 UF,URX 2 ")


def test_no_route_and_no_host(mesh):
    mesh.gateway([listener(route("lost", "/lost"))], [cluster("lost", ("nobody", 8000))])
    assert mesh.get("/elsewhere").status == 404
    found = mesh.get("/lost")
    assert (found.status, found.body) == (503, "no healthy upstream")
    assert mesh.access == ["404 NR 0 route_not_found", "503 UH 0 no_healthy_upstream"]


def test_pods_behind_a_headless_service_take_turns(mesh):
    mesh.web("web", 200, "ok", replicas=3, is_headless=True)
    mesh.cluster.advance(30_000)
    mesh.gateway([listener(route("web"), form="%UPSTREAM_HOST%\n")], [cluster("web", ("web", 8000))])
    for _ in range(6):
        assert mesh.get().status == 200
    addresses = [pod["status"]["podIP"] for pod in mesh.pods("web")]
    assert sorted(mesh.access) == sorted(f"{each}:8000" for each in addresses * 2)
    assert mesh.stat("cluster.web.membership_total") == 3


def test_a_sidecar_forwards_to_the_container_beside_it(mesh):
    app = {
        "name": "app",
        "image": "hashicorp/http-echo:1.0",
        "args": ["-text=mine", "-listen=127.0.0.1:5678"],
    }
    mesh.gateway([listener(route("app"))], [cluster("app", ("127.0.0.1", 5678), kind="STATIC")], app)
    assert mesh.get().body == "mine\n"
    patch = {
        "spec": {
            "template": {
                "spec": {"containers": [{"name": "app", "args": ["-text=mine", "-listen=127.0.0.1:5679"]}]}
            }
        }
    }
    mesh.client.patch("deployments.apps", NAMESPACE, "edge", patch, "application/strategic-merge-patch+json")
    mesh.cluster.advance(60_000)
    found = mesh.get()
    text = "upstream connect error or disconnect/reset before headers. reset reason: remote connection failure, transport failure reason:"
    assert (found.status, found.body) == (503, f"{text} delayed connect error: Connection refused")
    assert mesh.access == [
        "503 UF 1 upstream_reset_before_response_started{remote_connection_failure,delayed_connect_error:_Connection_refused}"
    ]


def test_bytes_pass_through_a_tcp_proxy(mesh):
    mesh.service("cache", 6379)
    mesh.workload(
        "Deployment",
        "cache",
        {
            "containers": [
                {"name": "redis", "image": "redis:7.4", "args": ["redis-server", "--protected-mode", "no"]}
            ]
        },
    )
    typed = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
        "stat_prefix": "r",
        "cluster": "cache",
    }
    filters = [{"filters": [{"name": "envoy.filters.network.tcp_proxy", "typed_config": typed}]}]
    mesh.gateway(
        [{"name": "r", "address": address("0.0.0.0", 6379), "filter_chains": filters}],
        [cluster("cache", ("cache", 6379))],
    )
    asked = Request(method="", path="", body=encode("PING"), protocol="redis")
    assert mesh.ask("toolbox", "edge", 6379, asked).body == "+PONG\r\n"


def test_its_headers_and_its_default_log(mesh):
    mesh.gateway([listener(route("good"), form="")], [cluster("good", ("good", 8000))])
    found = mesh.get("/a?b=1", host="edge:8080", headers={"User-Agent": "test", "X-Request-Id": "7"})
    names = dict(found.headers)
    assert (names["server"], names["x-envoy-upstream-service-time"].isdigit()) == ("envoy", True)
    (line,) = [line for line in mesh.log("edge", "envoy") if "GET /a" in line]
    host = mesh.cluster.store.get("services", NAMESPACE, "good")["spec"]["clusterIP"]
    assert '"GET /a?b=1 HTTP/1.1" 200 - 0 4 ' in line
    assert line.endswith(f'"-" "test" "7" "edge:8080" "{host}:8000"')


def test_it_tells_that_it_is_ready_and_what_it_counts(mesh):
    mesh.gateway([listener(route("good"))], [cluster("good", ("good", 8000))])
    assert mesh.get("/ready", 9901).body == "LIVE\n"
    mesh.get()
    assert (
        'envoy_cluster_upstream_rq_total{envoy_cluster_name="good"} 1\n'
        in mesh.get("/stats/prometheus", 9901).body
    )
    assert mesh.get("/stats?filter=downstream_rq_total", 9901).body == "http.front.downstream_rq_total: 1\n"


def test_a_route_to_a_cluster_that_is_not_there_ends_it(mesh):
    mesh.gateway([listener(route("missing"))], [])
    status = mesh.status("edge", "envoy")
    assert status["lastState"]["terminated"]["exitCode"] == 1
    assert mesh.log("edge", "envoy")[-1] == "route: unknown cluster 'missing'"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "Unable to convert YAML as JSON: "),
        ("- 1", "Unable to convert YAML as JSON: "),
        (
            configured([{**listener(), "filter_chains": [{"filters": [{"name": "http_connection_manager", "typed_config": {"http_filters": [{"name": "envoy.filters.http.router"}]}}]}]}], []),
            "Didn't find a registered implementation for 'envoy.filters.http.router' with type URL: ''",
        ),
    ],
)  # fmt: skip
def test_a_configuration_is_refused(text, problem):
    with pytest.raises(ConfigProblem) as why:
        parse(text)
    assert str(why.value).startswith(problem)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["5s", "0.1s"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "static_resources", "listeners", "clusters", "filter_chains", "filters", "typed_config", "name", "route_config",
        "virtual_hosts", "routes", "match", "route", "retry_policy", "outlier_detection", "circuit_breakers", "thresholds",
        "load_assignment", "endpoints", "lb_endpoints", "address", "socket_address", "port_value", "timeout", "weighted_clusters",
    ]), inner, max_size=5),
    max_leaves=30,
)  # fmt: skip


@given(VALUES)
def test_any_configuration_is_read_or_refused(value):
    with contextlib.suppress(ConfigProblem):
        parse(json.dumps(value))

"""Our own services in a shop of theirs: releases that leak, fail, migrate; wrong variables and command lines; a hang."""

import pytest

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.observability.metrics import usage_of
from env_core.programs import Request, service
from env_core.programs._service_model import GO, JAVA, NODE, PYTHON, tags
from env_core.programs._service_starting import command
from env_core.scenarios.apps import base

BY_LANGUAGE = {GO: "catalogue", NODE: "gateway", PYTHON: "payment", JAVA: "checkout"}
every_language = pytest.mark.parametrize("role", BY_LANGUAGE.values(), ids=BY_LANGUAGE.keys())


def change(cluster, workload, container=None, **spec):
    inner = {"containers": [{"name": workload.container, **(container or {})}], **spec}
    patch = {
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate", "rollingUpdate": None},
            "template": {"spec": inner},
        }
    }
    cluster.client().patch("deployments", workload.namespace, workload.name, patch, STRATEGIC_PATCH)


def released(role, tag):
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads[role]
    change(cluster, workload, {"image": workload.image.rpartition(":")[0] + ":" + tag})
    return cluster, workload


def pod_of(cluster, workload):
    pods = [
        pod
        for pod in cluster.store.list("pods", workload.namespace)
        if workload.labels.items() <= pod["metadata"]["labels"].items()
        and "deletionTimestamp" not in pod["metadata"]
    ]
    return pods[-1]


def status_of(cluster, workload):
    return pod_of(cluster, workload)["status"]["containerStatuses"][0]


def log_of(cluster, workload, restarts=None):
    pod = pod_of(cluster, workload)
    count = restarts if restarts is not None else status_of(cluster, workload)["restartCount"]
    return [
        line.text for line in cluster.runtime.log_lines(pod["metadata"]["uid"], workload.container, count)
    ]


@every_language
def test_a_leaking_release_grows_and_is_killed_again_and_again(role):
    workload = base("shop", 0).workloads[role]
    cluster, workload = released(role, workload.leaking_tags[0])
    cluster.advance(240_000)
    run = cluster.runtime.run(pod_of(cluster, workload)["metadata"]["uid"], workload.container)
    early = usage_of(run, cluster.network, cluster.now_ms)[1]
    cluster.advance(240_000)
    assert usage_of(run, cluster.network, cluster.now_ms)[1] > early + 10_000_000
    cluster.advance(2 * 3_600_000)
    found = status_of(cluster, workload)
    assert found["restartCount"] >= 1
    assert found["lastState"]["terminated"]["reason"] == "OOMKilled"
    assert found["lastState"]["terminated"]["exitCode"] == 137


def test_requests_hasten_the_end_of_a_leaking_release():
    world = base("shop", 0)
    cluster, workload = released("payment", world.workloads["payment"].leaking_tags[0])
    cluster.advance(60_000)
    busy = cluster.fork()
    checkout = next(entry for entry in world.entries if entry.name == "checkout")
    before = cluster.runtime.run(pod_of(cluster, workload)["metadata"]["uid"], workload.container).exit_at_ms
    for _ in range(10):
        busy.network.request_ingress(Request(method="POST", path=checkout.path, host=checkout.host))
    after = busy.runtime.run(pod_of(busy, workload)["metadata"]["uid"], workload.container).exit_at_ms
    assert before is not None
    assert after < before - 60_000


@every_language
def test_a_failing_release_answers_a_share_with_500(role):
    world = base("shop", 0)
    cluster, workload = released(role, world.workloads[role].failing_tags[0])
    cluster.advance(120_000)
    entry = next(entry for entry in world.entries if role in entry.through)
    statuses = [
        cluster.network.request_ingress(Request(method=entry.method, path=entry.path, host=entry.host)).status
        for _ in range(9)
    ]
    assert 3 <= sum(status != entry.status for status in statuses) <= 5
    assert pod_of(cluster, workload)["status"]["conditions"][-1]["status"] == "True"


@every_language
def test_a_release_that_migrates_is_killed_by_its_liveness_probe_unless_that_waits(role):
    world = base("shop", 0)
    cluster, workload = released(role, world.workloads[role].slow_tags[0])
    patient = cluster.fork()
    probe = {
        "httpGet": {"path": "/healthz", "port": workload.container_port},
        "failureThreshold": 60,
        "periodSeconds": 5,
    }
    change(patient, workload, {"startupProbe": probe})
    cluster.advance(300_000)
    patient.advance(300_000)
    assert status_of(patient, workload)["ready"]
    assert status_of(patient, workload)["restartCount"] == 0
    if role != "checkout":  # it has a startup probe already
        assert not status_of(cluster, workload)["ready"]
        assert status_of(cluster, workload)["restartCount"] >= 2


@every_language
def test_a_migration_can_run_before_the_server_which_then_starts_as_fast_as_ever(role):
    world = base("shop", 0)
    cluster, workload = released(role, world.workloads[role].slow_tags[0])
    product = service.product_of(workload.image)
    image = workload.image.rpartition(":")[0] + ":" + workload.slow_tags[0]
    own = pod_of(cluster, workload)["spec"]["containers"][0]
    first = {"name": "first", "image": image, "command": [*command(product), "migrate"]}
    first |= {key: own[key] for key in ("env", "envFrom") if own.get(key)}
    env = [{"name": "MIGRATE_ON_START", "value": "false"}]
    change(cluster, workload, {"env": env}, initContainers=[first])
    cluster.advance(45_000)
    assert pod_of(cluster, workload)["status"]["initContainerStatuses"][0]["state"].keys() == {"running"}
    cluster.advance(30_000)
    assert status_of(cluster, workload)["ready"]
    assert status_of(cluster, workload)["restartCount"] == 0
    assert not any("igrat" in line or "upgrade" in line for line in log_of(cluster, workload))


def test_a_hung_process_is_restarted_by_its_liveness_probe_and_not_without_one():
    world = base("shop", 0)
    workload = world.workloads["mailer"]
    cluster = world.cluster.fork()
    alone = world.cluster.fork()
    change(alone, workload, {"livenessProbe": None})
    alone.advance(60_000)
    for each in (cluster, alone):
        pod = pod_of(each, workload)
        before = status_of(each, workload)["restartCount"]
        each.kubelets.hang(workload.namespace, pod["metadata"]["name"], workload.container)
        each.advance(180_000)
        assert status_of(each, workload)["restartCount"] == before + (1 if each is cluster else 0)
        assert status_of(each, workload)["ready"] is (each is cluster)


@pytest.mark.parametrize(
    ("role", "variable", "value", "text"),
    [
        ("catalogue", "DB_NAME", "", "config: required environment variable DB_NAME is not set"),
        ("catalogue", "CACHE_MB", "32Mi", 'config: CACHE_MB: strconv.Atoi: parsing "32Mi": invalid syntax'),
        ("gateway", "CART_URL", "cart", "TypeError: Invalid value for CART_URL: cart"),
        ("gateway", "CART_URL", "", "Error: Missing required environment variable: CART_URL"),
        ("payment", "PROVIDER_KEY", "", "KeyError: 'PROVIDER_KEY'"),
        ("payment", "PORT", "http", "ValueError: invalid literal for int() with base 10: 'http'"),
        (
            "checkout",
            "DB_POOL_SIZE",
            "eight",
            'Caused by: java.lang.NumberFormatException: For input string: "eight"',
        ),
    ],
)
def test_a_wrong_variable_ends_the_process_with_a_word_about_it(role, variable, value, text):
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads[role]
    change(cluster, workload, {"env": [{"name": variable, "value": value, "valueFrom": None}]})
    cluster.advance(25_000)
    found = status_of(cluster, workload)
    ended = found["state"].get("terminated") or found["lastState"]["terminated"]
    assert ended["exitCode"] == 1
    assert any(text in line for line in log_of(cluster, workload))


@pytest.mark.parametrize(
    ("role", "command", "code", "text"),
    [
        ("catalogue", ["/app/catalogue", "-verbos"], 2, "flag provided but not defined: -verbos"),
        ("gateway", ["node", "/app/sever.js"], 1, "Error: Cannot find module '/app/sever.js'"),
        (
            "payment",
            ["python", "/app/mian.pyz"],
            2,
            "python: can't open file '/app/mian.pyz': [Errno 2] No such file or directory",
        ),
        ("checkout", ["java", "-jar", "/app/ap.jar"], 1, "Error: Unable to access jarfile /app/ap.jar"),
    ],
)
def test_a_wrong_command_line_ends_as_its_interpreter_says(role, command, code, text):
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads[role]
    change(cluster, workload, {"command": command})
    cluster.advance(25_000)
    found = status_of(cluster, workload)
    ended = found["state"].get("terminated") or found["lastState"]["terminated"]
    assert ended["exitCode"] == code
    assert text in log_of(cluster, workload)


def test_a_command_that_the_image_lacks_does_not_start():
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads["catalogue"]
    change(cluster, workload, {"command": ["/app/catalog"]})
    cluster.advance(25_000)
    found = status_of(cluster, workload)
    ended = found["state"].get("terminated") or found["lastState"]["terminated"]
    assert ended["exitCode"] == 128
    assert "stat /app/catalog: no such file or directory" in ended["message"]


def test_failed_calls_name_the_upstream_in_the_callers_log():
    world = base("shop", 0)
    cluster = world.cluster.fork()
    cluster.client().patch("deployments", "shop", world.workloads["cart"].name, {"spec": {"replicas": 0}})
    cluster.advance(60_000)
    entry = next(entry for entry in world.entries if entry.name == "cart")
    reply = cluster.network.request_ingress(Request(path=entry.path, host=entry.host))
    assert reply.status == 502
    pods = [
        pod for pod in cluster.store.list("pods", "shop") if pod["metadata"]["name"].startswith("gateway-")
    ]
    logs = [cluster.runtime.log_lines(pod["metadata"]["uid"], "gateway", 0) for pod in pods]
    address = cluster.store.get("services", "shop", "cart")["spec"]["clusterIP"]
    assert any(f"Error: connect ECONNREFUSED {address}:80" == line.text for lines in logs for line in lines)


def test_a_wrong_database_password_takes_the_new_pods_out_of_service():
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads["catalogue"]
    change(cluster, workload, {"env": [{"name": "DB_PASSWORD", "value": "wrong", "valueFrom": None}]})
    cluster.advance(60_000)
    assert status_of(cluster, workload)["ready"] is False
    assert any(
        'pq: password authentication failed for user "shop"' in line for line in log_of(cluster, workload)
    )


def mounted(cluster, workload, **mount):
    """Give the cart its password as a file of the Secret `redis-auth` instead of in its environment."""
    volumes = [{"name": "credentials", "secret": {"secretName": "redis-auth"}}]
    env = [
        {"name": "REDIS_PASSWORD", "$patch": "delete"},
        {"name": "REDIS_PASSWORD_FILE", "value": "/etc/credentials/password"},
    ]
    mounts = [{"name": "credentials", "readOnly": True, **mount}]
    change(cluster, workload, {"env": env, "volumeMounts": mounts}, volumes=volumes)
    cluster.advance(60_000)


@pytest.mark.parametrize(
    ("mount", "follows"),
    [
        ({"mountPath": "/etc/credentials"}, True),
        ({"mountPath": "/etc/credentials/password", "subPath": "password"}, False),
    ],
    ids=["directory", "sub-path"],
)
def test_a_password_in_a_file_is_read_for_each_connection(mount, follows):
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads["cart"]
    mounted(cluster, workload, **mount)
    assert status_of(cluster, workload)["ready"] is True
    assert any("read for each connection" in line for line in log_of(cluster, workload))
    cluster.client().patch("secrets", workload.namespace, "redis-auth", {"stringData": {"password": "next"}})
    stamp = {"spec": {"template": {"metadata": {"annotations": {"rolled": "once"}}}}}
    cluster.client().patch("deployments", workload.namespace, "redis", stamp)
    cluster.advance(150_000)
    assert status_of(cluster, workload)["restartCount"] == 0
    assert status_of(cluster, workload)["ready"] is follows


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("cart", "config: open /etc/nowhere: no such file or directory"),
        ("user", "FileNotFoundError: [Errno 2] No such file or directory: '/etc/nowhere'"),
        ("worker", "Error: ENOENT: no such file or directory, open '/etc/nowhere'"),
        ("checkout", "Caused by: java.nio.file.NoSuchFileException: /etc/nowhere"),
    ],
)
def test_a_password_file_that_is_not_there_ends_the_process(role, text):
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads[role]
    variable = "REDIS_PASSWORD_FILE" if role == "cart" else "DB_PASSWORD_FILE"
    change(cluster, workload, {"env": [{"name": variable, "value": "/etc/nowhere"}]})
    cluster.advance(25_000)
    assert any(text in line for line in log_of(cluster, workload))


def test_pools_larger_than_the_server_allows_leave_the_last_out():
    world = base("shop", 0)
    cluster = world.cluster.fork()
    workload = world.workloads["catalogue"]
    cluster.client().patch("configmaps", "shop", f"{workload.name}-config", {"data": {"DB_POOL_SIZE": "40"}})
    change(cluster, workload)
    cluster.client().patch(
        "deployments",
        "shop",
        workload.name,
        {"spec": {"replicas": 3, "template": {"metadata": {"annotations": {"a": "b"}}}}},
    )
    cluster.advance(120_000)
    pods = [
        pod for pod in cluster.store.list("pods", "shop") if pod["metadata"]["name"].startswith("catalogue-")
    ]
    ready = [pod["status"]["containerStatuses"][0]["ready"] for pod in pods]
    assert ready.count(False) >= 1
    texts = [
        line.text
        for pod in pods
        for line in cluster.runtime.log_lines(pod["metadata"]["uid"], workload.container, 0)
    ]
    assert any("pq: sorry, too many clients already" in text for text in texts)


def test_a_cache_fills_and_stays():
    world = base("shop", 0)
    workload = world.workloads["search"]
    cluster = world.cluster.fork()
    run = cluster.runtime.run(pod_of(cluster, workload)["metadata"]["uid"], workload.container)
    used = run.resting_bytes(cluster.now_ms)
    assert abs(used - workload.working_set_bytes) <= 4 << 20
    assert run.resting_bytes(cluster.now_ms + 3_600_000) == used
    assert run.exit_at_ms is None


@pytest.mark.parametrize("family", service.FAMILIES)
def test_every_product_has_releases_that_turned_out_in_each_way(family):
    for product in family.products:
        known = tags(product)
        every = (*known.earlier, *known.later, *known.leaking, *known.failing, *known.slow, known.present)
        assert len(set(every)) == len(every) == len(product.releases)
        assert min(map(len, (known.earlier, known.later, known.leaking, known.failing, known.slow))) >= 1

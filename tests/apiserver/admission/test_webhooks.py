"""Admission webhooks in a whole cluster: the server is a pod, and the call goes through its Service."""

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ADMIN, ApiRequest, LogOptions, Options
from tests.webhooks import HOST, booted, configmap, configure, patch, webhook, with_server

URL = f"https://{HOST}:443/validate?timeout=2s"


def refused(cluster, obj, **options):
    """Create an object that must be refused; return the error."""
    with pytest.raises(StatusError) as caught:
        cluster.client().call(
            "create", "configmaps", "shop", body=obj, options=Options(**options) if options else Options()
        )
    return caught.value


def failed(cluster, obj):
    """Return what a create says about the failed call, behind the words that all failures share."""
    error = refused(cluster, obj)
    head = 'Internal error occurred: failed calling webhook "guard.example.com": '
    assert (error.code, error.reason) == (500, "InternalError")
    assert error.message.startswith(head)
    assert error.status["details"] == {
        "causes": [{"message": error.message.removeprefix("Internal error occurred: ")}]
    }
    return error.message.removeprefix(head)


def test_a_refusal_is_the_answer_with_the_server_s_code_and_words():
    cluster = with_server(booted(), "--deny='bad' in object.data", "--message=no bad data", "--code=409")
    configure(cluster, "Validating", webhook())
    error = refused(cluster, configmap(bad="1"))
    assert error.code == 409
    assert error.message == 'admission webhook "guard.example.com" denied the request: no bad data'
    assert cluster.client().create("configmaps", "shop", configmap(good="1"))["data"] == {"good": "1"}
    log = cluster.client().logs("hooks", "guard", LogOptions())
    assert [line.partition("/validate ")[2] for line in log.splitlines()[1:]] == [
        "CREATE configmaps shop/settings: denied",
        "CREATE configmaps shop/settings: allowed",
    ]


def test_a_patch_changes_what_is_stored_and_validation_sees_it():
    cluster = with_server(booted(), patch(("add", "/data/added", "yes")), "--patch-if=has(object.data)")
    configure(cluster, "Mutating", webhook(path="/mutate"))
    stored = cluster.client().create("configmaps", "shop", configmap(given="1"))
    assert stored["data"] == {"given": "1", "added": "yes"}
    configure(
        cluster,
        "Validating",
        webhook(
            "check.example.com", matchConditions=[{"name": "added", "expression": "'added' in object.data"}]
        ),
    )
    assert (
        cluster.client().create("configmaps", "shop", configmap("two", given="1"))["data"]["added"] == "yes"
    )


def test_a_patch_that_does_not_apply_is_an_internal_error():
    cluster = with_server(booted(), patch(("remove", "/data/missing", None)))
    configure(cluster, "Mutating", webhook(path="/mutate"))
    error = refused(cluster, configmap(given="1"))
    assert (error.code, error.message) == (
        500,
        "Internal error occurred: Unable to remove nonexistent key: missing",
    )


def test_a_webhook_is_asked_again_when_a_later_one_changes_the_object():
    cluster = with_server(booted(), patch(("add", "/data/seen", "1")), "--patch-if='late' in object.data")
    again = webhook("a.example.com", path="/mutate", reinvocationPolicy="IfNeeded")
    configure(cluster, "Mutating", again, name="a")
    with_server(cluster, patch(("add", "/data/late", "1")), name="late", certificate="late")
    configure(cluster, "Mutating", webhook("b.example.com", path="/mutate", service="late"), name="b")
    assert cluster.client().create("configmaps", "shop", configmap(x="1"))["data"] == {
        "x": "1",
        "late": "1",
        "seen": "1",
    }


@pytest.mark.parametrize(
    ("certificate", "why"),
    [
        ("wrong", f"certificate is valid for guard.other.svc, guard.other.svc.cluster.local, not {HOST}"),
        ("other", f"certificate is not valid for any names, but wanted to match {HOST}"),
        ("legacy", "certificate relies on legacy Common Name field, use SANs instead"),
    ],
)
def test_a_certificate_for_another_name_is_not_believed(certificate, why):
    cluster = with_server(booted(), certificate=certificate)
    configure(cluster, "Validating", webhook())
    text = f'failed to call webhook: Post "{URL}": tls: failed to verify certificate: x509: {why}'
    assert failed(cluster, configmap(x="1")) == text


def test_without_an_authority_nobody_is_believed():
    cluster = with_server(booted())
    client = webhook()["clientConfig"]
    configure(cluster, "Validating", webhook(clientConfig={"service": client["service"]}))
    assert failed(cluster, configmap(x="1")).endswith("x509: certificate signed by unknown authority")


def test_what_is_missing_behind_a_service_is_said_in_turn():
    cluster = booted()
    configure(cluster, "Validating", webhook())
    post = f'failed to call webhook: Post "{URL}": '
    assert failed(cluster, configmap(x="1")) == f'{post}service "guard" not found'
    with_server(cluster)
    cluster.client().delete("pods", "hooks", "guard", Options(grace_period_seconds=0))
    cluster.advance(5_000)
    assert failed(cluster, configmap(x="1")) == f'{post}no endpoints available for service "guard"'
    client = webhook()["clientConfig"]
    cluster = with_server(booted())
    service = {**client["service"], "port": 444}
    configure(cluster, "Validating", webhook(clientConfig={**client, "service": service}))
    assert failed(cluster, configmap(x="1")).endswith(': no service port 444 found for service "guard"')


def test_nothing_listens_on_the_port_that_the_service_leads_to():
    cluster = with_server(booted(), "--port=9443")
    configure(cluster, "Validating", webhook())
    address = cluster.store.get("pods", "hooks", "guard")["status"]["podIP"]
    text = f'failed to call webhook: Post "{URL}": dial tcp {address}:8443: connect: connection refused'
    assert failed(cluster, configmap(x="1")) == text


def test_a_slow_server_runs_into_the_time_out():
    cluster = with_server(booted(), "--delay-ms=2500")
    configure(cluster, "Validating", webhook())
    now_ms = cluster.now_ms
    text = f'failed to call webhook: Post "{URL}": context deadline exceeded'
    assert failed(cluster, configmap(x="1")) == text
    assert cluster.now_ms == now_ms


def test_a_server_without_tls_is_told_apart():
    cluster = with_server(booted(), "-text=hi", "-listen=:8443", image="hashicorp/http-echo:1.0")
    configure(cluster, "Validating", webhook())
    assert failed(cluster, configmap(x="1")).endswith(
        f'Post "{URL}": http: server gave HTTP response to HTTPS client'
    )


def test_failures_may_be_ignored_and_are_noted_in_the_audit():
    cluster = booted()
    configure(cluster, "Validating", webhook(failurePolicy="Ignore"))
    assert cluster.client().create("configmaps", "shop", configmap(x="1"))["data"] == {"x": "1"}
    key = "failed-open.validating.webhook.admission.k8s.io/round_0_index_0"
    assert cluster.server.audit.records()[-1].annotations == ((key, "guard.example.com"),)


def test_other_namespaces_resources_and_the_configurations_themselves_are_left_alone():
    cluster = booted()
    everything = webhook(
        rules=[{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}],
        namespaceSelector={},
    )
    configure(cluster, "Validating", webhook())
    api = cluster.client()
    api.create("configmaps", "hooks", configmap(x="1") | {"metadata": {"name": "x"}})
    configure(cluster, "Validating", everything, name="all")
    with pytest.raises(StatusError, match="failed calling webhook"):
        api.delete("configmaps", "hooks", "x")
    api.delete("validatingwebhookconfigurations", "", "all")
    api.delete("configmaps", "hooks", "x")


def test_a_dry_run_asks_only_webhooks_without_side_effects():
    cluster = with_server(booted(), "--deny=request.dryRun", "--message=dry")
    configure(cluster, "Validating", webhook())
    assert refused(cluster, configmap(x="1"), dry_run=True).message.endswith(": dry")
    cluster.client().create("configmaps", "shop", configmap(x="1"))


def test_warnings_reach_the_client():
    cluster = with_server(booted(), "--warn=think twice")
    configure(cluster, "Validating", webhook())
    request = ApiRequest("create", "configmaps", ADMIN, "shop", body=configmap(x="1"))
    assert cluster.call(request).warnings == ("think twice",)


def test_deletes_show_the_old_object():
    cluster = with_server(booted(), "--deny=request.operation == 'DELETE' && 'keep' in oldObject.data")
    configure(cluster, "Validating", webhook())
    api = cluster.client()
    api.create("configmaps", "shop", configmap(keep="1"))
    with pytest.raises(StatusError, match="denied the request"):
        api.delete("configmaps", "shop", "settings")


def test_forks_answer_alike():
    cluster = with_server(booted(), patch(("add", "/data/added", "yes")))
    configure(cluster, "Mutating", webhook(path="/mutate"))
    digests = set()
    for fork in (cluster.fork(), cluster.fork()):
        fork.client().create("configmaps", "shop", configmap(x="1"))
        fork.advance(10_000)
        digests.add(fork.digest())
    assert len(digests) == 1

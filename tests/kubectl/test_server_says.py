"""What the server adds to or says instead of an answer, as kubectl prints it. Source: tests/golden/l2/kubectl (web)."""

import pytest

from tests.catalogue import worlds

DEPRECATED = "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n"


@pytest.fixture
def shell():
    return worlds.terminal(worlds.booted())


@pytest.mark.parametrize(
    "line",
    [
        "kubectl get endpoints",
        "kubectl get ep nope",
        "kubectl describe endpoints",
        "kubectl delete endpoints nope",
        "kubectl delete endpoints --all",
        "kubectl label endpoints nope a=b",
        "kubectl get endpoints --field-selector a",
    ],
)
def test_every_answer_about_endpoints_warns_once_and_first(shell, line):
    assert worlds.run(shell, line).stderr.startswith(DEPRECATED)
    assert worlds.run(shell, line).stderr.count(DEPRECATED) == 1


def test_other_resources_do_not_warn(shell):
    assert worlds.run(shell, "kubectl get services,endpointslices").stderr.count("Warning") == 0


def test_a_warning_can_be_an_error(shell):
    output = worlds.run(shell, "kubectl get endpoints --warnings-as-errors")
    assert output.exit_code == 1
    assert output.stderr.startswith(DEPRECATED)


def test_a_warning_of_kubectl_itself_is_no_error(shell):
    output = worlds.run(shell, "kubectl get ev --warnings-as-errors")
    assert (output.exit_code, output.stderr.count("Warning: short name")) == (0, 1)


@pytest.mark.parametrize("verb", ["get pods", "delete pods", "label pods a=b"])
@pytest.mark.parametrize(("selector", "part"), [("status.phase", "status.phase"), ("a=b,c", "c")])
def test_a_field_selector_without_an_operator_is_refused(shell, verb, selector, part):
    output = worlds.run(shell, f"kubectl {verb} --field-selector={selector}")
    assert (output.exit_code, output.stdout) == (1, "")
    assert output.stderr == (
        'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", '
        f"field selector \"{selector}\": invalid selector: '{selector}'; can't understand '{part}'\n"
    )


def test_top_names_what_it_does_not_find_as_the_metrics_server_does(shell):
    assert worlds.run(shell, "kubectl top pod nope").stderr == (
        f'Error from server (NotFound): podmetrics.metrics.k8s.io "{worlds.NAMESPACE}/nope" not found\n'
    )
    assert worlds.run(shell, "kubectl top node nope").stderr == (
        'Error from server (NotFound): nodemetrics.metrics.k8s.io "nope" not found\n'
    )

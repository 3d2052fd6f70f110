"""What kubectl finds wrong before or instead of a server: fields of lists, names that are missing, paths, order."""

from __future__ import annotations

import pytest

from env_core.kubectl.command import run
from env_core.sim.timefmt import parse_ms
from env_core.world import Output
from tests.kubectl.written_world import World, context_of, world_of

NOW_MS = parse_ms("2026-01-05T09:00:00Z")
LIST = """apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata:
    name: s1
    nope: 1
  datta: x
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: d}
  spec:
    replicas: x
    template: {spec: {containers: [{nam: x}]}}
"""
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
CONTAINER = "ValidationError(Deployment.spec.template.spec.containers[0])"
PROBLEMS = (
    'ValidationError(Secret): unknown field "datta" in io.k8s.api.core.v1.Secret',
    f'ValidationError(Secret.metadata): unknown field "nope" in {META}',
    "ValidationError(Deployment.spec.replicas): invalid type for io.k8s.api.apps.v1.DeploymentSpec.replicas: "
    'got "string", expected "integer"',
    f'{CONTAINER}: unknown field "nam" in io.k8s.api.core.v1.Container',
    f'{CONTAINER}: missing required field "name" in io.k8s.api.core.v1.Container',
    'ValidationError(Deployment.spec): missing required field "selector" in io.k8s.api.apps.v1.DeploymentSpec',
)
"""As the real binary words them, seen through `python -m tests.golden.live_kubectl`."""
MAPS = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
    f"- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n" for name in ("a", "b")
)


@pytest.fixture
def world() -> World:
    return world_of([], "shop", NOW_MS)


def _run(world: World, line: str, files: dict[str, str] | None = None, stdin: str = "") -> Output:
    return run(line.split(), context_of(world, "shop", files=files, stdin=stdin))


@pytest.mark.parametrize("verb", ["create", "apply", "replace"])
def test_the_items_of_a_list_are_checked_before_any_is_sent(world: World, verb: str) -> None:
    output = _run(world, f"{verb} -f list.yaml", {"list.yaml": LIST})
    texts = ", ".join(PROBLEMS)
    assert output.stderr == (
        f'error: error validating "list.yaml": error validating data: [{texts}]; '
        "if you choose to ignore these errors, turn validation off with --validate=false\n"
    )
    assert world.store.get("secrets", "shop", "s1") is None


def test_a_list_is_sent_unchecked_when_that_is_asked_for(world: World) -> None:
    output = _run(world, "create -f list.yaml --validate=false", {"list.yaml": LIST})
    assert output.stdout == "secret/s1 created\n"
    assert "cannot unmarshal string" in output.stderr
    warned = _run(world, "create -f - --validate=warn", stdin=MAPS)
    assert warned.stdout == "configmap/a created\nconfigmap/b created\n"
    assert "schema.go:145] cannot perform warn validation" in warned.stderr


def test_what_a_list_names_is_missing_in_one_line(world: World) -> None:
    files = {"list.yaml": MAPS, "one.yaml": MAPS.replace("b}", "a}")}
    output = _run(world, "get -f list.yaml", files)
    assert output.stderr == '[configmaps "a" not found, configmaps "b" not found]\n'
    _run(world, "create configmap a")
    output = _run(world, "get -f list.yaml -o name", files)
    assert output.stderr == 'Error from server (NotFound): configmaps "b" not found\n'
    assert output.stdout == "configmap/a\n"


@pytest.mark.parametrize(
    "line", ["describe -f -", "patch -f - -p {}", "get pods ", "delete pods ", "expose pods "]
)
def test_without_a_name_there_is_no_address(world: World, line: str) -> None:
    argv = line.split(" ")
    output = run(argv, context_of(world, "shop", stdin="apiVersion: v1\nkind: ConfigMap\ndata: {}\n"))
    assert output.stderr == "error: resource name may not be empty\n"
    assert output.exit_code == 1


def test_a_name_prefix_is_described_without_events(world: World) -> None:
    _run(world, "create -f -", stdin="apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}\n")
    assert "Events:" in _run(world, "describe sa robot").stdout
    assert "Events:" not in _run(world, "describe sa rob").stdout
    assert "Events:" in _run(world, "describe sa rob --show-events").stdout


def test_waiting_no_time_tells_that_the_condition_is_not_met(world: World) -> None:
    _run(world, "create configmap a")
    output = _run(world, "wait cm/a --for=condition=Ready --timeout=0")
    assert output.stderr == "error: condition not met for configmaps/a\n"
    output = _run(world, "wait cm/a --for=condition=Ready --timeout=1s")
    assert output.stderr == "error: timed out waiting for the condition on configmaps/a\n"


def test_rows_in_no_order_are_no_rows(world: World) -> None:
    for name in ("a", "b"):
        _run(world, f"create configmap {name}")
    output = _run(world, "get cm --sort-by {")
    assert (output.exit_code, output.stdout) == (0, "")
    assert output.stderr == "No resources found in shop namespace.\n"
    assert _run(world, "get cm --sort-by { -o name").stderr.startswith("error: unexpected path string")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("events --for /x", "a resource must be present, got: /, Resource="),
        ("events --for a/b/c", "arguments in resource/name form may not have more than one slash"),
        ("events --for pod", "--for must be in resource/name form"),
        ("explain pods.spec.nope.deep", 'field "deep" does not exist'),
        ("explain pods.spec[0]", "invalid jsonpath syntax, first node must be field node"),
        ("explain pods --max-depth=1", "--max-depth requires --recursive"),
        ("explain pods -o nope", "unrecognized format: nope"),
        ("logs nope --since=-1s", 'error from server (NotFound): pods "nope" not found in namespace "shop"'),
        ("apply -k .", "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' "
         "in directory '/tmp/w'"),
        ("apply -k nope", "must build at directory: not a valid directory: evalsymlink failure on 'nope' : "
         "lstat /tmp/w/nope: no such file or directory"),
    ],
)  # fmt: skip
def test_complaints_come_in_kubectls_words(world: World, line: str, error: str) -> None:
    output = _run(world, line)
    assert output.exit_code == 1
    assert output.stderr == f"error: {error}\n"


def test_a_short_name_stands_for_its_type_whatever_its_version(world: World) -> None:
    assert _run(world, "get deploy.v9.apps -o name").exit_code == 0
    refused = _run(world, "get deployments.v9.apps -o name")
    assert (
        refused.stderr == 'error: the server doesn\'t have a resource type "deployments" in group "v9.apps"\n'
    )

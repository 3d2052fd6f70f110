"""What no recording shows of the writing verbs, over the real API server."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from env_core.kubectl.command import run
from env_core.kubectl.unified_diff import unified_diff
from env_core.sim.timefmt import parse_ms
from env_core.world import Object, Output
from tests.kubectl.written_world import World, context_of, world_of

NOW_MS = parse_ms("2026-01-05T09:00:00Z")
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    image: nginx\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels:\n    app: web\ndata:\n  a: '{value}'\n"


def _world(objects: Iterable[Object] = ()) -> World:
    return world_of(objects, "shop", NOW_MS)


def _run(world: World, line: str, stdin: str = "", files: dict[str, str] | None = None) -> Output:
    return run(line.split(), context_of(world, "shop", stdin=stdin, files=files))


def test_apply_creates_changes_and_leaves_alone() -> None:
    world = _world()
    manifest = MAP.format(name="a", value="1")
    assert _run(world, "apply -f -", manifest).stdout == "configmap/a created\n"
    assert _run(world, "apply -f -", manifest).stdout == "configmap/a unchanged\n"
    assert _run(world, "apply -f -", MAP.format(name="a", value="2")).stdout == "configmap/a configured\n"
    live = world.store.get("configmaps", "shop", "a")
    assert live is not None
    assert live["data"] == {"a": "2"}


def test_apply_of_a_directory_goes_on_after_a_bad_file() -> None:
    world = _world()
    files = {"d/a.yaml": MAP.format(name="a", value="1"), "d/b.yaml": "a: b: c\n", "d/c.txt": "x"}
    output = _run(world, "apply -f d", files=files)
    assert output.stdout == "configmap/a created\n"
    assert output.stderr.startswith("error: error parsing d/b.yaml: ")
    assert output.exit_code == 1


def test_apply_prunes_what_is_not_there_any_more() -> None:
    world = _world()
    for name in ("a", "b"):
        _run(world, "apply -f -", MAP.format(name=name, value="1"))
    line = "apply -f - --prune -l app=web --prune-allowlist=core/v1/ConfigMap"
    output = _run(world, line, MAP.format(name="a", value="1"))
    assert output.stdout == "configmap/a unchanged\nconfigmap/b pruned\n"
    assert world.store.get("configmaps", "shop", "b") is None


def test_a_manifest_without_api_version_is_not_sent() -> None:
    output = _run(_world(), "create -f -", "kind: ConfigMap\nmetadata:\n  name: a\n")
    assert output.stderr == (
        'error: error validating "STDIN": error validating data: apiVersion not set; '
        "if you choose to ignore these errors, turn validation off with --validate=false\n"
    )


def test_delete_waits_for_pods_and_tells_of_those_that_stay() -> None:
    world = _world()
    _run(world, "create -f -", POD)
    output = _run(world, "delete pod p")
    assert output == Output('pod "p" deleted from shop namespace\n')
    assert world.store.get("pods", "shop", "p") is None
    _run(world, "create -f -", MAP.format(name="a", value="1"))
    _run(world, 'patch cm a --type=merge -p {"metadata":{"finalizers":["example.com/x"]}}')
    output = _run(world, "delete cm a --timeout=2s")
    assert output.stderr == "error: timed out waiting for the condition on configmaps/a\n"
    assert world.now_ms == NOW_MS + 2000


def test_delete_without_waiting_returns_at_once() -> None:
    world = _world()
    _run(world, "create -f -", POD)
    assert _run(world, "delete pod p --wait=false -o name").stdout == "pod/p\n"
    assert world.now_ms == NOW_MS


@pytest.mark.parametrize(("answer", "is_kept"), [("y\n", False), ("n\n", True), ("", True)])
def test_delete_asks_when_told_to(answer: str, is_kept: bool) -> None:
    world = _world()
    _run(world, "create -f -", MAP.format(name="a", value="1"))
    output = _run(world, "delete cm a -i", answer)
    assert output.stdout.startswith("You are about to delete the following 1 resource(s):\nconfigmap/a\n")
    assert (world.store.get("configmaps", "shop", "a") is not None) == is_kept


def _budgeted() -> World:
    return _world(
        [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n", "uid": "n"},
                "spec": {},
                "status": {},
            },
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "p",
                    "namespace": "shop",
                    "uid": "p",
                    "labels": {"app": "web"},
                    "ownerReferences": [
                        {
                            "apiVersion": "apps/v1",
                            "kind": "ReplicaSet",
                            "name": "r",
                            "uid": "r",
                            "controller": True,
                        }
                    ],
                },
                "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            },
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "b", "namespace": "shop", "uid": "b", "generation": 1},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
                "status": {
                    "observedGeneration": 1,
                    "disruptionsAllowed": 0,
                    "desiredHealthy": 1,
                    "currentHealthy": 1,
                },
            },
        ]
    )


def test_drain_tries_again_every_five_seconds_until_its_time_is_over() -> None:
    world = _budgeted()
    output = _run(world, "drain n --timeout=12s")
    assert output.exit_code == 1
    assert output.stdout == "node/n cordoned\n" + "evicting pod shop/p\n" * 4
    assert output.stderr.count("(will retry after 5s)") == 3
    assert "global timeout reached: 12s" in output.stderr
    assert world.now_ms == NOW_MS + 15_000


def test_drain_goes_past_budgets_when_told_to() -> None:
    world = _budgeted()
    output = _run(world, "drain n --disable-eviction")
    assert output.stdout == "node/n cordoned\npod/p deleted\nnode/n drained\n"


def test_certificates_are_approved_once() -> None:
    request = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "jane", "uid": "u"},
        "spec": {
            "request": "eA==",
            "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"],
        },
        "status": {},
    }
    world = _world([request])
    name = "certificatesigningrequest.certificates.k8s.io/jane"
    assert _run(world, "certificate approve jane").stdout == f"{name} approved\n"
    assert _run(world, "certificate approve jane").stdout == f"{name} approved\n"
    output = _run(world, "certificate deny jane")
    assert output.stderr == 'error: certificate signing request "jane" is already Approved\n'


def test_diff_exits_one_for_differences_and_more_for_errors() -> None:
    world = _world()
    _run(world, "apply -f -", MAP.format(name="a", value="1"))
    assert _run(world, "diff -f -", MAP.format(name="a", value="1")) == Output()
    output = _run(world, "diff -f -", MAP.format(name="a", value="2"))
    assert output.exit_code == 1
    assert '-  a: "1"\n+  a: "2"\n' in output.stdout
    assert _run(world, "diff -f -", MAP.format(name="new", value="2")).stdout.count("\n+") > 5
    assert _run(world, "diff -f nope.yaml").exit_code == 2


def test_diff_words_an_item_without_a_version_as_any_error() -> None:
    """As the real binary does (tests.golden.live_kubectl, seed 3), where apply leaves the prefix out."""
    bad = "kind: List\nitems:\n- kind: Pod\n  metadata: {name: x}\n"
    said = "unable to get type info from the object \"*unstructured.Unstructured\": Object 'apiVersion' is missing in "
    output = _run(_world(), "diff -f -", bad)
    assert output.stderr.startswith(f"error: {said}")
    assert output.exit_code == 2
    assert _run(_world(), "apply --validate=false -f -", bad).stderr.startswith(said)


def test_secrets_are_masked_in_diffs() -> None:
    world = _world()
    secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  a: {}\n  b: eA==\n"
    _run(world, "apply -f -", secret.format("eA=="))
    output = _run(world, "diff -f -", secret.format("eQ=="))
    assert "-  a: '*** (before)'\n+  a: '*** (after)'\n   b: '***'\n" in output.stdout


def test_set_env_takes_keys_of_config_maps() -> None:
    world = _world()
    _run(world, "create cm settings --from-literal=log.level=debug")
    _run(world, "create deployment web --image=nginx")
    output = _run(world, "set env deployment/web --from=configmap/settings")
    assert output.stdout == "deployment.apps/web env updated\n"
    assert output.stderr == "Warning: key log.level transferred to LOG_LEVEL\n"
    assert _run(world, "set env deployment/web --list").stdout == (
        "# Deployment web, container nginx\n# LOG_LEVEL from configmap settings, key log.level\n"
    )
    assert _run(world, "set env deployment/web --list --resolve").stdout.endswith("LOG_LEVEL=debug\n")


def test_scale_minds_its_precondition() -> None:
    world = _world()
    _run(world, "create deployment web --image=nginx --replicas=2")
    output = _run(world, "scale deployment web --replicas=5 --current-replicas=3")
    assert output.stderr == "error: Expected replicas to be 3, was 2\n"
    assert _run(world, "scale deployment web --replicas=5 --current-replicas=2").exit_code == 0
    live = world.store.get("deployments.apps", "shop", "web")
    assert live is not None
    assert live["spec"]["replicas"] == 5


def test_a_removed_pod_leaves_when_it_does_not_start() -> None:
    world = _world()
    output = _run(world, "run p --image=busybox -i --rm --restart=Never -- date")
    assert output.exit_code == 1
    assert output.stdout == 'pod "p" deleted from shop namespace\n'
    assert output.stderr == "error: timed out waiting for the condition\n"


def test_tokens_name_their_account() -> None:
    output = _run(_world(), "create token default --duration=1h")
    assert output.exit_code == 0
    assert output.stdout.count(".") == 2
    short = _run(_world(), "create token default --duration=1m")
    assert "may not specify a duration less than 10 minutes" in short.stderr


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("edit cm kube-root-ca.crt", "error: unable to launch an editor"),
        ("proxy", "error: proxy is not simulated"),
        ("completion bash", "error: completion is not simulated"),
        ("plugin list", "error: unable to find any kubectl plugins in your PATH"),
        ("create -f https://example.com/x.yaml", "Unable to connect to the server: "),
    ],
)
def test_what_this_terminal_cannot_do_is_refused_in_plain_words(line: str, text: str) -> None:
    output = _run(_world(), line)
    assert output.exit_code == 1
    assert output.stderr.startswith(text)


@pytest.mark.parametrize(
    ("old", "new", "hunks"),
    [
        ("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"),
        ("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"),
        ("a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n"),
        ("a\nb\nc\n", "a\nb\nb\nc\n", "@@ -1,3 +1,4 @@\n a\n b\n+b\n c\n"),
        (
            "".join(f"{number}\n" for number in range(20)),
            "".join(f"{number}\n" for number in range(20) if number not in (2, 15)),
            "@@ -1,6 +1,5 @@\n 0\n 1\n-2\n 3\n 4\n 5\n@@ -13,7 +12,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n",
        ),
        ("a\n", "a\n", ""),
    ],
)
def test_differences_look_like_those_of_diff(old: str, new: str, hunks: str) -> None:
    assert unified_diff(old, new) == hunks


def test_scale_takes_objects_of_files_as_they_are() -> None:
    """The real one asks for their scale at once, and stops at the first that has none."""
    files = {"two.yaml": MAP.format(name="a", value="1") + "---\n" + MAP.format(name="b", value="1")}
    output = _run(_world(), "scale -f two.yaml --replicas=2", files=files)
    assert output.stderr == "Error from server (NotFound): the server could not find the requested resource\n"

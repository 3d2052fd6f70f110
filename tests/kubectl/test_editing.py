"""`kubectl edit` with editors that edit by themselves, in a terminal; texts are those of kubectl 1.37.1."""

from __future__ import annotations

import re

import pytest

from env_core.world import Output
from tests.apiextensions.worlds import Town

MANIFEST = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.25"}]}
"""
STORED = 'A copy of your changes has been stored to "/tmp/kubectl-edit-N.yaml"\n'


@pytest.fixture
def town() -> Town:
    town = Town.booted()
    town.stdout("kubectl apply -f -", MANIFEST)
    return town


def printed(output: Output) -> tuple[int, str, str]:
    return output.exit_code, output.stdout, re.sub(r"kubectl-edit-\d+", "kubectl-edit-N", output.stderr)


@pytest.mark.parametrize(
    ("editor", "outcome"),
    [
        ("true", (0, "", "Edit cancelled, no changes made.\n")),
        ("false", (1, "", 'error: there was a problem with the editor "false"\n')),
        ("nosuch", (1, "", 'error: unable to launch the editor "nosuch"\n')),
        ("/no/such", (1, "", 'error: there was a problem with the editor "/no/such"\n')),
        ("sed -i s/nginx/redis/", (0, "deployment.apps/web edited\n", "")),
        (
            "sed -i s/kind:.*/kind:/",
            (1, "", f'error: deployments.apps "web" is invalid\n{STORED}error: Edit cancelled, no valid changes were saved.\n'),
        ),
        (
            "sed -i s/name:.web/name:\\ other/",
            (1, "", f"{STORED}error: At least one of apiVersion, kind and name was changed\n"),
        ),
    ],
)  # fmt: skip
def test_what_the_editor_leaves_is_sent(town: Town, editor: str, outcome: tuple[int, str, str]) -> None:
    assert printed(town.run(f"KUBE_EDITOR='{editor}' kubectl edit deploy web")) == outcome


def test_a_change_reaches_the_server_and_the_patch_is_shown(town: Town) -> None:
    line = "EDITOR='sed -i \"s/^  replicas: 2/  replicas: 3/\"' kubectl edit deploy web --output-patch"
    assert town.stdout(line) == 'Patch: {"spec":{"replicas":3}}\ndeployment.apps/web edited\n'
    assert town.stdout("kubectl get deploy web -o jsonpath={.spec.replicas}") == "3"
    assert town.stdout("ls /tmp") == ""


def test_an_exported_script_is_an_editor(town: Town) -> None:
    town.stdout("printf '%s\\n' '#!/bin/sh' 'sed -i s/1.25/1.26/ \"$1\"' > ed.sh && chmod +x ed.sh")
    assert town.stdout("export EDITOR=/root/ed.sh; kubectl edit deploy web") == "deployment.apps/web edited\n"
    image = "{.spec.template.spec.containers[0].image}"
    assert town.stdout(f"kubectl get deploy web -o jsonpath='{image}'") == "nginx:1.26"


def test_what_the_server_refuses_is_opened_again(town: Town) -> None:
    town.stdout(
        "printf '%s\\n' 'cat \"$1\" >> seen' 'sed -i \"s/^  replicas: .*/  replicas: -1/\" \"$1\"' > ed.sh && chmod +x ed.sh"
    )
    code, _, said = printed(town.run("KUBE_EDITOR='sh /root/ed.sh' kubectl edit deploy web"))
    assert (code, said) == (
        1,
        f'error: deployments.apps "web" is invalid\n{STORED}error: Edit cancelled, no valid changes were saved.\n',
    )
    assert (
        '# deployments.apps "web" was not valid:\n# * spec.replicas: Invalid value: -1: must be'
        in town.stdout("cat seen")
    )


def test_last_applied_and_new_objects_are_edited(town: Town) -> None:
    line = "KUBE_EDITOR='sed -i s/nginx/redis/' kubectl apply edit-last-applied deploy/web"
    assert town.stdout(line) == "deployment.apps/web edited\n"
    assert "image: redis:1.25" in town.stdout("kubectl apply view-last-applied deploy web")
    town.stdout("cat > cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    line = "KUBE_EDITOR='sed -i s/name:.a/name:\\ b/' kubectl create --edit -f cm.yaml"
    assert town.stdout(line) == "configmap/b created\n"


def test_without_an_editor_the_refusal_helps(town: Town) -> None:
    assert "set KUBE_EDITOR" in town.run("kubectl edit deploy web").stderr

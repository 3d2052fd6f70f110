"""The same incident and commands, here and on a real control plane. Row 10.

Runs where `KUBEDRILL_CONTROL_PLANE` names the kubeconfig of a real control plane that may be written to (etcd, API server,
controllers and scheduler; nodes are not needed), and kubectl's binary is installed. What only a kubelet or a service can answer
(logs, exec, top, curl) is left out on both sides. The namespace that it makes there is deleted afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

from env_core.scenarios.platform import ON_CALL
from env_core.tools.terminal import Terminal
from tests.bench import mix
from tests.bench.in_process import incident_of
from tests.bench.kubectl import binary
from tests.bench.measuring import Profile, collected, rounded, timed_ms
from tests.bench.report import Row

RATIO_BUDGET = 100.0
_SETTING = "KUBEDRILL_CONTROL_PLANE"
_NAMESPACE = "tron"
_APPLIED = ("configmaps", "secrets", "services", "deployments.apps", "networkpolicies.networking.k8s.io")
_NEEDS_KUBELET = (" logs ", " exec ", " top ", "curl ")
_SEED = 20_000
STEP_MS = 15_000
"""Of an agent's step. Source: KUBERNETES §5."""
_LIMIT_MS = 60_000


def rows(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Time an incident from its reset to its last command, on both."""
    kubeconfig, program = os.environ.get(_SETTING), binary()
    if not kubeconfig or program is None:
        why = f"no {_SETTING}" if program is not None else "no kubectl in the environment"
        what = "an incident and its commands, times faster than a real control plane"
        return [
            Row(
                id="10",
                what=what,
                unit="×",
                budget=RATIO_BUDGET,
                is_higher_better=True,
                measured=None,
                skipped=why,
            )
        ]
    lines = [
        line
        for at in range(mix.STEPS)
        if not any(word in (line := mix.command(at)) for word in _NEEDS_KUBELET)
    ]
    seeds = range(_SEED, _SEED + (2 if is_quick else 20))
    with collected(), profile.of("10"):
        typed_ms = _mean([timed_ms(partial(_typed, seed, lines)) for seed in seeds])
        played_ms = _mean([timed_ms(partial(_played, seed, lines)) for seed in seeds])
    real = _Real(program, kubeconfig)
    try:
        real_ms = timed_ms(lambda: real.play(_objects(), lines))
    finally:
        real.clean()
    lasts_ms = real_ms + len(lines) * STEP_MS
    return [
        Row(
            id="10a",
            what=f"an incident's set-up and {len(lines)} commands one after the other, times faster than a real control plane",
            unit="×",
            budget=RATIO_BUDGET,
            is_higher_better=True,
            measured=rounded(real_ms / typed_ms),
            details={"native_ms": typed_ms, "real_ms": rounded(real_ms)},
        ),
        Row(
            id="10b",
            what=f"the same with {STEP_MS // 1_000} s of the cluster's time after each command, which a real one has to wait for",
            unit="×",
            measured=rounded(lasts_ms / played_ms),
            details={"native_ms": played_ms, "real_ms": rounded(lasts_ms)},
        ),
    ]


def _mean(values: list[float]) -> float:
    return rounded(sum(values) / len(values))


def _typed(seed: int, lines: list[str]) -> None:
    """Begin an incident and type the commands; no time passes but what they take."""
    cluster = incident_of(mix.begin("hard", seed)).cluster
    terminal = Terminal(cluster, ON_CALL, namespace="default")
    for line in lines:
        output = terminal.run(line, lambda _argv: None, _LIMIT_MS)
        if output.exit_code:
            raise RuntimeError(f"{line}: {output.stderr}")


def _played(seed: int, lines: list[str]) -> None:
    """Play the incident: time passes with every step, and each one is observed and scored."""
    episode = mix.begin("hard", seed)
    for line in lines:
        mix.step(episode, line)


def _objects() -> list[dict[str, Any]]:
    """Return what the incident's author wrote, as a file would hold it."""
    store = incident_of(mix.begin("hard", _SEED)).cluster.store
    found = []
    for resource in _APPLIED:
        for entry in store.list(resource, _NAMESPACE):
            entry = json.loads(json.dumps(entry))
            meta = entry["metadata"]
            kept = {
                name: meta[name] for name in ("name", "namespace", "labels", "annotations") if name in meta
            }
            entry["metadata"] = kept
            entry.pop("status", None)
            for name in ("clusterIP", "clusterIPs"):
                entry.get("spec", {}).pop(name, None)
            if kept["name"] != "kube-root-ca.crt":
                found.append(entry)
    return found


class _Real:
    """The real cluster, through the real kubectl."""

    def __init__(self, program: Path, kubeconfig: str) -> None:
        self._program = str(program)
        self._environment = {
            "KUBECONFIG": kubeconfig,
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
        }

    def play(self, objects: list[dict[str, Any]], lines: list[str]) -> None:
        """Set the incident up, wait for its pods to be made, and type the commands."""
        self._kubectl("create", "namespace", _NAMESPACE)
        items = {"apiVersion": "v1", "kind": "List", "items": objects}
        self._kubectl("apply", "-f", "-", text=json.dumps(items))
        count = sum(entry["kind"] == "Deployment" for entry in objects)
        for _ in range(600):
            names = self._kubectl("-n", _NAMESPACE, "get", "pods", "-o", "name").split()
            if len(names) >= count:
                break
        for line in lines:
            self._kubectl(*line.split()[1:])

    def clean(self) -> None:
        """Delete the namespace."""
        self._kubectl("delete", "namespace", _NAMESPACE, "--wait=false", "--ignore-not-found")

    def _kubectl(self, *words: str, text: str = "") -> str:
        done = subprocess.run(
            [self._program, *words],
            env=self._environment,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

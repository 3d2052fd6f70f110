"""`kubectl get pods` of 40 pods: native, beside the real binary against a static server. Row 4."""

from __future__ import annotations

import os
import statistics
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from env_core.cluster import Cluster
from env_core.scenarios.platform import ON_CALL
from env_core.tools.terminal import Terminal
from tests.bench import crowds, static_api
from tests.bench.measuring import Profile, collected, rounded, spread, timed_ms
from tests.bench.report import Row

PODS = 40
RATIO_BUDGET = 300.0
_LIMIT_MS = 60_000
_COMMAND = f"kubectl -n {crowds.NAMESPACE} get pods"


def binary() -> Path | None:
    """Return the real kubectl, None where it is not installed."""
    path = Path(sysconfig.get_path("scripts")) / "kubectl"
    return path if path.exists() else None


def rows(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Time both; their outputs must be the same bytes, or the comparison is worth nothing."""
    cluster = crowds.crowd(PODS).fork()
    terminal = Terminal(cluster, ON_CALL, namespace="default")

    def native() -> str:
        return terminal.run(_COMMAND, lambda _argv: None, _LIMIT_MS).stdout

    native()
    with collected(), profile.of("4"):
        ours = spread([timed_ms(native) for _ in range(50 if is_quick else 1_000)])
    real_kubectl = binary()
    real: dict[str, float] | None = None
    is_same: bool | None = None
    if real_kubectl is not None:
        real, is_same = _real(real_kubectl, cluster, native(), 3 if is_quick else 25)
    ratio = rounded(real["p50"] / ours["p50"]) if real else None
    details = {"native": ours, "binary": real, "is_output_the_same": is_same}
    return [
        Row(
            id="4a",
            what=f"kubectl get pods, {PODS} pods, native, p50",
            unit="ms",
            budget=0.3,
            measured=ours["p50"],
            peer="the real binary",
            peer_measured=real["p50"] if real else None,
            details=details,
        ),
        Row(
            id="4b",
            what="the same, times faster than the real binary",
            unit="×",
            budget=RATIO_BUDGET,
            is_higher_better=True,
            measured=ratio,
            skipped="" if real else "no kubectl in the environment",
        ),
    ]


def _real(program: Path, cluster: Cluster, expected: str, count: int) -> tuple[dict[str, float], bool]:
    kind = cluster.registry.by_resource("pods")
    assert kind is not None
    objects = cluster.store.list("pods", crowds.NAMESPACE)
    body = static_api.table_of(kind, objects, cluster.now_ms)
    path = f"/api/v1/namespaces/{crowds.NAMESPACE}/pods"
    with static_api.serving(path, body) as url, tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"]}
        command = [str(program), "--server", url, "-n", crowds.NAMESPACE, "get", "pods"]
        printed: list[str] = []

        def run() -> None:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            printed.append(done.stdout)

        run()  # The first run fills the binary's discovery cache; the timed ones find it warm.
        values = [timed_ms(run) for _ in range(count)]
    return {**spread(values), "cold": rounded(statistics.fmean(values[:1]))}, all(
        text == expected for text in printed
    )

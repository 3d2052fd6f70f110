from __future__ import annotations

from env_core.programs import coredns
from tests.programs.served import Served
from tests.shell.recordings import records

FLOOR = 14


def test_a_corefile_is_refused_or_accepted_as_the_real_one_does() -> None:
    chosen = [
        record
        for record in records("coredns")
        if record["condition"]["kind"] in ("config_error", "config_missing", "healthy", "loop", "reload_ok")
    ]
    failures = []
    for record in chosen:
        served = Served(coredns.PROGRAM, "registry.k8s.io/coredns/coredns:v1.12.1", record)
        wanted = [entry["line"] for entry in record["log"] if entry["stream"] == "stderr"]
        found = [line.text for line in served.launch.log if line.stream == "stderr"]
        fails = record["exit"] == 1
        if wanted != found or (served.launch.exit is not None) != fails:
            failures.append(f"{record['id']}: want {wanted}, have {found} {served.launch.exit}")
    matched = len(chosen) - len(failures)
    print(f"coredns: {matched}/{len(chosen)}", *failures, sep="\n")
    assert matched >= FLOOR

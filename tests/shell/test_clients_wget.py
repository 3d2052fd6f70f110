from __future__ import annotations

from env_core.shell._clients import busybox_wget, wget
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from tests.shell.recorded_cluster import NOW_MS, cluster_for
from tests.shell.recordings import differences, records


def _process(record, flavour: str = "gnu") -> Process:
    clock = [NOW_MS]

    def advance(duration_ms: int) -> None:
        clock[0] += duration_ms

    return Process(
        record.get("stdin") or "", FileSystem(), {}, now_ms=lambda: clock[0], advance=advance, flavour=flavour
    )


def _replay(chosen, program):
    failures = []
    for record in chosen:
        argv = record["argv"][1:] if record["argv"][0] == "busybox" else record["argv"]
        output = program.run(_process(record), argv, cluster_for(record))
        found = differences(record, output.stdout, output.stderr, output.exit_code)
        if found:
            failures.append(f"{record['id']} {record['argv']}\n" + "\n".join(found))
    return failures


def test_wget_prints_what_the_real_one_printed() -> None:
    chosen = [
        record for record in records("wget")
        if record["program"] == "wget" and not record.get("tty") and not record["condition"]["kind"].startswith("tls_")
    ]  # fmt: skip
    failures = _replay(chosen, wget)
    matched = len(chosen) - len(failures)
    print(f"wget: {matched}/{len(chosen)}", *failures, sep="\n")
    assert matched >= 51


def test_busybox_wget_prints_what_the_real_one_printed() -> None:
    chosen = [
        record for record in records("busybox-upstream")
        if record["program"] == "busybox wget" and not record.get("tty") and not record["condition"]["kind"].startswith("tls_")
    ]  # fmt: skip
    failures = _replay(chosen, busybox_wget)
    matched = len(chosen) - len(failures)
    print(f"busybox wget: {matched}/{len(chosen)}", *failures, sep="\n")
    assert matched >= 41

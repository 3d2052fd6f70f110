from __future__ import annotations

import pytest

from env_core.shell._clients import busybox_nslookup, dig, nslookup
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from tests.shell.recorded_cluster import NOW_MS, cluster_for
from tests.shell.recordings import differences, records

PROGRAMS = {
    "nslookup": nslookup.run,
    "busybox nslookup": busybox_nslookup.run,
    "dig": dig.run,
    "host": dig.run_host,
    "getent": dig.run_getent,
}
FLOORS = {"nslookup": 21, "busybox nslookup": 35, "dig": 34, "host": 11, "getent": 16}
# CoreDNS shuffles the addresses of a name, and replies to parallel queries come in any order.
SHUFFLED = ("10.244.2.1",)


def _sorted_when_shuffled(text: str) -> str:
    if any(mark in text for mark in SHUFFLED):
        return "\n".join(sorted(text.split("\n")))
    return text


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_lookups_print_what_the_real_programs_printed(program: str) -> None:
    chosen = [
        record
        for family in ("dns", "busybox-upstream")
        for record in records(family)
        if record["program"] == program and not record.get("tty")
    ]
    failures = []
    for record in chosen:
        process = Process(
            record.get("stdin") or "", FileSystem(), {}, now_ms=lambda: NOW_MS, advance=lambda ms: None
        )
        argv = record["argv"][1:] if record["argv"][0] == "busybox" else record["argv"]
        output = PROGRAMS[program](process, argv, cluster_for(record))
        wanted = {**record, "stdout": _sorted_when_shuffled(record["stdout"] or "")}
        found = differences(wanted, _sorted_when_shuffled(output.stdout), output.stderr, output.exit_code)
        if found:
            failures.append(f"{record['id']} {record['argv']}\n" + "\n".join(found))
    matched = len(chosen) - len(failures)
    print(f"{program}: {matched}/{len(chosen)}\n", "\n".join(failures))
    assert matched >= FLOORS[program]

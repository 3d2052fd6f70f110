from __future__ import annotations

import pytest

from env_core.shell._clients import nc, ping, redis_cli
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from tests.shell.recorded_cluster import NOW_MS, cluster_for
from tests.shell.recordings import differences, records

PROGRAMS = {
    "nc": ("nettools", nc.run),
    "ping": ("nettools", ping.run),
    "busybox ping": ("nettools busybox-upstream", ping.run_busybox),
    "busybox nc": ("busybox-upstream", nc.run_busybox),
    "busybox telnet": ("busybox-upstream", nc.run_telnet),
    "redis-cli": ("redis", redis_cli.run),
}
FLOORS = {"nc": 24, "ping": 16, "busybox ping": 21, "busybox nc": 14, "busybox telnet": 3, "redis-cli": 22}


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_clients_print_what_the_real_programs_printed(program: str) -> None:
    families, run = PROGRAMS[program]
    chosen = [
        record
        for family in families.split()
        for record in records(family)
        if record["program"] == program and not record.get("tty")
    ]
    failures = []
    for record in chosen:
        user = "app" if record.get("uid") else "root"
        process = Process(
            record.get("stdin") or "",
            FileSystem(),
            {},
            now_ms=lambda: NOW_MS,
            advance=lambda ms: None,
            user=user,
        )
        argv = record["argv"][1:] if record["argv"][0] == "busybox" else record["argv"]
        output = run(process, argv, cluster_for(record))
        found = differences(record, output.stdout, output.stderr, output.exit_code)
        if found:
            failures.append(f"{record['id']} {record['argv']}\n" + "\n".join(found))
    matched = len(chosen) - len(failures)
    print(f"{program}: {matched}/{len(chosen)}\n", "\n".join(failures))
    assert matched >= FLOORS[program]

from __future__ import annotations

import re

from env_core.programs import redis
from tests.programs.served import Served
from tests.shell.recordings import is_same, records

REPLY_FLOOR = 79
START_FLOOR = 4
CONFIG_FLOOR = 12
_STAMP = re.compile(r"^\d+:([CM]) \d\d [A-Z][a-z]{2} \d{4} [\d:.]+ |^\{pid\}:([CM]) \{ts\} ")
# The kubelet sets vm.overcommit_memory, so that this warning does not appear on nodes.
_NOT_ON_NODES = "WARNING Memory overcommit must be enabled"


def _line(text: str) -> str:
    return _STAMP.sub(lambda found: f"{found[1] or found[2]} ", text).replace("pid={pid}", "pid=1")


def test_replies_are_as_recorded() -> None:
    good = total = 0
    failures = []
    for record in records("redis"):
        if record["program"] != "redis-server" or record["condition"]["kind"] not in (
            "healthy",
            "command_errors",
            "auth",
            "eviction",
            "config_error",
            "renamed_command",
            "debug_disabled",
        ):
            continue
        served = Served(redis.PROGRAM, "redis:7.0", record)
        if not served.ports:
            continue
        for step in record.get("trigger") or ():
            output = served.run(step["cmd"]) if "cmd" in step else None
            if output is None:
                continue
            total += 1
            if (
                is_same(step["stdout"], output.stdout, record)
                and output.exit_code == step["exit"]
                and output.stderr == step["stderr"]
            ):
                good += 1
            else:
                failures.append(
                    f"{record['id']} {step['cmd']}\n  want {step['stdout']!r} {step['stderr']!r}\n  have {output.stdout!r} {output.stderr!r}"
                )
    print(f"redis replies {good}/{total}", *failures, sep="\n")
    assert good >= REPLY_FLOOR


def test_a_healthy_server_starts_with_the_recorded_log() -> None:
    good = total = 0
    failures = []
    for record in records("redis"):
        if record["id"] not in ("redis.ok.noconf", "redis.ok.conf", "redis.auth", "redis.info"):
            continue
        total += 1
        served = Served(redis.PROGRAM, "redis:7.0", record)
        wanted = [
            _line(entry["line"])
            for entry in record["log"]
            if entry.get("phase") == "start" and _NOT_ON_NODES not in entry["line"]
        ]
        found = [_line(line.text) for line in served.launch.log]
        good += wanted == found
        if wanted != found:
            failures.append(f"{record['id']}\n  want {wanted}\n  have {found}")
    print(f"redis start {good}/{total}", *failures, sep="\n")
    assert good >= START_FLOOR


def test_a_wrong_configuration_is_refused_in_redis_own_words() -> None:
    chosen = [
        record
        for record in records("redis")
        if record["program"] == "redis-server"
        and record["condition"]["kind"] in ("config_error", "config_missing")
        and record["exit"] == 1
    ]
    good = 0
    failures = []
    for record in chosen:
        served = Served(redis.PROGRAM, "redis:7.0", record)
        wanted = [_line(entry["line"]) for entry in record["log"]]
        found = [_line(line.text) for line in served.launch.log]
        is_good = served.launch.exit is not None and wanted == found
        good += is_good
        if not is_good:
            failures.append(f"{record['id']}\n  want {wanted}\n  have {found}")
    print(f"redis configuration {good}/{len(chosen)}", *failures, sep="\n")
    assert good >= CONFIG_FLOOR

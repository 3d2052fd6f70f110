from __future__ import annotations

import re

from env_core.programs import nginx
from tests.programs.served import Served
from tests.shell.recordings import is_same, records

EMERGENCY_FLOOR = 29
ANSWER_FLOOR = 39
LOG_FLOOR = 48
_PREFIX = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(\w+)\] \d+#\d+: (?:\*\d+ )?")
_TEMPLATE = re.compile(r"^\{ts\} \[(\w+)\] \{pid\}#\{pid\}: (?:\*\{conn\} )?")
STARTS = {"config_error", "config_missing", "config_test", "usage_error"}
# What needs the network at start, certificates, or a body sent in pieces is not modelled.
OUT_OF_REACH = {
    "upstream_tls_self_signed", "upstream_tls_expired", "upstream_tls_wrong_name", "upstream_tls_to_http", "upstream_http_to_tls",
    "limit_req", "limit_conn", "client_timeout", "too_many_open_files", "disk_full", "buffered_to_file", "upstream_big_header",
    "upstream_not_http", "upstream_slow_body", "http_414", "http_400", "ingress_access_log", "no_live_upstreams", "worker_killed", "reload",
}  # fmt: skip
FILES = {
    "/usr/share/nginx/html/index.html": "<!DOCTYPE html>\n<html>\n<head><title>Shop</title></head>\n<body><h1>Shop</h1></body>\n</html>\n",
    "/usr/share/nginx/html/ok.txt": "ok\n",
    "/usr/share/nginx/html/assets/app.css": "",
    "/etc/nginx/htpasswd": "admin:$apr1$x\n",
}


def _line(text: str) -> str:
    text = _PREFIX.sub(r"[\1] ", text)
    text = _TEMPLATE.sub(r"[\1] ", text)
    return re.sub(r"\[(?:\{accessts\}|\d\d/[A-Z][a-z]{2}/\d{4}[^\]]*)\]", "[at]", text)


def _image(record) -> str:
    return "nginx:1.22"


def test_start_up_failures_have_nginx_own_text() -> None:
    chosen = [
        record
        for record in records("nginx")
        if record["condition"]["kind"] in STARTS
        and record["id"] != "nginx.emerg.conf.listen.addr"
        and record["exit"] == 1
        and record["argv"][1:2] == ["-g"]
    ]
    failures = []
    for record in chosen:
        served = Served(nginx.PROGRAM, _image(record), record)
        wanted = next((_line(entry["line"]) for entry in record["log"] if "[emerg]" in entry["line"]), "")
        found = [_line(line.text) for line in served.launch.log]
        if wanted not in found or served.launch.exit is None or served.launch.exit.code != record["exit"]:
            failures.append(f"{record['id']}: want {wanted!r}, have {found}")
    matched = len(chosen) - len(failures)
    print(f"nginx start: {matched}/{len(chosen)}", *failures, sep="\n")
    assert matched >= EMERGENCY_FLOOR


def test_answers_and_logs_are_as_recorded() -> None:
    answers = answers_good = logs = logs_good = 0
    failures = []
    for record in records("nginx"):
        if (
            record["condition"]["kind"] in OUT_OF_REACH
            or not record.get("trigger")
            or not any(entry.get("phase") == "run" for entry in record["log"])
        ):
            continue
        served = Served(nginx.PROGRAM, _image(record), record, FILES)
        is_whole = True
        for step in record["trigger"]:
            output = served.run(step["cmd"]) if "cmd" in step else None
            if output is None:
                is_whole = False
                continue
            answers += 1
            if is_same(step["stdout"], output.stdout, record) and output.exit_code == step["exit"]:
                answers_good += 1
            else:
                failures.append(
                    f"{record['id']} {step['cmd']}\n  want {step['stdout']!r}\n  have {output.stdout!r}"
                )
        if not is_whole:
            continue
        for stream in ("stdout", "stderr"):
            wanted = [
                _line(entry["line"])
                for entry in record["log"]
                if entry.get("phase") == "run" and entry["stream"] == stream
                for _ in range(entry.get("repeat") or 1)
            ]
            found = [_line(text) for each, text in served.log if each == stream]
            logs += 1
            if wanted == found:
                logs_good += 1
            else:
                failures.append(f"{record['id']} {stream}\n  want {wanted}\n  have {found}")
    print(f"nginx answers {answers_good}/{answers}, logs {logs_good}/{logs}", *failures, sep="\n")
    assert answers_good >= ANSWER_FLOOR
    assert logs_good >= LOG_FLOOR

"""One look of a probe or a hook: an HTTP, TCP or gRPC request to the pod, or a command in the container.

Source: k8s.io/kubernetes pkg/probe/{http,tcp,grpc,exec} and pkg/kubelet/lifecycle; texts in
tests/golden/l0/probe_texts.jsonl.gz and tests/golden/kubelet/event-texts.jsonl.gz.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from env_core.apiserver.request import ExecOptions
from env_core.node._host import SECOND_MS, Host
from env_core.node._records import PodRecord
from env_core.node.environment import expand
from env_core.programs import EMPTY, REFUSED, RESET, TIMEOUT, UNREACHABLE, Reply, Request, Run
from env_core.sim.timefmt import go_duration
from env_core.world import Object, Output

SUCCESS: Final = "success"
FAILURE: Final = "failure"
WARNING: Final = "warning"
ERROR: Final = "error"
USER_AGENT: Final = "kube-probe/1.37"
REDIRECTS_MAX: Final = 10
OUTPUT_MAX: Final = 10 << 10
_CANNOT_START: Final = "OCI runtime exec failed"
GRPC_TIMEOUT_ADVICE: Final = "context deadline exceeded"
_leading_sleep = re.compile(r"\s*(?:/bin/|/usr/bin/)?sleep\s+(\d+(?:\.\d+)?)(s|m|h)?\s*(?:;|&&|$)").match
_SHELLS: Final = ("sh", "bash", "ash", "dash", "/bin/sh", "/bin/bash", "/bin/ash", "/bin/dash")


@dataclass(frozen=True, slots=True)
class SlowOutput(Output):
    """What a command printed that took virtual time without letting the clock run."""

    took_ms: int = 0


class Answer(NamedTuple):
    """How a look ended: after `took_ms`, with an outcome, and its text."""

    outcome: str
    message: str = ""
    took_ms: int = 0
    is_steady: bool = False


class Executed(NamedTuple):
    """A command's output and how long it took; `is_over` when it had to be cut off."""

    output: Output
    took_ms: int
    is_over: bool = False


def ask(host: Host, record: PodRecord, container: Object, probe: Object) -> Answer:
    """Do what a probe says, once."""
    timeout_ms = max(probe.get("timeoutSeconds", 1), 1) * SECOND_MS
    run = host.runtime.run(record.uid, container["name"])
    if run is None:
        return Answer(FAILURE, "container is not running")
    if "exec" in probe:
        return _exec(host, run, probe["exec"].get("command") or [], timeout_ms)
    if "httpGet" in probe:
        return _http(host, record, run, container, probe["httpGet"], timeout_ms)
    if "tcpSocket" in probe:
        return _tcp(host, record, container, probe["tcpSocket"], timeout_ms)
    if "grpc" in probe:
        return _grpc(host, record, probe["grpc"], timeout_ms)
    return Answer(SUCCESS)


def execute(host: Host, run: Run, command: list[str], timeout_ms: int) -> Executed:
    """Run a command in a container; leading sleeps take their time without being run. 0 is no time limit."""
    slept_ms, rest = _without_sleep(command)
    if slept_ms:
        # What sleeps must be in the image all the same.
        tried = (command[0], "0") if len(command) == 2 else (*command[:2], ":")
        output = host.exec_in(run, ExecOptions(command=tried, container=run.container.name))
        if _CANNOT_START in output.stderr:
            return Executed(output, 0)
    if timeout_ms and slept_ms >= timeout_ms:
        return Executed(Output(), timeout_ms, is_over=True)
    if not rest:
        return Executed(Output(), slept_ms)
    output = host.exec_in(run, ExecOptions(command=tuple(rest), container=run.container.name))
    took_ms = slept_ms + (output.took_ms if isinstance(output, SlowOutput) else 0)
    if timeout_ms and took_ms >= timeout_ms:
        return Executed(output, timeout_ms, is_over=True)
    return Executed(output, took_ms)


def _without_sleep(command: list[str]) -> tuple[int, list[str]]:
    if len(command) == 2 and command[0] in ("sleep", "/bin/sleep", "/usr/bin/sleep"):
        found = _leading_sleep(" ".join(command))
        return (_span_ms(found), []) if found is not None else (0, command)
    if len(command) != 3 or command[0] not in _SHELLS or command[1] != "-c":
        return 0, command
    script, slept_ms = command[2], 0
    while (found := _leading_sleep(script)) is not None:
        slept_ms += _span_ms(found)
        script = script[found.end() :]
    if not slept_ms:
        return 0, command
    return slept_ms, [command[0], "-c", script.strip()] if script.strip() else []


def _span_ms(found: re.Match[str]) -> int:
    return int(float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2] or "s"] * SECOND_MS)


def _exec(host: Host, run: Run, command: list[str], timeout_ms: int) -> Answer:
    argv = [expand(word, run.container.env) for word in command]
    done = execute(host, run, argv, timeout_ms)
    if done.is_over:
        text = f'command timed out: "{" ".join(argv)}" timed out after {go_duration(timeout_ms)}'
        return Answer(FAILURE, text, done.took_ms)
    output = done.output
    if output.exit_code and _CANNOT_START in output.stderr:
        return Answer(ERROR, output.stderr.removeprefix("error: ").strip(), done.took_ms)
    text = (output.stdout + output.stderr)[:OUTPUT_MAX]
    return Answer(FAILURE if output.exit_code else SUCCESS, text, done.took_ms)


def port_number(container: Object, port: str | int) -> int | None:
    """Return a probe's port as a number; a name is looked up among the container's ports."""
    if isinstance(port, int):
        return port
    for each in container.get("ports") or ():
        if each.get("name") == port:
            number: int = each["containerPort"]
            return number
    return int(port) if port.isdigit() else None


def _source(host: Host, record: PodRecord) -> str:
    node = host.node(record.node)
    return node.address if node is not None else ""


def _address(record: PodRecord, given: str | None) -> str:
    return given or (record.sandbox.address if record.sandbox is not None else "")


def _is_steady(host: Host, run: Run, request: Request) -> bool:
    found = host.images.program_called(run.program)
    return found is not None and found.is_steady(run.container, request)


def _http(host: Host, record: PodRecord, run: Run, container: Object, get: Object, timeout_ms: int) -> Answer:
    number = port_number(container, get["port"])
    if number is None:
        return Answer(ERROR, f'port "{get["port"]}" not found')
    address = _address(record, get.get("host"))
    scheme = (get.get("scheme") or "HTTP").lower()
    path = get.get("path") or "/"
    path = path if path.startswith("/") else f"/{path}"
    headers = {"User-Agent": USER_AGENT, "Accept": "*/*"}
    for header in get.get("httpHeaders") or ():
        headers[header["name"]] = header["value"]
    base = f"{scheme}://{address}:{number}"
    spoken = next(
        (
            each.protocol
            for each in run.launch.listeners
            if each.port == number and run.listens_on(number, host.now_ms)
        ),
        "",
    )
    if scheme == "https" and spoken == "http":
        return Answer(FAILURE, f'Get "{base}{path}": http: server gave HTTP response to HTTPS client')
    shown = base + path
    took_ms = 0
    for _hop in range(REDIRECTS_MAX):
        request = Request(
            path=path,
            host=headers.get("Host", f"{address}:{number}"),
            headers=headers,
            source_ip=_source(host, record),
            protocol="https" if scheme == spoken == "https" else "http",
            timeout_ms=timeout_ms - took_ms,
        )
        reply = host.network.probe_pod(address, number, request, request.source_ip)
        took_ms += reply.latency_ms
        if reply.failure or took_ms >= timeout_ms:
            return _http_failure(
                shown,
                f"{address}:{number}",
                request.source_ip,
                reply,
                min(took_ms, timeout_ms),
                took_ms >= timeout_ms,
            )
        location = _header(reply, "location")
        if 300 <= reply.status < 400 and location and reply.status in (301, 302, 303, 307, 308):
            if "://" in location and location.split("://", 1)[1].split("/", 1)[0].split(":")[0] != address:
                return Answer(
                    WARNING,
                    f"Probe terminated redirects, Response body: {reply.body[:OUTPUT_MAX]}",
                    _late(took_ms),
                )
            path = "/" + location.split("://", 1)[1].partition("/")[2] if "://" in location else location
            shown = path
            continue
        return _http_answer(host, run, request, reply, took_ms)
    return Answer(FAILURE, f'Get "{path}": stopped after 10 redirects', _late(took_ms))


def _late(took_ms: int) -> int:
    # What comes within a few milliseconds is taken as at once: no entry of its own on the agenda.
    return took_ms if took_ms > 50 else 0


def _http_answer(host: Host, run: Run, request: Request, reply: Reply, took_ms: int) -> Answer:
    body = reply.body[:OUTPUT_MAX]
    if 300 <= reply.status < 400:
        return Answer(WARNING, f"Probe terminated redirects, Response body: {body}", _late(took_ms))
    if 200 <= reply.status < 300:
        return Answer(SUCCESS, body, _late(took_ms), _is_steady(host, run, request))
    return Answer(FAILURE, f"HTTP probe failed with statuscode: {reply.status}", _late(took_ms))


def _http_failure(url: str, target: str, source: str, reply: Reply, took_ms: int, is_over: bool) -> Answer:
    if is_over or reply.failure == TIMEOUT:
        why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    elif reply.failure == REFUSED:
        why = f"dial tcp {target}: connect: connection refused"
    elif reply.failure == UNREACHABLE:
        why = f"dial tcp {target}: connect: no route to host"
    elif reply.failure == RESET:
        why = f"read tcp {source}:40000->{target}: read: connection reset by peer"
    elif reply.failure == EMPTY:
        why = "EOF"
    else:
        why = reply.detail or reply.failure
    return Answer(FAILURE, f'Get "{url}": {why}', _late(took_ms))


def _header(reply: Reply, name: str) -> str:
    for key, value in reply.headers:
        if key.lower() == name:
            return value
    return ""


def _tcp(host: Host, record: PodRecord, container: Object, probe: Object, timeout_ms: int) -> Answer:
    number = port_number(container, probe["port"])
    if number is None:
        return Answer(ERROR, f'port "{probe["port"]}" not found')
    address = _address(record, probe.get("host"))
    request = Request(protocol="tcp", source_ip=_source(host, record), timeout_ms=timeout_ms)
    reply = host.network.request_pod(address, number, request, request.source_ip)
    target = f"{address}:{number}"
    if reply.failure == REFUSED:
        return Answer(FAILURE, f"dial tcp {target}: connect: connection refused")
    if reply.failure == UNREACHABLE:
        return Answer(FAILURE, f"dial tcp {target}: connect: no route to host")
    if reply.failure == TIMEOUT and reply.latency_ms >= timeout_ms:
        return Answer(FAILURE, f"dial tcp {target}: i/o timeout", timeout_ms)
    # A port that is open stays open until the run ends.
    return Answer(SUCCESS, is_steady=True)


def _grpc(host: Host, record: PodRecord, probe: Object, timeout_ms: int) -> Answer:
    number, service = probe["port"], probe.get("service") or ""
    address = _address(record, None)
    request = Request(
        method="POST",
        path="/grpc.health.v1.Health/Check",
        protocol="grpc",
        body=service,
        headers={"User-Agent": USER_AGENT},
        source_ip=_source(host, record),
        timeout_ms=timeout_ms,
    )
    reply = host.network.request_pod(address, number, request, request.source_ip)
    if reply.failure in (REFUSED, UNREACHABLE, TIMEOUT, RESET, EMPTY):
        span = go_duration(timeout_ms)
        if reply.failure == TIMEOUT:
            return Answer(FAILURE, f"timeout: health rpc did not complete within {span}", timeout_ms)
        text = f'timeout: failed to connect service "{address}:{number}" within {span}: {GRPC_TIMEOUT_ADVICE}'
        return Answer(FAILURE, text, timeout_ms)
    if reply.failure or reply.detail:
        return Answer(FAILURE, f"error: health rpc probe failed: {reply.detail or reply.failure}")
    if reply.latency_ms >= timeout_ms:
        return Answer(
            FAILURE, f"timeout: health rpc did not complete within {go_duration(timeout_ms)}", timeout_ms
        )
    state = reply.body.strip() or "SERVING"
    if state != "SERVING":
        return Answer(FAILURE, f'service unhealthy (responded with "{state}")')
    return Answer(SUCCESS)

"""curl 7.88.1: transfers of HTTP resources, and the errors of everything that can be in the way."""

from __future__ import annotations

from typing import Final

from env_core.shell._clients import _curl_output, _curl_texts, _url
from env_core.shell._clients._curl_options import OptionProblem, Options, parse
from env_core.shell._clients._curl_session import Session
from env_core.shell._clients._curl_tls import ADVICE
from env_core.shell._clients._curl_transfer import Transfer
from env_core.shell._clients._globs import GlobProblem, expand
from env_core.shell._clients._url import UrlProblem
from env_core.shell._clients._wire import Wire, sleep
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_TRANSIENT_CODES: Final = (5, 6, 28)
_TRANSIENT_STATUSES: Final = (408, 429, 500, 502, 503, 504)
_UNTRUSTED: Final = 60
_MALFORMED: Final = "URL using bad/illegal format or missing URL"


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run curl with an argv (its name first).

    Source: tests/golden/programs/curl.
    """
    try:
        options = parse(argv[1:])
    except OptionProblem as problem:
        return Output("", problem.text, 2)
    if options.has("version"):
        return Output(_curl_texts.VERSION)
    if options.has("help"):
        return Output(_curl_texts.HELP)
    if not options.urls:
        return Output("", OptionProblem("").text, 2)
    session = Session(process, wire, options)
    bad = next(
        (entry for entry in options.all("resolve") if not entry.startswith("-") and entry.count(":") < 2),
        None,
    )
    if bad is not None:
        code, text = 49, f"Couldn't parse CURLOPT_RESOLVE entry '{bad}'"
        return Output("", "" if not _shows(options) else f"curl: ({code}) {text}\n", code)
    for entry in options.all("resolve"):
        session.tell(f"Added {entry} to DNS cache")
    code = 0
    for position, text in enumerate(options.urls):
        code = _fetch_all(session, text, position)
        if session.is_deadline_over or (code and options.has("fail-early")):
            break
    return Output("".join(session.out), "".join(session.err), code)


def _shows(options: Options) -> bool:
    return not options.has("silent") or options.has("show-error")


def _fetch_all(session: Session, text: str, position: int) -> int:
    options = session.options
    if options.has("globoff"):
        urls = [text]
    else:
        try:
            urls = expand(text)
        except GlobProblem as problem:
            if _shows(options):
                session.err.append(f"curl: (3) {problem.text}:\n{text}\n{' ' * (problem.position - 1)}^\n")
            return 3
    code = 0
    for url in urls:
        code = _fetch(session, url, position)
    return code


def _fetch(session: Session, text: str, position: int) -> int:
    options = session.options
    try:
        if not text:
            raise UrlProblem(text)
        url = _url.parse(text)
    except UrlProblem:
        if _shows(options):
            session.err.append(f"curl: (3) {_MALFORMED}\n")
        return 3
    output = options.outputs[position] if position < len(options.outputs) else ""
    if output is None:
        output = url.path.partition("?")[0].rpartition("/")[2]
        if not output:
            session.err.append("curl: Remote file name has no length!\n")
            return 23
    if output:
        _truncate(session.process, output)
    retries = options.number("retry", 0)
    attempt = 0
    while True:
        transfer = Transfer(session, url, output)
        transfer.run()
        if transfer.code and transfer.message and _shows(options):
            session.err.append(f"curl: ({transfer.code}) {transfer.message}\n")
            if transfer.code == _UNTRUSTED:
                session.err.append(ADVICE)
        why = _transient(options, transfer)
        if attempt >= retries or not why or session.is_deadline_over:
            break
        delay_ms = _delay_ms(options, transfer, attempt)
        if not options.has("silent"):
            left = retries - attempt
            session.err.append(
                f"Warning: Problem: {why}. Will retry in {delay_ms // 1000} seconds. {left} retries left.\n"
            )
        if sleep(session.process, delay_ms):
            session.is_deadline_over = True
            break
        attempt += 1
    _write_out(session, transfer, text)
    return transfer.code


def _truncate(process: Process, output: str) -> None:
    if output == "-":
        return
    try:
        process.fs.write(process.path(output), "", process.now_ms())
    except ShellFileError:
        return


def _transient(options: Options, transfer: Transfer) -> str:
    """Return why a transfer is worth another try, "" when it is not."""
    if transfer.code in _TRANSIENT_CODES:
        return "timeout"
    if transfer.code == 7 and options.has("retry-connrefused"):
        return "connection refused"
    if transfer.status in _TRANSIENT_STATUSES and transfer.code in (0, 22):
        return "HTTP error"
    if transfer.code and options.has("retry-all-errors"):
        return "(retrying all errors)"
    return ""


def _delay_ms(options: Options, transfer: Transfer, attempt: int) -> int:
    after = next((value for name, value in transfer.headers if name.lower() == "retry-after"), "")
    if transfer.status and after.isdigit():
        return int(after) * 1000
    fixed = options.number("retry-delay", 0)
    return fixed * 1000 if fixed else min(1000 << attempt, 600_000)


def _write_out(session: Session, transfer: Transfer, given: str) -> None:
    template = session.options.text("write-out")
    if not template:
        return
    if template.startswith("@"):
        try:
            template = session.process.fs.read(session.process.path(template[1:]))
        except ShellFileError:
            return

    def seconds(milliseconds: int) -> str:
        return f"{milliseconds / 1000:.6f}"

    total_ms = max(transfer.elapsed_ms, 1)
    status = f"{transfer.status:03d}"
    known = {
        "http_code": status, "response_code": status, "http_connect": "000", "exitcode": str(transfer.code),
        "errormsg": transfer.message, "time_namelookup": seconds(transfer.name_ms), "time_connect": seconds(transfer.connect_ms),
        "time_appconnect": seconds(0), "time_pretransfer": seconds(transfer.connect_ms),
        "time_starttransfer": seconds(transfer.start_ms), "time_total": seconds(transfer.elapsed_ms),
        "time_redirect": seconds(transfer.redirect_ms), "size_download": str(transfer.received),
        "size_upload": str(transfer.sent), "size_header": str(transfer.header_size), "size_request": str(transfer.request_size),
        "speed_download": str(transfer.received * 1000 // total_ms), "speed_upload": str(transfer.sent * 1000 // total_ms),
        "num_redirects": str(transfer.redirects), "num_connects": str(transfer.new_connections),
        "num_headers": str(len(transfer.headers)), "url": given, "url_effective": str(transfer.url),
        "content_type": next((value for name, value in transfer.headers if name.lower() == "content-type"), ""),
        "remote_ip": transfer.address, "remote_port": str(transfer.url.port) if transfer.address else "0",
        "local_ip": session.wire.own_address if transfer.address else "", "local_port": "43210" if transfer.address else "0",
        "scheme": transfer.url.scheme.upper(), "method": transfer.method, "ssl_verify_result": "0",
        "proxy_ssl_verify_result": "0", "http_version": transfer.http_version if transfer.status else "0",
        "redirect_url": next((str(transfer.url.joined(value)) for name, value in transfer.headers if name.lower() == "location"), ""),
        "filename_effective": transfer.output or "", "urlnum": "0", "referer": session.options.text("referer"),
    }  # fmt: skip
    text, complaints = _curl_output.written(template, known)
    session.out.append(text)
    session.err.append(complaints)

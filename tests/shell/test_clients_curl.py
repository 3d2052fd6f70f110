from __future__ import annotations

from env_core.shell._clients import curl
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from tests.shell.recorded_cluster import NOW_MS, cluster_for
from tests.shell.recordings import differences, records

PRODUCIBLE_TLS = {
    "https_to_http_port",
    "tls_closed_in_handshake",
    "tls_reset_in_handshake",
    "tls_handshake_timeout",
}
FLOOR = 214


def _is_producible(record) -> bool:
    kind = record["condition"]["kind"]
    is_tls = (
        kind.startswith(("tls_", "mtls_", "ca_file"))
        or kind == "http_to_https_port"
        or record["id"].startswith("curl.tls.redirect")
    )
    return not record.get("tty") and (not is_tls or kind in PRODUCIBLE_TLS)


def replay(record):
    """Run a recorded command line and return what it left and how long it took."""
    clock = [NOW_MS]

    def advance(duration_ms: int) -> None:
        clock[0] += duration_ms

    files = FileSystem({"/data/order.json": '{"sku":"A-100","qty":2}', "/data/big.bin": "\0" * 3_000_000})
    process = Process(
        record.get("stdin") or "",
        files,
        dict(record.get("env") or {}),
        now_ms=lambda: clock[0],
        advance=advance,
    )
    return curl.run(process, record["argv"], cluster_for(record))


def test_curl_prints_what_the_real_one_printed() -> None:
    failures = []
    chosen = [record for record in records("curl") if _is_producible(record)]
    for record in chosen:
        output = replay(record)
        found = differences(record, output.stdout, output.stderr, output.exit_code)
        if found:
            failures.append(f"{record['id']} {record['argv']}\n" + "\n".join(found))
    matched = len(chosen) - len(failures)
    print(f"curl: {matched}/{len(chosen)}", *failures, sep="\n")
    assert matched >= FLOOR

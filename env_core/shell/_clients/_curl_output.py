"""What curl writes beside the body: the progress meter, and the --write-out text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

HEADER: Final = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)
START: Final = "\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"
_NO_TIME: Final = "--:--:--"

_NAMES: Final = (
    "certs content_type errormsg exitcode filename_effective ftp_entry_path header_json http_code"
    " http_connect http_version json local_ip local_port method num_certs num_connects num_headers"
    " num_redirects onerror proxy_ssl_verify_result redirect_url referer remote_ip remote_port"
    " response_code scheme size_download size_header size_request size_upload speed_download"
    " speed_upload ssl_verify_result stderr stdout time_appconnect time_connect time_namelookup"
    " time_pretransfer time_redirect time_starttransfer time_total url url_effective urlnum"
)
VARIABLES: Final = frozenset(_NAMES.split())


def clock(seconds: int) -> str:
    """Return a span as the meter shows it."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def amount(number: int, width: int = 5) -> str:
    """Return a number of bytes in five columns: 12345, 123k, 12.3M.

    Source: curl lib/progress.c max5data.
    """
    if number < 100_000:
        text = str(number)
    elif number < 10_000 * 1024:
        text = f"{number // 1024}k"
    elif number < 100 * 1024 * 1024:
        text = f"{number // (1 << 20)}.{number % (1 << 20) * 10 // (1 << 20)}M"
    else:
        text = f"{number // (1 << 20)}M"
    return text.rjust(width)


def tick(second: int) -> str:
    """Return the meter's line after `second` seconds without a byte."""
    spent = clock(second).rjust(8)
    return f"\r  0     0    0     0    0     0      0      0 {_NO_TIME}  {spent.strip()} {_NO_TIME}     0"


def ticks(spent_ms: int) -> str:
    """Return the lines that a wait of `spent_ms` draws, one per second, without the last state."""
    return "".join(tick(second) for second in range(1, spent_ms // 1000 + 1))


def final(received: int, expected: int | None, sent: int, spent_ms: int) -> str:
    """Return the meter's last line (without its line end) for a transfer."""
    total = (expected if expected is not None else received) + sent
    done = received + sent
    share = done * 100 // total if total else 0
    received_share = received * 100 // expected if expected else (100 if received and expected is None else 0)
    sent_share = 100 if sent else 0
    rate = received * 1000 // max(spent_ms, 1)
    up_rate = sent * 1000 // max(spent_ms, 1)
    seconds = spent_ms // 1000
    if seconds and received:
        whole = total // max(rate + up_rate, 1)
        times = f"{clock(whole).rjust(8)} {clock(seconds).rjust(8)} {clock(max(whole - seconds, 0)).rjust(8)}"
    elif seconds:
        times = f"{_NO_TIME} {clock(seconds).rjust(8)} {_NO_TIME}"
    else:
        times = f"{_NO_TIME} {_NO_TIME} {_NO_TIME}"
    speed = amount(rate + up_rate if sent else rate)
    return (
        f"\r{share:3d} {amount(total)}  {received_share:3d} {amount(received)}  {sent_share:3d} {amount(sent)}  "
        f"{amount(rate)}  {amount(up_rate)} {times} {speed}"
    )


def written(template: str, known: Mapping[str, str]) -> tuple[str, str]:
    """Return a --write-out text filled in, and the complaints about unknown variables."""
    out: list[str] = []
    complaints: list[str] = []
    position = 0
    while position < len(template):
        character = template[position]
        following = template[position + 1 : position + 2]
        if character == "%" and following == "{":
            end = template.find("}", position)
            if end == -1:
                out.append("%{")
                position += 2
                continue
            name = template[position + 2 : end]
            if name == "json":
                out.append(json.dumps(dict(known), separators=(",", ":")))
            elif name in VARIABLES:
                out.append(known.get(name, ""))
            else:
                complaints.append(f"curl: unknown --write-out variable: '{name}'\n")
            position = end + 1
        elif character == "%" and following == "%":
            out.append("%")
            position += 2
        elif character == "\\" and following in ("n", "t", "r"):
            out.append({"n": "\n", "t": "\t", "r": "\r"}[following])
            position += 2
        else:
            out.append(character)
            position += 1
    return "".join(out), "".join(complaints)

"""OpenSSL 3.0's command line: s_client, x509, verify, version.

Source: tests/golden/programs/nettools (openssl.*).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.objects.x509 import Certificate, CertificateProblem, certificates
from env_core.shell._clients import _openssl_client, _tls
from env_core.shell._clients._openssl_certificate import printed
from env_core.shell._clients._wire import Wire
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

VERSION: Final = "OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)\n"
THREAD: Final = "407721C9F07F0000"
_SECOND_MS: Final = 1000


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run openssl."""
    name = argv[1] if len(argv) > 1 else ""
    command = _COMMANDS.get(name)
    if command is None:
        return Output("", f"Invalid command '{name}'; type \"help\" for a list.\n", 1)
    return command(process, argv[2:], wire)


def _version(_process: Process, _words: list[str], _wire: Wire) -> Output:
    return Output(VERSION)


def _read(process: Process, path: str) -> tuple[Certificate, ...] | str:
    """Return the certificates of a file ("" is standard input), or the lines that say why there are none."""
    if not path:
        try:
            found = certificates(process.stdin)
        except CertificateProblem:
            found = ()
        return found or "Could not read certificate from <stdin>\nUnable to load certificate\n"
    try:
        text = process.fs.read(process.path(path))
    except ShellFileError as error:
        return (
            f"Could not open file or uri for loading certificate from {path}\n"
            f"{THREAD}:error:16000069:STORE routines:ossl_store_get0_loader_int:unregistered scheme:"
            "../crypto/store/store_register.c:237:scheme=file\n"
            f"{THREAD}:error:80000002:system library:file_open:{error.reason}:"
            f"../providers/implementations/storemgmt/file_store.c:266:calling stat({path})\n"
            "Unable to load certificate\n"
        )
    try:
        found = certificates(text)
    except CertificateProblem:
        found = ()
    return found or f"Could not read certificate from {path}\nUnable to load certificate\n"


def _x509(process: Process, words: list[str], _wire: Wire) -> Output:
    path = _value(words, "-in")
    found = _read(process, path)
    if isinstance(found, str):
        return Output("", found, 1)
    one = found[0]
    out, err = printed(one, words)
    code = 0
    if "-checkend" in words:
        text = _value(words, "-checkend")
        seconds = int(text) if text.isdecimal() else 0
        is_over = process.now_ms() + seconds * _SECOND_MS > one.not_after_ms
        out += f"Certificate will {'' if is_over else 'not '}expire\n"
        code = int(is_over)
    return Output(out, err, code)


def _verify(process: Process, words: list[str], _wire: Wire) -> Output:
    roots_path = _value(words, "-CAfile")
    roots = _tls.authorities(process, roots_path) or ()
    between: tuple[Certificate, ...] = ()
    untrusted = _value(words, "-untrusted")
    if untrusted:
        read = _read(process, untrusted)
        between = () if isinstance(read, str) else read
    files = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not word.startswith("-") and before not in ("-CAfile", "-untrusted", "-CApath", "-purpose")
    ]
    out, err, code = "", "", 0
    for file in files:
        found = _read(process, file)
        if isinstance(found, str):
            return Output(out, err + found, 2)
        checked = _tls.verify((found[0], *between), roots, process.now_ms())
        if not checked.code:
            out += f"{file}: OK\n"
            continue
        name = _tls.shown_name(checked.path[checked.depth].subject)
        err += (
            f"{name}\nerror {checked.code} at {checked.depth} depth lookup: {_tls.REASONS[checked.code]}\n"
            f"error {file}: verification failed\n"
        )
        code = 2
    return Output(out, err, code)


def _value(words: list[str], name: str, default: str = "") -> str:
    at = words.index(name) if name in words else -1
    return words[at + 1] if 0 <= at < len(words) - 1 else default


_COMMANDS: Final[dict[str, Callable[[Process, list[str], Wire], Output]]] = {
    "s_client": _openssl_client.run,
    "verify": _verify,
    "version": _version,
    "x509": _x509,
}

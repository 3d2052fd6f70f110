"""`kubectl create secret tls`."""

from __future__ import annotations

import re
from collections.abc import Callable

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS, name_argument
from env_core.kubectl.verbs.create.secret._secret import APPEND_HASH, create_secret, encoded
from env_core.world import Output

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\s.*?-----END \1-----", re.DOTALL)


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    if not args.text("key") or not args.text("cert"):
        raise Failure("key and cert must be specified")
    cert, key = _read(ctx, args.text("cert")), _read(ctx, args.text("key"))
    _check(cert, "certificate", lambda label: label == "CERTIFICATE")
    _check(key, "key", lambda label: label == "PRIVATE KEY" or label.endswith(" PRIVATE KEY"))
    return create_secret(
        ctx, args, name, "kubernetes.io/tls", {"tls.crt": encoded(cert), "tls.key": encoded(key)}
    )


def _read(ctx: Context, path: str) -> str:
    try:
        return ctx.files.read(path)
    except FileNotFoundError:
        raise Failure(f"Cannot read file {path}, open {path}: no such file or directory") from None


def _check(text: str, what: str, is_wanted: Callable[[str], bool]) -> None:
    """Refuse text without a PEM block of the right kind, as Go's tls.X509KeyPair does."""
    labels = [found.group(1) for found in _PEM.finditer(text)]
    if not labels:
        raise Failure(f"tls: failed to find any PEM data in {what} input")
    if any(is_wanted(label) for label in labels):
        return
    wanted = (
        '"CERTIFICATE" PEM block' if what == "certificate" else 'PEM block with type ending in "PRIVATE KEY"'
    )
    raise Failure(
        f"tls: failed to find {wanted} in {what} input after skipping PEM blocks of the following types: "
        f"[{' '.join(labels)}]"
    )


VERB = Verb(
    name="tls",
    usage="create secret tls NAME --cert=path/to/cert/file --key=path/to/key/file [--dry-run=server|client|none]",
    summary="Creates a secret with a certificate and its key.",
    flags=(
        *GENERATOR_FLAGS,
        APPEND_HASH,
        Flag("cert", str, words="File with the certificate."),
        Flag("key", str, words="File with the private key."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_secret_tls.go",
)

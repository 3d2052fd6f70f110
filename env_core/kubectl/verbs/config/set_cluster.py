"""`kubectl config set-cluster`: makes a cluster entry, or changes one."""

from __future__ import annotations

from base64 import b64encode

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import store
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.config._editing import config_of, only_word
from env_core.objects.problems import quoted
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    name = only_word(args)
    if not name:
        raise Failure("you must specify a non-empty cluster name")
    authority = args.text("certificate-authority")
    if args.is_set("insecure-skip-tls-verify") and authority:
        raise Failure("you cannot specify a certificate authority and insecure mode at the same time")
    embedded = _embedded(ctx, authority) if args.is_set("embed-certs") else ""
    config = config_of(ctx, args)
    entry = _changed(ctx, args, config.clusters.get(name) or {}, embedded)
    store(ctx, config.with_entry("clusters", name, entry))
    args.screen.out(f"Cluster {quoted(name)} set.\n")
    return args.screen.done()


def _embedded(ctx: Context, path: str) -> str:
    if not path:
        raise Failure("you must specify a --certificate-authority to embed")
    try:
        return b64encode(ctx.files.read(path).encode()).decode()
    except FileNotFoundError:
        raise Failure(
            f"could not stat certificate-authority file {path}: stat {path}: no such file or directory"
        ) from None


def _changed(ctx: Context, args: Args, before: Object, embedded: str) -> Object:
    """Return a cluster entry with the flags applied; a new server or trust replaces what went with the old one."""
    entry = dict(before)
    if "server" in args.given:
        entry |= {"server": args.text("server"), "tls-server-name": ""}
    if "tls-server-name" in args.given:
        entry["tls-server-name"] = args.text("tls-server-name")
    if "insecure-skip-tls-verify" in args.given:
        entry["insecure-skip-tls-verify"] = args.is_set("insecure-skip-tls-verify")
        if entry["insecure-skip-tls-verify"]:
            entry |= {"certificate-authority": "", "certificate-authority-data": ""}
    if "certificate-authority" in args.given:
        entry["insecure-skip-tls-verify"] = False
        if embedded:
            entry |= {"certificate-authority-data": embedded, "certificate-authority": ""}
        else:
            path = ctx.files.absolute(args.text("certificate-authority"))
            entry |= {"certificate-authority": path, "certificate-authority-data": ""}
    if "proxy-url" in args.given:
        entry["proxy-url"] = args.text("proxy-url")
    return {key: value for key, value in entry.items() if value}


VERB = Verb(
    name="set-cluster",
    usage=(
        "config set-cluster NAME [--server=server] [--certificate-authority=path/to/certificate/authority] "
        "[--insecure-skip-tls-verify=true] [--tls-server-name=example.com]"
    ),
    summary="Changes a cluster.",
    flags=(
        Flag("certificate-authority", str, words="Certificate authority file."),
        Flag("embed-certs", bool, words="Put the certificate into the kubeconfig."),
        Flag("insecure-skip-tls-verify", bool, words="Trust any server certificate."),
        Flag("proxy-url", str, words="Proxy to the cluster."),
        Flag("server", str, words="Address of the API server."),
        Flag("tls-server-name", str, words="Name to check the server certificate against."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config set_cluster.go",
    needs_config=False,
)

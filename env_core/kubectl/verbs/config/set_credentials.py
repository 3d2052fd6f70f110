"""`kubectl config set-credentials`: makes a user entry, or changes one."""

from __future__ import annotations

from base64 import b64encode

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import store
from env_core.kubectl.pairs import read_pairs
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag, Slice, Verb
from env_core.kubectl.verbs.config._editing import config_of
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_FILES = ("client-certificate", "client-key")
_MODES = ("IfAvailable", "Always", "Never")


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) != 1:
        raise Failure(f"unexpected args: [{' '.join(args.positional)}]")
    name = args.positional[0]
    provider, provider_removed = read_pairs(
        args.items("auth-provider-arg"), "auth-provider-arg", allows_removal=True
    )
    variables, variables_removed = read_pairs(args.items("exec-env"), "exec-env", allows_removal=True)
    _check(ctx, args, name)
    config = config_of(ctx, args)
    entry = _with_files(ctx, args, dict(config.users.get(name) or {}))
    _set_provider(args, entry, provider, provider_removed)
    _set_exec(args, entry, variables, variables_removed)
    store(ctx, config.with_entry("users", name, _with_secrets(args, entry)))
    args.screen.out(f"User {quoted(name)} set.\n")
    return args.screen.done()


def _check(ctx: Context, args: Args, name: str) -> None:
    if not name:
        raise Failure("you must specify a non-empty user name")
    if args.text("token") and (args.text("username") or args.text("password")):
        raise Failure(
            "you cannot specify more than one authentication method at the same time: "
            "--token, --username/--password"
        )
    if args.is_set("embed-certs"):
        if not any(args.text(flag) for flag in _FILES):
            raise Failure("you must specify a --client-certificate or --client-key to embed")
        for flag in _FILES:
            path = args.text(flag)
            try:
                ctx.files.read(path) if path else ""
            except FileNotFoundError:
                raise Failure(
                    f"could not stat {flag} file {path}: stat {path}: no such file or directory"
                ) from None
    mode = args.text("exec-interactive-mode")
    if "exec-interactive-mode" in args.given and mode not in _MODES:
        raise Failure("invalid interactive mode type, can be only IfAvailable, Never, Always")


def _with_files(ctx: Context, args: Args, entry: Object) -> Object:
    for flag in _FILES:
        if flag not in args.given:
            continue
        path = args.text(flag)
        if args.is_set("embed-certs"):
            data = b64encode(ctx.files.read(path).encode()).decode() if path else ""
            entry |= {f"{flag}-data": data, flag: ""}
        else:
            entry |= {flag: ctx.files.absolute(path), f"{flag}-data": ""}
    return entry


def _with_secrets(args: Args, entry: Object) -> Object:
    """Return the entry with token or password: setting one drops the other."""
    for flag in ("token", "username", "password"):
        if flag in args.given:
            entry[flag] = args.text(flag)
    if args.text("token"):
        entry |= {"username": "", "password": ""}
    elif args.text("username") or args.text("password"):
        entry["token"] = ""
    return {key: value for key, value in entry.items() if value}


def _set_provider(args: Args, entry: Object, pairs: dict[str, str], removed: list[str]) -> None:
    before = entry.get("auth-provider")
    name = args.text("auth-provider")
    if "auth-provider" in args.given and (before is None or before["name"] != name):
        before = {"name": name}
    if before is None:
        return
    kept = {key: value for key, value in (before.get("config") or {}).items() if key not in removed}
    config = dict(sorted({**kept, **pairs}.items()))
    entry["auth-provider"] = {"config": config or None, "name": before["name"]}


def _set_exec(args: Args, entry: Object, variables: dict[str, str], removed: list[str]) -> None:
    found = entry.get("exec")
    if "exec-command" in args.given:
        found = {**(found or {}), "command": args.text("exec-command"), "args": None}
    if found is None:
        return
    before = {row["name"]: row["value"] for row in found.get("env") or () if row["name"] not in removed}
    env = [{"name": key, "value": value} for key, value in {**before, **variables}.items()]
    version = (
        args.text("exec-api-version") if "exec-api-version" in args.given else found.get("apiVersion", "")
    )
    mode = args.text("exec-interactive-mode") or found.get("interactiveMode", "")
    is_told = (
        args.is_set("exec-provide-cluster-info")
        if "exec-provide-cluster-info" in args.given
        else found.get("provideClusterInfo", False)
    )
    entry["exec"] = {
        "command": found["command"],
        "args": list(args.items("exec-arg")) or found.get("args"),
        "env": env or None,
        "apiVersion": version,
        **({"interactiveMode": mode} if mode else {}),
        "provideClusterInfo": is_told,
    }


VERB = Verb(
    name="set-credentials",
    usage=(
        "config set-credentials NAME [--client-certificate=path/to/certfile] [--client-key=path/to/keyfile] "
        "[--token=bearer_token] [--username=basic_user] [--password=basic_password] "
        "[--auth-provider=provider_name] [--auth-provider-arg=key=value] [--exec-command=exec_command] "
        "[--exec-api-version=exec_api_version] [--exec-arg=arg] [--exec-env=key=value]"
    ),
    summary="Changes a user.",
    flags=(
        Flag("auth-provider", str, words="Authentication provider."),
        Flag("auth-provider-arg", Slice, words="KEY=VALUE for the provider."),
        Flag("client-certificate", str, words="Client certificate file."),
        Flag("client-key", str, words="Client key file."),
        Flag("embed-certs", bool, words="Put certificate and key into the kubeconfig."),
        Flag("exec-api-version", str, words="API version of the credential program."),
        Flag("exec-arg", Slice, words="Argument of the credential program."),
        Flag("exec-command", str, words="Program that prints credentials."),
        Flag("exec-env", Array, words="KEY=VALUE for the credential program."),
        Flag("exec-interactive-mode", str, words="IfAvailable, Always or Never."),
        Flag("exec-provide-cluster-info", bool, words="Tell the program about the cluster."),
        Flag("password", str, words="Password for basic authentication."),
        Flag("token", str, words="Bearer token."),
        Flag("username", str, words="User name for basic authentication."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config set_credentials.go",
    needs_config=False,
)

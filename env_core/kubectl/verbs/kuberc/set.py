"""`kubectl kuberc set`: changes the file of preferences."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import Args, Array, Flag, Verb
from env_core.kubectl.verbs.kuberc._file import kuberc_path, read_preferences, write_preferences
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_DEFAULTS, _ALIASES, _PLUGIN = "defaults", "aliases", "credentialplugin"
_ALL, _NONE, _SOME = "AllowAll", "DenyAll", "Allowlist"


def _run(ctx: Context, args: Args) -> Output:
    path, _ = kuberc_path(ctx, args)
    section = args.text("section")
    _check(args, section)
    try:
        preferences = dict(read_preferences(ctx, path))
    except FileNotFoundError:
        preferences = {}
    options = [_option(text) for text in args.items("option")]
    if section == _DEFAULTS:
        preferences[_DEFAULTS] = _with_defaults(args, preferences.get(_DEFAULTS) or [], options)
    elif section == _ALIASES:
        preferences[_ALIASES] = _with_alias(args, preferences.get(_ALIASES) or [], options)
    else:
        policy = args.text("policy")
        if policy == _SOME:
            preferences["credentialPluginAllowlist"] = _entries(args)
        preferences["credentialPluginPolicy"] = policy
    write_preferences(ctx, args, path, preferences)
    return args.screen.done()


def _check(args: Args, section: str) -> None:
    """Refuse flags that do not belong to the section.

    Raises:
        Failure: in the words of the real command.
    """
    name, has_arguments = args.text("name"), bool(args.items("prependarg") or args.items("appendarg"))
    if section not in (_DEFAULTS, _ALIASES, _PLUGIN):
        raise Failure(f'--section must be "{_DEFAULTS}", "{_ALIASES}", or "{_PLUGIN}", got: {section}')
    if section == _ALIASES and not name:
        raise Failure(f"--name is required when --section={_ALIASES}")
    if section == _DEFAULTS and name:
        raise Failure(f"--name should not be specified when --section={_DEFAULTS}")
    if section == _DEFAULTS and has_arguments:
        raise Failure(f"--prependarg and --appendarg are only valid for --section={_ALIASES}")
    if section != _PLUGIN:
        if not args.text("command"):
            raise Failure(f"--command is required when --section={_ALIASES} or --section={_DEFAULTS}")
        return
    policy, entries = args.text("policy"), args.items("allowlist-entry")
    if not policy:
        raise Failure(f"--policy is required when --section={_PLUGIN}")
    if policy not in (_ALL, _NONE, _SOME):
        raise Failure(f' --policy must be  "{_ALL}", "{_NONE}", or "{_SOME}", got: {policy}')
    if policy != _SOME and entries:
        raise Failure(f"--allowlist-entry may only be used when --section={_PLUGIN} and --policy={_SOME}")
    if policy == _SOME and not entries:
        raise Failure(f"--allowlist-entry is required when --section={_PLUGIN} and --policy={_SOME}")


def _option(text: str) -> Object:
    name, equals, value = text.partition("=")
    if not equals:
        raise Failure(f"invalid option format {quoted(text)}, expected flag=value")
    return {"name": name.lstrip("-"), "default": value}


def _with_defaults(args: Args, rows: list[Object], options: list[Object]) -> list[Object]:
    command = args.text("command")
    for index, row in enumerate(rows):
        if row.get("command") == command:
            if not args.is_set("overwrite"):
                raise Failure(
                    f"defaults for command {quoted(command)} already exist, use --overwrite to replace"
                )
            changed = {**row, "options": options or row.get("options")}
            return [*rows[:index], changed, *rows[index + 1 :]]
    return [*rows, {"command": command, "options": options or None}]


def _with_alias(args: Args, rows: list[Object], options: list[Object]) -> list[Object]:
    name = args.text("name")
    wanted: Object = {
        "name": name,
        "command": args.text("command"),
        "prependArgs": list(args.items("prependarg")),
        "appendArgs": list(args.items("appendarg")),
        "options": options,
    }
    for index, row in enumerate(rows):
        if row.get("name") == name:
            if not args.is_set("overwrite"):
                raise Failure(f"alias {quoted(name)} already exists, use --overwrite to replace")
            kept = {key: value or row.get(key) for key, value in wanted.items()}
            return [*rows[:index], _without_empty(kept), *rows[index + 1 :]]
    return [*rows, _without_empty(wanted)]


def _without_empty(alias: Object) -> Object:
    return {key: value for key, value in alias.items() if value}


def _entries(args: Args) -> list[Object]:
    entries: list[Object] = []
    errors: list[Exception] = []
    for text in args.items("allowlist-entry"):
        for pair in text.split(","):
            name, equals, value = pair.partition("=")
            if not equals:
                errors.append(Failure(f"improperly formatted allowlist entry: {quoted(pair)}"))
            elif name == "name":
                errors.append(Failure('allowlist entry field "name" is deprecated, use "command" instead'))
            elif name != "command":
                errors.append(Failure(f"unrecognized allowlist entry field: {quoted(name)}"))
            elif not value.strip():
                errors.append(Failure(f"empty value in allowlist entry for field {quoted(name)}"))
            else:
                entries.append({"command": value})
    raise_all(errors)
    return entries


VERB = Verb(
    name="set",
    usage="kuberc set --section (defaults|aliases) --command COMMAND",
    summary="Changes the preferences.",
    flags=(
        Flag("allowlist-entry", Array, words="Entry of the allow list."),
        Flag("appendarg", Array, words="Argument behind those given."),
        Flag("command", str, words="Command that the preference is for."),
        Flag("kuberc", str, words="Path of the preferences file."),
        Flag("name", str, words="Name of the alias."),
        Flag("option", Array, words="OPTION=VALUE."),
        Flag("overwrite", bool, words="Replace what is there."),
        Flag("policy", str, words="Policy for credential plugins."),
        Flag("prependarg", Array, words="Argument before those given."),
        Flag("section", str, words="defaults or aliases.", is_required=True),
    ),
    run=_run,
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/kuberc set.go",
)

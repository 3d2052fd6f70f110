"""The file of preferences: which one it is, reading it, and writing it.

Preferences are kept and shown; commands run as they are typed, whatever the file says.

Source: k8s.io/kubectl pkg/kuberc kuberc.go (LoadKuberc), marshal.go; what kubectl 1.37.1 prints.
"""

from __future__ import annotations

import posixpath
from typing import Any

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.objects.yamlin import YamlProblem, read_yaml
from env_core.objects.yamlout import to_yaml
from env_core.world import Object

VERSION = "kubectl.config.k8s.io/v1beta1"
KIND = "Preference"
_DEFAULT = ".kube/kuberc"
_APPLYING = "error occurred while applying preferences kuberc error kuberc: "
_ALIAS = ("name", "command", "prependArgs", "appendArgs", "options")


def kuberc_path(ctx: Context, args: Args) -> tuple[str, bool]:
    """Return the path of the preferences, and whether somebody chose it.

    Raises:
        Failure: when they are turned off, or the chosen file is not there.
    """
    chosen = args.text("kuberc")
    variable = ctx.launcher.variable("KUBERC") if ctx.launcher is not None else ""
    if variable == "off":
        if chosen:
            raise Failure("disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive")
        raise Failure("KUBERC is disabled via KUBERC=off environment variable")
    path = chosen or variable
    if not path:
        home = (ctx.launcher.variable("HOME") if ctx.launcher is not None else "") or "/root"
        return posixpath.join(home, _DEFAULT), False
    try:
        read_preferences(ctx, path)
    except FileNotFoundError:
        raise Failure(f"{_APPLYING}open {path}: no such file or directory", is_bare=True) from None
    return path, True


def read_preferences(ctx: Context, path: str) -> Object:
    """Return the preferences of a file.

    Raises:
        FileNotFoundError: when there is none.
        Failure: when it holds something else.
    """
    text = ctx.files.read(path)
    try:
        found = read_yaml(text)
    except YamlProblem:
        found = None
    if not isinstance(found, dict) or (found.get("apiVersion"), found.get("kind")) != (VERSION, KIND):
        raise Failure(
            f"{_APPLYING}no valid preferences found in {path}, use --v=5 to see details", is_bare=True
        )
    return found


def ordered(preferences: Object) -> Object:
    """Return preferences with their fields in the order of their Go type."""
    found: Object = {"kind": KIND, "apiVersion": VERSION}
    found["defaults"] = [
        {"command": row.get("command", ""), "options": _options(row) or None}
        for row in preferences.get("defaults") or ()
    ]
    found["aliases"] = [
        {
            name: _options(row) if name == "options" else row.get(name)
            for name in _ALIAS
            if name in ("name", "command") or row.get(name)
        }
        for row in preferences.get("aliases") or ()
    ]
    for name in ("credentialPluginPolicy", "credentialPluginAllowlist"):
        if preferences.get(name):
            found[name] = preferences[name]
    return found


def _options(row: Object) -> list[Any]:
    return [{"name": one.get("name"), "default": one.get("default")} for one in row.get("options") or ()]


def write_preferences(ctx: Context, args: Args, path: str, preferences: Object) -> None:
    """Write preferences to a file, and say so.

    Raises:
        Failure: when it cannot be written.
    """
    kept = {
        **preferences,
        "apiVersion": VERSION,
        "kind": KIND,
        "aliases": preferences.get("aliases") or None,
        "defaults": preferences.get("defaults") or None,
    }
    directory = posixpath.dirname(path) or "."
    try:
        ctx.files.makedirs(directory)
    except OSError as error:
        raise Failure(f"failed to create directory {directory}: {error}") from None
    try:
        ctx.files.write(path, to_yaml(kept))
    except OSError as error:
        raise Failure(f"failed to write kuberc file: {error}") from None
    args.screen.out(f"Updated {path}\n")

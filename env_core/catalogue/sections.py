"""The sections of the catalogue: what discovery finds of each sort."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from env_core import controllers, kinds, programs
from env_core.apiserver import admission, virtual
from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import Admission
from env_core.controllers import Controller
from env_core.discovery import discover
from env_core.episode import suites
from env_core.faults import all_families
from env_core.kubectl import command as kubectl
from env_core.kubectl.verb import Verb
from env_core.modifiers import all_modifiers
from env_core.programs import Program
from env_core.scheduler import plugins
from env_core.scheduler._plugin import Plugin
from env_core.shell import builtins
from env_core.shell.builtin import Builtin
from env_core.suites import Suite, Task
from env_core.suites.tron import scenarios as tron_scenarios


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the catalogue; `unrecorded` says what no recording vouches for."""

    name: str
    summary: str
    source: str = ""
    unrecorded: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One sort of entries, found by discovery."""

    name: str
    title: str
    entries: Callable[[], list[Entry]]


def _suites() -> list[Entry]:
    return [Entry(suite.id, f"{suite.summary} {len(suite.tasks)} tasks.") for suite in suites()]


def _tasks() -> list[Entry]:
    return [_task_entry(suite, task) for suite in suites() for task in suite.tasks if task.is_listed]


def _task_entry(suite: Suite, task: Task) -> Entry:
    return Entry(
        task.id, f"{task.description} {task.steps_max} steps, default seed {task.default_seed}.", suite.id
    )


def _scenarios() -> list[Entry]:
    return [
        Entry(name, f"[{entry.type}, {entry.difficulty}] {entry.summary}", entry.source)
        for name, entry in tron_scenarios().items()
    ]


def _families() -> list[Entry]:
    return [
        Entry(
            family.id,
            f"{family.summary} Faults: {', '.join(f'{entry.id} (level {entry.level})' for entry in family.faults)}.",
            family.source,
        )
        for family in sorted(all_families().values(), key=lambda family: family.id)
    ]


def _modifiers() -> list[Entry]:
    return [
        Entry(name, f"{entry.summary} ({entry.id})", entry.source) for name, entry in all_modifiers().items()
    ]


def _kinds() -> list[Entry]:
    declared = sorted(
        [*discover(kinds, "KIND", Kind).values(), *virtual.KINDS], key=lambda kind: (kind.group, kind.kind)
    )
    return [
        Entry(f"{kind.kind}.{kind.api_version}", _kind_summary(kind), kind.source, kind.unrecorded)
        for kind in declared
    ]


def _kind_summary(kind: Kind) -> str:
    names = f" ({', '.join(kind.short_names)})" if kind.short_names else ""
    parts = f"; {', '.join(kind.subresources)}" if kind.subresources else ""
    return f"{kind.plural}{names}{parts}"


def _admission() -> list[Entry]:
    found = sorted(
        discover(admission, "ADMISSION", Admission).values(), key=lambda plugin: (plugin.order, plugin.name)
    )
    return [
        Entry(
            plugin.name,
            f"{', '.join(plugin.operations)} of {', '.join(plugin.resources) or 'everything'}",
            plugin.source,
        )
        for plugin in found
    ]


def _controllers() -> list[Entry]:
    return [
        Entry(
            controller.name,
            f"watches {', '.join(dict.fromkeys(resource for resource, _ in controller.watches))}",
            controller.source,
        )
        for controller in discover(controllers, "CONTROLLER", Controller).values()
    ]


def _plugins() -> list[Entry]:
    found = sorted(
        discover(plugins, "PLUGIN", Plugin).values(), key=lambda plugin: (plugin.order, plugin.name)
    )
    return [
        Entry(
            plugin.name,
            " and ".join(
                word
                for word, has in (("filters", plugin.filter), ("scores", plugin.score))
                if has is not None
            )
            or "prepares",
            plugin.source,
        )
        for plugin in found
    ]


def _programs() -> list[Entry]:
    return [
        Entry(
            program.name,
            ", ".join(f"{image.repository}:{'|'.join(image.tags)}" for image in program.images) or "no image",
            program.source,
            program.unrecorded,
        )
        for program in discover(programs, "PROGRAM", Program).values()
    ]


def _verbs() -> list[Entry]:
    return [
        Entry(path, verb.summary, verb.source, verb.unrecorded) for path, verb in walk_verbs(kubectl.root())
    ]


def walk_verbs(verb: Verb, path: str = "") -> Iterator[tuple[str, Verb]]:
    """Yield every command below `verb` with its path ("rollout status"), groups before their members."""
    for name, inner in verb.subverbs.items():
        inner_path = f"{path} {name}".strip()
        yield inner_path, inner
        yield from walk_verbs(inner, inner_path)


def _builtins() -> list[Entry]:
    return [
        Entry(builtin.name, " ".join(builtin.aliases), builtin.source)
        for builtin in discover(builtins, "BUILTIN", Builtin).values()
    ]


SECTIONS = (
    Section("suites", "Suites", _suites),
    Section("tasks", "Official tasks", _tasks),
    Section("scenarios", "Scenarios of tron", _scenarios),
    Section("faults", "Fault families", _families),
    Section("modifiers", "Modifiers of faults", _modifiers),
    Section("kinds", "Resource kinds", _kinds),
    Section("admission", "Admission plugins, in order", _admission),
    Section("controllers", "Controllers", _controllers),
    Section("plugins", "Scheduler plugins, in order", _plugins),
    Section("programs", "Programs and their images", _programs),
    Section("verbs", "kubectl commands", _verbs),
    Section("builtins", "Shell programs", _builtins),
)

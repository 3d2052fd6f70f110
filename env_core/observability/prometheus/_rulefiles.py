"""Rule files: groups of alerting and recording rules, and what is wrong with a file.

Source: https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/ and
github.com/prometheus/prometheus model/rulefmt; texts recorded in tests/golden/promql/promtool.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import yaml

from env_core.objects.gotemplate import TemplateError
from env_core.observability.prometheus._templates import check_template
from env_core.observability.promql import ParseError, parse
from env_core.observability.promql._labels import NAME
from env_core.observability.promql._numbers import parse_duration_ms, quote

_GROUP_FIELDS: Final = ("name", "interval", "query_offset", "limit", "rules", "labels")
_RULE_FIELDS: Final = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_ALERTING_ONLY: Final = ("annotations", "for", "keep_firing_for")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. Texts are as they were written."""

    name: str
    is_alert: bool
    expr: str
    for_ms: int = 0
    keep_firing_ms: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rules that are evaluated together, one after the other. `interval_ms` is 0 for the server's own."""

    name: str
    rules: tuple[Rule, ...]
    interval_ms: int = 0
    limit: int = 0
    offset_ms: int = 0


class RuleFileError(Exception):
    """A rule file that does not load; `problems` are Prometheus's texts. `is_no_yaml` tells that it is no YAML at all."""

    def __init__(self, problems: list[str], *, is_no_yaml: bool = False) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.is_no_yaml = is_no_yaml


class _WrongType(Exception):
    """A value of another type than the field's."""


@dataclass(slots=True)
class _Reader:
    """Reads nodes and collects what go-yaml would complain about."""

    problems: list[str]

    def unknown(self, node: yaml.Node, name: str, kind: str) -> None:
        line = node.start_mark.line + 1
        self.problems.append(f"  line {line}: field {name} not found in type rulefmt.{kind}")

    def entries(self, node: yaml.Node, fields: tuple[str, ...], kind: str) -> dict[str, yaml.Node]:
        found: dict[str, yaml.Node] = {}
        for key, value in _pairs(node):
            if key.value in fields:
                found[key.value] = value
            else:
                self.unknown(key, key.value, kind)
        return found

    def text(self, node: yaml.Node | None) -> str:
        if node is None:
            return ""
        if isinstance(node, yaml.ScalarNode):
            return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)
        word = "!!seq" if isinstance(node, yaml.SequenceNode) else "!!map"
        line = node.start_mark.line + 1
        self.problems.append(f"  line {line}: cannot unmarshal {word} into string")
        return ""

    def texts(self, node: yaml.Node | None) -> dict[str, str]:
        return {} if node is None else {key.value: self.text(value) for key, value in _pairs(node)}


def _pairs(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from node.value


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _duration_ms(reader: _Reader, node: yaml.Node | None) -> int:
    text = reader.text(node)
    return parse_duration_ms(text) if text else 0


def _place(node: yaml.Node | None) -> str:
    return "0:0" if node is None else f"{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def load(text: str, file: str = "rules.yml") -> tuple[Group, ...]:
    """Return the groups of a rule file.

    Raises:
        RuleFileError: with every problem of the file.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        problem = f"{file}: yaml: line {_yaml_line(error)}: {_yaml_problem(error)}"
        raise RuleFileError([problem, problem], is_no_yaml=True) from None
    if root is None:
        return ()
    reader = _Reader([])
    try:
        top = reader.entries(root, ("groups",), "RuleGroups")
        nodes = [reader.entries(node, _GROUP_FIELDS, "RuleGroup") for node in _items(top.get("groups"))]
        rules = [
            [reader.entries(node, _RULE_FIELDS, "Rule") for node in _items(group.get("rules"))]
            for group in nodes
        ]
        read = [_group(reader, group, of_group) for group, of_group in zip(nodes, rules, strict=True)]
    except ValueError as problem:
        # Durations fail in both of the passes over the file.
        raise RuleFileError([f"{file}: {problem}"] * 2) from None
    if reader.problems:
        problem_text = f"{file}: yaml: unmarshal errors:\n" + "\n".join(reader.problems)
        repeats = 2 if "cannot unmarshal" in problem_text else 1
        raise RuleFileError([problem_text] * repeats)
    problems = [f"{file}: {each}" for each in _validated(read, rules)]
    if problems:
        raise RuleFileError(problems)
    return tuple(read)


def _yaml_line(error: yaml.MarkedYAMLError) -> int:
    """Return the line that go-yaml names: the context's, or else the problem's; one too few unless scanning failed."""
    for mark in (error.context_mark, error.problem_mark):
        if mark is not None and mark.line:
            return int(mark.line) + isinstance(error, yaml.scanner.ScannerError)
    return 1


def _yaml_problem(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    if problem.startswith("found character") and "cannot start any token" in problem:
        return "found character that cannot start any token"
    if problem.startswith("expected <block end>"):
        return "did not find expected key"
    return problem


def _group(reader: _Reader, group: dict[str, yaml.Node], rules: list[dict[str, yaml.Node]]) -> Group:
    shared = reader.texts(group.get("labels"))
    return Group(
        name=reader.text(group.get("name")),
        rules=tuple(_rule(reader, rule, shared) for rule in rules),
        interval_ms=_duration_ms(reader, group.get("interval")),
        limit=int(reader.text(group.get("limit")) or "0"),
        offset_ms=_duration_ms(reader, group.get("query_offset")),
    )


def _rule(reader: _Reader, rule: dict[str, yaml.Node], shared: Mapping[str, str]) -> Rule:
    alert = reader.text(rule.get("alert"))
    return Rule(
        name=alert or reader.text(rule.get("record")),
        is_alert=bool(alert),
        expr=reader.text(rule.get("expr")),
        for_ms=_duration_ms(reader, rule.get("for")),
        keep_firing_ms=_duration_ms(reader, rule.get("keep_firing_for")),
        labels={**shared, **reader.texts(rule.get("labels"))},
        annotations=reader.texts(rule.get("annotations")),
    )


def _validated(groups: list[Group], nodes: list[list[dict[str, yaml.Node]]]) -> Iterator[str]:
    seen: set[str] = set()
    for group, rules in zip(groups, nodes, strict=True):
        if not group.name:
            yield "0:0: Groupname must not be empty"
        if group.name in seen:
            yield f"0:0: groupname: {quote(group.name)} is repeated in the same file"
        seen.add(group.name)
        for number, (rule, node) in enumerate(zip(group.rules, rules, strict=True), start=1):
            where = f"group {quote(group.name)}, rule {number}, {quote(rule.name)}"
            for place, problem in _rule_problems(rule, node):
                yield f"{place}: {where}: {problem}" if place else f"{where}: {problem}"


def _rule_problems(rule: Rule, node: dict[str, yaml.Node]) -> Iterator[tuple[str, str]]:
    record = node.get("record")
    if not rule.name:
        yield f"{_place(record)}: {_place(node.get('alert'))}", "one of 'record' or 'alert' must be set"
    elif rule.is_alert and record is not None and record.value:
        yield f"{_place(record)}: {_place(node['alert'])}", "only one of 'record' and 'alert' must be set"
    if not rule.expr:
        yield _place(node.get("expr")), "field 'expr' must be set in rule"
    else:
        try:
            parse(rule.expr)
        except ParseError as error:
            yield _place(node.get("expr")), f"could not parse expression: {error}"
    if not rule.is_alert and rule.name:
        for name in _ALERTING_ONLY:
            if name in node:
                yield _place(record), f"invalid field '{name}' in recording rule"
        if "{" in rule.name or "}" in rule.name:
            problem = f"braces present in the recording rule name; should it be in expr?: {rule.name}"
            yield _place(record), problem
    for name in rule.labels:
        if not name or name == NAME:
            yield "", f"invalid label name: {name}"
    for name in rule.annotations:
        if not name:
            yield "", f"invalid annotation name: {name}"
    yield from _template_problems(rule)


def _template_problems(rule: Rule) -> Iterator[tuple[str, str]]:
    if not rule.is_alert:
        return
    for word, texts in (("label", rule.labels), ("annotation", rule.annotations)):
        for name, text in texts.items():
            try:
                check_template(rule.name, text)
            except TemplateError as error:
                yield "", f"{word} {quote(name)}: {error}"


def duplicates_of(groups: tuple[Group, ...]) -> dict[tuple[str, tuple[tuple[str, str], ...]], int]:
    """Return how often rules of the same name and labels occur, those that occur once left out."""
    counts: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
    for group in groups:
        for rule in group.rules:
            key = (rule.name, tuple(sorted(rule.labels.items())))
            counts[key] = counts.get(key, 0) + 1
    return {key: count - 1 for key, count in counts.items() if count > 1}

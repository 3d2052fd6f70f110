"""One edit: objects written to a file, edited, read back, and sent; again, as long as the server finds them wrong.

Source: k8s.io/kubectl pkg/cmd/util/editor editoptions.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import MERGE_PATCH, STRATEGIC_PATCH, Options
from env_core.apiserver.schema import schema_for
from env_core.kubectl._manifest_files import Stream, read_streams
from env_core.kubectl.context import Context
from env_core.kubectl.editing import Editor, Reason, comparable, has_lines, header, without_comments
from env_core.kubectl.kustomize.values import go_syntax
from env_core.kubectl.last_applied import LAST_APPLIED
from env_core.kubectl.output.printing import Printer, object_printer, without_managed_fields
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import Args
from env_core.kubectl.writes import error_message, result_printer_of, unversioned
from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_merge import create_merge_patch
from env_core.objects.patch_strategic import PatchError, changes_identity, create_two_way_patch
from env_core.objects.problems import quoted
from env_core.objects.yamlin import YamlProblem, read_yaml
from env_core.world import Object, Output

NORMAL, CREATE, APPLY = "normal_mode", "edit_before_create_mode", "edit_last_applied_mode"
_FORMATS = ("json", "kyaml", "yaml")
_WRONG_FILE = "The edited file failed validation"
_IDENTITY = "At least one of apiVersion, kind and name was changed"
_ROUNDS_MAX = 20
"""How often a file is opened again: a bound of ours, for editors that change something every time."""


@dataclass(slots=True)
class Results:
    """What came of one round."""

    reasons: list[Reason]
    file: str = ""
    retryable: int = 0
    missing: int = 0
    invalid: int = 0


@dataclass(slots=True)
class Session:
    """An edit of some objects.

    `saves` puts the annotation of apply into created objects.
    """

    ctx: Context
    args: Args
    editor: Editor
    mode: str
    validation: str
    saves: Callable[[Object], Object] = lambda obj: obj

    @property
    def _screen(self) -> Screen:
        return self.args.screen

    def _printer(self, operation: str) -> Printer:
        """Return a new printer of results: every object has one of its own."""
        return result_printer_of(self.ctx, self.args)(operation)

    def run(self, infos: list[Info]) -> Output:
        """Edit objects and send what changed; returns what was printed.

        Raises:
            Failure: when the editor fails, or nothing valid was saved.
        """
        chosen = self.args.text("output") or "yaml"
        is_json = chosen == "json"
        suffix = ".json" if is_json else ".yaml"
        managed = {_uid(info): (info.found().get("metadata") or {}).get("managedFields") for info in infos}
        plain = [replace(info, obj=without_managed_fields(info.found())) for info in infos]
        results, edited, is_wrong = Results([]), "", False
        original = ""
        for _ in range(_ROUNDS_MAX):
            text = "" if is_json else header(results.reasons, is_applied=self.mode == APPLY)
            if is_wrong:
                text += without_comments(edited)
            else:
                text = original = self._printed(text, plain, chosen, results.file)
            before = edited
            try:
                edited, file = self.editor.edit(self.ctx, self._screen, text, suffix)
            except Failure as failure:
                raise self._kept(failure, results.file) from None
            if is_wrong and comparable(before) == comparable(edited):
                raise self._kept(Failure("Edit cancelled, no valid changes were saved."), file)
            if results.file:
                self.ctx.files.remove(results.file)
            results = Results([], file)
            problem = "" if self.validation == "Ignore" else _validation_problem(edited)
            if problem:
                is_wrong = True
                self._refuse_file(results, problem, plain[0])
                continue
            if comparable(original) == comparable(edited):
                return self._cancelled(file, "no changes made")
            if not has_lines(edited):
                return self._cancelled(file, "saved file was empty")
            ctx = replace(self.ctx, is_namespace_explicit=False)
            updated, errors = read_streams(ctx, [Stream("edited-file", edited)])
            if errors:
                is_wrong = True
                told = error_message(errors[0])
                results.reasons.append(Reason(f"The edited file had a syntax error: {told}"))
                continue
            self._check_namespaces(updated, file)
            self._send(infos, updated, managed, results)
            if results.retryable:
                self._screen.err(f"You can run `kubectl replace -f {file}` to try this update again.\n")
                return self._screen.done(1)
            if results.missing:
                self._screen.err(
                    f"The edits you made on deleted resources have been saved to {quoted(file)}\n"
                )
                return self._screen.done(1)
            if not results.invalid:
                self.ctx.files.remove(file)
                return self._screen.done()
            is_wrong = bool(results.reasons)
        raise self._kept(Failure("Edit cancelled, no valid changes were saved."), results.file)

    def _printed(self, text: str, infos: list[Info], chosen: str, kept: str) -> str:
        objects = [info.found() for info in infos]
        obj: Object = objects[0]
        if len(objects) != 1:
            obj = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {}}
        try:
            printed = object_printer(self.ctx, self.args, chosen, formats=_FORMATS).text_of(obj)
        except Failure as failure:
            raise self._kept(failure, kept) from None
        text += printed
        return text.replace("\n", "\r\n") if self.args.is_set("windows-line-endings") else text

    def _cancelled(self, file: str, why: str) -> Output:
        self.ctx.files.remove(file)
        self._screen.err(f"Edit cancelled, {why}.\n")
        return self._screen.done()

    def _kept(self, error: Failure, path: str) -> Failure:
        """Return an error after saying where the edited file is."""
        if path:
            try:
                self.ctx.files.read(path)
            except FileNotFoundError:
                return error
            self._screen.err(f"A copy of your changes has been stored to {quoted(path)}\n")
        return error

    def _refuse_file(self, results: Results, problem: str, info: Info) -> None:
        name = _name(info)
        results.invalid += 1
        results.reasons.append(
            Reason(f"{name} was not valid", (f"<nil>: Invalid value: {quoted(_WRONG_FILE)}: {problem}",))
        )
        self._screen.err(f"error: {name} is invalid\n")

    def _check_namespaces(self, updated: list[Info], file: str) -> None:
        for info in updated:
            wanted = self.ctx.namespace
            if info.kind.is_namespaced and info.namespace != wanted:
                raise self._kept(
                    Failure(
                        f'the namespace from the provided object "{info.namespace}" does not match the namespace '
                        f"\"{wanted}\". You must pass '--namespace={info.namespace}' to perform this operation."
                    ),
                    file,
                )

    def _send(
        self, infos: list[Info], updated: list[Info], managed: dict[str, Any], results: Results
    ) -> None:
        try:
            for one in updated:
                info = replace(one, obj=self.saves(_with_managed(one.found(), managed.get(_uid(one)))))
                if self.mode == CREATE:
                    self._create(info)
                elif self.mode == APPLY:
                    self._annotate(infos, info)
                else:
                    self._patch(infos, info, results)
        except Failure as failure:
            raise self._kept(failure, results.file) from None
        except StatusError:
            self._kept(Failure(""), results.file)
            raise

    def _options(self) -> Options:
        return Options(field_manager=self.args.text("field-manager"), field_validation=self.validation)

    def _create(self, info: Info) -> None:
        obj = self.ctx.api.create(
            info.kind.resource, info.namespace, unversioned(info.found()), options=self._options()
        )
        self._printer("created").print(obj, self._screen)

    def _original(self, infos: list[Info], info: Info) -> Info:
        for original in infos:
            if _uid(original) == _uid(info):
                return original
        shown = go_syntax(info.found())
        raise Failure(f"no original object found for &unstructured.Unstructured{{Object:{shown}}}")

    def _annotate(self, infos: list[Info], info: Info) -> None:
        """Send the edited configuration as the annotation of apply."""
        obj = info.found()
        if obj == self._original(infos, info).found():
            self._printer("skipped").print(obj, self._screen)
            return
        annotations = {LAST_APPLIED: to_compact_json(obj)}
        self.ctx.api.patch(
            info.kind.resource,
            self.ctx.namespace if info.kind.is_namespaced else "",
            info.name,
            {"metadata": {"annotations": annotations}},
            MERGE_PATCH,
            options=self._options(),
        )
        self._printer("edited").print(obj, self._screen)

    def _patch(self, infos: list[Info], info: Info, results: Results) -> None:
        """Send what was changed of one object."""
        obj, before = info.found(), self._original(infos, info).found()
        if obj == before:
            self._printer("skipped").print(obj, self._screen)
            return
        kind = info.kind
        schema = schema_for(kind.group, kind.version, kind.kind)
        try:
            patch = (
                create_merge_patch(before, obj)
                if schema is None
                else create_two_way_patch(before, obj, schema)
            )
        except PatchError as error:
            raise Failure(error.message) from None
        if changes_identity(patch):
            raise Failure(_IDENTITY)
        if self.args.has("output-patch") and self.args.is_set("output-patch"):
            self._screen.out(f"Patch: {to_compact_json(patch)}\n")
        content_type = MERGE_PATCH if schema is None else STRATEGIC_PATCH
        try:
            patched = self.ctx.api.patch(
                kind.resource,
                info.namespace,
                info.name,
                patch,
                content_type,
                subresource=self.args.text("subresource"),
                options=self._options(),
            )
        except StatusError as error:
            self._screen.err(f"{_refused(error, info, results)}\n")
            return
        self._printer("edited").print(patched, self._screen)


def _name(info: Info) -> str:
    kind = info.kind
    return (
        f"{kind.plural}.{kind.group} {quoted(info.name)}"
        if kind.group
        else f"{kind.plural} {quoted(info.name)}"
    )


def _refused(error: StatusError, info: Info, results: Results) -> str:
    """Count a refusal, and return what is said of it."""
    name = _name(info)
    if error.reason == "Invalid":
        results.invalid += 1
        causes = (error.status.get("details") or {}).get("causes") or ()
        others = tuple(f"{cause.get('field', '')}: {cause.get('message', '')}" for cause in causes)
        results.reasons.append(Reason(f"{name} was not valid", others))
        return f"error: {name} is invalid"
    if error.reason == "NotFound":
        results.missing += 1
        return f"error: {name} could not be found on the server"
    results.retryable += 1
    return f"error: {name} could not be patched: {error.message}"


def _validation_problem(text: str) -> str:
    """Return what the client finds wrong with an edited file before it asks the server, "" for nothing."""
    try:
        value = read_yaml(text)
    except YamlProblem as problem:
        return f"error converting YAML to JSON: yaml: {problem}"
    if value is None:
        return "unexpected end of JSON input"
    if not isinstance(value, dict):
        return ""
    items = value.get("items") if str(value.get("kind", "")).endswith("List") else None
    problems: list[str] = []
    for one in items if isinstance(items, list) else [value]:
        if isinstance(one, dict):
            problems.extend(
                f"{name} not set" for name in ("apiVersion", "kind") if one.get(name) in (None, "")
            )
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]" if problems else ""


def _uid(info: Info) -> str:
    return str((info.found().get("metadata") or {}).get("uid") or "")


def _with_managed(obj: Object, managed: Any) -> Object:
    if managed is None:
        return obj
    return {**obj, "metadata": {**(obj.get("metadata") or {}), "managedFields": managed}}

"""`-o go-template`: Go's text/template on an object, with kubectl's additions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from env_core.kubectl.output._template_extras import FUNCTIONS
from env_core.objects.goformat import value_text
from env_core.objects.gotemplate import Run, Statement, TemplateError, parse_templates
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import quoted

__all__ = ["GoTemplate", "TemplateError", "compiled", "printer_for"]

_NAME: Final = "output"


class GoTemplate:
    """A compiled template."""

    __slots__ = ("_templates", "template")

    def __init__(self, template: str, templates: dict[str, tuple[Statement, ...]]) -> None:
        self.template = template
        self._templates = templates

    def render(self, subject: dict[str, Any], *, allow_missing: bool = True) -> str:
        """Return what `kubectl -o go-template=` prints for `subject`.

        Every number is a float64 here, as kubectl decodes the object's JSON anew.

        Source: cli-runtime GoTemplatePrinter; tests/golden/l0/output_formats.

        Raises:
            TemplateError: with kubectl's text; its `output` (what was printed before, and a report with the
                template and the object) goes to standard output all the same.
        """
        decoded = _as_float(subject)
        run = Run(_NAME, self.template, self._templates, FUNCTIONS, allow_missing=allow_missing)
        try:
            run.execute(decoded)
        except TemplateError as error:
            report = (
                f"Error executing template: {error}. Printing more information for debugging the template:\n"
                f"\ttemplate was:\n\t\t{self.template}\n"
                f"\traw data was:\n\t\t{to_compact_json(subject)}\n"
                f"\tobject given to template engine was:\n\t\t{value_text(decoded)}\n\n"
            )
            message = f"error executing template {quoted(self.template)}: {error}"
            raise TemplateError(message, run.text() + report) from error
        return run.text()


def _as_float(value: Any) -> Any:
    """Return a copy in which every number is a float, as encoding/json decodes into interfaces."""
    if isinstance(value, dict):
        return {key: _as_float(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_float(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


@lru_cache(maxsize=256)
def compiled(template: str) -> GoTemplate:
    """Parse a template.

    Raises:
        TemplateError: with Go's text.
    """
    return GoTemplate(template, parse_templates(_NAME, template, FUNCTIONS))


def printer_for(template: str) -> GoTemplate:
    """Parse the template of `-o go-template=`.

    Raises:
        TemplateError: with kubectl's text, which names the template.
    """
    if not template:
        raise TemplateError("template format specified but no template given")
    try:
        return compiled(template)
    except TemplateError as error:
        raise TemplateError(f"error parsing template {template}, {error}") from error

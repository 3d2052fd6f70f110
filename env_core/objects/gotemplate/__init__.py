"""Go's text/template: parsing and running, with functions that the user of it chooses."""

from env_core.objects.gotemplate._functions import (
    BUILTINS,
    FunctionError,
    Signature,
    Struct,
    TextMap,
    go_type,
)
from env_core.objects.gotemplate._nodes import Statement, TemplateError
from env_core.objects.gotemplate._parser import parse_templates
from env_core.objects.gotemplate._run import Run

__all__ = [
    "BUILTINS",
    "FunctionError",
    "Run",
    "Signature",
    "Statement",
    "Struct",
    "TemplateError",
    "TextMap",
    "go_type",
    "parse_templates",
]

"""The Common Expression Language as Kubernetes 1.37 has it: parser, type checker, evaluator, libraries, costs.

    environment = Environment({"self": DYN, "oldSelf": DYN})
    program = compile_expression("self.size <= 5", environment)
    program.evaluate({"self": {"size": 3}})         # True, or a `CelError`

Texts of complaints and costs are those of cel-go; why we have an evaluator of our own is told in
docs/decisions/0006-cel.md. Values are Python's (see `_values.py`); objects of the API go in as they are.
"""

from env_core.cel._conversions import to_duration as read_duration
from env_core.cel._conversions import to_timestamp as read_timestamp
from env_core.cel._environment import Environment
from env_core.cel._escaping import escaped
from env_core.cel._types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    NULL_TYPE,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
    optional_of,
    struct,
)
from env_core.cel._types import DYN_TYPE as DYN
from env_core.cel._values import CelError, LazyMap, optional
from env_core.cel.program import (
    CompileProblem,
    Outcome,
    Program,
    checked_type,
    compile_expression,
    misnamed,
    uses,
)

__all__ = [
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "INT",
    "NULL_TYPE",
    "STRING",
    "TIMESTAMP",
    "CelError",
    "CompileProblem",
    "Environment",
    "LazyMap",
    "Outcome",
    "Program",
    "Type",
    "checked_type",
    "compile_expression",
    "escaped",
    "list_of",
    "map_of",
    "misnamed",
    "optional",
    "optional_of",
    "read_duration",
    "read_timestamp",
    "struct",
    "uses",
]

"""The syntax tree of an awk program."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class String:
    """A string constant."""

    value: str


@dataclass(frozen=True, slots=True)
class Regex:
    """An expression between slashes; by itself it means `$0 ~ /…/`."""

    source: str


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """`$expression`."""

    index: Expr


@dataclass(frozen=True, slots=True)
class Element:
    """`array[subscripts]`."""

    name: str
    subscripts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """`target operator value`, operator "=" or "+=" and its like."""

    target: Expr
    operator: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Increment:
    """`++x`, `x--` and their like."""

    target: Expr
    step: int
    is_prefix: bool


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparison, match or concatenation ("" as operator)."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Unary:
    """`-`, `+` or `!`."""

    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? yes : no`."""

    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Membership:
    """`(subscripts) in array`."""

    subscripts: tuple[Expr, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of awk (`is_builtin`) or of the program."""

    name: str
    arguments: tuple[Expr, ...]
    is_builtin: bool
    line: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """`(a, b)`, only before `in` or after print."""

    items: tuple[Expr, ...]


Expr = (
    Number
    | String
    | Regex
    | Name
    | Field
    | Element
    | Assign
    | Increment
    | Binary
    | Unary
    | Conditional
    | Membership
    | Call
    | Grouping
)


@dataclass(frozen=True, slots=True)
class Print:
    """print or printf, perhaps into a file or program."""

    arguments: tuple[Expr, ...]
    is_formatted: bool
    redirect: str
    target: Expr | None


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement."""

    value: Expr


@dataclass(frozen=True, slots=True)
class IfElse:
    """if, with or without else."""

    condition: Expr
    yes: Stmt
    no: Stmt | None


@dataclass(frozen=True, slots=True)
class Loop:
    """while, do and the C-like for: a check at the start unless `checks_last`."""

    start: Stmt | None
    condition: Expr | None
    step: Stmt | None
    body: Stmt
    checks_last: bool = False


@dataclass(frozen=True, slots=True)
class ForIn:
    """`for (name in array)`."""

    name: Expr
    array: str
    body: Stmt


@dataclass(frozen=True, slots=True)
class Block:
    """Statements."""

    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Jump:
    """break, continue, next, exit or return."""

    kind: str
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """delete of an element, or of a whole array."""

    name: str
    subscripts: tuple[Expr, ...] | None


Stmt = Print | Evaluate | IfElse | Loop | ForIn | Block | Jump | Delete


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern with its action; `last` ends a range."""

    pattern: Expr | None
    last: Expr | None
    action: Block | None


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """A function of the program."""

    parameters: tuple[str, ...]
    body: Block


@dataclass(slots=True)
class Program:
    """Everything a program says."""

    begin: list[Block] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    end: list[Block] = field(default_factory=list)
    functions: dict[str, FunctionBody] = field(default_factory=dict)

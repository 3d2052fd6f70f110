"""The syntax tree of a shell line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters; quoted ones are neither split nor taken as a pattern."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `${name<operator>argument}`; operator "#" with `is_length` is `${#name}`, "bad" a bad one.

    bash's own: `index` is that of an array, `is_indirect` says that `${!name}` was written, and `second` is the
    second word of `${name/pattern/second}` and `${name:offset:second}`.
    """

    name: str
    operator: str
    argument: Word | None
    quoted: bool
    is_length: bool = False
    index: Word | None = None
    is_indirect: bool = False
    second: Word | None = None
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)` or backquotes."""

    body: Sequence
    quoted: bool


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`; its text may hold expansions."""

    word: Word
    quoted: bool


Part = Text | Parameter | Substitution | Arithmetic


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its parts, and the source text as typed."""

    parts: tuple[Part, ...]
    raw: str

    @property
    def literal(self) -> str | None:
        """The word without its quotes when nothing in it is dynamic, else None."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Text):
            return self.parts[0].text
        if all(isinstance(part, Text) for part in self.parts):
            return "".join(part.text for part in self.parts if isinstance(part, Text))
        return None


@dataclass(slots=True)
class HereDocument:
    """A here-document, whose text is read only after the line that asks for it."""

    delimiter: str
    is_quoted: bool
    strips_tabs: bool
    text: Word | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """`fd operator target`, such as `2>file`."""

    descriptor: int
    operator: str
    target: Word | HereDocument


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, words and redirections of one command."""

    assignments: tuple[tuple[str, Word | Array], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`, perhaps after `!`."""

    commands: tuple[Node, ...]
    is_negated: bool


@dataclass(frozen=True, slots=True)
class AndOr:
    """Pipelines joined by `&&` and `||`."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Background:
    """A command followed by `&`."""

    body: Node


@dataclass(frozen=True, slots=True)
class Sequence:
    """Commands one after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`{ …; }`, or a subshell `( … )`."""

    body: Sequence
    is_subshell: bool


@dataclass(frozen=True, slots=True)
class Redirected:
    """A compound command with redirections."""

    body: Node
    redirects: tuple[Redirect, ...]
    line: int


@dataclass(frozen=True, slots=True)
class For:
    """`for name in words; do body; done`; without `in` the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Sequence


@dataclass(frozen=True, slots=True)
class Loop:
    """`while` or `until`."""

    condition: Sequence
    body: Sequence
    is_until: bool


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with their bodies, and the `else` part."""

    branches: tuple[tuple[Sequence, Sequence], ...]
    otherwise: Sequence | None


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in pattern) body;; … esac`."""

    word: Word
    items: tuple[tuple[tuple[Word, ...], Sequence], ...]


@dataclass(frozen=True, slots=True)
class Function:
    """`name() body`."""

    name: str
    body: Node


@dataclass(frozen=True, slots=True)
class Array:
    """The value of `name=(words)` in bash."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of `[[ … ]]`: operator "&&", "||", "!", "" (a word alone), or a test with one or two words."""

    operator: str
    words: tuple[Word, ...] = ()
    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Conditional:
    """`[[ … ]]`."""

    condition: Condition
    line: int


@dataclass(frozen=True, slots=True)
class Calculation:
    """`(( … ))`."""

    expression: Word
    line: int


@dataclass(frozen=True, slots=True)
class Counting:
    """`for ((first; check; step)); do body; done`."""

    first: Word
    check: Word
    step: Word
    body: Sequence


Node = (
    Simple
    | Pipeline
    | AndOr
    | Background
    | Sequence
    | Group
    | Redirected
    | For
    | Loop
    | If
    | Case
    | Function
    | Conditional
    | Calculation
    | Counting
)


class SyntaxProblem(Exception):
    """The line is no shell program.

    `text` is dash's text after "Syntax error: "; `found` and `expected` name the tokens when one was
    unexpected, for shells that word it another way.
    """

    def __init__(
        self, text: str, line: int, found: str = "", expected: str = "", *, near: str = "", quote: str = ""
    ) -> None:
        """Record what is wrong and in which line (from 1).

        `near` is the token that was not expected ("" at the end), `quote` the quote that is not closed.
        """
        super().__init__(text)
        self.near = near
        self.quote = quote
        self.text = text
        self.line = line
        self.found = found
        self.expected = expected

"""From words to arguments: parameters, substitutions, arithmetic, field splitting, file names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from env_core.shell import _pattern
from env_core.shell._arithmetic import ArithmeticProblem, evaluate
from env_core.shell._bash_braces import braced
from env_core.shell._bash_parameters import changed, resolved
from env_core.shell.budget import LimitReached
from env_core.shell.syntax import Arithmetic, Parameter, Substitution, Text, Word

if TYPE_CHECKING:
    from env_core.shell._pattern import Piece
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell

_PATTERN_CHARACTERS: Final = frozenset("*?[")
_WHITE: Final = " \t\n"
_PATTERN_TEXT_MAX: Final = 65536
_SUFFIX_TEXT_MAX: Final = 8192
"""Every place in the text may be where the suffix begins, so work grows with the square."""
_WORDS_MAX: Final = 1024 * 1024
"""Characters that the words of one command may come to: the real limit is ARG_MAX."""


class ExpansionProblem(Exception):
    """A word cannot be expanded; the shell gives up on the line with `status`."""

    def __init__(self, text: str, status: int = 2, *, is_unset: bool = False) -> None:
        """Record the shell's text, the exit status, and whether a parameter is not set."""
        super().__init__(text)
        self.is_unset = is_unset
        self.text = text
        self.status = status


class Expander:
    """Expands words for one shell and one set of streams (whose stderr substitutions share)."""

    __slots__ = ("_room", "_shell", "_streams", "last_status")

    def __init__(self, shell: Shell, streams: Streams) -> None:
        """Expand for `shell`; `last_status` becomes the status of the last command substitution."""
        self._shell = shell
        self._streams = streams
        self.last_status: int | None = None
        self._room = _WORDS_MAX

    def fields(self, words: tuple[Word, ...]) -> list[str]:
        """Return the arguments that `words` make.

        Raises:
            ExpansionProblem: for bad substitutions, unset parameters under `set -u`, bad arithmetic.
        """
        out: list[str] = []
        if self._shell.dialect.is_bash:
            words = braced(words)
        for word in words:
            parts = word.parts
            if len(parts) == 1 and isinstance(parts[0], Text):
                text = parts[0].text
                if parts[0].quoted or not (text[0] == "~" or _PATTERN_CHARACTERS.intersection(text)):
                    out.append(text)
                    continue
            for pieces in self._split(word):
                out.extend(self._file_names(pieces))
        return out

    def one(self, word: Word) -> str:
        """Return a word as one string: no splitting, no file names."""
        literal = word.literal
        if literal is not None and not literal.startswith("~"):
            return literal
        return "".join(text for text, _ in self._pieces(word))

    def pattern(self, word: Word) -> str:
        """Return a word as a shell pattern."""
        return _pattern.pattern_text(self._pieces(word))

    def pieces(self, word: Word) -> list[Piece]:
        """Return a word expanded, with what was quoted of it."""
        return self._pieces(word)

    def _pieces(self, word: Word) -> list[Piece]:
        pieces: list[Piece] = []
        for index, part in enumerate(word.parts):
            if isinstance(part, Text):
                text = part.text
                if index == 0 and not part.quoted and text.startswith("~"):
                    text = self._home(text, is_alone=len(word.parts) == 1)
                pieces.append((text, part.quoted))
            elif isinstance(part, Parameter) and part.name in ("@", "*") and not part.operator:
                joiner = " " if part.name == "@" else self._separator()
                pieces.append((joiner.join(self._shell.positional), part.quoted))
            else:
                pieces.extend(
                    (text, quoted) for values in [self._values(part)] for text, quoted in _joined(values)
                )
        return pieces

    def _split(self, word: Word) -> list[list[Piece]]:
        """Return the fields of a word as pieces."""
        done: list[list[Piece]] = []
        current: list[Piece] | None = None
        separators = self._shell.variables.get("IFS", _WHITE)
        for index, part in enumerate(word.parts):
            if isinstance(part, Text):
                text = part.text
                if index == 0 and not part.quoted and text.startswith("~"):
                    text = self._home(text, is_alone=len(word.parts) == 1)
                current = current or []
                current.append((text, part.quoted))
                continue
            values = self._values(part)
            for position, (value, quoted) in enumerate(values):
                if position and current is not None:
                    done.append(current)
                    current = None
                if quoted:
                    current = current or []
                    current.append((value, True))
                    continue
                leading, fields, trailing = _ifs_fields(value, separators)
                if leading and current is not None:
                    done.append(current)
                    current = None
                for number, field in enumerate(fields):
                    if number:
                        done.append(current or [("", True)])
                        current = None
                    current = [*(current or []), (field, False)]
                if trailing and current is not None:
                    done.append(current)
                    current = None
        if current is not None:
            done.append(current)
        return done

    def _file_names(self, pieces: list[Piece]) -> list[str]:
        text = "".join(text for text, _ in pieces)
        if _pattern.has_pattern(pieces) and not self._shell.options.get("f"):
            process = self._shell.process
            names = _pattern.matching_paths(process.fs, process.cwd, _pattern.pattern_text(pieces))
            if names:
                return names
        return [text]

    def _home(self, text: str, *, is_alone: bool) -> str:
        user, slash, rest = text[1:].partition("/")
        if not slash and not is_alone:
            return text
        if not user:
            return self._shell.variables.get("HOME", "~") + slash + rest
        return f"/{user}{slash}{rest}" if user == "root" else text

    def _separator(self) -> str:
        return self._shell.variables.get("IFS", _WHITE)[:1]

    def _values(self, part: Parameter | Substitution | Arithmetic) -> list[tuple[str, bool]]:
        """Return what an expansion gives: usually one value, for `$@` any number.

        Raises:
            LimitReached: when the words of the command have become too long.
        """
        values = self._value(part)
        for text, _ in values:
            self._room -= len(text)
        if self._room < 0:
            raise LimitReached("Argument list too long")
        return values

    def _value(self, part: Parameter | Substitution | Arithmetic) -> list[tuple[str, bool]]:
        if isinstance(part, Parameter):
            return self._parameter(part)
        if isinstance(part, Substitution):
            text, status = self._shell.substituted(part.body, self._streams)
            self.last_status = status
            return [(text.rstrip("\n"), part.quoted)]
        try:
            dialect = self._shell.dialect
            value = evaluate(
                self.one(part.word), self._shell.variables, is_extended=dialect.is_ash or dialect.is_bash
            )
        except ArithmeticProblem as problem:
            raise ExpansionProblem(self._shell.dialect.arithmetic(problem)) from None
        return [(str(value), part.quoted)]

    def _parameter(self, part: Parameter) -> list[tuple[str, bool]]:
        name, operator, quoted = part.name, part.operator, part.quoted
        if operator == "bad":
            raise ExpansionProblem(self._shell.dialect.bad_substitution(part.raw))
        if part.index is not None or part.is_indirect or name in self._shell.arrays:
            part, found = resolved(self._shell, part, self)
            name = part.name
            if found is not None:
                return self._elements(part, found)
        if name in ("@", "*") and not operator and not part.is_length:
            values = self._shell.positional
            if quoted and name == "*":
                return [(self._separator().join(values), True)]
            return [(value, quoted) for value in values]
        value = self._shell.parameter(name)
        if part.is_length:
            return [(str(len(value or "")), quoted)]
        if operator and operator[-1] in "-=?+":
            missing = value is None or (operator[0] == ":" and value == "")
            return self._defaulted(part, value, missing=missing)
        if value is None:
            if self._shell.options.get("u") and name not in ("@", "*"):
                raise ExpansionProblem(self._shell.dialect.unset(name), is_unset=True)
            value = ""
        if operator and part.argument is not None:
            if operator[0] in "^,/:":
                return [(changed(self._shell, part, value, self), quoted)]
            value = _trimmed(value, operator, self.pattern(part.argument))
        return [(value, quoted)]

    def _elements(self, part: Parameter, values: list[str]) -> list[tuple[str, bool]]:
        """Return what an expansion makes of an array's chosen elements."""
        if part.is_length:
            return [(str(len(values)), part.quoted)]
        if part.operator and part.operator[0] in "^,/#%" and part.argument is not None:
            values = [
                changed(self._shell, part, value, self)
                if part.operator[0] in "^,/"
                else _trimmed(value, part.operator, self.pattern(part.argument))
                for value in values
            ]
        elif part.operator and part.operator[-1] in "-=?+":
            return self._defaulted(part, " ".join(values), missing=not values)
        if part.quoted and part.index is not None and part.index.raw == "*":
            return [(self._separator().join(values), True)]
        return [(value, part.quoted) for value in values]

    def _defaulted(self, part: Parameter, value: str | None, *, missing: bool) -> list[tuple[str, bool]]:
        action = part.operator[-1]
        argument = part.argument or Word((), "")
        if action == "+":
            return [("", part.quoted)] if missing else self._argument(argument, quoted=part.quoted)
        if not missing:
            return [(value or "", part.quoted)]
        if action == "-":
            return self._argument(argument, quoted=part.quoted)
        text = self.one(argument)
        if action == "?":
            otherwise = "parameter not set"
            if self._shell.dialect.is_bash and part.operator[0] == ":":
                otherwise = "parameter null or not set"
            raise ExpansionProblem(f"{part.name}: {text or otherwise}", is_unset=True)
        self._shell.assign(part.name, text)
        return [(text, part.quoted)]

    def _argument(self, word: Word, *, quoted: bool) -> list[tuple[str, bool]]:
        """Return the word of a `${name:-word}`, whose quoted parts stay together."""
        if quoted:
            return [(self.one(word), True)]
        pieces = self._pieces(word)
        if all(not piece_quoted for _, piece_quoted in pieces):
            return [("".join(text for text, _ in pieces), False)]
        return [("".join(text for text, _ in pieces), True)]


def _joined(values: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    if len(values) <= 1:
        return values
    return [(" ".join(text for text, _ in values), values[0][1])]


def _ifs_fields(value: str, separators: str) -> tuple[bool, list[str], bool]:
    """Split by IFS; the booleans tell of separators before the first field and after the last."""
    if not value or not separators:
        return False, [value] if value else [], False
    if separators == _WHITE:
        return value[0] in _WHITE, value.split(), value[-1] in _WHITE
    white = "".join(char for char in separators if char in _WHITE)
    hard = "".join(char for char in separators if char not in _WHITE)
    stripped = value.strip(white)
    fields: list[str] = []
    current: list[str] = []
    after_white = False
    for char in stripped:
        if char in hard:
            fields.append("".join(current))
            current = []
            after_white = False
        elif char in white:
            after_white = True
        else:
            if after_white and current:
                fields.append("".join(current))
                current = []
            after_white = False
            current.append(char)
    ends_hard = bool(stripped) and stripped[-1] in hard
    if current:
        fields.append("".join(current))
    return value[0] in white, fields, ends_hard or value[-1] in white


def _trimmed(value: str, operator: str, pattern: str) -> str:
    if len(value) > (_SUFFIX_TEXT_MAX if operator[0] == "%" else _PATTERN_TEXT_MAX):
        raise LimitReached(f"a value of {len(value)} characters is too long for ${{…{operator}…}}")
    is_longest = len(operator) == 2
    if operator[0] == "#":
        found = _pattern.prefix(pattern, is_longest=is_longest).match(value)
        return value[found.end() :] if found else value
    found = _pattern.suffix(pattern, is_longest=is_longest).match(value)
    return found.group(1) if found else value

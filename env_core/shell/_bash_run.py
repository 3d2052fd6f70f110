"""What bash runs beyond POSIX: `[[ ]]`, `(( ))`, counting loops, arrays, and its parameter expansions.

Source: bash(1), "CONDITIONAL EXPRESSIONS", "Parameter Expansion", "Arrays".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from env_core.objects.regex import RegexProblem, compile_expression
from env_core.shell import _pattern
from env_core.shell._arithmetic import ArithmeticProblem, evaluate
from env_core.shell._control import LoopControl
from env_core.shell._expansion import Expander, ExpansionProblem
from env_core.shell._special import NAME
from env_core.shell.builtins import test as test_builtin
from env_core.shell.syntax import Array, Calculation, Condition, Conditional, Counting, Simple, Word

if TYPE_CHECKING:
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell

_PATTERNS: Final = ("=", "==", "!=")
_NUMERIC: Final = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")


def conditional(shell: Shell, node: Conditional, streams: Streams) -> int:
    """Run `[[ … ]]`."""
    shell.line = node.line
    shell.budget.step()
    try:
        return int(not _holds(shell, node.condition, Expander(shell, streams)))
    except ExpansionProblem as problem:
        shell.give_up(problem, streams)
    except ArithmeticProblem as problem:
        streams.stderr.write(shell.located(f"[[: {shell.dialect.arithmetic(problem)}"))
    except RegexProblem:
        return 2
    return 1


def _holds(shell: Shell, condition: Condition, expander: Expander) -> bool:
    operator, words = condition.operator, condition.words
    if operator == "&&":
        return all(_holds(shell, part, expander) for part in condition.parts)
    if operator == "||":
        return any(_holds(shell, part, expander) for part in condition.parts)
    if operator == "!":
        return not _holds(shell, condition.parts[0], expander)
    first = expander.one(words[0])
    if not operator:
        return first != ""
    if len(words) == 1:
        if operator == "-v":
            return shell.parameter(first) is not None or first in shell.arrays
        return test_builtin.holds(shell.process, [operator, first])
    if operator in _PATTERNS:
        matched = _pattern.compiled(expander.pattern(words[1])).match(first) is not None
        return matched == (operator != "!=")
    if operator == "=~":
        return _matches(shell, first, words[1], expander)
    second = expander.one(words[1])
    if operator in _NUMERIC:
        numbers = (
            evaluate(first, shell.variables, is_extended=True),
            evaluate(second, shell.variables, is_extended=True),
        )
        return test_builtin.holds(shell.process, [str(numbers[0]), operator, str(numbers[1])])
    return test_builtin.holds(shell.process, [first, operator, second])


def _matches(shell: Shell, text: str, word: Word, expander: Expander) -> bool:
    pattern = "".join(re.escape(piece) if quoted else piece for piece, quoted in expander.pieces(word))
    found = compile_expression(pattern).search(text)
    groups = () if found is None else (found.group(), *(each or "" for each in found.groups()))
    shell.arrays["BASH_REMATCH"] = {str(index): each for index, each in enumerate(groups)}
    return found is not None


def _value(shell: Shell, word: Word, expander: Expander) -> int:
    return evaluate(expander.one(word), shell.variables, is_extended=True)


def calculation(shell: Shell, node: Calculation, streams: Streams) -> int:
    """Run `(( … ))`."""
    shell.line = node.line
    shell.budget.step()
    try:
        return int(_value(shell, node.expression, Expander(shell, streams)) == 0)
    except ExpansionProblem as problem:
        shell.give_up(problem, streams)
    except ArithmeticProblem as problem:
        streams.stderr.write(shell.located(f"((: {shell.dialect.arithmetic(problem)}"))
    return 1


def counting(shell: Shell, node: Counting, streams: Streams) -> int:
    """Run `for ((…; …; …))`."""
    expander = Expander(shell, streams)
    status = 0
    shell.loops += 1
    try:
        _value(shell, node.first, expander)
        while not node.check.raw.strip() or _value(shell, node.check, expander):
            shell.budget.iterate()
            try:
                status = shell.execute(node.body, streams)
            except LoopControl as control:
                status = 0
                if control.levels > 1:
                    raise LoopControl(control.levels - 1, is_break=control.is_break) from None
                if control.is_break:
                    break
            _value(shell, node.step, expander)
    except ArithmeticProblem as problem:
        streams.stderr.write(shell.located(f"((: {shell.dialect.arithmetic(problem)}"))
        return 1
    finally:
        shell.loops -= 1
    return status


def bash_assignments(shell: Shell, node: Simple, argv: list[str], expander: Expander) -> int | None:
    """Do the assignments that only bash has; return the status when that was all, None when it was not."""
    plain = all(
        not isinstance(value, Array) and NAME.match(name) and name not in shell.arrays
        for name, value in node.assignments
    )
    if plain:
        return None
    for name, value in node.assignments:
        if isinstance(value, Array):
            assign_array(shell, name, value, expander)
        else:
            assign_element(shell, name, expander.one(value))
    return None if argv else expander.last_status or 0


def assign_array(shell: Shell, name: str, value: Array, expander: Expander) -> None:
    """Set `name=(…)`, or append with `name+=(…)`."""
    is_appended = name.endswith("+")
    name = name.removesuffix("+")
    rows = dict(shell.arrays.get(name, {})) if is_appended else {}
    position = max((int(key) for key in rows if key.isdecimal()), default=-1) + 1
    for word in value.words:
        found = re.match(r"\[([^\]]+)\]=", word.raw)
        if found is not None:
            text = expander.one(word)
            key, _, text = text[1:].partition("]=")
            rows[key] = text
            position = int(key) + 1 if key.isdecimal() else position
            continue
        for text in expander.fields((word,)):
            rows[str(position)] = text
            position += 1
    shell.variables.pop(name, None)
    shell.arrays[name] = rows


def assign_element(shell: Shell, name: str, value: str) -> None:
    """Set `name+=value`, `name[index]=value`, or an array's first element."""
    is_appended = name.endswith("+")
    name = name.removesuffix("+")
    bare, bracket, index = name.partition("[")
    if not bracket and bare not in shell.arrays:
        shell.assign(bare, (shell.parameter(bare) or "") + value if is_appended else value)
        return
    key = index.removesuffix("]") if bracket else "0"
    if key.startswith("$"):
        key = shell.parameter(key[1:].strip("{}")) or ""
    rows = dict(shell.arrays.get(bare, {}))
    if not rows and bare in shell.variables:
        rows["0"] = shell.variables.pop(bare)
    rows[key.strip("'\"")] = rows.get(key, "") + value if is_appended else value
    shell.arrays[bare] = rows

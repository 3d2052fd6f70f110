"""Runs awk programs over records."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from env_core.objects.regex import Expression
from env_core.shell._awk.arithmetic import COMPARISONS, arithmetic
from env_core.shell._awk.formatting import formatted
from env_core.shell._awk.functions import FUNCTIONS
from env_core.shell._awk.lexer import AwkProblem
from env_core.shell._awk.memory import FIELDS_MAX, Cell, Memory, compiled
from env_core.shell._awk.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Delete,
    Element,
    Evaluate,
    Expr,
    Field,
    ForIn,
    Grouping,
    IfElse,
    Increment,
    Jump,
    Loop,
    Membership,
    Name,
    Number,
    Print,
    Program,
    Regex,
    Rule,
    Stmt,
    String,
    Unary,
)
from env_core.shell._awk.printer import Printer
from env_core.shell._awk.values import Strnum, Value, compare, is_true, to_number, to_string
from env_core.shell._inputs import read_input
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError

_STEPS_MAX: Final = 2_000_000
_TEXT_MAX: Final = 1024 * 1024
_CALLS_MAX: Final = 20


class _Jump(Exception):
    def __init__(self, kind: str, value: Value = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value


class Interpreter(Memory):
    """The state of one run: what it remembers, and what was printed."""

    def __init__(self, process: Process, program: Program, assignments: list[tuple[str, str]]) -> None:
        """Prepare to run `program`, with `-v` assignments."""
        super().__init__(process.env, assignments)
        self.process = process
        self._program = program
        self._in_range: set[int] = set()
        self.printer = Printer(process)
        left = process.work.left
        self.steps_max = self.steps_left = _STEPS_MAX if left is None else min(_STEPS_MAX, left)
        self.exit_code = 0
        self.seed = 0

    def run(self, names: list[str]) -> str:
        """Run the program over files (or standard input) and return what it printed.

        Raises:
            AwkProblem: when it fails; `partial` output is in `output()`.
        """
        try:
            for block in self._program.begin:
                self._execute(block)
            if self._program.rules or self._program.end:
                self._records(names)
        except _Jump as jump:
            self._leave(jump)
            if jump.kind != "exit":
                return self.printer.output()
        try:
            for block in self._program.end:
                self._execute(block)
        except _Jump as jump:
            self._leave(jump)
        self.printer.close_all()
        return self.printer.output()

    def _leave(self, jump: _Jump) -> None:
        if jump.kind == "exit" and jump.value != "":
            self.exit_code = int(to_number(jump.value)) & 0xFF

    def _records(self, names: list[str]) -> None:
        files = 0
        for name in names:
            assigned = re.fullmatch(r"([A-Za-z_]\w*)=(.*)", name, re.DOTALL | re.ASCII)
            if assigned is not None:
                self.globals[assigned.group(1)] = Strnum(assigned.group(2))
                continue
            if not name:
                continue
            files += 1
            try:
                text = read_input(self.process, name)
            except ShellFileError as error:
                raise AwkProblem(
                    f"cannot open {name} ({error.reason})", f"open {name}: {error.reason}"
                ) from None
            self._file("" if name == "-" else name, text)
        if not files:
            self._file("", self.process.stdin)

    def _file(self, name: str, text: str) -> None:
        self.globals["FILENAME"] = name
        self.globals["FNR"] = 0.0
        for record in self.split_records(text):
            self.globals["NR"] = to_number(self.scalar("NR")) + 1
            self.globals["FNR"] = to_number(self.scalar("FNR")) + 1
            self.set_record(record)
            try:
                for number, rule in enumerate(self._program.rules):
                    self._rule(number, rule)
            except _Jump as jump:
                if jump.kind != "next":
                    raise

    def _rule(self, number: int, rule: Rule) -> None:
        if rule.pattern is not None:
            if rule.last is None:
                if not is_true(self.value(rule.pattern)):
                    return
            elif number in self._in_range or is_true(self.value(rule.pattern)):
                self._in_range.add(number)
                if is_true(self.value(rule.last)):
                    self._in_range.discard(number)
            else:
                return
        if rule.action is None:
            self.printer.emit(self.record + to_string(self.scalar("ORS")))
        else:
            self._execute(rule.action)

    def assign(self, target: Expr, value: Value) -> None:
        """Assign to a variable, field or element."""
        if isinstance(value, str) and len(value) > _TEXT_MAX:
            raise AwkProblem("program limit exceeded: string too long")
        if isinstance(target, Name):
            if isinstance(self.scope(target.name).get(target.name), dict):
                raise AwkProblem(f"type error in use of array {target.name}")
            if target.name == "NF":
                self.resize(int(to_number(value)))
            else:
                self.scope(target.name)[target.name] = value
        elif isinstance(target, Element):
            self.array(target.name)[self._subscript(target.subscripts)] = value
        elif isinstance(target, Field):
            self.set_field(self._field_index(target), value)

    def _subscript(self, subscripts: tuple[Expr, ...]) -> str:
        if len(subscripts) == 1:
            return to_string(self.value(subscripts[0]), self.template())
        joiner = to_string(self.scalar("SUBSEP"))
        return joiner.join(to_string(self.value(each), self.template()) for each in subscripts)

    def _field_index(self, node: Field) -> int:
        number = to_number(self.value(node.index))
        index = int(number) if math.isfinite(number) else FIELDS_MAX + 1
        if index < 0:
            place = f'\tFILENAME="{to_string(self.scalar("FILENAME"))}"'
            counts = " ".join(f"{name}={to_string(self.scalar(name))}" for name in ("FNR", "NR"))
            raise AwkProblem(
                f"run time error: negative field index ${index}\n{place} {counts}", f"field {index}"
            )
        return index

    def _execute(self, statement: Stmt) -> None:
        self.steps_left -= 1
        if self.steps_left < 0:
            raise AwkProblem("stopped: the program runs too long")
        _STATEMENTS[type(statement)](self, statement)

    def _block(self, node: Block) -> None:
        for statement in node.body:
            self._execute(statement)

    def _evaluate(self, node: Evaluate) -> None:
        self.value(node.value)

    def _if(self, node: IfElse) -> None:
        if is_true(self.value(node.condition)):
            self._execute(node.yes)
        elif node.no is not None:
            self._execute(node.no)

    def _loop(self, node: Loop) -> None:
        if node.start is not None:
            self._execute(node.start)
        unchecked = node.checks_last
        while unchecked or node.condition is None or is_true(self.value(node.condition)):
            unchecked = False
            try:
                self._execute(node.body)
            except _Jump as jump:
                if jump.kind == "break":
                    break
                if jump.kind != "continue":
                    raise
            if node.step is not None:
                self._execute(node.step)

    def _for_in(self, node: ForIn) -> None:
        array = self.array(node.array)
        for key in list(array):
            if key not in array:
                continue
            self.assign(node.name, Strnum(key))
            try:
                self._execute(node.body)
            except _Jump as jump:
                if jump.kind == "break":
                    break
                if jump.kind != "continue":
                    raise

    def _jump(self, node: Jump) -> None:
        raise _Jump(node.kind, "" if node.value is None else self.value(node.value))

    def _delete(self, node: Delete) -> None:
        array = self.array(node.name)
        if node.subscripts is None:
            array.clear()
        else:
            array.pop(self._subscript(node.subscripts), None)

    def _print(self, node: Print) -> None:
        if node.is_formatted:
            values = [self.value(each) for each in node.arguments]
            text = formatted(to_string(values[0], self.template()), values[1:], self.template())
        else:
            template = to_string(self.scalar("OFMT"))
            if node.arguments:
                joiner = to_string(self.scalar("OFS"))
                text = joiner.join(to_string(self.value(each), template) for each in node.arguments)
            else:
                text = self.record
            text += to_string(self.scalar("ORS"))
        if node.target is None:
            self.printer.emit(text)
        else:
            self.printer.redirect(node.redirect, to_string(self.value(node.target), self.template()), text)

    def value(self, node: Expr) -> Value:
        """Return the value of an expression."""
        self.steps_left -= 1
        if self.steps_left < 0:
            raise AwkProblem("stopped: the program runs too long")
        return _EXPRESSIONS[type(node)](self, node)

    def _field_value(self, node: Field) -> Value:
        return self.field(self._field_index(node))

    def _element(self, node: Element) -> Value:
        array = self.array(node.name)
        key = self._subscript(node.subscripts)
        if key not in array:
            array[key] = Strnum("")
        return array[key]

    def _assign(self, node: Assign) -> Value:
        if node.operator == "=":
            value = self.value(node.value)
        else:
            right = to_number(self.value(node.value))
            before = to_number(self.value(node.target))
            value = arithmetic(node.operator[:-1], before, right, has_infinity=not self.process.is_busybox)
        self.assign(node.target, value)
        return value

    def _increment(self, node: Increment) -> Value:
        before = to_number(self.value(node.target))
        self.assign(node.target, before + node.step)
        return before + node.step if node.is_prefix else before

    def _binary(self, node: Binary) -> Value:
        operator = node.operator
        if operator == "&&":
            return float(is_true(self.value(node.left)) and is_true(self.value(node.right)))
        if operator == "||":
            return float(is_true(self.value(node.left)) or is_true(self.value(node.right)))
        if operator in ("~", "!~"):
            text = to_string(self.value(node.left), self.template())
            found = self.matcher(node.right).search(text, 0, self.process.work) is not None
            return float(found == (operator == "~"))
        left, right = self.value(node.left), self.value(node.right)
        if operator == "":
            template = self.template()
            text = to_string(left, template) + to_string(right, template)
            if len(text) > _TEXT_MAX:
                raise AwkProblem("program limit exceeded: string too long")
            return text
        if operator in COMPARISONS:
            return float(COMPARISONS[operator](compare(left, right, self.template())))
        has_infinity = not self.process.is_busybox
        return arithmetic(operator, to_number(left), to_number(right), has_infinity=has_infinity)

    def _unary(self, node: Unary) -> Value:
        value = self.value(node.operand)
        if node.operator == "!":
            return float(not is_true(value))
        return -to_number(value) if node.operator == "-" else to_number(value)

    def _conditional(self, node: Conditional) -> Value:
        return self.value(node.yes if is_true(self.value(node.condition)) else node.no)

    def _membership(self, node: Membership) -> Value:
        return float(self._subscript(node.subscripts) in self.array(node.name))

    def _grouping(self, node: Grouping) -> Value:
        return self._subscript(node.items)

    def _regex(self, node: Regex) -> Value:
        return float(compiled(node.source).search(self.record, 0, self.process.work) is not None)

    def matcher(self, node: Expr) -> Expression:
        """Return the expression that `node` stands for: its source, or its value taken as one."""
        if isinstance(node, Regex):
            return compiled(node.source)
        return compiled(to_string(self.value(node), self.template()))

    def _call(self, node: Call) -> Value:
        if node.is_builtin:
            return FUNCTIONS[node.name](self, node.arguments)
        function = self._program.functions[node.name]
        if len(self.frames) >= _CALLS_MAX:
            raise AwkProblem("function calls nested too deep")
        frame: dict[str, Cell] = {}
        for index, parameter in enumerate(function.parameters):
            if index >= len(node.arguments):
                frame[parameter] = Strnum("")
                continue
            argument = node.arguments[index]
            if isinstance(argument, Name):
                cell = self.scope(argument.name).get(argument.name)
                if cell is None:
                    frame[parameter] = Strnum("")
                else:
                    frame[parameter] = cell
            else:
                frame[parameter] = self.value(argument)
        self.frames.append(frame)
        try:
            self._execute(function.body)
        except _Jump as jump:
            if jump.kind != "return":
                raise
            return jump.value
        finally:
            self.frames.pop()
        return ""


_STATEMENTS: Final[dict[type, Callable[[Interpreter, Any], None]]] = {
    Block: Interpreter._block,
    Evaluate: Interpreter._evaluate,
    IfElse: Interpreter._if,
    Loop: Interpreter._loop,
    ForIn: Interpreter._for_in,
    Jump: Interpreter._jump,
    Delete: Interpreter._delete,
    Print: Interpreter._print,
}
_EXPRESSIONS: Final[dict[type, Callable[[Interpreter, Any], Value]]] = {
    Number: lambda _, node: node.value,
    String: lambda _, node: node.value,
    Regex: Interpreter._regex,
    Name: lambda interpreter, node: interpreter.scalar(node.name),
    Field: Interpreter._field_value,
    Element: Interpreter._element,
    Assign: Interpreter._assign,
    Increment: Interpreter._increment,
    Binary: Interpreter._binary,
    Unary: Interpreter._unary,
    Conditional: Interpreter._conditional,
    Membership: Interpreter._membership,
    Grouping: Interpreter._grouping,
    Call: Interpreter._call,
}

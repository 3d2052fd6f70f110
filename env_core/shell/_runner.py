"""Runs programs with the streams of a shell."""

from __future__ import annotations

from env_core.shell._registry import shell_programs
from env_core.shell._state import State
from env_core.shell._streams import Pipe, Streams
from env_core.shell._waiting import Waiting
from env_core.shell.context import Interleaved, Interrupted, Program, Talking
from env_core.world import Output


class Runner(State):
    """A shell's state, and how its programs run."""

    def call(self, program: Program, argv: list[str], env: dict[str, str], streams: Streams) -> int:
        """Run a program with the shell's streams and return its exit code."""
        process = self.process.child(stdin=streams.stdin.text, env=env)
        if self.can_wait and isinstance(program, Talking):
            process.pipe = streams.stdin if isinstance(streams.stdin, Pipe) else None
            raise Waiting(program.begin(process, argv), argv[0], streams)
        before = process.fs.moved
        process.pipe = streams.stdin if isinstance(streams.stdin, Pipe) else None
        try:
            output = program(process, argv)
        except Interrupted as stopped:
            if stopped.output is not None:
                self.deliver(stopped.output, argv[0], streams)
            raise Interrupted from None
        if process.stdin_was_read:
            streams.stdin.take_all()
        status = self.deliver(output, argv[0], streams, in_shell=program in shell_programs())
        self.budget.spend(process.cost(argv, output, before))
        return status

    def deliver(self, output: Output, name: str, streams: Streams, *, in_shell: bool = False) -> int:
        """Write a program's output and return its exit code, 1 if there was no room for it.

        When both streams are one, a successful program's messages come before its (buffered) output, a
        failing one's after it.
        """
        if isinstance(output, Interleaved):
            for is_error, text in output.parts:
                (streams.stderr if is_error else streams.stdout).write(text)
            return output.exit_code
        message = output.stderr
        if message and in_shell:
            message = "".join(self.located(line) for line in message.splitlines())
        if message and (output.exit_code == 0 or streams.stdout is not streams.stderr):
            streams.stderr.write(message)
            message = ""
        if output.stdout and not streams.stdout.write(output.stdout):
            if not in_shell:
                streams.stderr.write(f"{name}: write error: No space left on device\n")
            else:
                streams.stderr.write(self.located(self.dialect.write_error(name)))
            return 1
        if message:
            streams.stderr.write(message)
        return output.exit_code

"""What one command writes and another reads: command substitutions, and pipelines whose reader lives beside the writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from env_core.shell._streams import PIPE_MAX, Buffer, Pipe, Source, Streams
from env_core.shell.context import Talking
from env_core.shell.syntax import Node, Pipeline, Redirected, Simple

if TYPE_CHECKING:
    from env_core.shell.pipeline import Shell


def pipeline(shell: Shell, node: Pipeline, streams: Streams) -> int:
    """Run a pipeline."""
    if len(node.commands) == 1:
        status = shell.test(node.commands[0], streams)
        return int(status == 0)
    if _is_talk(shell, node.commands[-1]):
        status = _piped(shell, node, streams)
        return int(status == 0) if node.is_negated else status
    source = streams.stdin
    status = 0
    shell._tested += node.is_negated
    statuses = []
    for stage in node.commands[:-1]:
        buffer = Buffer(PIPE_MAX)
        statuses.append(collected(shell, stage, Streams(source, buffer, streams.stderr)))
        source = Source(buffer.text())
    status = shell.isolated(node.commands[-1], Streams(source, streams.stdout, streams.stderr))
    if shell.options.get("pipefail") and not status:
        status = next((each for each in reversed(statuses) if each), 0)
    shell._tested -= node.is_negated
    return int(status == 0) if node.is_negated else status


def _is_talk(shell: Shell, node: Node) -> bool:
    """Whether a command is a client that reads its input as it comes."""
    plain = node.body if isinstance(node, Redirected) else node
    if shell.process.jobs is None or not isinstance(plain, Simple) or not plain.words:
        return False
    name = plain.words[0].literal
    return name is not None and name not in shell.functions and isinstance(shell.process.find(name), Talking)


def _piped(shell: Shell, node: Pipeline, streams: Streams) -> int:
    """Run a pipeline whose last command reads as the others write."""
    jobs = shell.process.jobs
    assert jobs is not None
    *first, last = node.commands
    buffer = Buffer(PIPE_MAX)
    before = first[0] if len(first) == 1 else Pipeline(tuple(first), is_negated=False)
    writer = jobs.start(shell, before, Streams(streams.stdin, buffer, streams.stderr))
    pipe = Pipe(buffer, lambda: not writer.script.is_over)
    status = shell.isolated(last, Streams(pipe, streams.stdout, streams.stderr))
    jobs.finish(shell.process, lambda job: job is writer)
    if shell.options.get("pipefail") and not status:
        status = writer.script.status
    return status


def collected(shell: Shell, node: Node, streams: Streams) -> int:
    """Run a command as a subshell, and wait for all who write to where its output goes."""
    could_wait, shell.can_wait = shell.can_wait, False
    status = shell.isolated(node, streams)
    shell.can_wait = could_wait
    if shell.process.jobs is not None:
        shell.process.jobs.finish(shell.process, lambda job: job.streams.stdout is streams.stdout)
    return status

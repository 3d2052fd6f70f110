"""programs/go: the recorded web service in Go: its logs, panics, refusals, and what its client sees."""

import re
from dataclasses import replace
from typing import Final

from env_core.programs import Container, Launch, Program, go_service
from tests.golden.comparison import Topic
from tests.golden.recordings import Record
from tests.golden.server_records import Family, judge_of, machine_of, prepared


def _program(record: Record) -> Program:
    machine = machine_of(record)

    def launch(container: Container) -> Launch:
        found = go_service.started(container, container.argv, machine)
        assert found is not None
        return found

    return replace(go_service.PROGRAM, launch=launch)


FAMILY: Final = Family(
    program=go_service.PROGRAM,
    image="registry.example.com/shop/go-api:1.2.0",
    program_of=_program,
    prepared=prepared,
    files={"/etc/app/features.yaml": ""},
    measured=((re.compile(r"(read udp [\d.]+):\d+(?=->)"), r"\1:N"),),
    formats={"ts": r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.]+Z", "off": r"\+0x[0-9a-f]+"},
)

TOPIC = Topic(
    name="programs/go",
    files=("programs/app-go.jsonl", "app-go.jsonl"),
    answers=("log", "exit", "trigger", "stdout", "stderr"),
    judge=judge_of(FAMILY),
)

from __future__ import annotations

import pytest

from env_core.dataplane.serving import programs
from env_core.programs import Container
from env_core.programs._cpu import stretched_ms
from env_core.programs._images import canonical, image_of


def container(image: str, *argv: str, **changes) -> Container:
    known = {
        "namespace": "default", "pod": "p", "pod_uid": "u", "name": "c", "image": image, "argv": argv, "env": {}, "files": {},
        "pod_ip": "10.244.1.9", "node": "node-a", "cpu_limit_millis": None, "cpu_request_millis": 0,
        "memory_limit_bytes": None, "started_ms": 1_767_603_600_000, "restarts": 0,
    }  # fmt: skip
    return Container(**{**known, **changes})


def launched(image: str, *argv: str, **changes):
    program = next(each for each in programs().values() if image_of(each.images, image))
    return program.launch(container(image, *argv, **changes))


def test_every_program_is_named_after_its_module() -> None:
    assert sorted(program.name for program in programs().values()) == sorted(programs())


@pytest.mark.parametrize(
    "reference",
    [
        "nginx:1.27-alpine",
        "nginx:1.27",
        "nginx",
        "docker.io/library/nginx:1.25.5",
        "python:3.12-alpine",
        "redis:7-alpine",
        "traefik:v3.3.6",
        "busybox:1.36",
        "registry.k8s.io/coredns/coredns:v1.12.1",
        "registry.k8s.io/pause:3.10",
        "curlimages/curl:8.5.0",
        "traefik/whoami",
    ],
)
def test_real_tags_exist(reference: str) -> None:
    assert any(image_of(program.images, reference) for program in programs().values())


@pytest.mark.parametrize(
    "reference", ["nginx:1.27-alpin", "nginx:v1.27", "redis:7-alpinee", "python:3.99", "ngnix:1.27"]
)
def test_wrong_tags_do_not(reference: str) -> None:
    assert not any(image_of(program.images, reference) for program in programs().values())


def test_no_tag_is_declared_twice() -> None:
    seen = [
        (image.repository, tag)
        for program in programs().values()
        for image in program.images
        for tag in image.tags
    ]
    assert sorted(seen) == sorted(set(seen))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("nginx", ("nginx", "latest")),
        ("docker.io/library/nginx:1", ("nginx", "1")),
        ("ghcr.io:443/a/b@sha256:0", ("ghcr.io:443/a/b", "latest")),
    ],
)
def test_references_lose_their_defaults(given: str, wanted: tuple[str, str]) -> None:
    assert canonical(given) == wanted


@pytest.mark.parametrize(
    ("cpu_ms", "limit", "wanted"),
    [
        (0, 100, 0),
        (10, None, 10),
        (10, 1000, 10),
        (10, 100, 10),
        (11, 100, 101),
        (60, 250, 210),
        (900, 5, 179_901),
    ],
)
def test_a_cpu_limit_stretches_work_period_by_period(cpu_ms: int, limit: int | None, wanted: int) -> None:
    assert stretched_ms(cpu_ms, limit) == wanted


def test_a_missing_script_ends_python_with_its_own_text() -> None:
    found = launched("python:3.12-alpine", "python", "/app/missing.py")
    assert [line.text for line in found.log] == [
        "python: can't open file '/app/missing.py': [Errno 2] No such file or directory"
    ]
    assert found.exit is not None
    assert found.exit.code == 2


def test_a_missing_variable_ends_the_bridge_with_a_traceback() -> None:
    script = '"""redis-bridge: x"""\nimport os\nHOST = os.environ["REDIS_HOST"]\n'
    found = launched("python:3.12-alpine", "python", "/app/bridge.py", files={"/app/bridge.py": script})
    assert [line.text for line in found.log] == [
        "Traceback (most recent call last):",
        '  File "/app/bridge.py", line 3, in <module>',
        '    HOST = os.environ["REDIS_HOST"]',
        "           ~~~~~~~~~~^^^^^^^^^^^^^^",
        '  File "<frozen os>", line 714, in __getitem__',
        "KeyError: 'REDIS_HOST'",
    ]
    assert found.exit is not None
    assert found.exit.code == 1


def test_a_command_that_the_image_lacks_is_not_started() -> None:
    found = launched("registry.k8s.io/pause:3.10", "sh", "-c", "true")
    assert found.create_error.endswith('exec: "sh": executable file not found in $PATH')


@pytest.mark.parametrize(
    ("script", "lines", "code"),
    [
        ("echo hi; exit 3", ["hi"], 3),
        ("echo a && false || echo b", ["a", "b"], 0),
        ("for x in 1 2; do echo n$x; done", ["n1", "n2"], 0),
        ("if [ -f /x ]; then echo yes; else echo no; fi; exit 4", ["no"], 4),
        ("foo", ["sh: foo: not found"], 127),
        ("echo $NAME; sleep 2; false", ["v"], 1),
    ],
)
def test_small_scripts_run_on_paper(script: str, lines: list[str], code: int) -> None:
    found = launched("busybox:1.36", "sh", "-c", script, env={"NAME": "v"})
    assert [line.text for line in found.log] == lines
    assert found.exit is not None
    assert found.exit.code == code


@pytest.mark.parametrize(
    "argv",
    [
        ("sleep", "infinity"),
        ("tail", "-f", "/dev/null"),
        ("sh", "-c", "while true; do echo tick; sleep 5; done"),
        ("sh", "-c", "sleep 1 && tail -f /dev/null"),
    ],
)
def test_what_waits_for_ever_does_not_exit_and_ignores_sigterm(argv: tuple[str, ...]) -> None:
    found = launched("busybox:1.36", *argv)
    assert found.exit is None
    assert found.stop_code == 137


def test_an_image_server_may_be_started_from_a_shell() -> None:
    found = launched(
        "nginx:1.27-alpine", "/docker-entrypoint.sh", "sh", "-c", "echo start; exec nginx -g 'daemon off;'"
    )
    assert [listener.port for listener in found.listeners] == [80]
    assert found.log[0].text == "start"


def test_a_program_that_needs_more_than_its_limit_is_killed() -> None:
    found = launched("python:3.12-alpine", "python", "-m", "http.server", memory_limit_bytes=8 << 20)
    assert found.exit is not None
    assert (found.exit.code, found.exit.reason) == (137, "OOMKilled")

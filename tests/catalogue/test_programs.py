"""Every program's images can be pulled, start with their own command line, and answer requests the same way twice."""

import json
import re

import pytest

from env_core import programs as package
from env_core.discovery import discover
from env_core.node.images import Images, parse_reference
from env_core.programs import Container, Launch, Line, Program, Reply, Request, Served
from env_core.programs._images import image_or_first
from tests.catalogue import worlds

PROGRAMS = discover(package, "PROGRAM", Program)
IMAGES = [(program, image) for program in PROGRAMS.values() for image in program.images]
FAILURES = {
    "",
    "nxdomain",
    "dns-timeout",
    "servfail",
    "refused",
    "timeout",
    "unreachable",
    "reset",
    "empty-reply",
}

every_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda program: program.name)
every_image = pytest.mark.parametrize(
    ("program", "image"), IMAGES, ids=[f"{program.name}-{image.repository}" for program, image in IMAGES]
)


class Alone:
    """An upstream where nobody else lives."""

    now_ms = 1_768_478_400_000

    def __init__(self):
        self.memory = {}
        self.disk = {}

    def request(self, host, port, request):
        return Reply(failure="refused", latency_ms=1)

    def takes_ms(self, cpu_ms):
        return cpu_ms

    def free_bytes(self, path):
        return None

    def stored(self, path):
        return self.disk.get(path, {})

    def store(self, path, rows):
        self.disk[path] = dict(rows)

    def state(self):
        return dict(self.memory)

    def remember(self, state):
        self.memory = dict(state)

    def has_peer(self, address):
        return False

    def telemetry(self, path, form):
        return 404, "404 page not found\n", "text/plain; charset=utf-8"


def container(image, tag, argv=None, **fields):
    return Container(
        namespace="default", pod="probe", pod_uid="uid", name="main", image=f"{image.repository}:{tag}",
        argv=(*image.entrypoint, *image.command) if argv is None else argv, env=dict(image.env), files=fields.pop("files", {}), pod_ip="10.244.1.2",
        node="node-1", cpu_limit_millis=None, cpu_request_millis=0, memory_limit_bytes=fields.pop("memory", None), started_ms=0, restarts=0,
        user=image.user, **fields,
    )  # fmt: skip


def runner(made):
    """Return the program that a kubelet would start: the first that knows the image and runs the command line."""
    return Images().program_for(parse_reference(made.image), made)


@every_program
def test_declarations_are_complete(program):
    assert program.name
    assert program.source.strip()
    assert program.images
    for image in program.images:
        assert image.tags
        assert image.size_bytes > 0
        assert image.base in ("debian", "alpine", "busybox", "distroless"), image.base
        assert image.repository == image.repository.lower()


def test_no_image_is_declared_twice():
    seen = {}
    for program, image in IMAGES:
        for tag in image.tags:
            where = seen.setdefault((image.repository, tag), (program.name, image))
            # Programs may share an image; then they must mean the same one.
            assert where[1] == image, (image.repository, tag, where[0], program.name)


@every_image
def test_every_tag_can_be_pulled(program, image):
    for tag in image.tags:
        reference = parse_reference(f"{image.repository}:{tag}")
        assert reference is not None
        assert Images().find(reference) == image
    assert Images().find(parse_reference(f"{image.repository}:never-pushed-0.0.0")) is None
    assert image_or_first(program.images, f"{image.repository}:{image.tags[0]}") == image


def is_launch(launch):
    assert isinstance(launch, Launch)
    assert launch.memory_bytes >= 0
    assert launch.cpu_millis >= 0
    assert launch.stop_ms >= 0
    assert all(
        isinstance(line, Line) and line.at_ms >= 0 and line.stream in ("stdout", "stderr")
        for line in launch.log
    )
    ports = [listener.port for listener in launch.listeners]
    assert sorted(set(ports)) == sorted(ports)
    assert all(0 < port < 65_536 for port in ports)
    if launch.create_error:
        assert not launch.listeners
    return True


@every_image
def test_it_starts_with_its_images_command_or_says_why_not(program, image):
    for tag in (image.tags[0], image.tags[-1]):
        made = container(image, tag)
        if not made.argv:
            continue  # A kubelet refuses such a container before any program is asked: "no command specified".
        started = runner(made)
        assert started is not None, f"nothing runs {made.argv} of {made.image}"
        launch = started.launch(made)
        assert is_launch(launch)
        assert launch == started.launch(made)
        assert (
            launch.listeners
            or launch.log
            or launch.exit
            or launch.create_error
            or started.name in ("pause", "toolbox", "python")
        ), made.argv


@every_program
@pytest.mark.parametrize(
    "argv",
    [
        ("/no/such/binary",),
        ("sh", "-c", "exit 3"),
        ("sleep", "infinity"),
        ("sh", "-c", "while true; do :; done"),
        ("",),
    ],
    ids=" ".join,
)
def test_any_command_line_is_answered(program, argv):
    for image in program.images:
        made = container(image, image.tags[0], argv)
        started = runner(made)
        if started is not None:
            assert is_launch(started.launch(made))
            assert started.launch(made) == started.launch(made)


REQUESTS = (
    Request(path="/"), Request(path="/health", host="tron.localhost"), Request(path="/data"), Request(path="/no/such/path?x=1&y=%20"),
    Request(method="POST", path="/", body='{"a": 1}', headers={"Content-Type": "application/json"}), Request(method="HEAD", path="/"),
    Request(method="BREW", path="no-slash"), Request(path="/" + "x" * 5000), Request(path="/../../etc/passwd"), Request(path=""),
)  # fmt: skip
COMMANDS = (
    "PING",
    "SET a 1",
    "GET a",
    "",
    "GET",
    "*1\r\n$4\r\nPING\r\n",
    "INFO",
    "FLUSHALL",
    "NO-SUCH-COMMAND x",
    "SELECT 1",
    "A redis.default.svc",
)


def requests_to(listener):
    """Return requests for a listener, in its own protocol and in others."""
    protocols = {listener.protocol, "http", "redis", "tcp", "dns", "grpc", "postgres"}
    commands = [
        Request(protocol=protocol, body=body)
        for protocol in sorted(protocols - {"http"})
        for body in COMMANDS
    ]
    return [*REQUESTS, *commands]


@every_image
def test_it_answers_or_refuses_every_request_the_same_way_twice(program, image):
    made = container(image, image.tags[0])
    started = runner(made) if made.argv else None
    if started is None:
        return
    for listener in started.launch(made).listeners:
        answers = []
        for _ in range(2):
            upstream = Alone()
            served = []
            for request in requests_to(listener):
                answer = started.serve(made, request, upstream)
                assert isinstance(answer, Served)
                assert answer.reply.failure in FAILURES
                assert answer.reply.failure or answer.reply.status == 0 or 100 <= answer.reply.status < 600
                assert answer.reply.latency_ms >= 0
                assert answer.cpu_ms >= 0
                assert answer.memory_bytes >= 0
                assert isinstance(started.is_steady(made, request), bool)
                served.append(answer)
            answers.append((served, upstream.memory))
        assert answers[0] == answers[1]


@every_program
def test_ps_shows_the_program(program):
    for image in program.images:
        made = container(image, image.tags[0])
        started = runner(made) if made.argv else None
        if started is not None and started.processes is not None:
            shown = started.processes(made)
            assert shown
            assert all(isinstance(line, str) and line for line in shown)


@every_image
def test_a_pod_of_it_starts_in_a_cluster(program, image):
    cluster = worlds.booted()
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": worlds.NAMESPACE},
        "spec": {"containers": [{"name": "main", "image": f"{image.repository}:{image.tags[0]}"}]},
    }
    cluster.client().create("pods", worlds.NAMESPACE, made)
    cluster.advance(120_000)
    status = cluster.store.get("pods", worlds.NAMESPACE, "probe")["status"]
    state = status["containerStatuses"][0]
    ran = bool(state["state"].get("running") or state["state"].get("terminated") or state.get("lastState"))
    why = json.dumps(state["state"])
    assert ran or re.search(r"no command|CreateContainerError|RunContainerError", why), why
    assert "ErrImagePull" not in why
    assert "ImagePullBackOff" not in why

"""The recordings' scripted runtime and registries: images that answer by their name, containers that follow a script."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from env_core.apiserver.request import ExecOptions
from env_core.node._asking import SlowOutput
from env_core.node.images import Catalogue, Images, Present, PullError, Reference
from env_core.programs import (
    EMPTY,
    REFUSED,
    TIMEOUT,
    Container,
    Exit,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Reply,
    Request,
    Run,
    Runtime,
    Written,
)
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Stream
from env_core.world import Object, Output

ScriptOf = Callable[[str, str], Object]
"""The script of a pod, by its namespace and name."""


def _sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class ScriptedImages(Images):
    """Registries that answer by the image's name, as the recorded runtime's do."""

    __slots__ = ("_program", "_script_of", "creates", "pulls", "secrets", "took")

    def __init__(self, program: Program, script_of: ScriptOf) -> None:
        super().__init__(Catalogue({}, {program.name: program}))
        self._program = program
        self._script_of = script_of
        self.pulls: dict[str, int] = {}
        self.creates: dict[tuple[str, str], int] = {}
        self.secrets: set[str] = set()
        self.took: dict[str, list[int]] = {}

    def find(self, reference: Reference) -> Image | None:
        name = reference.name
        digest = _sha(name)
        size = 20_000_000 + ord(digest[0]) * 1_000_003 + ord(digest[1]) * 7919
        return Image(
            repository=reference.repository, tags=(reference.tag,), size_bytes=size, command=("app",)
        )

    def program_for(self, reference: Reference, container: Container) -> Program | None:
        return self._program

    def _kind(self, reference: Reference) -> str:
        path = reference.repository.removeprefix("registry.example.com/").split("/")
        if len(path) < 2:
            return ""
        if path[0] == "flaky":
            kind, _, count = path[-1].rpartition("-")
            return kind if self.pulls.get(reference.name, 0) <= int(count) else ""
        if path[0] == "private":
            return "" if "good" in self.secrets else "denied"
        return path[-1] if path[0] == "err" else ""

    def inspect_error(self, reference: Reference) -> PullError | None:
        if "/inspecterr/" in reference.name:
            text = f'failed to get image "{reference.name}": content digest sha256:{_sha(reference.name)}: blob not found'
            return PullError("Unknown", text)
        return None

    def create_error(self, container: Container) -> str:
        script = self._script_of(container.namespace, container.pod)
        failure = (script.get("containers") or {}).get(container.name, {}).get("create")
        if not failure:
            return ""
        key = (container.pod_uid, container.name)
        tries = self.creates[key] = self.creates.get(key, 0) + 1
        return "" if failure.get("times") and tries > failure["times"] else failure["msg"]

    def _error(self, spec: Object | None, key: tuple[str, str], own_id: str) -> str:
        if not spec:
            return ""
        tries = self.creates[key] = self.creates.get(key, 0) + 1
        if spec.get("times") and tries > spec["times"]:
            return ""
        text: str = spec["msg"].replace("$ID", own_id)
        return text

    def volume_error(self, call: str, driver: str, handle: str) -> str:
        return csi_error(call, handle)

    def sandbox_error(self, namespace: str, pod: str, sandbox_id: str) -> str:
        return self._error(
            self._script_of(namespace, pod).get("sandbox"), ("sandbox", f"{namespace}/{pod}"), sandbox_id
        )

    def stop_error(self, container: Container, container_id: str) -> str:
        script = (self._script_of(container.namespace, container.pod).get("containers") or {}).get(
            container.name
        )
        return self._error((script or {}).get("stop"), ("stop", container_id), container_id)

    def stop_sandbox_error(self, namespace: str, pod: str, sandbox_id: str) -> str:
        return self._error(
            self._script_of(namespace, pod).get("stopSandbox"), ("stop", sandbox_id), sandbox_id
        )

    def pull(self, reference: Reference) -> PullError | None:
        return image_error(self._kind(reference), reference)

    def pull_ms(self, reference: Reference, stream: Stream, *, is_refused: bool) -> int:
        del stream, is_refused
        self.pulls[reference.name] = self.pulls.get(reference.name, 0) + 1
        measured = self.took.get(reference.name)
        if measured and self.pull(reference) is None:
            return measured.pop(0)
        delay = reference.tag.rpartition(".d")[2]
        return int(delay) if ".d" in reference.tag and delay.isdigit() else 400

    def present(self, reference: Reference) -> Present | None:
        if reference.repository.startswith("registry.example.com/present/"):
            return self.pulled(reference)
        return None

    def pulled(self, reference: Reference) -> Present:
        found = super().pulled(reference)
        user: int | str = found.user
        if "nonroot-uid" in reference.name:
            user = 1000
        if "nonroot-name" in reference.name:
            user = "appuser"
        return found._replace(user=user, image_id=f"{reference.repository}@sha256:{_sha(reference.name)}")


def image_error(kind: str, reference: Reference) -> PullError | None:
    """Return how a pull of the recorded registries fails (the scripted half of the recordings)."""
    name, tag = reference.name, reference.tag
    path = reference.repository.partition("/")[2]
    url = f"https://registry.example.com/v2/{path}/manifests/{tag}"
    before = f'failed to pull and unpack image "{name}": failed to resolve reference "{name}": '
    head = before + f'failed to do request: Head "{url}": '
    texts = {
        "notfound": ("NotFound", f"{before}{name}: not found"),
        "manifestunknown": (
            "Unknown",
            f"{before}unexpected status from GET request to {url}: 404 Not Found: manifest unknown: manifest unknown",
        ),
        "denied": (
            "Unknown",
            f"{before}pull access denied, repository does not exist or may require authorization: "
            "server message: insufficient_scope: authorization failed",
        ),
        "unauthorized": (
            "Unknown",
            f"{before}failed to authorize: failed to fetch anonymous token: unexpected status from GET request to "
            f"https://auth.registry.example.com/token?scope=repository%3A{path.replace('/', '%2F')}%3Apull"
            "&service=registry.example.com: 401 Unauthorized",
        ),
        "forbidden": ("Unknown", f"{before}unexpected status from HEAD request to {url}: 403 Forbidden"),
        "nohost": (
            "Unknown",
            head.replace("registry.example.com/v2", "registry.invalid/v2")
            + "dial tcp: lookup registry.invalid on 10.96.0.10:53: no such host",
        ),
        "iotimeout": ("DeadlineExceeded", head + "dial tcp 203.0.113.10:443: i/o timeout"),
        "refused": ("Unknown", head + "dial tcp 203.0.113.10:443: connect: connection refused"),
        "x509": (
            "Unknown",
            head + "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        ),
        "toomany": (
            "Unknown",
            f'failed to pull and unpack image "{name}": failed to copy: httpReadSeeker: failed open: unexpected status '
            f"from GET request to {url.replace(tag, 'sha256:' + _sha(name))}: 429 Too Many Requests\ntoomanyrequests: "
            "You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit",
        ),
        "nospace": (
            "Unknown",
            f'failed to pull and unpack image "{name}": failed to extract layer sha256:{_sha("layer" + name)}: write '
            "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/42/fs/usr/lib/libfoo.so: no space "
            "left on device",
        ),
        "platform": (
            "NotFound",
            f'failed to pull and unpack image "{name}": no match for platform in manifest: not found',
        ),
        "unavailable": ("Unknown", "RegistryUnavailable: connection to registry lost"),
        "signature": (
            "Unknown",
            "SignatureValidationFailed: Source image rejected: A signature was required, but no signature exists",
        ),
    }
    found = texts.get(kind)
    return PullError(*found) if found is not None else None


def csi_error(call: str, handle: str) -> str:
    """Return what the recorded node plugin answers (gen/csi.go): it knows the volume by its handle."""
    if call == "NodeStageVolume" and handle.startswith("stage-notfound"):
        return (
            "rpc error: code = Internal desc = failed to find device path /dev/xvdba: "
            'device path "/dev/xvdba" does not exist'
        )
    if call == "NodeStageVolume" and handle.startswith("stage-mkfs"):
        mount = "/var/lib/kubelet/plugins/kubernetes.io/csi/disk.csi.example.com/0123/globalmount"
        return (
            f'rpc error: code = Internal desc = could not format "/dev/nvme1n1" and mount it at "{mount}": '
            f"mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/nvme1n1 "
            f"{mount}\nOutput: mount: {mount}: wrong fs type, bad option, bad superblock on /dev/nvme1n1, "
            "missing codepage or helper program, or other error.\n"
        )
    if call == "NodeStageVolume" and handle.startswith("stage-aborted"):
        return (
            "rpc error: code = Aborted desc = An operation with the given Volume ID "
            + handle
            + " already exists"
        )
    if call == "NodePublishVolume" and handle.startswith("publish-err"):
        return (
            "rpc error: code = Internal desc = Could not mount volume: mount failed: exit status 32: "
            "access denied by server while mounting 10.0.0.9:/export"
        )
    if call == "NodeUnpublishVolume" and handle.startswith("unpublish-err"):
        return "rpc error: code = Internal desc = Could not unmount: target is busy"
    return ""


class ScriptedRuntime:
    """What the recorded containers do: when they end, what they answer."""

    def __init__(self, runtime: Runtime, loop: EventLoop, script_of: ScriptOf) -> None:
        self._runtime = runtime
        self._loop = loop
        self._script_of = script_of
        self.program = Program(
            name="scripted",
            images=(),
            runs=lambda _container: True,
            launch=self.launch,
            source="tests/golden/kubelet: the scripted runtime",
        )

    def _script(self, container: Container) -> Object:
        script = self._script_of(container.namespace, container.pod)
        found: Object = (script.get("containers") or {}).get(container.name) or {}
        return found

    def launch(self, container: Container) -> Launch:
        """Start a container as its script says."""
        script = self._script(container)
        failure = script.get("start")
        if failure and (not failure.get("times") or container.restarts < failure["times"]):
            return Launch(create_error=failure["msg"])
        runs = script.get("runs") or [{}]
        run = runs[min(container.restarts, len(runs) - 1)]
        ending = None
        if run.get("exitMs"):
            ending = Exit(
                after_ms=run["exitMs"],
                code=run.get("code", 0),
                reason=run.get("reason", ""),
                message=run.get("termMsg", "") or run.get("message", ""),
            )
        term = script.get("term") or {"ms": 100}
        listeners = [Listener(port=int(port), protocol="http") for port in script.get("http") or {}]
        listeners += [Listener(port=port) for port in script.get("tcp") or ()]
        listeners += [Listener(port=int(port), protocol="grpc") for port in script.get("grpc") or {}]
        lines = [
            Line(1, line.removeprefix("!"), "stderr" if line.startswith("!") else "stdout")
            for line in run.get("log") or ()
        ]
        fill = script.get("fill")
        written = (
            (Written(path=fill["path"], size_bytes=fill["mi"] << 20, after_ms=fill.get("atMs", 0)),)
            if fill
            else ()
        )
        return Launch(
            listeners=tuple(listeners),
            log=tuple(lines),
            exit=ending,
            stop_ms=10**9 if term.get("ignore") else term.get("ms", 0),
            stop_code=term.get("code", 0),
            memory_bytes=(script.get("memMi") or 12) << 20,
            processes=script.get("processes", 1),
            disk_bytes=script["diskMi"] << 20 if script.get("diskMi") else 36_864,
            written=written,
        )

    def settled(self, _pod: Object, _program: Program, _container: Container, launch: Launch) -> Launch:
        """Return a launch as it is: the scripts need no names."""
        return launch

    def request_pod(self, pod_ip: str, port: int, request: Request, source_ip: str) -> Reply:
        """Answer as the recorded containers' little servers do."""
        del source_ip
        found = self._runtime.pod_at(pod_ip)
        if found is None:
            return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms or 10_000)
        for name in self._script_of(found[0], found[1]).get("containers") or {}:
            run = self._runtime.run(found[2], name)
            if run is not None and run.listens_on(port, self._loop.now_ms):
                age = self._loop.now_ms - run.container.started_ms
                script = self._script(run.container)
                if str(port) in (script.get("http") or {}):
                    return _http_reply(script["http"][str(port)], age, request)
                if str(port) in (script.get("grpc") or {}):
                    return _grpc_reply(script["grpc"][str(port)], age, request)
                return Reply(failure=EMPTY)
        return Reply(failure=REFUSED)

    probe_pod = request_pod

    def execute(self, run: Run, options: ExecOptions) -> Output:
        """Run a command in a container."""
        age = self._loop.now_ms - run.container.started_ms
        line = " ".join(options.command)
        for rule in self._script(run.container).get("exec") or ():
            if rule.get("match", "") not in line or age < rule.get("fromMs", 0):
                continue
            if rule.get("untilMs") and age >= rule["untilMs"]:
                continue
            if rule.get("rpc"):
                code = rule["rpc"].get("code", "Unknown")
                text = f"OCI runtime exec failed: rpc error: code = {code} desc = {rule['rpc']['msg']}"
                return Output(stderr=text, exit_code=126)
            return SlowOutput(
                rule.get("out", "").replace("$MS", str(age)),
                rule.get("err", ""),
                rule.get("code", 0),
                took_ms=rule.get("delayMs", 0),
            )
        return Output()


def _http_reply(steps: list[Object], age: int, request: Request) -> Reply:
    for step in steps:
        if (step.get("untilMs") and age >= step["untilMs"]) or (
            step.get("path") and step["path"] != request.path
        ):
            continue
        if step.get("close"):
            return Reply(failure=EMPTY)
        headers = (("Location", step["location"]),) if step.get("location") else ()
        return Reply(
            status=step.get("status") or 200,
            headers=headers,
            body=step.get("body", ""),
            latency_ms=step.get("delayMs", 0),
        )
    return Reply(status=200, body="ok")


def _grpc_reply(steps: list[Object], age: int, request: Request) -> Reply:
    if request.body not in ("", "app"):
        return Reply(detail="rpc error: code = NotFound desc = unknown service")
    for step in steps:
        if not step.get("untilMs") or age < step["untilMs"]:
            body = "SERVING" if step.get("serving") else "NOT_SERVING"
            return Reply(body=body, latency_ms=step.get("delayMs", 0))
    return Reply(body="SERVING")

"""A small cluster around the kubelets: a real store, API server and clock, with containers that follow a script."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Any

from env_core import kinds as kinds_package
from env_core.apiserver import virtual as virtual_resources
from env_core.apiserver.boot import boot_objects
from env_core.apiserver.client import ApiClient
from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import AdmissionChain
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import (
    ADMIN,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    ExecOptions,
    LogOptions,
    Options,
)
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store, WatchEvent
from env_core.discovery import discover
from env_core.node._asking import SlowOutput
from env_core.node.images import Catalogue, Images, Present, PullError, Reference
from env_core.node.kubelet import Kubelets
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
)
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Stream, Streams
from env_core.sim.state import State
from env_core.world import Object, Output

START_MS = 1_767_603_600_400
_REGISTRY: list[Registry] = []


def _registry() -> Registry:
    if not _REGISTRY:
        stored = discover(kinds_package, "KIND", Kind)
        _REGISTRY.append(Registry([*stored.values(), *virtual_resources.KINDS]))
    return _REGISTRY[0]


def _sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class ScriptedImages(Images):
    """Registries that answer by the image's name, as the recorded runtime's do."""

    __slots__ = ("_program", "creates", "pulls", "script", "secrets")

    def __init__(self, program: Program) -> None:
        super().__init__(Catalogue({}, {program.name: program}))
        self._program = program
        self.pulls: dict[str, int] = {}
        self.creates: dict[str, int] = {}
        self.script: Object = {}
        self.secrets: set[str] = set()

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
        failure = (self.script.get("containers") or {}).get(container.name, {}).get("create")
        if not failure:
            return ""
        tries = self.creates[container.name] = self.creates.get(container.name, 0) + 1
        return "" if failure.get("times") and tries > failure["times"] else failure["msg"]

    def pull(self, reference: Reference) -> PullError | None:
        return image_error(self._kind(reference), reference)

    def pull_ms(self, reference: Reference, stream: Stream, *, is_refused: bool) -> int:
        del stream, is_refused
        self.pulls[reference.name] = self.pulls.get(reference.name, 0) + 1
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


class World:
    """A cluster of one node (or more) whose containers follow `script` (the recordings' runtime scripts)."""

    def __init__(
        self,
        script: Object | None = None,
        seed: int = 7,
        images: Images | None = None,
        parent: World | None = None,
    ) -> None:
        self.script = script or {}
        self.loop = EventLoop(START_MS) if parent is None else parent.loop.fork()
        self.store = Store() if parent is None else parent.store.fork()
        self.streams = Streams(seed) if parent is None else parent.streams.fork()
        self.state = State() if parent is None else parent.state.fork()
        self.server = ApiServer(
            registry=_registry(),
            store=self.store,
            loop=self.loop,
            streams=self.streams,
            admission=AdmissionChain(()),
            virtual=virtual_resources.VIRTUAL,
        )
        self.runtime = Runtime(self.state)
        self.program = Program(
            name="scripted",
            images=(),
            runs=lambda _container: True,
            launch=self._launch,
            source="tests/golden/kubelet: the scripted runtime",
        )
        self.images = ScriptedImages(self.program)
        self.images.script = self.script
        self.kubelets = Kubelets(
            server=self.server,
            state=self.state,
            runtime=self.runtime,
            network=self,
            exec_in=self._exec,
            images=images if images is not None else self.images,
        )
        self.server.backend = self.kubelets
        self.server.views = self.kubelets.views
        self.loop.bind("kubelet", self.kubelets.handle)
        self.store.subscriber = self.kubelets.on_write
        if parent is None:
            for resource, obj in boot_objects(self.streams, self.loop.now_ms):
                self.store.put(resource, obj)
        self.admin = ApiClient(self.server, ADMIN)
        self.changes: list[tuple[int, WatchEvent]] = []

    def fork(self) -> World:
        """Return an independent copy."""
        return World(self.script, parent=self)

    def pod(self, name: str, namespace: str = "default") -> Object:
        """Return a pod as stored."""
        found = self.store.get("pods", namespace, name)
        assert found is not None, f"no pod {namespace}/{name}"
        return found

    def watch(self) -> None:
        """Keep every change of pods and events from now on."""

        def seen(event: WatchEvent) -> None:
            if event.ref.resource in ("pods", "events"):
                self.changes.append((self.loop.now_ms, event))
            self.kubelets.on_write(event)

        self.store.subscriber = seen

    def run_for(self, duration_ms: int) -> None:
        """Let time pass."""
        self.loop.run_until(self.loop.now_ms + duration_ms)

    def add_pod(self, manifest: Object, node: str = "node-1") -> Object:
        """Create a pod as admission and the scheduler would leave it, bound to `node`."""
        spec = manifest["spec"]
        token = {"name": "kube-api-access-abcde", "projected": {"sources": []}}
        mount = {
            "name": "kube-api-access-abcde",
            "readOnly": True,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        }

        def mounted(container: Object) -> Object:
            return {**container, "volumeMounts": [*(container.get("volumeMounts") or ()), mount]}

        changed = {
            **spec,
            "serviceAccountName": spec.get("serviceAccountName", "default"),
            "containers": [mounted(container) for container in spec["containers"]],
            "volumes": [*(spec.get("volumes") or ()), token],
        }
        if spec.get("initContainers"):
            changed["initContainers"] = [mounted(container) for container in spec["initContainers"]]
        namespace = manifest["metadata"].get("namespace", "default")
        pod = self.admin.create("pods", namespace, {**manifest, "spec": changed})
        if not spec.get("nodeName"):
            name = pod["metadata"]["name"]
            target = {"target": {"kind": "Node", "name": node}}
            self.admin.create("pods", namespace, target, subresource="binding", name=name)
        return pod

    def act(self, action: list[Any], pod: Object) -> None:
        """Perform one action of a recording."""
        metadata = pod["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        verb, body = action[0], action[1] if len(action) > 1 else None
        if verb == "delete":
            self.admin.delete("pods", namespace, name, Options(grace_period_seconds=body))
        elif verb == "patch":
            kind = MERGE_PATCH if "metadata" in body else STRATEGIC_PATCH
            self.admin.patch("pods", namespace, name, body, kind)
        elif verb == "patch_status":
            self.admin.patch("pods", namespace, name, body, STRATEGIC_PATCH, subresource="status")
        elif verb == "create":
            self.create(body)
        elif verb == "ephemeral":
            patch = {"spec": {"ephemeralContainers": [body]}}
            self.admin.patch(
                "pods", namespace, name, patch, STRATEGIC_PATCH, subresource="ephemeralcontainers"
            )
        elif verb == "end_sandbox":
            self.kubelets.end_sandbox(namespace, name)
        elif verb == "exit":
            uid = metadata["uid"]
            run = self.runtime.run(uid, action[1])
            assert run is not None
            self.runtime.end(run, self.loop.now_ms, action[2], action[3] if len(action) > 3 else "")
            self.loop.wake(self.loop.now_ms, "kubelet", ("run", uid, action[1]))
        else:
            raise NotImplementedError(verb)

    def create(self, body: Object) -> None:
        """Create an object that a recording needs."""
        kind = _registry().by_gvk(body["apiVersion"], body["kind"])
        assert kind is not None
        namespace = body["metadata"].get("namespace", "default") if kind.is_namespaced else ""
        if body["kind"] == "Secret" and "stringData" in body:
            data = {
                key: base64.b64encode(value.encode()).decode() for key, value in body["stringData"].items()
            }
            body = {key: value for key, value in body.items() if key != "stringData"} | {"data": data}
        if body["kind"] == "Secret" and ".dockerconfigjson" in (body.get("data") or {}):
            self.images.secrets.add("good")
        self.admin.create(kind.resource, namespace, body)

    def logs(self, pod: Object, **options: Any) -> str:
        """Return a log as a client gets it."""
        return self.admin.logs(pod["metadata"]["namespace"], pod["metadata"]["name"], LogOptions(**options))

    # The scripted runtime

    def _script(self, name: str) -> Object:
        found: Object = (self.script.get("containers") or {}).get(name) or {}
        return found

    def _launch(self, container: Container) -> Launch:
        script = self._script(container.name)
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
        return Launch(
            listeners=tuple(listeners),
            log=tuple(lines),
            exit=ending,
            stop_ms=10**9 if term.get("ignore") else term.get("ms", 0),
            stop_code=term.get("code", 0),
        )

    def settled(self, _pod: Object, _address: str, launch: Launch) -> Launch:
        return launch

    def request_pod(self, pod_ip: str, port: int, request: Request, source_ip: str) -> Reply:
        """Answer as the recorded containers' little servers do."""
        del source_ip
        found = self.runtime.pod_at(pod_ip)
        if found is None:
            return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms or 10_000)
        for name in self.script.get("containers") or {}:
            run = self.runtime.run(found[2], name)
            if run is not None and run.listens_on(port, self.loop.now_ms):
                age = self.loop.now_ms - run.container.started_ms
                script = self._script(name)
                if str(port) in (script.get("http") or {}):
                    return _http_reply(script["http"][str(port)], age, request)
                if str(port) in (script.get("grpc") or {}):
                    return _grpc_reply(script["grpc"][str(port)], age, request)
                return Reply(failure=EMPTY)
        return Reply(failure=REFUSED)

    def _exec(self, run: Run, options: ExecOptions) -> Output:
        age = self.loop.now_ms - run.container.started_ms
        line = " ".join(options.command)
        for rule in self._script(run.container.name).get("exec") or ():
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

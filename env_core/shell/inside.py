"""Commands in containers: which the image has, what files they see, what they print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from env_core.apiserver.request import ExecOptions
from env_core.dataplane._model import Source
from env_core.dataplane.network import Network
from env_core.dataplane.serving import programs
from env_core.programs import Container, Image, Run, Runtime
from env_core.programs import nginx as nginx_program
from env_core.programs._images import PATH, commands_of, image_of, start_problem
from env_core.programs._nginx_start import dumped
from env_core.shell._clients import python
from env_core.shell._clients._wire import NetworkWire
from env_core.shell._registry import builtin_programs
from env_core.shell.clients import inside_programs
from env_core.shell.context import Interrupted, Process, Program
from env_core.shell.filesystem import FileSystem
from env_core.sim.loop import EventLoop
from env_core.world import Output

NOT_STARTED: Final = 126
"""Exit code of a command that the runtime cannot start."""
EXEC_LIMIT_MS = 600_000
"""Virtual time that a command in a container may take before it is cut off: a bound of ours."""
_AT_ONCE_MS: Final = 50
"""Waits are added up, and the cluster's clock runs on when they make as much as this."""
_SCRATCH: Final = "file "
_GONE: Final = "gone "
_SCRATCH_MAX: Final = 64 << 10
_WORKING: Final = {"redis": "/data", "nginx": "/", "curlimages/curl": "/home/curl_user"}
_SHELLS: Final = ("sh", "bash", "ash", "dash", "zsh")


def run_inside(
    run: Run,
    options: ExecOptions,
    *,
    network: Network,
    runtime: Runtime,
    loop: EventLoop,
    advance: Callable[[int], None],
) -> Output:
    """Run a command in a running container, as `kubectl exec` and exec probes do.

    Files that it writes are kept for the length of the run. A command that the image does not have leaves
    runc's text and exit code 126.

    Source: tests/golden/programs/runc (exec.*), public-knowledge.
    """
    late_ms = [0]

    def wait(duration_ms: int) -> None:
        late_ms[0] += duration_ms
        if late_ms[0] >= _AT_ONCE_MS:
            passing_ms, late_ms[0] = late_ms[0], 0
            advance(passing_ms)

    place = Inside(run, network, runtime)
    ahead_ms = runtime.clocks.ahead_ms(run.container.node, loop.now_ms)

    def now_ms() -> int:
        return loop.now_ms + late_ms[0] + ahead_ms

    process = place.process(now_ms, wait, options.stdin, now_ms() + EXEC_LIMIT_MS)
    command = list(options.command)
    problem = _start_problem(command, place.image, process.programs, process.fs)
    if problem:
        text = (
            f"OCI runtime exec failed: exec failed: unable to start container process: {problem}: unknown\n"
        )
        return Output("", text, NOT_STARTED)
    program = process.programs.get(command[0].rpartition("/")[2])
    try:
        output = program(process, command) if program is not None else _script(process, command)
    except Interrupted as interrupted:
        output = interrupted.output or Output("", "", 124)
    place.keep(process)
    return output


class Inside:
    """A running container from within: its files, with what commands have written, and its programs."""

    __slots__ = ("_base", "_before", "_kept", "_network", "_runtime", "image", "run")

    def __init__(self, run: Run, network: Network, runtime: Runtime) -> None:
        self.run = run
        self.image = _image_of(run.container.image)
        self._network = network
        self._runtime = runtime
        self._kept = runtime.memory(run.container.pod_uid, run.container.name)
        self._base = _files(run.container, network)
        self._before: object = None

    def process(
        self, now_ms: Callable[[], int], wait: Callable[[int], None], stdin: str, deadline_ms: int | None
    ) -> Process:
        """Return a process in the container, in the directory and with the environment of its image."""
        container, image = self.run.container, self.image
        # A fork copies its entries on the first write.
        fs = _with_scratch(self._base, self._kept, container).fork()
        available = _available(self.run, image, self._network, self._runtime, fs)
        self._before = fs._entries
        return Process(
            stdin,
            fs,
            {"HOME": "/root" if container.user == 0 else "/", **container.env},
            _directory(image, fs),
            now_ms,
            wait,
            available,
            _user(container),
            container.env.get("HOSTNAME") or container.pod,
            flavour="busybox" if image.base == "alpine" else "gnu",
            deadline_ms=deadline_ms,
            work=self._network.work,
        )

    def keep(self, process: Process) -> None:
        """Remember what a process wrote, for the length of the run."""
        if process.fs._entries is not self._before:
            _keep_scratch(self._runtime, self.run.container, self._kept, self._base, process.fs)


def _image_of(reference: str) -> Image:
    for program in programs().values():
        found = image_of(program.images, reference)
        if found is not None:
            return found
    return Image(repository=reference, tags=(), size_bytes=0, base="distroless")


def _directory(image: Image, fs: FileSystem) -> str:
    wanted = _WORKING.get(image.repository, "/")
    return wanted if fs.is_dir(wanted) else "/"


def _user(container: Container) -> str:
    return "root" if container.user == 0 else str(container.user)


def _start_problem(command: list[str], image: Image, available: Mapping[str, Program], fs: FileSystem) -> str:
    """Return runc's text when a command cannot be started, "" when it can."""
    name = command[0] if command else ""
    if not name:
        return start_problem("")
    if "/" not in name:
        return "" if name in available else start_problem(name)
    path = name if name.startswith("/") else f"/{name.removeprefix('./')}"
    directory, _, base = path.rpartition("/")
    if base and base in available and (directory in PATH or path in image.files):
        return ""
    if fs.is_dir(path):
        return f'exec: "{name}": permission denied'
    if not fs.exists(path):
        return start_problem(name)
    return "" if fs.may(path, 1) else f'exec: "{name}": permission denied'


def _script(process: Process, command: list[str]) -> Output:
    shell = process.programs.get("sh")
    if shell is None:
        return Output("", f"exec {command[0]}: exec format error\n", 1)
    return shell(process, ["sh", *command])


# Files


def _files(container: Container, network: Network) -> FileSystem:
    source = network.source_of_pod(container.namespace, container.pod)
    directories = {path.rpartition("/")[0] + "/" for path in container.files}
    hidden = tuple(directory for directory in sorted(directories) if directory not in ("/etc/", "/"))
    fs = _image_files(container.image, hidden).fork()
    for path, text in {**_system_files(container, network, source), **container.files}.items():
        fs.mkdir(path.rpartition("/")[0] or "/", parents=True)
        fs.write(path, text)
    return fs


@lru_cache(maxsize=64)
def _image_files(reference: str, hidden: tuple[str, ...]) -> FileSystem:
    """Return an image's files, without the directories that mounts hide; callers fork it."""
    image = _image_of(reference)
    own = {path: text for path, text in image.files.items() if not (hidden and path.startswith(hidden))}
    fs = FileSystem({**_static_files(image), **own})
    directories = ("/bin", "/usr/bin")
    for directory in directories:
        for name in fs.listdir(directory):
            fs.chmod(f"{directory}/{name}", 0o755)
    for path in image.files:
        if fs.exists(path) and path.endswith(
            (".sh", "/coredns", "/whoami", "/agnhost", "/pause", "/http-echo")
        ):
            fs.chmod(path, 0o755)
    return fs


@lru_cache(maxsize=128)
def _release(base: str) -> str:
    if base == "alpine":
        return 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.2\nPRETTY_NAME="Alpine Linux v3.22"\nHOME_URL="https://alpinelinux.org/"\n'
    return 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\nID=debian\n'


def _static_files(image: Image) -> dict[str, str]:
    if image.base == "distroless":
        return {}
    found = {
        "/etc/os-release": _release(image.base),
        "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
        "/etc/group": "root:x:0:root\nnobody:x:65534:\n",
    }
    if image.base == "alpine":
        found["/etc/alpine-release"] = "3.22.2\n"
    else:
        found["/etc/debian_version"] = "12.12\n"
    for name in commands_of(image):
        found[f"/bin/{name}" if image.base == "alpine" else f"/usr/bin/{name}"] = ""
    return found


def resolv_conf(network: Network, source: Source) -> str:
    """Return the text of a pod's /etc/resolv.conf.

    Source: k8s.io/kubernetes pkg/kubelet/network/dns appendOptions and generateSearchesForDNSClusterFirst.
    """
    search, ndots, server = network.search_of(source)
    lines = [f"search {' '.join(search)}"] if search else []
    lines.append(f"nameserver {server}")
    if ndots != 1:
        lines.append(f"options ndots:{ndots}")
    return "\n".join(lines) + "\n"


def _system_files(container: Container, network: Network, source: Source | None) -> dict[str, str]:
    argv = "\0".join(container.argv) + "\0"
    cpu = container.cpu_limit_millis
    hosts = [
        "# Kubernetes-managed hosts file.",
        "127.0.0.1\tlocalhost",
        "::1\tlocalhost ip6-localhost ip6-loopback",
        "fe00::\tip6-localnet",
        "fe00::\tip6-mcastprefix",
        "fe00::1\tip6-allnodes",
        "fe00::2\tip6-allrouters",
        f"{container.pod_ip}\t{container.pod}",
    ]
    if source is not None:
        aliases: dict[str, list[str]] = {}
        for name, address in network.hosts_of(source).items():
            if name not in ("localhost", container.pod):
                aliases.setdefault(address, []).append(name)
        if aliases:
            hosts += ["", "# Entries added by HostAliases."]
            hosts += ["\t".join([address, *names]) for address, names in aliases.items()]
    found = {
        "/etc/hostname": f"{container.env.get('HOSTNAME') or container.pod}\n",
        "/etc/hosts": "\n".join(hosts) + "\n",
        "/proc/1/environ": "".join(f"{name}={value}\0" for name, value in container.env.items()),
        "/proc/1/cmdline": argv,
        "/proc/1/comm": container.argv[0].rpartition("/")[2][:15] + "\n" if container.argv else "\n",
        "/sys/fs/cgroup/cpu.max": f"{cpu * 100} 100000\n" if cpu else "max 100000\n",
        "/sys/fs/cgroup/memory.max": f"{container.memory_limit_bytes}\n"
        if container.memory_limit_bytes
        else "max\n",
    }
    if source is not None:
        found["/etc/resolv.conf"] = resolv_conf(network, source)
    return found


def _with_scratch(base: FileSystem, kept: Mapping[str, str], container: Container) -> FileSystem:
    fs = base.fork()
    for name, text in kept.items():
        if name.startswith(_SCRATCH):
            path = name[len(_SCRATCH) :]
            fs.mkdir(path.rpartition("/")[0] or "/", parents=True)
            fs.write(path, text)
        elif name.startswith(_GONE) and fs.exists(name[len(_GONE) :]) and not fs.is_dir(name[len(_GONE) :]):
            fs.remove(name[len(_GONE) :])
    if container.user:
        fs.user = str(container.user)
    return fs


def _keep_scratch(
    runtime: Runtime, container: Container, kept: dict[str, str], base: FileSystem, fs: FileSystem
) -> None:
    """Remember the files that a command wrote or removed, for later commands of the same run."""
    memory = {name: text for name, text in kept.items() if not name.startswith((_SCRATCH, _GONE))}
    total = 0
    for path, entry in fs._entries.items():
        was = base._entries.get(path)
        if not entry.is_dir and (was is None or was.text != entry.text):
            total += len(entry.text)
            if total <= _SCRATCH_MAX:
                memory[_SCRATCH + path] = entry.text
    for path, entry in base._entries.items():
        if not entry.is_dir and path not in fs._entries:
            memory[_GONE + path] = ""
    runtime.remember(container.pod_uid, container.name, memory)


# Programs


def _available(
    run: Run, image: Image, network: Network, runtime: Runtime, fs: FileSystem
) -> dict[str, Program]:
    if image.base == "distroless":
        return {}
    known = commands_of(image)
    found: dict[str, Program] = {
        name: program
        for name, program in builtin_programs("busybox" if image.base == "alpine" else "gnu").items()
        if name in known
    }
    shell = builtin_programs("busybox" if image.base == "alpine" else "gnu").get("sh")
    if shell is not None:
        found |= {name: shell for name in _SHELLS if name in known}
    found |= inside_programs(run, network, runtime, image)
    container = run.container
    if "ps" in known:
        found["ps"] = lambda process, argv: _ps(run, process, argv)
    if "nginx" in known:
        found["nginx"] = lambda process, argv: _nginx(run, network, argv)
    for name in ("python", "python3"):
        if name in known:
            source = network.source_of_pod(container.namespace, container.pod)
            if source is not None:
                wire = NetworkWire(network, source, 1 if image.base == "alpine" else 2)
                found[name] = lambda process, argv, wire=wire: python.run(
                    process, argv, wire, container.image
                )  # type: ignore[misc]
    if "redis-server" in known:
        found["redis-server"] = lambda _process, _argv: Output(
            "", "Failed listening on port 6379 (tcp), aborting.\n", 1
        )
    return found


def _ps(run: Run, process: Process, argv: list[str]) -> Output:
    """List the container's processes and the command itself."""
    program = programs().get(run.program)
    lines = (
        program.processes(run.container)
        if program is not None and program.processes is not None
        else (" ".join(run.container.argv),)
    )
    user = _user(run.container)
    rows = [(1 if index == 0 else 28 + index, line) for index, line in enumerate(lines)]
    rows.append((4242, " ".join(argv)))
    if process.is_busybox:
        body = "".join(f"{pid:5d} {user:<8}  0:00 {line}\n" for pid, line in rows)
        return Output("PID   USER     TIME  COMMAND\n" + body)
    if any("e" in word or "a" in word for word in argv[1:]):
        body = "".join(
            f"{user:<10} {pid:7d}  0.0  0.1  10000  5000 ?        S    09:00   0:00 {line}\n"
            for pid, line in rows
        )
        return Output("USER           PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n" + body)
    body = "".join(f"{pid:7d} ?        00:00:00 {line.partition(' ')[0]}\n" for pid, line in rows)
    return Output("    PID TTY          TIME CMD\n" + body)


def _nginx(run: Run, network: Network, argv: list[str]) -> Output:
    """Run nginx's binary beside the running server: version, test, reload."""
    container = run.container
    version = nginx_program.version_of(container.image)
    if "-v" in argv:
        return Output("", f"nginx version: nginx/{version}\n")
    if "-V" in argv:
        return Output(
            "",
            f"nginx version: nginx/{version}\nbuilt with OpenSSL 3.5.4\nTLS SNI support enabled\nconfigure arguments: --prefix=/etc/nginx\n",
        )
    site = nginx_program.site_of(container)
    main = "/etc/nginx/nginx.conf"
    if isinstance(site, str):
        text = f"nginx: [emerg] {site}\n"
        if "-t" in argv or "-T" in argv:
            text += f"nginx: configuration file {main} test failed\n"
        return Output("", text, 1)
    if "-t" in argv or "-T" in argv:
        text = f"nginx: the configuration file {main} syntax is ok\nnginx: configuration file {main} test is successful\n"
        shown = ""
        if "-T" in argv:
            shown = dumped(site)
        return Output(shown, text)
    if "-s" in argv:
        if "reload" in argv:
            network.reload(run)
        return Output("", "")
    return Output("", "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)\n", 1)

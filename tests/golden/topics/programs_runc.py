"""programs/runc: what OCI runtimes say of processes that they cannot start.

The root file system of the recorded container is made here, by the names that the commands use. Mounts, sysctls and limits are not in
the records: what they name is read from the recorded text, by the kind of the condition.
"""

from __future__ import annotations

import re
from typing import Final

from env_core.programs import _oci
from env_core.programs._images import BUSYBOX_APPLETS
from env_core.shell._registry import builtin_programs
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from env_core.world import Output
from tests.golden.comparison import Comparison, Topic
from tests.golden.program_cluster import NOW_MS
from tests.golden.recordings import Folder, Record
from tests.golden.server_records import FORMATS, fits

_ROOT: Final = _oci.Root(
    {
        **{f"/bin/{name}": _oci.EXECUTABLE for name in sorted(BUSYBOX_APPLETS)}, "/bin/noexec": _oci.PLAIN,
        "/bin/badint": _oci.NO_INTERPRETER, "/bin/crlf": _oci.NO_INTERPRETER, "/bin/noshebang": _oci.NO_FORMAT,
        "/bin/arm": _oci.NO_FORMAT, "/etc/passwd": _oci.PLAIN, "/root/tool": _oci.EXECUTABLE,
    },
    frozenset({"/root"}),
)  # fmt: skip
_FORMATS: Final = {**FORMATS, "ts": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"}
_UID: Final = "3f0c2f6e-6a0e-4c39-9a55-0d1f0c9f5b11"
_MOUNT: Final = re.compile(r'error mounting \\?"(.*?)\\?" to rootfs at \\?"(.*?)\\?":')
_SYSCTL: Final = re.compile(r'sysctl \\?"(.*?)\\?"')


def _declared(record: Record) -> str:
    """Return why the runtime refuses what the container declares beside its process."""
    kind, text = record["condition"]["kind"], record["stderr"]
    mount = _MOUNT.search(text)
    if mount is not None:
        missing = kind == "mount_source_missing"
        return (_oci.mount_missing if missing else _oci.mount_mismatched)(mount[1], mount[2])
    sysctl = _SYSCTL.search(text)
    if kind == "sysctl" and sysctl is not None:
        return _oci.sysctl_outside(sysctl[1])
    known = {
        "rlimit": _oci.rlimit_invalid(7), "apparmor": _oci.apparmor_missing(),
        "container_stopped": "cannot exec in a stopped container", "container_missing": "container does not exist",
    }  # fmt: skip
    return known.get(kind, "")


def _run(record: Record) -> Output:
    """Run the process, as PID 1 for `run`."""
    process = record["process"]
    argv = list(process["args"])
    is_first = record["argv"][1] == "run"
    if is_first and argv[:2] == ["sh", "-c"] and argv[2].startswith("kill "):
        return Output()  # the kernel keeps signals without a handler from PID 1
    now = [NOW_MS]
    files = FileSystem({"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000:app:/home/app:/bin/sh\n", "/tmp/x": ""})
    if not files.is_dir(process["cwd"]):
        files.mkdir(process["cwd"], parents=True)
    shell = Process(
        "", files, {"PATH": "/bin"}, process["cwd"], lambda: now[0], lambda ms: now.__setitem__(0, now[0] + ms),
        builtin_programs("busybox"), "app" if process["uid"] else "root", "web", flavour="busybox",
    )  # fmt: skip
    return shell.programs[argv[0].rpartition("/")[2]](shell, argv)


def _judge(record: Record, _folder: Folder) -> Comparison:
    process = record["process"]
    caller = _oci.Caller(record["program"] == "containerd", "exec" in record["argv"][:3], "2026-11-30T00:53:20Z")
    declared = _declared(record)
    inside = _oci.directory_failure(process["cwd"], _ROOT)
    failure = _oci.start_failure(tuple(process["args"]), _ROOT, user=process["uid"], directory=process["cwd"])
    if declared == "container does not exist" and caller.is_containerd:
        output = Output("", f'ctr: container "{"0" * 64}" in namespace "k8s.io": not found\n', 1)
    elif declared or inside:
        output = Output("", caller.said(declared or _oci.INIT + inside), caller.code)
    elif failure is not None:
        output = Output("", caller.said(failure.text), caller.code)
        if not failure.is_runtime:
            output = Output("", f"{failure.text}\n", 1)
    else:
        output = _run(record)
    # What was read from the recorded text holds its placeholders.
    output = Output(output.stdout, output.stderr.replace("{uid}", _UID), output.exit_code)
    wanted = {name: record[name] for name in ("stdout", "stderr", "exit")}
    got = {"stdout": output.stdout, "stderr": output.stderr, "exit": output.exit_code}
    for name in ("stdout", "stderr"):
        got[name] = wanted[name] if fits(wanted[name], got[name], _FORMATS) else got[name]
    return Comparison(wanted, got)


TOPIC = Topic(
    name="programs/runc", files=("programs/runc.jsonl", "runc.jsonl"), answers=("stdout", "stderr", "exit"), judge=_judge
)

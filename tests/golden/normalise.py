"""Every rule by which a recorded answer and ours are made comparable; each names the sentence that allows it.

The sentences are quoted from the README of the recordings' folder (oracle/l0, oracle/l2, oracle/kubelet, oracle/promql).
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from env_core.sim.timefmt import parse_ms
from tests.golden.servers import CREATED_UID, FIRST_UID

Value = Any

UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}\b")
CLUSTER_IP = re.compile(r"\b10\.96\.\d+\.\d+\b")
TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_KLOG = re.compile(r"^([EWIF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ([\w./-]+:\d+\])", re.MULTILINE)
JWT = re.compile(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----(?:\\\\n)?")
_VERSION = re.compile(r'(resourceVersion\\*":\\*"|resourceVersion: \\*"|ResourceVersion in record \(|, current: )\d+')
_DUMP = re.compile(r"(@@ .* @@\n).*", re.DOTALL)
_ALLOCATED = ("clusterIP", "clusterIPs", "healthCheckNodePort")


def through_text(value: Value, *rules: Any) -> Value:
    """Apply text rules to every part of a JSON value at once."""
    text = json.dumps(value, ensure_ascii=False)
    for rule in rules:
        text = rule(text)
    return json.loads(text)


# oracle/l0


def created_identity(value: Value) -> Value:
    """Give our created object the recorded uid.

    l0: "Created objects get uid 00000000-0000-4000-8000-000000000001 and creationTimestamp 2026-01-15T10:00:00Z."
    """
    return through_text(value, lambda text: text.replace(FIRST_UID, CREATED_UID))


def without_allocation(obj: Value) -> Value:
    """Leave out of a Service what allocators give it.

    l0: "Service allocation (cluster IP 10.96.0.10, node ports 30001.., health check port 32000) is emulated, not the
    real allocator".
    """
    if not isinstance(obj, dict) or obj.get("kind") != "Service" or not obj.get("spec"):
        return obj
    spec = obj["spec"]
    is_headless = spec.get("clusterIP") == "None"
    kept = {key: item for key, item in spec.items() if is_headless or key not in _ALLOCATED}
    if "ports" in kept:
        kept["ports"] = [
            {key: item for key, item in port.items() if key != "nodePort"} for port in kept["ports"] or []
        ]
    return {**obj, "spec": kept}


def token_volume(value: Value) -> Value:
    """Fix the random suffix of the token volume.

    l0: "the token volume's random suffix is set to 00000"; l2: "kube-api-access-xxxxx -> kube-api-access-uaaaa".
    """
    return through_text(value, lambda text: TOKEN_VOLUME.sub("kube-api-access-00000", text))


def any_of(variants: list[Value], got: Value) -> Value:
    """Return the variant that we gave, if it is one of those recorded, else the first.

    l0: "`messages` instead of `message` when the order of the parts is random (Go map)".
    """
    return got if got in variants else variants[0]


def without_dump(text: Value) -> Value:
    """Cut dumps of Go structs inside messages after the line that starts them.

    The harness' own specification: "dumps of Go structs inside messages compared up to the `@@` line".
    """
    return _DUMP.sub(r"\1", text) if isinstance(text, str) else text


def without_emptiness(value: Value) -> Value:
    """Leave out nulls that a record of a request carries where the client sent no such field.

    l0: "Field order in records is alphabetical (Go `encoding/json` of maps)": records are Go maps, in which a field set
    to nil shows as null.
    """
    if isinstance(value, dict):
        return {key: without_emptiness(item) for key, item in value.items() if item is not None}
    return [without_emptiness(item) for item in value] if isinstance(value, list) else value


# oracle/l2


def server_drawn(value: Value) -> Value:
    """Fix what a server draws or counts: uids, times, token suffixes, service addresses.

    l2: "uid -> 00000000-0000-0000-0000-00000000000n", "clusterIP 10.96.a.b / pod IP 10.244.a.b -> same digit shape",
    "**Timestamps** are shifted by a whole number of minutes", "JWT -> <JWT>; certificates -> <PEM>",
    "resourceVersion dropped (text: "RV")".
    """
    return through_text(
        value,
        lambda text: UID.sub("00000000-0000-0000-0000-000000000001", text),
        lambda text: TOKEN_VOLUME.sub("kube-api-access-uaaaa", text),
        lambda text: CLUSTER_IP.sub("10.96.9.1", text),
        lambda text: TIME.sub("2026-01-01T00:00:00Z", text),
        lambda text: JWT.sub("<JWT>", text),
        lambda text: PEM.sub("<PEM>", text),
        lambda text: _VERSION.sub(r"\1RV", text),
    )


def generated_name(obj: Value, request: Value) -> Value:
    """Fix the random suffix of a generated name.

    l2: "random name suffix -> u0001".
    """
    prefix = ((request or {}).get("metadata") or {}).get("generateName")
    name = (obj.get("metadata") or {}).get("name", "") if isinstance(obj, dict) else ""
    if not prefix or not name.startswith(prefix) or len(name) != len(prefix) + 5:
        return obj
    return through_text(obj, lambda text: text.replace(name, f"{prefix}u0001"))


def node_ports(obj: Value) -> Value:
    """Fix node ports that the server allocated.

    l2: "allocated nodePort -> 31001..".
    """
    return through_text(
        obj, lambda text: re.sub(r'"(nodePort|healthCheckNodePort)": \d+', r'"\1": 31001', text)
    )


def stored(obj: Value, *, has_managed_fields: bool = True) -> Value:
    """Leave out of an object's metadata what recordings do not keep.

    l2: "resourceVersion dropped"; "managedFields removed" (of flow states); "managedFields kept without time".
    """
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
        return obj
    metadata = {key: item for key, item in obj["metadata"].items() if key != "resourceVersion"}
    fields = metadata.pop("managedFields", None)
    if has_managed_fields and fields is not None:
        metadata["managedFields"] = [
            {key: item for key, item in entry.items() if key != "time"} for entry in fields
        ]
    return {**obj, "metadata": metadata}


def unordered(entries: Value) -> Value:
    """Sort managedFields by what they hold: their order is that of times, which are not kept.

    l0: "no time in managedFields"; l2: "managedFields ({plural/name: [...]} without time; only when changed)".
    """
    bare = [{key: item for key, item in entry.items() if key != "time"} for entry in entries]
    return sorted(bare, key=lambda entry: json.dumps(entry, sort_keys=True))


def managers(entries: Value) -> Value:
    """Return managedFields without those of the script kubelet, and without drawn names in the paths of fields.

    l2: "what it writes (pod status, node status, kubelet events, logs, exec) is **not** golden", "random name suffix ->
    u0001", "kube-api-access-xxxxx -> kube-api-access-uaaaa".
    """
    kept = [entry for entry in entries if entry.get("manager") != "kubelet"]
    drawn = through_text(
        kept,
        lambda text: TOKEN_VOLUME.sub("kube-api-access-uaaaa", text),
        lambda text: _DEBUGGER.sub("debugger-uxxxx", text),
    )
    return unordered(drawn)


def details(status: Value) -> Value:
    """Return a Status' details without the uid that the server drew.

    l2: "uid -> 00000000-0000-0000-0000-00000000000n".
    """
    return server_drawn(status.get("details") or {}) if isinstance(status, dict) else {}


def without_prose_of_columns(table: Value) -> Value:
    """Leave out of a Table what its columns are for.

    The harness' own specification: "*what is prose is not copied*".
    """
    columns = table.get("columnDefinitions")
    if not columns:
        return table
    return {**table, "columnDefinitions": [{**column, "description": ""} for column in columns]}


def without_hashes_of_prose(value: Value) -> Value:
    """Leave out the hashes of documents that hold descriptions.

    The harness' own specification: "*what is prose is not copied*".
    """
    return through_text(value, lambda text: re.sub(r"hash=[0-9A-F]{128}", "hash=", text))


def klog_header(text: str) -> str:
    """Mask the header of log lines.

    l2: "klog header -> `E<klog> file.go:nn]`".
    """
    return _KLOG.sub(r"\1<klog> \2", text)


# oracle/kubelet: tests/node/replaying.py holds the rules of its own comparison of states and events:
# "`$UID` the pod's uid", "`$ID<n>` container/sandbox ids", "`sha256:$DIGEST<n>`", "`$POD_IP`", and
# "treat offsets as ±~0.3 s".


def random_suffix(text: str) -> str:
    """Fix the random suffix of a token volume.

    kubelet: "`$SUF` random suffix".
    """
    return TOKEN_VOLUME.sub("kube-api-access-$SUF", text)


def promql_result(answer: Value, order: str) -> Value:
    """Sort the result of a query where its order is not the server's own.

    promql: "`order`: `labels` (compare in order), `significant` (sort, topk, bottomk at the root: compare in order; ties
    may swap), `any` (the server's order comes from hash maps or storage order: compare as a set)".
    """
    result = answer.get("result")
    if not isinstance(result, list) or not result or not isinstance(result[0], dict):
        return answer
    if order == "any":
        return {**answer, "result": sorted(result, key=json.dumps)}
    if order == "significant":
        groups = itertools.groupby(result, key=lambda each: json.dumps(each.get("value") or each.get("values")))
        return {**answer, "result": [each for _, tied in groups for each in sorted(tied, key=json.dumps)]}
    return answer


def coredns_line(text: str) -> str:
    """Put the README's marks in the place of what changes in a line of CoreDNS.

    promql: "`<port>`, `<id>`, `<random>`, `<sha512>`, `<seconds>`, `GOMAXPROCS=<n>` replace changing text".
    """
    text = re.sub(r"GOMAXPROCS=\d+", "GOMAXPROCS=<n>", text)
    text = re.sub(r"SHA512 = [0-9a-f]{128}", "SHA512 = <sha512>", text)
    text = re.sub(r"\b\d+\.\d+\.(?=[ \"])", "<random>.<random>.", text)
    text = re.sub(r"(INFO\] [\d.]+:)\d+ - \d+ ", r"\1<port> - <id> ", text)
    text = re.sub(r"(read udp [\d.]+:|Loop \([\d.]+:)\d+(?= ?->)", r"\1<port>", text)
    return re.sub(r" [\d.]+s$", " <seconds>s", text) if " - <id> " in text else text


def go_ports(text: str) -> str:
    """Put `<port>` in the place of our ephemeral port. promql: "Ephemeral ports are `<port>`"."""
    return text.replace(":43210->", ":<port>->")


def wall_clock_fields(value: Value) -> Value:
    """Replace the fields of Prometheus's rules API that tell when and how long a real process worked.

    promql: "`apiRules`/`apiAlerts`: `/api/v1/rules` and `/alerts` after the last evaluation, wall-clock fields replaced".
    """
    if isinstance(value, list):
        return [wall_clock_fields(each) for each in value]
    if not isinstance(value, dict):
        return value
    clock = ("evaluationTime", "lastEvaluation")
    return {key: f"<{key}>" if key in clock else wall_clock_fields(each) for key, each in value.items()}


# What kubectl prints

_FOREIGN_FREE = ("default", "kube-system", "kube-public", "kube-node-lease")


def shows_other_namespaces(case: Value, state: Value, own: str) -> bool:
    """Whether a command shows objects of namespaces that a state's file does not hold.

    l2: "Seventeen cases also show pods of other namespaces, which are in no file (cannot be replayed from the state)".
    """
    argv = case["argv"]
    if argv[1:2] and argv[1].partition("/")[0] in ("ns", "namespace", "namespaces"):
        return False
    text = case["stdout"] + case["stderr"]
    known = {own, *_FOREIGN_FREE}
    listed = {obj["metadata"]["name"] for obj in state.get("namespaces") or ()} - known
    if any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text) for name in sorted(listed)):
        return True
    shown: set[str] = set()
    if argv[0] == "get" and text.startswith("NAMESPACE "):
        shown = {line.split()[0] for line in text.splitlines()[1:] if line.strip()}
    elif argv[0] == "describe" and "Non-terminated Pods:" in text:
        for block in text.split("Non-terminated Pods:")[1:]:
            rows = block.partition("Allocated resources:")[0].splitlines()[3:]
            shown |= {row.split()[0] for row in rows if row.strip()}
    elif argv[0] == "drain":
        shown = set(re.findall(r"(?:[ :,]|^)([a-z0-9-]+)/[a-z0-9][\w.-]+", text)) - {"node", "pods"}
    return bool(shown - known)


_LISTED_EVENT = re.compile(
    r"^(?:\S+ +)?(?:(\d+)m)?(\d+)s(?: \(x\d+ over \S+\))? +(?:Normal|Warning) ", re.MULTILINE
)
_DESCRIBED_EVENT = re.compile(r"^  (?:Normal|Warning) +\S+ +(?:(\d+)m)?(\d+)s(?: |$)", re.MULTILINE)
_LAST_TIME = re.compile(r"lastTimestamp\"?: \"(2\S+Z)\"")


def shows_what_came_later(case: Value, record: Value) -> bool:
    """Whether a command shows what the state's file does not hold because it happened after the snapshot.

    l2: "a snapshot may precede a slow controller" (events that are younger than the snapshot), "changed_while_recording
    (list of the plurals that changed)".
    """
    argv, text = case["argv"], case["stdout"]
    words = {word.partition("/")[0] for word in argv[1:]} | set(argv[1].split(",") if argv[1:] else ())
    if any(words & set(_NAMES.get(plural, (plural,))) for plural in record["changed_while_recording"]):
        return True
    snapshot_ms, at_ms = record["snapshot_t_ms"], case["t_ms"]
    ages = [*_LISTED_EVENT.findall(text), *_DESCRIBED_EVENT.findall(text)]
    if any(
        at_ms - (int(minutes or 0) * 60 + int(seconds) + 1) * 1000 >= snapshot_ms for minutes, seconds in ages
    ):
        return True
    is_about_events = argv[:1] == ["events"] or bool(words & {"events", "event", "ev"})
    taken_ms = parse_ms(record["start"]) + snapshot_ms
    return is_about_events and any(parse_ms(stamp) > taken_ms for stamp in _LAST_TIME.findall(text))


_NAMES = {
    "horizontalpodautoscalers": ("horizontalpodautoscalers", "horizontalpodautoscaler", "hpa"),
    "pods": ("pods", "pod", "po"),
    "deployments": ("deployments", "deployment", "deploy"),
    "replicasets": ("replicasets", "replicaset", "rs"),
}
"""How commands name the types that changed."""


_MANAGED_TIME = re.compile(r'\n +time: "[^"\n]*"(?=\n)|,? ?\\*"time\\*":\\*"2026[^"\n]*"')
_REFUSED_POD = re.compile(r'(pods "[a-z0-9.-]+-)[a-z0-9]{5}(?=" is forbidden)')
_DEBUGGER = re.compile(r"\bdebugger-[a-z0-9]{5}\b")
_LONG_TIME = re.compile(r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d \+0000")
_DESCRIBED_VERSION = re.compile(r"(Resource Version: +)\d+")
_OTHER_DAY = re.compile(r"\b(?!2026-01-01T0|2025-12-31T23)20\d\d-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d+)?Z)")
_SPACED_TIME = re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d(:\d\d)( \+0000)")
_FILE_TIME = re.compile(r"^((?:---|\+\+\+) /tmp/\S+\t)20\S+ \S+ \+0000$", re.MULTILINE)
_SCRATCH = re.compile(r"/tmp/(LIVE|MERGED)-\d+")
_OWN_VERSION = re.compile(r"\b42424\d{5}\b")


def uids_in(text: str) -> list[str]:
    """Return the uids that a text shows."""
    return UID.findall(text)


def printed(text: str) -> str:
    """Bring a printed text to what recordings keep of it.

    l2: "resourceVersion dropped (text: "RV")", "klog header -> `E<klog> file.go:nn]`", "JWT -> <JWT>; certificates ->
    <PEM>"; kubectl states hold "objects with managedFields" that have lost their times.
    """
    text = _VERSION.sub(r"\1RV", _DESCRIBED_VERSION.sub(r"\1RV", _OWN_VERSION.sub("RV", klog_header(text))))
    return shifted(scratch_directories(_MANAGED_TIME.sub("", PEM.sub("<PEM>", JWT.sub("<JWT>", text)))))


def shifted(text: str) -> str:
    """Keep the seconds only of times that are not of the cluster's life, or that a Go program prints with spaces.

    l2: "**Timestamps** are shifted by a whole number of minutes": constants like a build date are shifted as well, and
    times with spaces are not.
    """
    return _SPACED_TIME.sub(r"<minute>\1\2", _OTHER_DAY.sub(r"<minute>\1", text))


def scratch_directories(text: str) -> str:
    """Fix the random names of the directories that `diff` compares.

    l2: "kubectl scratch dir -> /tmp/w": those of `diff` have zeros for their digits. The times of the files in them, to
    the nanosecond, are those of the recorder's disk: "kubectl scratch dir".
    """
    return _FILE_TIME.sub(r"\1<time>", _SCRATCH.sub(r"/tmp/\1-0000000000", text))


def in_any_order(argv: list[str], text: str) -> str:
    """Sort the lines of logs that come from several containers, and of maps that Go prints in any order.

    The harness' own specification: "Commands with random order (logs -l, field-selector terms) are compared as sets of
    lines".
    """
    has_many = any(word.startswith(("-l", "--selector", "--all-pods", "--all-containers")) for word in argv)
    is_listing = argv[:1] in (["label"], ["annotate"]) and "--list" in argv
    if not is_listing and (argv[:1] != ["logs"] or not has_many):
        return text
    return "".join(sorted(text.splitlines(keepends=True)))


def printed_drawn(result: tuple[int, str, str]) -> tuple[int, str, str]:
    """Fix in printed texts what the server drew for an object that it did not keep (a dry run).

    l2: "uid -> 00000000-0000-0000-0000-00000000000n", "random name suffix -> u0001", "clusterIP 10.96.a.b … -> same
    digit shape", "allocated nodePort -> 31001..", "kube-api-access-xxxxx -> kube-api-access-uaaaa"; times, because "the
    request itself fell somewhere in [t_ms, t_ms + waited_ms]".
    """
    exit_code, stdout, stderr = result
    fixed = []
    for text in (stdout, stderr):
        text = UID.sub("00000000-0000-0000-0000-000000000001", text)
        text = TOKEN_VOLUME.sub("kube-api-access-uaaaa", text)
        text = CLUSTER_IP.sub("10.96.9.1", text)
        text = re.sub(r"\b3[0-2]\d{3}\b", "31001", text)
        text = _DEBUGGER.sub("debugger-uxxxx", text)
        text = _REFUSED_POD.sub(r"\1uxxxx", text)
        text = _LONG_TIME.sub("Thu, 01 Jan 2026 00:00:00 +0000", text)
        fixed.append(TIME.sub("2026-01-01T00:00:00Z", text))
    return exit_code, fixed[0], fixed[1]


_FLAG = re.compile(r"^ {4}(?:-(\w), )?--([\w-]+)=(.*):$", re.MULTILINE)
"""A flag of a help text: shorthand, name, default."""


def interface_of(text: str) -> Value:
    """Keep what is fact in a help or explain text; the prose around it is not compared.

    The harness' own specification: "compare usage lines, flags and field types only".
    """
    _, found, rest = text.partition("Usage:\n")
    fields = re.findall(r"^ *([\w.$-]+)\t<([^>\n]+)>", text, re.MULTILINE)
    head = re.findall(r"^(?:KIND|VERSION|GROUP|FIELD|RESOURCE): .*", text, re.MULTILINE)
    errors_ = re.findall(r"^(?:error|Error|unknown).*", text, re.MULTILINE)
    return {
        "usage": rest.partition("\n\n")[0].strip() if found else "",
        "flags": [list(flag) for flag in _FLAG.findall(text)],
        "fields": [list(field) for field in fields],
        "head": head,
        "errors": errors_,
    }


_HELP = re.compile(r"Usage:\n  kubectl|\AThe following options can be passed to any command:\n")


def without_prose(text: Value) -> Value:
    """Keep of a command's help what is fact: the usage line, the names of commands and flags.

    The harness' own specification: "compare usage lines, flags and field types only".
    """
    if not isinstance(text, str) or not _HELP.search(text):
        return text
    groups = re.findall(r"^(\w[\w ()]*):((?:\n  [a-z][\w-]* .*)*)$", text, re.MULTILINE)
    commands = [
        [heading, *re.findall(r"^  ([a-z][\w-]*)", listed, re.MULTILINE)]
        for heading, listed in groups
        if "ommands" in heading
    ]
    return {**interface_of(text), "commands": commands}


_DEADLINE = re.compile(
    r'^E<klog> reflector\.go:\d+\] "Failed to watch" err="context deadline exceeded".*\n', re.MULTILINE
)
_AGE = re.compile(r"(, age: (?:\d+h)?(?:\d+m)?)[\d.]+m?s$", re.MULTILINE)


def without_moments(text: str) -> str:
    """Leave out of a text what depends on the moment at which a client looked.

    l2: "the request itself fell somewhere in [t_ms, t_ms + waited_ms]". Ages to the nanosecond, and a client's log of a
    watch that its own time-out ended, which it writes or not.
    """
    return _AGE.sub(r"\1<seconds>", _DEADLINE.sub("", text))


def facts(argv: list[str], result: tuple[int, str, str]) -> tuple[int, Any, Any]:
    """Leave out of a printed result what is prose (help, descriptions of fields) and what has no order.

    The harness' own specification, see `without_prose`, `interface_of` and `in_any_order`.
    """
    exit_code, *texts = result
    keep = interface_of if argv[:1] == ["explain"] else without_prose
    stdout, stderr = (keep(in_any_order(argv, text)) for text in texts)
    return exit_code, stdout, stderr

"""l0/describe: what `kubectl describe` prints of an object, and what it asks the server for it."""

from urllib.parse import parse_qs, urlsplit

from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.sim import timefmt
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.servers import kind_of
from tests.kinds.replayer import RecordReader

ANSWERS = ("output", "error", "requests")


def _question(request: str) -> str:
    """Return a recorded request in the words of `RecordReader.asked`, without API groups."""
    url = urlsplit(request.removeprefix("GET "))
    *_, before, namespace, resource = ("", *url.path.split("/"))
    query = parse_qs(url.query)
    if resource == "events":
        terms = query.get("fieldSelector", [""])[0].split(",")
        names = [term.partition("=")[2] for term in terms if term.startswith("involvedObject.name=")]
        return f"events {names[0] if names else ''}"
    if "labelSelector" in query or "fieldSelector" in query:
        space = namespace if before == "namespaces" else ""
        selectors = f"{query.get('labelSelector', [''])[0]} {query.get('fieldSelector', [''])[0]}"
        return f"list {resource} {space} {selectors}".rstrip()
    return request


def _plain(question: str) -> str:
    verb, _, rest = question.partition(" ")
    resource, _, more = rest.partition(" ")
    return question if verb == "events" else f"{verb} {resource.partition('.')[0]} {more}".rstrip()


def _asked(requests: list[str]) -> list[str]:
    """The recorded questions that carry selectors; the first request is for the object itself."""
    return [_question(request) for request in requests[1:] if "elector=" in request]


def _judge(record: Record, _folder: Folder) -> Comparison:
    kind = kind_of(record["key"])
    wanted = {
        "output": record.get("output"),
        "error": record.get("error"),
        "requests": _asked(record["requests"]),
    }
    describe = describe_unstructured if record["generic"] else kind and kind.describe
    if describe is None:
        return Comparison(wanted, NOT_IMPLEMENTED)
    reader = RecordReader([*record["others"], record["object"]], timefmt.parse_ms(record["now"]))
    output = describe(record["object"], reader, record["showEvents"])
    asked = [_plain(question) for question in reader.asked]
    questions = [question for question in asked if question.startswith("events") or question.count(" ") > 2]
    return Comparison(wanted, {"output": output, "error": None, "requests": questions})


TOPIC = Topic(name="l0/describe", files=("describe.jsonl",), answers=("output", "error"), judge=_judge)

"""l0/job_math: back-off, pod failure and success policies, index sets of jobs."""

from env_core.controllers._job_backoff import delay_ms
from env_core.controllers._job_indexes import NO_INDEXES, parse_indexes
from env_core.controllers._job_policies import judge_failure, success_message
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("remainingSeconds", "action", "counted", "message", "intervals", "string", "met")


def _backoff(record: Record) -> Record:
    base_ms, max_ms = record["defaultSeconds"] * 1000, record["maxSeconds"] * 1000
    left_ms = delay_ms(record["failures"], base_ms, max_ms) - record["sinceLastFailureSeconds"] * 1000
    return {"remainingSeconds": max(left_ms, 0) / 1000}


def _failure(record: Record) -> Record:
    verdict = judge_failure(record["policy"], record["pod"])
    return {
        "action": verdict.action or None,
        "counted": verdict.is_counted,
        "message": verdict.message or None,
    }


def _parsed(record: Record) -> Record:
    found = parse_indexes(record["in"], record["completions"])
    intervals = [{"First": first, "Last": last} for first, last in found]
    return {"intervals": intervals or None, "string": str(found)}


def _formatted(record: Record) -> Record:
    return {"string": str(NO_INDEXES.with_numbers(record["in"]))}


def _success(record: Record) -> Record:
    succeeded = parse_indexes(record["succeededIndexes"], record["completions"])
    message = success_message(record["policy"], record["completions"], succeeded)
    return {"message": message, "met": bool(message)}


KINDS = {
    "backoff": _backoff,
    "podFailurePolicy": _failure,
    "parseIndexes": _parsed,
    "formatIndexes": _formatted,
    "successPolicy": _success,
}


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted = {field: record[field] for field in ANSWERS if field in record}
    return Comparison(wanted, KINDS[record["kind"]](record))


TOPIC = Topic(name="l0/job_math", files=("job_math.jsonl",), answers=ANSWERS, judge=_judge)

"""l0/serviceaccount_admission: pods get an account, its token and default tolerations, or are refused."""

from env_core.apiserver import errors
from env_core.apiserver.admission import service_account
from env_core.kinds.pod import KIND as POD
from tests.apiserver.admission.test_golden import accounts, attributes_of
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import token_volume
from tests.golden.recordings import Folder, Record
from tests.golden.servers import decoded_pod

ANSWERS = ("admitted", "message", "status")


def _part(pod: Record) -> Record:
    """A pod without its tolerations, which another plugin adds and which were recorded without their fields."""
    spec = {key: value for key, value in pod["spec"].items() if key != "tolerations"}
    return {key: value for key, value in pod.items() if key not in ("status", "spec")} | {"spec": spec}


def _judge(record: Record, _folder: Folder) -> Comparison:
    mutate, validate = service_account.ADMISSION.mutate, service_account.ADMISSION.validate
    assert mutate is not None
    attributes = attributes_of(decoded_pod(record["pod"]), accounts())
    try:
        pod = mutate(attributes)
        if validate is not None:
            validate(attributes_of(pod, accounts()))
        got: Record = {"admitted": _part(token_volume(POD.default(pod)))}
    except errors.StatusError as error:
        got = {"message": error.message, "status": error.status}
    wanted = {field: record[field] for field in ANSWERS if field in record}
    if "admitted" in wanted:
        wanted["admitted"] = _part(wanted["admitted"])
    return Comparison(wanted, got)


TOPIC = Topic(
    name="l0/serviceaccount_admission",
    files=("serviceaccount_admission.jsonl",),
    answers=ANSWERS,
    judge=_judge,
)

"""l0/serviceaccount_admission: pods get an account, its token and default tolerations, or are refused."""

from env_core.apiserver import errors
from env_core.apiserver.admission import default_toleration_seconds, service_account
from env_core.kinds.pod import KIND as POD
from tests.apiserver.admission.test_golden import accounts, attributes_of
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import token_volume
from tests.golden.recordings import Folder, Record
from tests.golden.servers import decoded_pod

ANSWERS = ("admitted", "message", "status")


def _part(pod: Record) -> Record:
    return {key: value for key, value in pod.items() if key != "status"}


def _with_plain_defaults(pod: Record, given: list[Record]) -> Record:
    """The recorded plugin's own tolerations were recorded without their fields, as {}: show ours so, too."""
    tolerations = [entry if entry in given else {} for entry in pod["spec"].get("tolerations") or ()]
    return {**pod, "spec": {**pod["spec"], "tolerations": tolerations}}


def _judge(record: Record, _folder: Folder) -> Comparison:
    mutate, validate = service_account.ADMISSION.mutate, service_account.ADMISSION.validate
    assert mutate is not None
    attributes = attributes_of(decoded_pod(record["pod"]), accounts())
    try:
        pod = mutate(attributes)
        if validate is not None:
            validate(attributes_of(pod, accounts()))
        tolerate = default_toleration_seconds.ADMISSION.mutate
        assert tolerate is not None
        pod = _with_plain_defaults(
            tolerate(attributes_of(pod, accounts())), record["pod"]["spec"].get("tolerations") or []
        )
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

"""The model policy against a real endpoint that answers, fails, and talks nonsense."""

import contextlib

import pytest
from openai import OpenAI

from kubedrill.models import KubeObservation
from kubedrill.policies import PolicyError
from kubedrill.policies.llm import ATTEMPTS_MAX, LlmPolicy, command_in, cut, described
from tests.client.chat import call, chatting, said

FIRST = KubeObservation(incident_brief="It hurts.", recent_change_hint="Nobody knows.", steps_max=12)
NEXT = KubeObservation(
    step_count=1, steps_max=12, last_action="kubectl get pods", output="none\n", exit_code=1
)


@contextlib.contextmanager
def playing(*answers, **options):
    pauses = []
    with chatting(*answers) as (url, chat), OpenAI(api_key="k3y", base_url=url) as client:
        yield LlmPolicy(client, "some-model", sleep=pauses.append, **options), chat, pauses


def test_a_tool_call_is_the_command_and_its_result_goes_back_as_the_tools():
    with playing(call("kubectl get pods", "c7"), call("kubectl get svc")) as (policy, chat, _):
        assert policy.act(FIRST) == "kubectl get pods"
        assert policy.act(NEXT) == "kubectl get svc"
    assert chat.requests[0]["model"] == "some-model"
    assert chat.requests[0]["tools"][0]["function"]["name"] == "run_command"
    assert "It hurts." in chat.requests[0]["messages"][-1]["content"]
    last = chat.requests[1]["messages"][-1]
    assert (last["role"], last["tool_call_id"]) == ("tool", "c7")
    assert "exit code 1" in last["content"]
    assert chat.keys[0] == "Bearer k3y"


@pytest.mark.parametrize(
    "fault",
    [
        429,
        500,
        503,
        "not json at all",
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []},
        {"unexpected": True},
        said(""),
        said("I think I should look around first."),
        said(
            None,
            [{"id": "c", "type": "function", "function": {"name": "run_command", "arguments": "{broken"}}],
        ),
        said(None, [{"id": "c", "type": "function", "function": {"name": "run_command", "arguments": "{}"}}]),
    ],
    ids=str,
)
def test_the_model_is_asked_again_after_a_fault(fault):
    with playing(fault, fault, call("kubectl get pods")) as (policy, chat, _):
        assert policy.act(FIRST) == "kubectl get pods"
    assert len(chat.requests) == 3


def test_pauses_grow_and_honour_retry_after():
    with playing(500, (429, {"Retry-After": "7"}), 500, call("kubectl get pods")) as (policy, _, pauses):
        policy.act(FIRST)
    assert pauses == [1.0, 7.0, 4.0]


def test_a_refused_key_is_not_tried_again():
    with playing(401) as (policy, chat, _), pytest.raises(PolicyError, match="401"):
        policy.act(FIRST)
    assert len(chat.requests) == 1


def test_a_model_that_never_answers_usefully_is_given_up():
    with playing(500) as (policy, chat, _), pytest.raises(PolicyError):
        policy.act(FIRST)
    assert len(chat.requests) == ATTEMPTS_MAX


def test_a_model_that_hangs_is_timed_out_and_the_budget_holds():
    import time

    started = time.monotonic()
    with playing(5.0, ends_at_s=started + 2.0) as (policy, _, _), pytest.raises(PolicyError):
        policy.act(FIRST)
    assert time.monotonic() - started < 8


def test_an_endpoint_that_is_not_there_is_an_error():
    with OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1") as client, pytest.raises(PolicyError):
        LlmPolicy(client, "m", sleep=lambda _: None).act(FIRST)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("```bash\nkubectl get pods -A\n```", "kubectl get pods -A"),
        ("I will look:\n\n    kubectl get pods | grep web", "kubectl get pods | grep web"),
        ("$ curl -s http://x/health", "curl -s http://x/health"),
        ("`kubectl get svc`", "kubectl get svc"),
        ("Use kubectl to look.", ""),
        ("", ""),
    ],
)
def test_a_command_is_found_in_text(text, command):
    assert command_in(text) == command


def test_a_command_in_text_is_played_and_answered_as_a_user():
    with playing(said("```sh\nkubectl get pods\n```"), call("kubectl get svc")) as (policy, chat, _):
        assert policy.act(FIRST) == "kubectl get pods"
        policy.act(NEXT)
    assert chat.requests[1]["messages"][-1]["role"] == "user"


def test_long_outputs_are_cut_in_the_middle_and_no_token_of_the_episode_is_shown():
    assert "left out" in cut("x" * 20_000)
    assert len(cut("x" * 20_000)) < 6_100
    shown = FIRST.model_copy(
        update={"episode_id": "secret-id", "metadata": {"episode_token": "secret-token"}}
    )
    assert "secret" not in described(shown)

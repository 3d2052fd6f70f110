"""The wire models: what an agent sends and what it gets back.

They validate at the edges only. Fields that one suite has and another lacks are optional. Sources: SEEDS TR-10 to TR-21, GN-03, GN-05.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

COMMAND_LENGTH_MAX: Final = 65_536
RUN_COMMAND: Final = "run_command"
"""The tool that carries a command line; `{"command": …}` is short for it."""

_CONTROL_FIELDS = frozenset({"episode_id", "timeout_s", "request_id"})


def _action_schema(schema: dict[str, Any]) -> None:
    # A command may also come as the arguments of the tool, so the schema must not demand the short form.
    schema.pop("required", None)
    schema["anyOf"] = [{"required": ["command"]}, {"required": ["tool", "arguments"]}]


class KubeAction(Action):
    """One action: a command line, `{"command": "kubectl get pods"}`.

    Also accepted: the tool form, `{"tool": "run_command", "arguments": {"command": …}}`, and either of them wrapped as `{"action": {…}}`.
    All become the same action.
    """

    model_config = ConfigDict(json_schema_extra=_action_schema)

    command: str = Field(
        max_length=COMMAND_LENGTH_MAX,
        description="A command line that begins with kubectl or curl; pipes into text filters work.",
    )
    tool: str | None = Field(
        default=None,
        description="The tool form: the name of the tool. run_command takes the argument command.",
    )
    arguments: dict[str, JsonValue] | None = Field(
        default=None, description="The tool form: the tool's arguments."
    )

    @model_validator(mode="before")
    @classmethod
    def _unwrapped(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        if isinstance(given.get("action"), dict) and set(given) <= {"action"} | _CONTROL_FIELDS:
            given = given["action"]
        tool = given.get("tool")
        if tool is None:
            return {
                key: value
                for key, value in given.items()
                if key != "tool" and not (key == "arguments" and value is None)
            }
        if tool != RUN_COMMAND:
            raise ValueError(f"unknown tool {str(tool)[:64]!r}; valid: {RUN_COMMAND}")
        arguments = given.get("arguments")
        if not isinstance(arguments, dict) or "command" not in arguments:
            raise ValueError(f"arguments: the tool {RUN_COMMAND} needs an object with command")
        if "command" in given:
            raise ValueError("command: send either command or tool with arguments, not both")
        rest = {key: value for key, value in given.items() if key not in ("tool", "arguments")}
        return {**rest, **arguments}


class ServiceProbe(BaseModel):
    """How the service looks from outside. A status is 0 when no HTTP answer came."""

    model_config = ConfigDict(extra="forbid")

    health_status: int = Field(description="HTTP status of the shallow check.")
    data_status: int = Field(description="HTTP status of the path that exercises the whole service.")
    http_status: int = Field(description="The status a user meets.")
    latency_ms: int = Field(description="Milliseconds until the data path answered.")
    score: float = Field(description="From 0.0, unreachable, to 1.0, fully healthy.")
    error: str = Field(default="", description="Why no answer came, if none did.")


class ServiceLevel(BaseModel):
    """One way into the application as one request found it. A status is 0 when no HTTP answer came."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="What its owners call it.")
    url: str = Field(description="What was asked, through the ingress.")
    status: int = Field(description="The HTTP status.")
    latency_ms: int = Field(description="Milliseconds until the answer, or until it was given up.")
    is_served: bool = Field(description="Whether the answer was what its owners promise, and in time.")
    error: str = Field(default="", description="Why no answer came, if none did.")


class ClusterSummary(BaseModel):
    """One line about each sort of object in the application's namespace."""

    model_config = ConfigDict(extra="forbid")

    pods: str = Field(description="name ready/total Phase, joined by '; '.")
    services: str = Field(description="name Type, joined by '; '.")
    deployments: str = Field(description="name available/desired, joined by '; '.")
    endpoints: str = Field(description="name ip:port,… or <none>, joined by '; '.")


class KubeObservation(Observation):
    """What the agent sees after a reset or a step."""

    episode_id: str | None = Field(default=None, description="The episode, on the observation of a reset.")
    task_id: str = Field(default="", description="The task that is played.")
    incident_brief: str = Field(default="", description="The page: the symptom as users and monitors see it.")
    recent_change_hint: str = Field(
        default="", description="One remark about recent changes; it may be beside the point."
    )
    step_count: int = Field(default=0, ge=0, description="Steps taken so far.")
    steps_max: int = Field(default=0, ge=0, description="Steps after which the episode is cut off.")
    now: str = Field(default="", description="The cluster's time, RFC 3339.")
    last_action: str = Field(default="", description="The command of the last step.")
    last_reward: float = Field(default=0.0, description="The public reward of the last step.")
    output: str = Field(
        default="", description="What the command printed, standard output then standard error."
    )
    exit_code: int = Field(default=0, description="The command's exit code.")
    service_probe: ServiceProbe | None = Field(
        default=None, description="The service as it looks from outside."
    )
    service_levels: list[ServiceLevel] | None = Field(
        default=None, description="The application's ways in, as they look from outside."
    )
    cluster_summary: ClusterSummary | None = Field(
        default=None, description="The application's namespace at a glance."
    )


class KubeState(State):
    """The public state of an episode. Nothing in it tells what is broken; the verdict is null until the end."""

    model_config = ConfigDict(extra="forbid")

    suite: str | None = Field(default=None, description="The suite, with its version.")
    task: str | None = Field(default=None, description="The task that is played.")
    seed: int | None = Field(default=None, description="The seed of the episode.")
    cumulative_reward: float = Field(default=0.0, description="The sum of the step rewards.")
    done: bool = Field(default=False, description="Whether the episode is over.")
    last_action: str = Field(default="", description="The command of the last step.")
    last_reward: float = Field(default=0.0, description="The reward of the last step.")
    service_score: float | None = Field(default=None, description="The score of the last probe.")
    scenario_id: str | None = Field(
        default=None, description="What had been injected; null until the episode is over."
    )
    modifiers: list[str] | None = Field(
        default=None, description="What had been laid over it; null until the episode is over."
    )
    oracle_score: float | None = Field(
        default=None, description="The final score in [0, 1]; null until the episode is over."
    )
    oracle_verdict: str | None = Field(
        default=None, description="success or failure; null until the episode is over."
    )
    oracle_summary: JsonValue = Field(default=None, description="Why; null until the episode is over.")


class TaskInfo(BaseModel):
    """One task, as `/tasks` and a reset over HTTP describe it."""

    model_config = ConfigDict(extra="forbid")

    id: str
    suite: str
    difficulty: str
    default_seed: int = Field(ge=0)
    max_agent_steps: int = Field(ge=1)
    score_range: tuple[float, float]
    name: str
    description: str
    grader: str = Field(
        description="module:function of a grader that returns a float strictly between 0 and 1."
    )


class Reward(BaseModel):
    """The reward of one step: its value, and the public terms that make it up."""

    model_config = ConfigDict(extra="forbid")

    value: float
    terms: dict[str, float] = Field(default_factory=dict)

    @field_validator("value")
    @classmethod
    def _finite(cls, value: float) -> float:
        if not isfinite(value):
            raise ValueError(f"must be finite, got {value}")
        return value


class StepInfo(BaseModel):
    """The `info` that a step over HTTP carries beside the observation."""

    model_config = ConfigDict(extra="allow")

    command: str = ""
    return_code: int = 0
    stdout: str = ""
    stderr: str = ""
    rejected: bool = False
    timed_out: bool = False
    action_cost: float = 0.0
    repair_complete: bool = False

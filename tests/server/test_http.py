"""The stateful HTTP routes: episodes keyed by id, typed errors, and two clients that never meet."""

import json

import pytest


def reset(client, **fields):
    response = client.post("/reset", json=fields)
    assert response.status_code == 200, response.text
    return response.json()


def test_an_empty_body_begins_the_easy_task_with_its_default_seed(http):
    for body in ("", "{}"):
        response = http.post("/reset", content=body, headers={"content-type": "application/json"})
        assert response.status_code == 200
        answer = response.json()
        assert answer["task"]["id"] == "easy"
        assert answer["observation"]["task_id"] == "easy"
        state = http.get("/state", headers={"X-Episode-Id": answer["observation"]["episode_id"]}).json()
        assert (state["seed"], state["suite"], state["step_count"]) == (11, "tron-v1", 0)


def test_reset_names_the_episode_in_body_and_header_and_hands_out_a_token_beside_the_observation(http):
    response = http.post("/reset", json={"seed": 5, "episode_id": "ep-1"})
    answer = response.json()
    assert answer["observation"]["episode_id"] == "ep-1" == response.headers["x-episode-id"]
    assert answer["metadata"]["episode_token"] not in json.dumps(answer["observation"])
    assert answer["reward"] is None
    assert answer["done"] is False


@pytest.mark.parametrize(
    "body",
    [
        {"command": "kubectl get pods"},
        {"action": {"command": "kubectl get pods"}},
        {"tool": "run_command", "arguments": {"command": "kubectl get pods"}},
        {
            "action": {"tool": "run_command", "arguments": {"command": "kubectl get pods"}},
            "timeout_s": 5,
            "request_id": "r",
        },
    ],
)
def test_every_form_of_an_action_gives_the_same_bytes(http, body):
    token = reset(http, seed=5, episode_id="one")["metadata"]["episode_token"]
    expected = http.post("/step", json={"command": "kubectl get pods", "episode_id": "one"}).content
    reset(http, seed=5, episode_id="one", episode_token=token)
    assert http.post("/step", json={**body, "episode_id": "one"}).content == expected


def test_a_step_carries_the_stock_keys_and_info(http):
    reset(http)
    answer = http.post("/step", json={"command": "kubectl get pods"}).json()
    assert list(answer) == ["observation", "reward", "done", "metadata", "info"]
    assert answer["metadata"]["reward_terms"] == {"service": 0.0, "cost": 0.0}
    assert type(answer["reward"]) is float
    assert answer["info"]["return_code"] == 0
    assert "reward_terms" not in json.dumps(answer["observation"])


def test_the_episode_is_named_by_header_query_or_body(http):
    first, second = reset(http)["observation"]["episode_id"], reset(http)["observation"]["episode_id"]
    http.post("/step", json={"command": "a"}, headers={"X-Episode-Id": first})
    http.post(f"/step?episode_id={first}", json={"command": "b"})
    http.post("/step", json={"command": "c", "episode_id": first})
    assert http.get(f"/state?episode_id={first}").json()["step_count"] == 3
    assert http.get(f"/state?episode_id={second}").json()["step_count"] == 0
    assert (
        http.post(f"/step?episode_id={second}", json={"command": "c", "episode_id": first}).status_code == 422
    )


def test_without_a_name_the_only_live_episode_is_meant_and_two_are_a_conflict(http):
    reset(http)
    assert http.post("/step", json={"command": "a"}).status_code == 200
    reset(http)
    response = http.post("/step", json={"command": "a"})
    assert response.status_code == 409
    assert "X-Episode-Id" in response.json()["detail"]
    assert http.get("/state").status_code == 409


def test_a_step_before_any_reset_is_a_conflict_and_one_after_the_end_is_gone(http):
    assert http.post("/step", json={"command": "a"}).status_code == 409
    assert http.get("/state").status_code == 409
    reset(http)
    assert http.post("/step", json={"command": "kubectl fix"}).json()["done"] is True
    response = http.post("/step", json={"command": "a"})
    assert (response.status_code, response.json()["code"]) == (410, "EPISODE_ENDED")
    assert http.get("/state").json()["step_count"] == 1


def test_the_verdict_is_null_until_the_end(http):
    reset(http)
    http.post("/step", json={"command": "a"})
    state = http.get("/state").json()
    assert [state[name] for name in ("scenario_id", "oracle_score", "oracle_verdict", "oracle_summary")] == [
        None
    ] * 4
    http.post("/step", json={"command": "kubectl fix"})
    state = http.get("/state").json()
    assert (state["oracle_score"], state["oracle_verdict"], state["done"]) == (1.0, "success", True)


def test_unknown_names_are_told_with_the_valid_ones(http):
    for body, code in (
        ({"task": "nope"}, "UNKNOWN_TASK"),
        ({"task_id": "nope"}, "UNKNOWN_TASK"),
        ({"suite": "nope"}, "UNKNOWN_SUITE"),
    ):
        response = http.post("/reset", json=body)
        assert (response.status_code, response.json()["code"]) == (404, code)
        assert response.json()["valid"]
    assert http.post("/step", json={"command": "a", "episode_id": "nope"}).json()["code"] == "UNKNOWN_EPISODE"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 2**70}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"episode_id": "x" * 256}, "episode_id"),
        ({"options": {"nope": 1}}, "options"),
        ({"options": 5}, "options"),
        ({"task": "easy", "task_id": "hard"}, "task_id"),
        ({"split": "nope", "index": 0}, "split"),
        ({"split": "eval", "index": 99_999}, "index"),
    ],
)
def test_a_bad_reset_field_is_named_and_begins_nothing(http, body, field):
    response = http.post("/reset", json=body)
    assert response.status_code == 422
    assert field in response.json()["detail"][0]["loc"]
    assert http.get("/ready").json()["sessions"] == 0


def test_an_action_that_is_none_is_refused_and_changes_nothing(http):
    reset(http)
    for body in (
        {},
        {"action": {}},
        {"cmd": "a"},
        {"action": 5},
        {"command": 5},
        {"command": "a" * 65_537},
        {"tool": "submit", "arguments": {}},
    ):
        response = http.post("/step", json=body)
        assert response.status_code == 422, body
        assert response.json()["detail"]
    assert http.get("/state").json()["step_count"] == 0


def test_a_failure_of_ours_is_opaque_unscorable_and_ends_the_episode(http):
    reset(http)
    response = http.post("/step", json={"command": "kubectl boom"})
    assert response.status_code == 500
    assert response.json()["unscorable"] is True
    assert "telltale" not in response.text
    again = http.post("/step", json={"command": "a", "episode_id": ""})
    assert again.status_code == 500 or again.json()["code"] == "EXECUTION_ERROR"
    assert "reward" not in response.json()


def test_nothing_about_a_running_episode_tells_the_answer(http):
    begun = reset(http, task="telltale-fault")
    named = {"X-Episode-Id": begun["observation"]["episode_id"]}
    answers = [
        http.post("/step", json={"command": "a"}, headers=named).text,
        http.get("/state", headers=named).text,
    ]
    answers += [
        http.get(path, headers=named).text
        for path in (
            "/",
            "/info",
            "/tasks",
            "/schema",
            "/metadata",
            "/metrics",
            "/openapi.json",
            "/kubedrill/splits",
        )
    ]
    answers += [http.post("/kubedrill/tasks", json={"split": split}).text for split in ("train", "eval")]
    grading = http.post(
        "/grader", json={}, headers={**named, "X-Episode-Token": begun["metadata"]["episode_token"]}
    )
    assert grading.status_code == 200
    answers += [grading.text]
    assert not [answer for answer in answers if "telltale" in answer]


def test_an_unlisted_task_is_playable_and_listed_on_demand_only(http):
    assert reset(http, task="telltale-fault")["task"]["id"] == "scenario"
    assert [task["id"] for task in http.get("/tasks").json()["tasks"]] == ["easy", "medium", "hard"]
    assert len(http.get("/tasks?all=true").json()["tasks"]) == 4


def test_resetting_an_episode_by_its_id_and_token_begins_it_anew(http):
    token = reset(http, episode_id="mine", seed=1)["metadata"]["episode_token"]
    http.post("/step", json={"command": "a"})
    renewed = http.post("/reset", json={"episode_id": "mine"}, headers={"X-Episode-Token": token}).json()
    assert renewed["metadata"]["episode_token"] != token
    assert http.get("/state").json()["step_count"] == 0
    assert http.get("/ready").json()["sessions"] == 1


@pytest.mark.parametrize("token", [None, "", "wrong", "\u00e9"])
def test_a_live_episode_is_neither_graded_nor_begun_anew_without_its_token(http, token):
    reset(http, episode_id="mine", seed=1)
    http.post("/step", json={"command": "a"})
    body = {"episode_id": "mine"} if token is None else {"episode_id": "mine", "episode_token": token}
    response = http.post("/reset", json=body)
    assert (response.status_code, response.json()["code"]) == (409, "EPISODE_IN_USE")
    for path in ("/grader", "/grade", "/grader/easy"):
        response = http.post(path, json=body)
        assert (response.status_code, response.json()["code"]) == (404, "UNKNOWN_EPISODE")
    assert http.get("/state", params={"episode_id": "mine"}).json()["step_count"] == 1


def test_an_episode_that_is_over_gives_its_id_away(http):
    reset(http, episode_id="mine", seed=1)
    http.post("/step", json={"command": "kubectl fix"})
    reset(http, episode_id="mine", seed=1)
    assert http.get("/state").json()["step_count"] == 0


def test_at_capacity_an_untouched_episode_gives_way_after_a_while_and_a_played_one_is_not_taken(serve):
    client = serve(episodes_max=2)
    table = client.app.state.play.table
    first = reset(client)["observation"]["episode_id"]
    client.post("/step", json={"command": "a"})
    reset(client)
    response = client.post("/reset", json={})
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) > 0
    assert response.json()["max_sessions"] == 2
    for session in table:
        session.touched_s -= 60
    reset(client)
    assert client.get(f"/state?episode_id={first}").json()["step_count"] == 1


def test_an_address_may_be_held_to_its_share(serve):
    client = serve(episodes_per_peer_max=1)
    reset(client)
    response = client.post("/reset", json={})
    assert (response.status_code, response.json()["code"]) == (429, "TOO_MANY_EPISODES")
    assert "retry-after" in response.headers


def test_an_idle_episode_ends_and_says_so(serve):
    client = serve(idle_s_max=30)
    episode_id = reset(client)["observation"]["episode_id"]
    table = client.app.state.play.table
    for session in table:
        session.touched_s -= 31
    assert table.sweep() == 1
    response = client.post("/step", json={"command": "a", "episode_id": episode_id})
    assert (response.status_code, response.json()["code"]) == (410, "EPISODE_EXPIRED")
    assert "idle" in response.json()["detail"]


def test_a_body_over_the_bound_is_refused(serve):
    client = serve(body_bytes_max=2_000)
    reset(client)
    response = client.post("/step", json={"command": "a" * 3_000})
    assert (response.status_code, response.json()["code"]) == (413, "PAYLOAD_TOO_LARGE")
    chunks = (b'{"command": "' + b"a" * 1_000 for _ in range(5))
    assert (
        client.post("/step", content=chunks, headers={"content-type": "application/json"}).status_code == 413
    )


def test_the_token_is_asked_for_everywhere_but_at_health(serve):
    client = serve(token="s3cret")
    assert client.get("/health").json() == {"status": "healthy"}
    for path in ("/", "/info", "/state", "/tasks", "/metrics", "/schema"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.post("/reset", json={}, headers={"Authorization": "Bearer s3cret"}).status_code == 200


def test_another_backend_without_a_cluster_is_said_to_be_unavailable(serve):
    client = serve(backend="kubeconfig")
    assert client.get("/health").status_code == 200
    response = client.post("/reset", json={})
    assert response.status_code == 503
    assert "kubeconfig" in response.json()["detail"]


def test_a_background_reset_can_be_asked_about(http):
    job = http.post("/reset_async", json={"task": "easy", "seed": 3}).json()
    assert job["status"] == "running"
    for _ in range(50):
        answer = http.get(f"/reset_async/{job['job_id']}").json()
        if answer["status"] != "running":
            break
    assert answer["status"] == "completed"
    assert answer["result"]["observation"]["task_id"] == "easy"
    failed = http.post("/reset_async", json={"task": "nope"}).json()
    for _ in range(50):
        answer = http.get(f"/reset_async/{failed['job_id']}").json()
        if answer["status"] != "running":
            break
    assert (answer["status"], answer["status_code"]) == ("failed", 404)
    assert http.get("/reset_async/nope").status_code == 404


def test_the_root_is_a_page_for_a_browser_and_json_for_everything_else(http):
    assert http.get("/").json() == http.get("/info").json()
    page = http.get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert page.headers["content-type"].startswith("text/html")
    assert "KubeEnv" in page.text
    assert "$" not in page.text


def test_health_is_exact_and_counts_are_elsewhere(http):
    assert http.get("/health").text == '{"status":"healthy"}'
    reset(http)
    http.post("/step", json={"command": "a"})
    figures = http.get("/metrics").text
    for line in (
        "kubedrill_resets_total 1.0",
        "kubedrill_steps_total 1.0",
        "kubedrill_sessions 1.0",
        "kubedrill_step_seconds_count 1.0",
    ):
        assert line in figures


def test_production_mode_leaves_out_the_control_routes(serve):
    client = serve(mode="production")
    assert client.post("/reset", json={}).status_code == 404
    assert not {"/reset", "/step", "/state"} & set(client.get("/openapi.json").json()["paths"])


def test_the_task_api_lists_what_reset_accepts(http):
    assert http.get("/list_environments").json() == ["kubedrill"]
    assert [split["type"] for split in http.get("/kubedrill/splits").json()] == [
        "train",
        "validation",
        "test",
    ]
    count = http.post("/kubedrill/num_tasks", json={"split": "eval"}).json()["num_tasks"]
    listed = http.post("/kubedrill/tasks", json={"split": "eval"}).json()["tasks"]
    assert count == len(listed) == 36
    entry = http.post("/kubedrill/task", json={"split": "eval", "index": 35}).json()["task"]
    assert entry == listed[35]
    assert http.post("/kubedrill/task", json={"split": "eval", "index": 36}).status_code == 400
    assert (
        http.post("/kubedrill/task_range", json={"split": "eval", "start": 1, "stop": 3}).json()["tasks"]
        == listed[1:3]
    )
    answer = reset(http, split="eval", index=35)
    assert answer["task"]["id"] == "hard"
    assert http.get("/state").json()["seed"] == entry["seed"]


def test_a_seed_is_no_truth_value(http):
    response = http.post("/reset", json={"seed": True})
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "seed"]

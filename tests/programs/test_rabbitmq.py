"""A RabbitMQ node in a cluster: queues on its volume, alarms that block, users, its tools and its refusals."""

import base64
import contextlib
import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.programs import TIMEOUT, Container, Request
from env_core.programs._rabbitmq_config import read, size
from env_core.programs._rabbitmq_operations import Refused, run
from env_core.programs._rabbitmq_queues import Link, drop_link, durable, keep_link, queues
from env_core.programs._rabbitmq_wire import answer, decode
from tests.programs.brokers import CONTAINER, Broker, declare, get, publish
from tests.programs.clusters import NAMESPACE


@pytest.fixture(scope="module")
def lab():
    return Broker()


@pytest.fixture
def node(lab):
    fork = object.__new__(Broker)
    fork.cluster = lab.cluster.fork()
    fork.client = fork.cluster.client()
    return fork


def test_what_is_published_is_got_in_order_and_acknowledged(node):
    first, _, _, one = node.results(declare(durable=True), publish(body="a"), publish(body="b"), get())
    assert first == {"queue": "orders", "messages": 0, "consumers": 0}
    assert (one["body"], one["redelivered"], one["ready"]) == ("a", False, 1)
    # The connection was closed without an acknowledgement: the message is there again, marked.
    again, _, then = node.results(get(), {"do": "ack", "tag": 1}, get(no_ack=True))
    assert (again["body"], again["redelivered"], then["body"]) == ("a", True, "b")
    assert node.results(get()) == ({},)


def test_durable_queues_outlast_the_pod_with_their_persistent_messages_only(node):
    node.results(
        declare("kept", durable=True), declare("lost"), publish("kept", "safe", persistent=True), publish("kept", "gone"),
        publish("lost", "gone", persistent=True),
    )  # fmt: skip
    node.restart()
    assert "Will not seed default virtual host and user: have definitions to load..." in "\n".join(
        node.log("queue", CONTAINER)
    )
    assert [each["body"] for each in node.results(get("kept"))] == ["safe"]
    assert node.results(get("kept", no_ack=True), get("kept"))[1] == {}
    missing = answer(node.amqp(get("lost"))).closed
    assert (missing.code, missing.text) == (404, "NOT_FOUND - no queue 'lost' in vhost '/'")


def test_without_a_volume_all_is_lost_with_the_pod():
    node = Broker(volume=False)
    node.results(declare("kept", durable=True), publish("kept", "safe", persistent=True))
    node.restart()
    assert "Created user 'app'" in "\n".join(node.log("queue", CONTAINER))
    assert answer(node.amqp(get("kept"))).closed.code == 404


def test_a_changed_password_in_the_environment_changes_nothing_over_old_data(node):
    patch = {
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {"name": CONTAINER, "env": [{"name": "RABBITMQ_DEFAULT_PASS", "value": "new"}]}
                    ]
                }
            }
        }
    }
    node.client.patch(
        "statefulsets.apps", NAMESPACE, "queue", patch, "application/strategic-merge-patch+json"
    )
    node.cluster.advance(90_000)
    refused = answer(node.amqp(declare(), password="new")).closed
    assert (refused.code, refused.is_connection) == (403, True)
    assert node.log("queue", CONTAINER)[-2].endswith("PLAIN login refused: user 'app' - invalid credentials")
    done = node.ctl("rabbitmqctl change_password app new")
    assert (done.stdout, done.exit_code) == ('Changing password for user "app" ...\n', 0)
    assert node.results(declare(), password="new")


def test_a_memory_alarm_blocks_publishers_and_lets_consumers_on_until_it_clears(node):
    node.results(declare(durable=True), publish(body="a", count=3))
    found = node.ctl("rabbitmqctl set_vm_memory_high_watermark absolute 20MB")
    assert found.stdout == "Setting memory threshold on rabbit@queue-0 to 20MB bytes ...\n"
    log = "\n".join(node.log("queue", CONTAINER))
    assert "memory resource limit alarm set on node rabbit@queue-0." in log
    blocked = node.amqp(publish(), timeout_ms=2_000)
    assert blocked.failure == TIMEOUT
    assert 2_000 <= blocked.latency_ms < 2_100
    assert node.results(get(no_ack=True))[0]["ready"] == 2
    check = node.ctl("rabbitmq-diagnostics -q check_alarms")
    assert (check.stderr, check.exit_code) == ("Memory alarm on node rabbit@queue-0\n", 69)
    node.ctl("rabbitmqctl set_vm_memory_high_watermark 0.4")
    assert "memory resource limit alarm cleared on node rabbit@queue-0" in node.log("queue", CONTAINER)[-1]
    assert node.results(publish(), get())[1]["ready"] == 2


def test_a_disk_limit_above_the_volume_sets_an_alarm_at_the_start():
    node = Broker(config="disk_free_limit.absolute = 4GB\nloopback_users.guest = false\n")
    log = "\n".join(node.log("queue", CONTAINER))
    assert "Disk free limit set to 4000MB" in log
    assert f"Free disk space is insufficient. Free bytes: {2 << 30}. Limit: 4000000000" in log
    assert "disk resource limit alarm set on node rabbit@queue-0." in log
    assert node.amqp(declare(), publish(), timeout_ms=1_000).failure == TIMEOUT


def test_a_consumer_holds_what_it_was_sent_until_its_pod_is_gone(node):
    found = answer(
        node.amqp(
            declare(),
            publish(body="a", count=5),
            {"do": "consume", "queue": "orders", "prefetch": 2},
            connection="",
        )
    )
    assert [each["tag"] for each in found.results[2]["deliveries"]] == [1, 2]
    listed = node.ctl(
        "rabbitmqctl -q list_queues name messages_ready messages_unacknowledged consumers"
    ).stdout
    assert listed == "name\tmessages_ready\tmessages_unacknowledged\tconsumers\norders\t3\t2\t1\n"
    assert "\trunning\n" in node.ctl("rabbitmqctl list_connections").stdout
    more = answer(
        node.amqp(
            {"do": "ack", "tag": 2, "multiple": True},
            {"do": "consume", "queue": "orders", "prefetch": 2},
            connection=found.connection,
        )
    )
    assert [each["tag"] for each in more.results[1]["deliveries"]] == [3, 4]
    node.client.delete("pods", NAMESPACE, node.pods("toolbox")[0]["metadata"]["name"])
    node.cluster.advance(60_000)
    assert node.ctl("rabbitmqctl -q list_queues").stdout == "name\tmessages\norders\t3\n"
    assert node.ctl("rabbitmqctl -q list_queues consumers").stdout == "consumers\n0\n"
    assert any("client unexpectedly closed TCP connection" in line for line in node.log("queue", CONTAINER))


@pytest.mark.parametrize(
    ("operation", "code", "text"),
    [
        (declare(durable=False), 406,
         "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'orders' in vhost '/': received 'false' but current is 'true'"),
        (declare(durable=True, arguments={"x-max-length": 10}), 406,
         "PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'orders' in vhost '/': received the value '10' of type"
         " 'signedint' but current is none"),
        (declare("other", passive=True), 404, "NOT_FOUND - no queue 'other' in vhost '/'"),
        ({"do": "ack", "tag": 9}, 406, "PRECONDITION_FAILED - unknown delivery tag 9"),
    ],
)  # fmt: skip
def test_a_channel_is_closed_for(node, operation, code, text):
    node.results(declare(durable=True))
    closed = answer(node.amqp(operation)).closed
    assert (closed.code, closed.text, closed.is_connection) == (code, text, False)
    assert node.log("queue", CONTAINER)[-2].endswith(text.partition(" - ")[2])


def test_a_bounded_queue_drops_its_oldest_or_refuses_the_newest(node):
    node.results(declare("ring", arguments={"x-max-length": 2}), *(publish("ring", body) for body in "abc"))
    assert [each["body"] for each in node.results(get("ring", no_ack=True), get("ring", no_ack=True))] == [
        "b",
        "c",
    ]
    shy = {"x-max-length": 1, "x-overflow": "reject-publish"}
    told = node.results(declare("shy", arguments=shy), publish("shy", "a"), publish("shy", "b"))
    assert [each.get("confirmed") for each in told] == [None, True, False]


def test_its_tools_tell_how_it_is(node):
    assert node.ctl("rabbitmq-diagnostics -q ping").stdout == "Ping succeeded\n"
    assert (
        node.ctl("rabbitmq-diagnostics -q check_running").stdout
        == "RabbitMQ on node rabbit@queue-0 is fully booted and running\n"
    )
    ports = node.ctl("rabbitmq-diagnostics -q check_port_connectivity").stdout
    assert (
        ports
        == "Successfully connected to ports 5672, 15672, 15692, 25672 on node rabbit@queue-0 (using node hostname resolution)\n"
    )
    assert node.ctl("rabbitmq-diagnostics -q check_port_listener 1883").exit_code == 69
    status = node.ctl("rabbitmqctl status").stdout
    assert "\nFree disk space: 2.1475 gb\n" in status
    assert "\nRabbitMQ version: 3.13.7\n" in status
    lost = node.ctl("rabbitmqctl -n rabbit@elsewhere list_queues")
    assert (
        lost.exit_code,
        lost.stderr.startswith("Error: unable to perform an operation on node 'rabbit@elsewhere'."),
    ) == (69, True)
    assert node.ctl("rabbitmqctl list_queues nonsense").exit_code == 65
    assert node.ctl("rabbitmqctl purge_queue nowhere").exit_code == 64


def test_its_interface_asks_for_a_password_and_its_metrics_do_not(node):
    node.results(declare(), publish(count=7))
    assert node.ask("toolbox", "queue", 15672, Request(path="/api/queues")).status == 401
    word = base64.b64encode(b"app:s3cret").decode()
    told = node.ask(
        "toolbox",
        "queue",
        15672,
        Request(path="/api/queues/%2F/orders", headers={"Authorization": f"Basic {word}"}),
    )
    assert (told.status, '"messages":7' in told.body) == (200, True)
    metrics = node.ask("toolbox", "queue", 15692, Request(path="/metrics"))
    assert "\nrabbitmq_queue_messages_ready 7\n" in metrics.body


def test_an_unknown_setting_ends_it_and_the_nearest_ones_are_named():
    node = Broker(config="listners.tcp.default = 5672\n")
    status = node.status("queue", CONTAINER)
    assert status["restartCount"] >= 1
    assert status["lastState"]["terminated"]["exitCode"] == 1
    log = "\n".join(node.log("queue", CONTAINER))
    assert "You've tried to set listners.tcp.default, but there is no setting with that name." in log
    assert "    listeners.tcp.$name" in log


def test_it_needs_more_memory_than_a_small_limit():
    node = Broker(resources={"limits": {"memory": "96Mi"}})
    assert node.status("queue", CONTAINER)["lastState"]["terminated"]["reason"] == "OOMKilled"


def container(files):
    return Container(
        namespace="lab", pod="queue-0", pod_uid="1", name=CONTAINER, image="rabbitmq:3.13", argv=("rabbitmq-server",), env={},
        files=files, pod_ip="10.244.0.9", node="node-a", cpu_limit_millis=None, cpu_request_millis=0, memory_limit_bytes=None,
        started_ms=0, restarts=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("channel_max = many", '"many" cannot be converted to a(n) integer'),
        ("log.console.level = loud", '"loud" is not a valid enum value, acceptable values are: '),
        ("vm_memory_high_watermark.relative = 1", '"1" cannot be converted to a(n) float'),
    ],
)
def test_a_setting_of_the_wrong_type_is_told(line, problem):
    told = read(container({"/etc/rabbitmq/rabbitmq.conf": line}), {}).problems
    name = line.partition(" ")[0]
    assert told[:2] == (
        "Error preparing configuration in phase transform_datatypes:",
        f"  - Error transforming datatype for: {name}",
    )
    assert told[2].startswith(f"  - {problem}")


@pytest.mark.parametrize(
    ("text", "amount"), [("50MB", 50_000_000), ("1GiB", 1 << 30), ("2", 2), ("50TB", None), ("x", None)]
)
def test_sizes(text, amount):
    assert size(text) == amount


@given(st.text(max_size=300))
def test_any_configuration_is_read(text):
    read(container({"/etc/rabbitmq/rabbitmq.conf": text}), {})


WORDS = st.sampled_from(
    [
        "declare",
        "publish",
        "get",
        "consume",
        "ack",
        "nack",
        "purge",
        "delete",
        "orders",
        "other",
        "reject-publish",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x-max-length", "x-overflow", "x-queue-type"]), inner),
    max_leaves=4,
)  # fmt: skip
OPERATION = st.dictionaries(
    st.sampled_from(["queue", "body", "count", "arguments", "tag", "durable", "prefetch", "multiple", "requeue", "no_ack", "passive"]), VALUES
)  # fmt: skip


@given(st.lists(st.tuples(WORDS, OPERATION), max_size=12))
def test_whatever_a_client_does_is_done_or_refused(steps):
    memory = {}
    link = Link("1", "app", "/", "10.244.0.7", 40_000, 0)
    for what, operation in steps:
        keep_link(memory, link)
        with contextlib.suppress(Refused):
            run(memory, link, {"queue": "orders", **operation, "do": what})
    keep_link(memory, link)
    drop_link(memory, link)
    assert all(queue.ready >= 0 for queue in queues(memory))
    assert all(
        run.is_persistent for slot in [durable(memory)] for queue in queues(slot) for run in queue.runs
    )


@given(VALUES)
def test_any_body_is_a_dialogue_or_none(value):
    dialogue = decode(json.dumps(["app", "x", [value], "/"]))
    assert dialogue is None or dialogue.operations == (value,)


@given(
    st.lists(
        st.sampled_from(
            [
                "list_queues",
                "status",
                "add_user",
                "set_permissions",
                "-n",
                "-p",
                "--formatter=json",
                "-q",
                "",
                "{0}",
                "x",
                "set_vm_memory_high_watermark",
                "absolute",
                "nan",
            ]
        ),
        max_size=6,
    )
)
@settings(max_examples=25)
def test_any_command_line_ends(lab, words):
    fork = object.__new__(Broker)
    fork.cluster = lab.cluster.fork()
    fork.client = fork.cluster.client()
    assert fork.ctl(f"rabbitmqctl {shlex.join(words)}").exit_code in (0, 64, 65, 67, 69, 70)

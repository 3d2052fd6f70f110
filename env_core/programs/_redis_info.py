"""INFO: what a server tells of itself.

What is not counted here (requests, bytes, hits) stays at its first value; processor times and sizes of the allocator are those of a
small server.

Source: redis 7.0 src/server.c genRedisInfoString; tests/golden/programs/redis (redis.info, redis.replica).
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Final

from env_core.programs import _redis_config, _redis_saving
from env_core.programs._redis_lifecycle import is_replica
from env_core.programs._redis_session import Session

_TEMPLATE: Final = """# Server
redis_version:{version}
redis_git_sha1:00000000
redis_git_dirty:0
redis_build_id:ae4d7c971a948f0
redis_mode:standalone
os:Linux 6.8.0-60-generic x86_64
arch_bits:64
monotonic_clock:POSIX clock_gettime
multiplexing_api:epoll
atomicvar_api:c11-builtin
gcc_version:12.2.0
process_id:1
process_supervised:no
run_id:{run_id}
tcp_port:{port}
server_time_usec:{usec}
uptime_in_seconds:{up}
uptime_in_days:{days}
hz:10
configured_hz:10
lru_clock:{lru}
executable:/redis-server
config_file:{config_file}
io_threads_active:0

# Clients
connected_clients:1
cluster_connections:0
maxclients:{maxclients}
client_recent_max_input_buffer:0
client_recent_max_output_buffer:0
blocked_clients:0
tracking_clients:0
clients_in_timeout_table:0

# Memory
used_memory:{used}
used_memory_human:{used_human}
used_memory_rss:{rss}
used_memory_rss_human:{rss_human}
used_memory_peak:{used}
used_memory_peak_human:{used_human}
used_memory_peak_perc:100.00%
used_memory_overhead:876232
used_memory_startup:876032
used_memory_dataset:{dataset}
used_memory_dataset_perc:99.51%
allocator_allocated:1658976
allocator_active:1794048
allocator_resident:4464640
total_system_memory:25276510208
total_system_memory_human:23.54G
used_memory_lua:32768
used_memory_vm_eval:32768
used_memory_lua_human:32.00K
used_memory_scripts_eval:0
number_of_cached_scripts:0
number_of_functions:0
number_of_libraries:0
used_memory_vm_functions:33792
used_memory_vm_total:66560
used_memory_vm_total_human:65.00K
used_memory_functions:200
used_memory_scripts:200
used_memory_scripts_human:200B
maxmemory:{limit}
maxmemory_human:{limit_human}
maxmemory_policy:{policy}
allocator_frag_ratio:1.08
allocator_frag_bytes:135072
allocator_rss_ratio:2.49
allocator_rss_bytes:2670592
rss_overhead_ratio:2.71
rss_overhead_bytes:7643136
mem_fragmentation_ratio:13.82
mem_fragmentation_bytes:11231600
mem_not_counted_for_evict:0
mem_replication_backlog:0
mem_total_replication_buffers:0
mem_clients_slaves:0
mem_clients_normal:0
mem_cluster_links:0
mem_aof_buffer:0
mem_allocator:jemalloc-5.3.0
active_defrag_running:0
lazyfree_pending_objects:0
lazyfreed_objects:0

# Persistence
loading:{loading}
async_loading:0
current_cow_peak:0
current_cow_size:0
current_cow_size_age:0
current_fork_perc:0.00
current_save_keys_processed:0
current_save_keys_total:0
rdb_changes_since_last_save:{changes}
rdb_bgsave_in_progress:0
rdb_last_save_time:{saved}
rdb_last_bgsave_status:{status}
rdb_last_bgsave_time_sec:-1
rdb_current_bgsave_time_sec:-1
rdb_saves:{saves}
rdb_last_cow_size:0
rdb_last_load_keys_expired:0
rdb_last_load_keys_loaded:0
aof_enabled:{aof}
aof_rewrite_in_progress:0
aof_rewrite_scheduled:0
aof_last_rewrite_time_sec:-1
aof_current_rewrite_time_sec:-1
aof_last_bgrewrite_status:ok
aof_rewrites:0
aof_rewrites_consecutive_failures:0
aof_last_write_status:{aof_status}
aof_last_cow_size:0
module_fork_in_progress:0
module_fork_last_cow_size:0

# Stats
total_connections_received:1
total_commands_processed:0
instantaneous_ops_per_sec:0
total_net_input_bytes:14
total_net_output_bytes:0
total_net_repl_input_bytes:0
total_net_repl_output_bytes:0
instantaneous_input_kbps:0.00
instantaneous_output_kbps:0.00
instantaneous_input_repl_kbps:0.00
instantaneous_output_repl_kbps:0.00
rejected_connections:0
sync_full:0
sync_partial_ok:0
sync_partial_err:0
expired_keys:0
expired_stale_perc:0.00
expired_time_cap_reached_count:0
expire_cycle_cpu_milliseconds:0
evicted_keys:{evicted}
evicted_clients:0
total_eviction_exceeded_time:0
current_eviction_exceeded_time:0
keyspace_hits:0
keyspace_misses:0
pubsub_channels:0
pubsub_patterns:0
pubsubshard_channels:0
latest_fork_usec:0
total_forks:{forks}
migrate_cached_sockets:0
slave_expires_tracked_keys:0
active_defrag_hits:0
active_defrag_misses:0
active_defrag_key_hits:0
active_defrag_key_misses:0
total_active_defrag_time:0
current_active_defrag_time:0
tracking_total_keys:0
tracking_total_items:0
tracking_total_prefixes:0
unexpected_error_replies:0
total_error_replies:0
dump_payload_sanitizations:0
total_reads_processed:1
total_writes_processed:0
io_threaded_reads_processed:0
io_threaded_writes_processed:0
reply_buffer_shrinks:0
reply_buffer_expands:0

# Replication
{replication}

# CPU
used_cpu_sys:0.000726
used_cpu_user:0.019580
used_cpu_sys_children:0.006938
used_cpu_user_children:0.002842
used_cpu_sys_main_thread:0.005064
used_cpu_user_main_thread:0.015193

# Modules

# Errorstats

# Cluster
cluster_enabled:0

# Keyspace
{keyspace}"""
_REPLICATION: Final = """connected_slaves:0
master_failover_state:no-failover
master_replid:{replid}
master_replid2:0000000000000000000000000000000000000000
master_repl_offset:0
second_repl_offset:-1
repl_backlog_active:0
repl_backlog_size:1048576
repl_backlog_first_byte_offset:0
repl_backlog_histlen:0"""
_REPLICA: Final = """role:slave
master_host:{host}
master_port:{port}
master_link_status:{link}
master_last_io_seconds_ago:{io}
master_sync_in_progress:0
slave_read_repl_offset:1
slave_repl_offset:1
{down}slave_priority:100
slave_read_only:{read_only}
replica_announced:1
"""
_ALL: Final = ("", "all", "default", "everything")


def info(session: Session, section: str) -> str:
    """Return the sections of INFO that are asked for."""
    shown = _TEMPLATE.format_map(_values(session))
    parts = shown.split("\n\n")
    if section not in _ALL:
        parts = [part for part in parts if part[2:].partition("\n")[0].lower() == section]
    return "\n\n".join(part.rstrip("\n") for part in parts).replace("\n", "\r\n") + ("\r\n" if parts else "")


def _values(session: Session) -> Mapping[str, object]:
    memory, setting = session.memory, session.setting
    used = session.used_bytes()
    limit = _redis_config.memory_bytes(setting("maxmemory")) or 0
    up_seconds = (session.now_ms - session.started_ms) // 1000
    saving = _redis_saving.state(memory, session.started_ms)
    return {
        "version": session.version, "run_id": _digest(session, "run"), "port": setting("port"), "usec": session.now_ms * 1000,
        "up": up_seconds, "days": up_seconds // 86_400, "lru": session.now_ms // 1000 & 0xFFFFFF, "config_file": session.config_file,
        "maxclients": setting("maxclients"), "used": used, "used_human": human(used), "rss": 8_388_608, "rss_human": "8.00M",
        "dataset": max(used - 876_232, 0), "limit": limit, "limit_human": human(limit), "policy": setting("maxmemory-policy"),
        "loading": int(session.is_loading), "changes": saving.changes, "saved": saving.saved_ms // 1000, "status": saving.status,
        "aof": int(setting("appendonly") == "yes"), "aof_status": saving.aof_status, "forks": saving.forks,
        "saves": saving.saves, "evicted": memory.get("evicted", "0"), "replication": _replication(session),
        "keyspace": "\n".join(_keyspace(session)),
    }  # fmt: skip


def _digest(session: Session, what: str) -> str:
    return sha1(f"{what} {session.own_ip} {session.started_ms}".encode(), usedforsecurity=False).hexdigest()


def _replication(session: Session) -> str:
    tail = _REPLICATION.format(replid=_digest(session, "replication"))
    if not is_replica(session.setting, session.memory):
        return f"role:master\n{tail}"
    host, _, port = (session.setting("replicaof") or session.setting("slaveof")).partition(" ")
    is_up = not session.memory.get("link", "up").startswith("down")
    head = _REPLICA.format(
        host=host, port=port, link="up" if is_up else "down", io=0 if is_up else -1,
        down="" if is_up else "master_link_down_since_seconds:-1\n",
        read_only=int(session.setting("replica-read-only") != "no"),
    )  # fmt: skip
    return f"{head}{tail}"


def human(size: int) -> str:
    """Return a size as INFO shows it to people."""
    if size >= 1 << 30:
        return f"{size / (1 << 30):.2f}G"
    if size >= 1 << 20:
        return f"{size / (1 << 20):.2f}M"
    return f"{size / 1024:.2f}K" if size >= 1024 else f"{size}B"


def _keyspace(session: Session) -> list[str]:
    lines = []
    before = session.database
    for number in range(int(session.setting("databases") or "16")):
        session.database = number
        names = session.names()
        if names:
            expiring = sum(f"expires {session.key(name)}" in session.memory for name in names)
            lines.append(f"db{number}:keys={len(names)},expires={expiring},avg_ttl=0")
    session.database = before
    return lines

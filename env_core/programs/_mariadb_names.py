"""The options that a MariaDB server knows by name, and the values of its variables where none is given.

Source: MariaDB/server mysql-test/main/mysqld--help.result (names, defaults, modes); https://mariadb.com/kb/en/innodb-system-variables/.
"""

from typing import Final

_TEXT: Final = """
allow_suspicious_udfs alter_algorithm analyze_max_length analyze_sample_percentage ansi auto_increment_increment
auto_increment_offset autocommit automatic_sp_privileges back_log basedir bind_address binlog_alter_two_phase
binlog_annotate_row_events binlog_cache_size binlog_checksum binlog_commit_wait_count binlog_commit_wait_usec
binlog_direct_non_transactional_updates binlog_do_db binlog_expire_logs_seconds binlog_file_cache_size binlog_format
binlog_gtid_index binlog_ignore_db binlog_row_event_max_size binlog_row_image binlog_row_metadata binlog_stmt_cache_size
block_encryption_mode bootstrap bulk_insert_buffer_size character_set_client_handshake character_set_collations
character_set_filesystem character_set_server character_sets_dir chroot collation_server column_compression_threshold
completion_type concurrent_insert console core_file datadir deadlock_search_depth_long deadlock_search_depth_short
deadlock_timeout_long deadlock_timeout_short default_authentication_plugin default_password_lifetime default_regex_flags
default_storage_engine default_time_zone default_tmp_storage_engine default_week_format delay_key_write
delayed_insert_limit delayed_insert_timeout delayed_queue_size disconnect_on_expired_password div_precision_increment
encrypt_binlog encrypt_tmp_disk_tables encrypt_tmp_files enforce_storage_engine eq_range_index_dive_limit event_scheduler
expensive_subquery_limit expire_logs_days explicit_defaults_for_timestamp external_locking extra_max_connections
extra_port feedback flush flush_time ft_boolean_syntax ft_max_word_len ft_min_word_len ft_query_expansion_limit
ft_stopword_file gdb general_log general_log_file group_concat_max_len gtid_domain_id gtid_ignore_duplicates
gtid_strict_mode help histogram_size histogram_type host_cache_size idle_readonly_transaction_timeout
idle_transaction_timeout idle_write_transaction_timeout ignore_builtin_innodb ignore_db_dirs init_connect init_file
init_slave interactive_timeout join_buffer_size join_buffer_space_limit join_cache_level keep_files_on_create
key_buffer_size key_cache_age_threshold key_cache_block_size large_pages lc_messages lc_messages_dir lc_time_names
local_infile lock_wait_timeout log_basename log_bin log_bin_compress log_bin_index log_bin_trust_function_creators
log_ddl_recovery log_disabled_statements log_error log_isam log_output log_queries_not_using_indexes log_short_format
log_slave_updates log_slow_admin_statements log_slow_disabled_statements log_slow_filter log_slow_min_examined_row_limit
log_slow_query log_slow_query_file log_slow_query_time log_slow_rate_limit log_slow_verbosity log_tc log_warnings
long_query_time low_priority_updates lower_case_table_names master_info_file master_retry_count master_verify_checksum
max_allowed_packet max_binlog_cache_size max_binlog_size max_binlog_stmt_cache_size max_connect_errors max_connections
max_delayed_threads max_digest_length max_error_count max_heap_table_size max_join_size max_length_for_sort_data
max_password_errors max_prepared_stmt_count max_recursive_iterations max_relay_log_size max_rowid_filter_size
max_seeks_for_key max_session_mem_used max_sort_length max_sp_recursion_depth max_statement_time max_user_connections
max_write_lock_count memlock metadata_locks_cache_size metadata_locks_hash_instances min_examined_row_limit
mrr_buffer_size myisam_block_size myisam_max_sort_file_size myisam_recover_options myisam_sort_buffer_size
mysql56_temporal_format net_buffer_length net_read_timeout net_retry_count net_write_timeout note_verbosity old_mode
old_passwords old_style_user_limits open_files_limit optimizer_max_sel_arg_weight optimizer_prune_level
optimizer_search_depth optimizer_switch optimizer_trace optimizer_use_condition_selectivity performance_schema pid_file
plugin_dir plugin_load plugin_load_add plugin_maturity port port_open_timeout preload_buffer_size print_defaults
profiling_history_size progress_report_time proxy_protocol_networks query_alloc_block_size query_cache_limit
query_cache_min_res_unit query_cache_size query_cache_strip_comments query_cache_type query_cache_wlock_invalidate
query_prealloc_size range_alloc_block_size read_buffer_size read_only read_rnd_buffer_size relay_log relay_log_index
relay_log_info_file relay_log_purge relay_log_recovery relay_log_space_limit replicate_do_db replicate_do_table
replicate_ignore_db replicate_ignore_table replicate_wild_do_table replicate_wild_ignore_table report_host report_port
report_user require_secure_transport rowid_merge_buff_size rpl_semi_sync_master_enabled rpl_semi_sync_master_timeout
rpl_semi_sync_slave_enabled safe_user_create secure_auth secure_file_priv secure_timestamp server_id
session_track_schema skip_grant_tables skip_host_cache skip_name_resolve skip_networking skip_show_database
skip_slave_start slave_compressed_protocol slave_ddl_exec_mode slave_domain_parallel_threads slave_exec_mode
slave_max_allowed_packet slave_net_timeout slave_parallel_mode slave_parallel_threads slave_skip_errors
slave_sql_verify_checksum slave_transaction_retries slow_launch_time slow_query_log slow_query_log_file socket
sort_buffer_size sql_mode sql_safe_updates ssl ssl_ca ssl_capath ssl_cert ssl_cipher ssl_crl ssl_key stack_trace
standard_compliant_cte stored_program_cache strict_password_validation symbolic_links sync_binlog sync_frm
sync_master_info sync_relay_log sync_relay_log_info sysdate_is_now table_cache table_definition_cache table_open_cache
table_open_cache_instances tc_heuristic_recover tcp_keepalive_interval tcp_keepalive_probes tcp_keepalive_time
tcp_nodelay thread_cache_size thread_handling thread_pool_idle_timeout thread_pool_max_threads thread_pool_size
thread_pool_stall_limit thread_stack tls_version tmp_disk_table_size tmp_memory_table_size tmp_table_size tmpdir
transaction_alloc_block_size transaction_isolation transaction_prealloc_size transaction_read_only
updatable_views_with_limit use_stat_tables user userstat verbose version wait_timeout wsrep_cluster_address
wsrep_cluster_name wsrep_node_address wsrep_node_name wsrep_on wsrep_provider wsrep_sst_method
innodb innodb_adaptive_flushing innodb_adaptive_hash_index innodb_autoextend_increment innodb_autoinc_lock_mode
innodb_buf_dump_status_frequency innodb_buffer_pool_chunk_size innodb_buffer_pool_dump_at_shutdown
innodb_buffer_pool_dump_now innodb_buffer_pool_dump_pct innodb_buffer_pool_filename innodb_buffer_pool_load_at_startup
innodb_buffer_pool_size innodb_buffer_pool_size_max innodb_checksum_algorithm innodb_compression_algorithm
innodb_compression_level innodb_data_file_path innodb_data_home_dir innodb_deadlock_detect innodb_default_row_format
innodb_doublewrite innodb_encrypt_tables innodb_fast_shutdown innodb_file_per_table innodb_fill_factor
innodb_flush_log_at_trx_commit innodb_flush_method innodb_flush_neighbors innodb_force_recovery innodb_ft_cache_size
innodb_io_capacity innodb_io_capacity_max innodb_lock_wait_timeout innodb_log_buffer_size innodb_log_file_buffering
innodb_log_file_size innodb_log_group_home_dir innodb_lru_scan_depth innodb_max_dirty_pages_pct innodb_max_purge_lag
innodb_monitor_enable innodb_old_blocks_pct innodb_open_files innodb_page_size innodb_print_all_deadlocks
innodb_purge_threads innodb_read_ahead_threshold innodb_read_io_threads innodb_read_only innodb_rollback_on_timeout
innodb_sort_buffer_size innodb_stats_auto_recalc innodb_stats_persistent innodb_status_output innodb_strict_mode
innodb_temp_data_file_path innodb_tmpdir innodb_undo_directory innodb_undo_log_truncate innodb_undo_tablespaces
innodb_use_native_aio innodb_write_io_threads
"""
NAMES: Final = frozenset(_TEXT.split())

FLAGS: Final = frozenset((
    "ansi", "bootstrap", "console", "core_file", "gdb", "help", "memlock", "print_defaults", "skip_grant_tables", "skip_host_cache",
    "skip_name_resolve", "skip_networking", "skip_show_database", "skip_slave_start", "ssl", "stack_trace", "symbolic_links",
    "verbose", "version", "feedback", "innodb", "external_locking", "flush", "log_short_format", "safe_user_create",
))  # fmt: skip
"""Options that need no value, beside those whose default is a switch."""

TAKEN_BUT_IDLE: Final = frozenset(("default_authentication_plugin",))
"""Options of MySQL that the server takes, and warns of."""

DEFAULTS: Final = {
    "auto_increment_increment": "1", "auto_increment_offset": "1", "autocommit": "ON", "back_log": "80", "binlog_format": "MIXED",
    "bulk_insert_buffer_size": "8388608", "character_set_server": "utf8mb4", "collation_server": "utf8mb4_general_ci",
    "connect_timeout": "10", "datadir": "/var/lib/mysql/", "default_storage_engine": "InnoDB", "event_scheduler": "OFF",
    "expire_logs_days": "0", "extra_max_connections": "1", "extra_port": "0", "general_log": "OFF", "group_concat_max_len": "1048576",
    "idle_transaction_timeout": "0", "innodb_buffer_pool_size": "134217728", "innodb_deadlock_detect": "ON",
    "innodb_file_per_table": "ON", "innodb_flush_log_at_trx_commit": "1", "innodb_io_capacity": "200",
    "innodb_lock_wait_timeout": "50", "innodb_log_buffer_size": "16777216", "innodb_log_file_size": "100663296",
    "innodb_open_files": "2000", "innodb_page_size": "16384", "innodb_print_all_deadlocks": "OFF", "innodb_read_only": "OFF",
    "interactive_timeout": "28800", "join_buffer_size": "262144", "key_buffer_size": "134217728", "local_infile": "ON",
    "lock_wait_timeout": "86400", "log_bin": "OFF", "log_error": "", "log_output": "FILE", "log_warnings": "2",
    "long_query_time": "10.000000", "lower_case_table_names": "0", "max_allowed_packet": "16777216", "max_connect_errors": "100",
    "max_connections": "151", "max_heap_table_size": "16777216", "max_prepared_stmt_count": "16382",
    "max_session_mem_used": "9223372036854775807", "max_statement_time": "0.000000", "max_user_connections": "0",
    "net_buffer_length": "16384", "net_read_timeout": "30", "net_retry_count": "10", "net_write_timeout": "60",
    "performance_schema": "OFF", "port": "3306", "query_cache_size": "1048576", "query_cache_type": "OFF",
    "read_buffer_size": "131072", "read_only": "OFF", "read_rnd_buffer_size": "262144", "server_id": "1", "skip_name_resolve": "OFF",
    "skip_networking": "OFF", "slow_query_log": "OFF", "socket": "/run/mysqld/mysqld.sock", "sort_buffer_size": "2097152",
    "sql_mode": "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION", "sync_binlog": "0",
    "table_definition_cache": "400", "table_open_cache": "2000", "thread_cache_size": "151", "thread_handling": "one-thread-per-connection",
    "tmp_table_size": "16777216", "tx_isolation": "REPEATABLE-READ", "wait_timeout": "28800",
}  # fmt: skip
"""What SHOW VARIABLES shows, as far as it is simulated."""

READ_ONLY: Final = frozenset((
    "back_log", "datadir", "extra_port", "innodb_page_size", "innodb_read_only", "log_bin", "log_error", "lower_case_table_names",
    "performance_schema", "port", "skip_name_resolve", "skip_networking", "socket", "thread_handling", "version", "version_comment",
))  # fmt: skip
GLOBAL_ONLY: Final = frozenset((
    "connect_timeout", "event_scheduler", "expire_logs_days", "extra_max_connections", "general_log", "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit", "innodb_io_capacity", "innodb_print_all_deadlocks", "key_buffer_size", "local_infile",
    "max_connect_errors", "max_connections", "max_prepared_stmt_count", "query_cache_size", "read_only", "slow_query_log",
    "sync_binlog", "table_definition_cache", "table_open_cache", "thread_cache_size", "innodb_deadlock_detect", "log_output",
    "innodb_file_per_table", "innodb_open_files", "innodb_log_file_size", "innodb_log_buffer_size",
))  # fmt: skip
SECONDS: Final = ("long_query_time", "max_statement_time")
"""Numbers with a fraction."""
SQL_MODES: Final = frozenset((
    "REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "IGNORE_BAD_TABLE_OPTIONS", "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION", "NO_DIR_IN_CREATE", "POSTGRESQL", "ORACLE", "MSSQL", "DB2", "MAXDB", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS", "MYSQL323", "MYSQL40", "ANSI", "NO_AUTO_VALUE_ON_ZERO", "NO_BACKSLASH_ESCAPES", "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ALLOW_INVALID_DATES", "ERROR_FOR_DIVISION_BY_ZERO", "TRADITIONAL",
    "NO_AUTO_CREATE_USER", "HIGH_NOT_PRECEDENCE", "NO_ENGINE_SUBSTITUTION", "PAD_CHAR_TO_FULL_LENGTH", "EMPTY_STRING_IS_NULL",
    "SIMULTANEOUS_ASSIGNMENT", "TIME_ROUND_FRACTIONAL",
))  # fmt: skip

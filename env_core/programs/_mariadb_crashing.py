"""What a MariaDB server leaves when it finds no more disk space in the middle of a statement: it crashes, with a report.

Source: MariaDB/server sql/signal_handler.cc; tests/golden/programs/mariadb (mariadb.diskfull): the addresses are those of that crash.
"""

from __future__ import annotations

from typing import Final

from env_core.programs._mariadb_log import ERROR, Said, lines, short_stamp
from env_core.programs._model import Line

CODE: Final = 139
_TRIES: Final = 102
"""How often the server asked for space, as recorded."""
_REPORT: Final = """{stamp} [ERROR] mariadbd got signal 6 ;
Sorry, we probably made a mistake, and this is a bug.

Your assistance in bug reporting will enable us to fix this for the next release.
To report this bug, see https://mariadb.com/docs/general-resources/community/community/bug-tracking/reporting-bugs about how to report
a bug on https://jira.mariadb.org/.

Please include the information from the server start above, to the end of the
information below.

Server version: {version} source revision: {revision}

The information page at https://mariadb.com/docs/server/reference/product-development/mariadb-fault-finding/how-to-produce-a-full-\
stack-trace-for-mariadbdcontains instructions to obtain a better version of the backtrace below.
Following these instructions will help MariaDB developers provide a fix quicker.

Attempting backtrace. Include this in the bug report.
(note: Retrieving this information may fail)

Thread pointer: 0x775440000c68
stack_bottom = 0x7f547852c000 thread_stack 0x49000
addr2line: 'mariadbd': No such file
mariadbd(my_print_stacktrace+0x2e)[0x55ad869d387e]
mariadbd(handle_fatal_signal+0x1c7)[0x55ad8654e057]
libc_sigaction.c:0(__restore_rt)[0x7f548e113050]
nptl/pthread_kill.c:44(__pthread_kill_implementation)[0x7f548e161eec]
posix/raise.c:27(__GI_raise)[0x7f548e112fb2]
stdlib/abort.c:81(__GI_abort)[0x7f548e0fd472]
addr2line: 'mariadbd': No such file
mariadbd(+0x6c7941)[0x55ad8619f941]
Printing to addr2line failed
mariadbd(+0x6beec3)[0x55ad86196ec3]
mariadbd(+0xd90a44)[0x55ad86868a44]
mariadbd(+0xdeffa5)[0x55ad868c7fa5]
mariadbd(+0xdb6460)[0x55ad8688e460]
mariadbd(+0xdb8bb1)[0x55ad86890bb1]
mariadbd(+0xd21fb4)[0x55ad867f9fb4]
mariadbd(_ZN7handler12ha_write_rowEPKh+0x13f)[0x55ad8655d4df]
mariadbd(_ZN12Write_record13single_insertEPy+0x24)[0x55ad862d1624]
mariadbd(_ZN12Write_record12write_recordEv+0x99)[0x55ad862d21a9]
{called}
mariadbd(_Z21mysql_execute_commandP3THDb+0x52b2)[0x55ad86310c32]
mariadbd(_Z11mysql_parseP3THDPcjP12Parser_state+0x1c6)[0x55ad863115b6]
mariadbd(_Z16dispatch_command19enum_server_commandP3THDPcjb+0x16e5)[0x55ad86313cb5]
mariadbd(_Z10do_commandP3THDb+0x13f)[0x55ad8631561f]
mariadbd(_Z24do_handle_one_connectionP7CONNECTb+0x37d)[0x55ad8642cabd]
mariadbd(handle_one_connection+0x5d)[0x55ad8642ce1d]
mariadbd(+0xc7f647)[0x55ad86757647]
nptl/pthread_create.c:442(start_thread)[0x7f548e1601f5]
x86_64/clone3.S:83(clone3)[0x7f548e1e08ec]

Connection ID (thread ID): {number}
Status: NOT_KILLED
Query (0x7754400133f0): {statement}

Optimizer switch: index_merge=on,index_merge_union=on,index_merge_sort_union=on,index_merge_intersection=on,\
index_merge_sort_intersection=off,engine_condition_pushdown=off,index_condition_pushdown=on,derived_merge=on,derived_with_keys=on,\
firstmatch=on,loosescan=on,materialization=on,in_to_exists=on,semijoin=on,partial_match_rowid_merge=on,partial_match_table_scan=on,\
subquery_cache=on,mrr=off,mrr_cost_based=off,mrr_sort_keys=off,outer_join_with_cache=on,semijoin_with_cache=on,\
join_cache_incremental=on,join_cache_hashed=on,join_cache_bka=on,optimize_join_buffer_size=on,table_elimination=on,extended_keys=on,\
exists_to_in=on,orderby_uses_equalities=on,condition_pushdown_for_derived=on,split_materialized=on,\
condition_pushdown_for_subquery=on,rowid_filter=on,condition_pushdown_from_having=on,not_null_range_scan=off,\
hash_join_cardinality=off,cset_narrowing=off

Writing a core file...
Working directory at {directory}
Resource Limits (excludes unlimited resources):
Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max core file size        0                    unlimited            bytes
Max processes             96365                96365                processes
Max open files            {files}                {files}                files
Max locked memory         8388608              8388608              bytes
Max pending signals       96365                96365                signals
Max msgqueue size         819200               819200               bytes
Max nice priority         0                    0
Max realtime priority     0                    0
Core pattern: core

Kernel version: Linux version 6.1.0 (builder@sandboxing) (gcc (GCC) 15.3.0, GNU ld (GNU Binutils) 2.46) #1 SMP PREEMPT_DYNAMIC @0

Fatal signal 11 while backtracing"""
_SELECTED: Final = """mariadbd(_ZN13select_insert9send_dataER4ListI4ItemE+0x85)[0x55ad862d22c5]
mariadbd(+0x899062)[0x55ad86371062]
mariadbd(+0x86f0b9)[0x55ad863470b9]
mariadbd(_Z10sub_selectP4JOINP13st_join_tableb+0x22f)[0x55ad8635ae9f]
mariadbd(_ZN4JOIN10exec_innerEv+0xda0)[0x55ad86386fd0]
mariadbd(_ZN4JOIN4execEv+0x30)[0x55ad86387280]
mariadbd(_Z12mysql_selectP3THDP10TABLE_LISTR4ListI4ItemEPS4_jP8st_orderS9_S7_S9_yP13select_resultP18st_select_lex_unitP13st_select\
_lex+0x195)[0x55ad863856f5]
mariadbd(_Z13handle_selectP3THDP3LEXP13select_resulty+0x13f)[0x55ad86385e2f]"""
_PADDED: Final = ("Limit ", "Max ")
_WIDTH, _WIDTH_WITHOUT_UNITS = 78, 68


def report(
    version: str, revision: str, directory: str, file: str, size: int, number: int, statement: str, at_ms: int
) -> tuple[Line, ...]:
    """Return all that a server prints that finds no space for a file to grow to a size."""
    tries = (
        Said(f"InnoDB: preallocating {size} bytes for file {file} failed with error 28", ERROR, number),
    ) * _TRIES
    fatal = Said("[FATAL] InnoDB: Error (Out of disk space) in rollback.", ERROR, number)
    text = _REPORT.format(
        stamp=short_stamp(at_ms), version=version, revision=revision, called=_SELECTED, number=number, statement=statement,
        directory=directory, files=20_000,
    )  # fmt: skip
    # Only a query's rows come by way of SELECT.
    left = (
        text.split("\n")
        if " select " in statement.lower()
        else text.replace(f"{_SELECTED}\n", "").split("\n")
    )
    plain = [
        line.ljust(_WIDTH_WITHOUT_UNITS if " priority " in line else _WIDTH)
        if line.startswith(_PADDED)
        else line
        for line in left
    ]
    return (*lines((*tries, fatal), at_ms), *(Line(at_ms, line, "stderr") for line in plain))

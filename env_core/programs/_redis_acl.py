"""Commands that redis-server knows by name, and the grammar of users in its configuration.

Source: redis 7.0 src/commands.c, src/acl.c (ACLSetUser, ACLAppendUserForLoading); tests/golden/programs/redis (redis.conf.user,
redis.conf.rename).
"""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = """
acl append asking auth bgrewriteaof bgsave bitcount bitfield bitfield_ro bitop bitpos blmove blmpop blpop brpop brpoplpush
bzmpop bzpopmax bzpopmin client cluster command config copy dbsize debug decr decrby del discard dump echo eval eval_ro
evalsha evalsha_ro exec exists expire expireat expiretime failover fcall fcall_ro flushall flushdb function geoadd geodist
geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch geosearchstore get getbit getdel
getex getrange getset hdel hello hexists hget hgetall hincrby hincrbyfloat hkeys hlen hmget hmset hrandfield hscan hset
hsetnx hstrlen hvals incr incrby incrbyfloat info keys lastsave latency lcs lindex linsert llen lmove lmpop lolwut lpop lpos
lpush lpushx lrange lrem lset ltrim memory mget migrate module monitor move mset msetnx multi object persist pexpire
pexpireat pexpiretime pfadd pfcount pfdebug pfmerge pfselftest ping psetex psubscribe psync pttl publish pubsub punsubscribe
quit randomkey readonly readwrite rename renamenx replconf replicaof reset restore restore-asking role rpop rpoplpush rpush
rpushx sadd save scan scard script sdiff sdiffstore select set setbit setex setnx setrange shutdown sinter sintercard
sinterstore sismember slaveof slowlog smembers smismember smove sort sort_ro spop spublish srandmember srem sscan ssubscribe
strlen subscribe substr sunion sunionstore sunsubscribe swapdb sync time touch ttl type unlink unsubscribe unwatch wait
watch xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending xrange xread xreadgroup xrevrange xsetid xtrim zadd zcard
zcount zdiff zdiffstore zincrby zinter zintercard zinterstore zlexcount zmpop zmscore zpopmax zpopmin zrandmember zrange
zrangebylex zrangebyscore zrangestore zrank zrem zremrangebylex zremrangebyrank zremrangebyscore zrevrange zrevrangebylex
zrevrangebyscore zrevrank zscan zscore zunion zunionstore
"""
NAMES: Final = frozenset(_NAMES.split())
"""Every command of Redis 7.0."""
_CATEGORIES: Final = (
    "keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow blocking dangerous"
    " connection transaction scripting all "
)
_SIMPLE: Final = (
    "on off nopass resetpass allkeys resetkeys allchannels resetchannels allcommands nocommands reset sanitize-payload"
    " skip-sanitize-payload clearselectors "
)
_KEYS: Final = re.compile(r"(?:~|%(?:R|W|RW|WR)~)\S+")
_HASH: Final = re.compile(r"[#!][0-9a-f]{64}")


def user_problem(words: list[str]) -> str:
    """Return what redis says of a `user` line of its configuration, "" when it takes it."""
    if len(words) < 2:
        return "wrong number of arguments"
    for index, word in enumerate(words[2:]):
        problem = _rule_problem(word)
        if problem:
            # The server counts from the line's first word here, and so names a word that may not be the wrong one.
            return f"Error in user declaration '{words[index]}': {problem}"
    return ""


def _rule_problem(word: str) -> str:
    if f"{word.lower()} " in _SIMPLE or word[:1] in "><&(" or _KEYS.fullmatch(word) or _HASH.fullmatch(word):
        return ""
    if word[:1] in "+-" and len(word) > 1:
        name = word[1:].lower().partition("|")[0]
        is_known = f"{name[1:]} " in _CATEGORIES if name.startswith("@") else name in NAMES
        return "" if is_known else "Unknown command or category name in ACL"
    if word[:1] in "#!":
        return "The provided password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
    return "Syntax error"

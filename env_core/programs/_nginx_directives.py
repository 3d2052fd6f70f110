"""nginx's directives: where each may stand, how many arguments it takes, and what kind of values."""

from __future__ import annotations

from typing import Final, NamedTuple


class Directive(NamedTuple):
    """One directive. `contexts` are letters: m main, e events, h http, u upstream, s server, l location, i if."""

    contexts: str
    least: int
    most: int
    kind: str = ""
    """flag, size, time, block, or "" for other values."""
    is_single: bool = True
    """Whether a second one in the same block is a duplicate."""
    since: tuple[int, int] = (0, 0)
    """The first version that knows it, (major, minor)."""


_MANY: Final = 99

_TABLE: Final = """
user m 1 2|worker_processes m 1 1|error_log mhsl 1 2 - many|pid m 1 1|events m 0 0 block many|http m 0 0 block many
worker_rlimit_nofile m 1 1|daemon m 1 1 flag|master_process m 1 1 flag|load_module m 1 1 - many|env m 1 1 - many
worker_connections e 1 1|multi_accept e 1 1 flag|use e 1 1|accept_mutex e 1 1 flag|include mehusli 1 1 - many
worker_shutdown_timeout m 1 1 time|pcre_jit m 1 1 flag|thread_pool m 2 3 - many
upstream h 1 1 block many|server u 1 99 - many|least_conn u 0 0|ip_hash u 0 0|hash u 1 2|random u 0 2|zone u 1 2
keepalive u 1 1|keepalive_requests uhsl 1 1|keepalive_timeout uhsl 1 2|keepalive_time uhsl 1 1 time
listen s 1 99 - many|server_name s 1 99 - many|location sl 1 2 block many|if sl 1 99 block many
root hsli 1 1|alias l 1 1|index hsl 1 99 - many|default_type hsl 1 1|types hsl 0 0 block many|return sli 1 2 - many
rewrite sli 2 3 - many|set sli 2 2 - many|break sli 0 0 - many|try_files sl 2 99|error_page hsli 2 99 - many|internal l 0 0
autoindex hsl 1 1 flag|allow hsl 1 1 - many|deny hsl 1 1 - many|satisfy hsl 1 1|limit_except l 1 99 block many
proxy_pass lis 1 1|proxy_connect_timeout hsl 1 1 time|proxy_read_timeout hsl 1 1 time|proxy_send_timeout hsl 1 1 time
proxy_set_header hsl 2 2 - many|proxy_hide_header hsl 1 1 - many|proxy_pass_header hsl 1 1 - many|proxy_http_version hsl 1 1
proxy_buffering hsl 1 1 flag|proxy_request_buffering hsl 1 1 flag|proxy_buffer_size hsl 1 1 size|proxy_buffers hsl 2 2
proxy_busy_buffers_size hsl 1 1 size|proxy_redirect hsl 1 2 - many|proxy_next_upstream hsl 1 99|proxy_cache hsl 1 1
proxy_next_upstream_tries hsl 1 1|proxy_next_upstream_timeout hsl 1 1 time|proxy_ssl_verify hsl 1 1 flag
proxy_ssl_server_name hsl 1 1 flag|proxy_ssl_name hsl 1 1|proxy_ssl_trusted_certificate hsl 1 1|proxy_method hsl 1 1
proxy_intercept_errors hsl 1 1 flag|proxy_ignore_client_abort hsl 1 1 flag|proxy_cache_path h 2 99 - many
proxy_cache_valid hsl 1 99 - many|proxy_cache_bypass hsl 1 99 - many|proxy_cookie_path hsl 1 2 - many|proxy_bind hsl 1 2
proxy_max_temp_file_size hsl 1 1 size|proxy_socket_keepalive hsl 1 1 flag|proxy_pass_request_headers hsl 1 1 flag
proxy_pass_request_body hsl 1 1 flag|proxy_set_body hsl 1 1|proxy_temp_path hsl 1 4|proxy_ignore_headers hsl 1 99
client_max_body_size hsl 1 1 size|client_body_buffer_size hsl 1 1 size|client_header_timeout hs 1 1 time
client_body_timeout hsl 1 1 time|client_body_temp_path hsl 1 4|client_header_buffer_size hs 1 1 size
large_client_header_buffers hs 2 2|send_timeout hsl 1 1 time|sendfile hsli 1 1 flag|tcp_nopush hsl 1 1 flag
tcp_nodelay hsl 1 1 flag|aio hsl 1 1|directio hsl 1 1|server_tokens hsl 1 1|server_names_hash_bucket_size h 1 1
server_names_hash_max_size h 1 1|types_hash_max_size hsl 1 1|types_hash_bucket_size hsl 1 1|log_format h 2 99 - many
variables_hash_max_size h 1 1|variables_hash_bucket_size h 1 1|reset_timedout_connection hsl 1 1 flag
access_log hsli 1 99 - many|log_not_found hsl 1 1 flag|open_file_cache hsl 1 2|open_log_file_cache hsl 1 4
gzip hsli 1 1 flag|gzip_types hsl 1 99 - many|gzip_min_length hsl 1 1|gzip_comp_level hsl 1 1|gzip_vary hsl 1 1 flag
gzip_proxied hsl 1 99|gzip_disable hsl 1 99|gzip_buffers hsl 2 2|gzip_http_version hsl 1 1|gzip_static hsl 1 1
add_header hsli 2 3 - many|expires hsli 1 2|etag hsl 1 1 flag|charset hsli 1 1|add_trailer hsli 2 3 - many
auth_basic hsl 1 1|auth_basic_user_file hsl 1 1|auth_request hsl 1 1|auth_request_set hsl 2 2 - many
limit_req_zone h 3 4 - many|limit_req hsl 1 3 - many|limit_req_status hsl 1 1|limit_req_log_level hsl 1 1
limit_conn_zone h 2 2 - many|limit_conn hsl 2 2 - many|limit_conn_status hsl 1 1|limit_rate hsli 1 1 size
limit_rate_after hsli 1 1 size|map h 2 2 block many|geo h 1 2 block many|split_clients h 2 2 block many
resolver hsl 1 99|resolver_timeout hsl 1 1 time|real_ip_header hsl 1 1|set_real_ip_from hsl 1 1 - many
real_ip_recursive hsl 1 1 flag|merge_slashes hs 1 1 flag|port_in_redirect hsl 1 1 flag|absolute_redirect hsl 1 1 flag
server_name_in_redirect hsl 1 1 flag|underscores_in_headers hs 1 1 flag|ignore_invalid_headers hs 1 1 flag
chunked_transfer_encoding hsl 1 1 flag|recursive_error_pages hsl 1 1 flag|msie_padding hsl 1 1 flag
ssl_certificate hs 1 1 - many|ssl_certificate_key hs 1 1 - many|ssl_protocols hs 1 99|ssl_ciphers hs 1 1
ssl_prefer_server_ciphers hs 1 1 flag|ssl_session_cache hs 1 2|ssl_session_timeout hs 1 1 time|ssl_dhparam hs 1 1
ssl_session_tickets hs 1 1 flag|ssl_client_certificate hs 1 1|ssl_verify_client hs 1 1|ssl_verify_depth hs 1 1
ssl_stapling hs 1 1 flag|ssl_stapling_verify hs 1 1 flag|ssl_trusted_certificate hs 1 1|http2 hs 1 1 flag single 1.25
stub_status sl 0 1|sub_filter hsl 2 2 - many|sub_filter_once hsl 1 1 flag|mirror hsl 1 1 - many|fastcgi_pass li 1 1
fastcgi_param hsl 2 3 - many|fastcgi_index hsl 1 1|fastcgi_read_timeout hsl 1 1 time|uwsgi_pass li 1 1|grpc_pass li 1 1
uwsgi_param hsl 2 3 - many|grpc_set_header hsl 2 2 - many|dav_methods hsl 1 99|rewrite_log hsli 1 1 flag
"""


def _read(table: str) -> dict[str, Directive]:
    found: dict[str, Directive] = {}
    for entry in table.replace("\n", "|").split("|"):
        words = entry.split()
        if not words:
            continue
        name, contexts, least, most, *rest = words
        kind = rest[0] if rest and rest[0] != "-" else ""
        since = tuple(int(part) for part in rest[2].split(".")) if len(rest) > 2 else (0, 0)
        found[name] = Directive(
            contexts, int(least), int(most), kind, "many" not in rest, (since[0], since[1])
        )
    return found


DIRECTIVES: Final = _read(_TABLE)
"""Source: nginx.org/en/docs/dirindex.html."""

VARIABLES: Final = frozenset(
    [
        "args",
        "arg_",
        "body_bytes_sent",
        "bytes_sent",
        "binary_remote_addr",
        "connection",
        "connection_requests",
        "content_length",
        "content_type",
        "cookie_",
        "document_root",
        "document_uri",
        "host",
        "hostname",
        "http_",
        "https",
        "is_args",
        "limit_rate",
        "msec",
        "nginx_version",
        "pid",
        "pipe",
        "proxy_protocol_addr",
        "proxy_add_x_forwarded_for",
        "proxy_host",
        "proxy_port",
        "query_string",
        "realpath_root",
        "remote_addr",
        "remote_port",
        "remote_user",
        "request",
        "request_body",
        "request_completion",
        "request_filename",
        "request_id",
        "request_length",
        "request_method",
        "request_time",
        "request_uri",
        "scheme",
        "sent_http_",
        "server_addr",
        "server_name",
        "server_port",
        "server_protocol",
        "status",
        "time_iso8601",
        "time_local",
        "uri",
        "upstream_addr",
        "upstream_status",
        "upstream_response_time",
        "upstream_connect_time",
        "upstream_header_time",
        "upstream_response_length",
        "upstream_http_",
        "upstream_cache_status",
        "uid_got",
        "ssl_protocol",
        "ssl_cipher",
        "ssl_client_verify",
        "ssl_client_s_dn",
        "ssl_server_name",
        "gzip_ratio",
        "request_body_file",
        "invalid_referer",
        "geoip_country_code",
        "realip_remote_addr",
        "upstream_cookie_",
        "sent_trailer_",
        "tcpinfo_rtt",
    ]
)
"""Built-in variables; those that end in "_" are prefixes. Source: nginx.org/en/docs/varindex.html."""

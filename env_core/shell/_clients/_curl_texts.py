"""curl's longer texts.

Source: tests/golden/programs/curl (version, help).
"""

from __future__ import annotations

from typing import Final

VERSION: Final = (
    "curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1 OpenSSL/3.0.19 zlib/1.2.13 brotli/1.0.9 zstd/1.5.4 libidn2/2.3.3 libpsl/0.21.2 (+libidn2/2.3.3) libssh2/1.10.0 nghttp2/1.52.0 librtmp/2.3 OpenLDAP/2.5.13\n"
    "Release-Date: 2023-02-20, security patched: 7.88.1-10+deb12u15\n"
    "Protocols: dict file ftp ftps gopher gophers http https imap imaps ldap ldaps mqtt pop3 pop3s rtmp rtsp scp sftp smb smbs smtp smtps telnet tftp\n"
    "Features: alt-svc AsynchDNS brotli GSS-API HSTS HTTP2 HTTPS-proxy IDN IPv6 Kerberos Largefile libz NTLM NTLM_WB PSL SPNEGO SSL threadsafe TLS-SRP UnixSockets zstd\n"
)

HELP: Final = (
    "Usage: curl [options...] <url>\n"
    " -d, --data <data>          HTTP POST data\n"
    " -f, --fail                 Fail fast with no output on HTTP errors\n"
    " -h, --help <category>      Get help for commands\n"
    " -i, --include              Include protocol response headers in the output\n"
    " -o, --output <file>        Write to file instead of stdout\n"
    " -O, --remote-name          Write output to a file named as the remote file\n"
    " -s, --silent               Silent mode\n"
    " -T, --upload-file <file>   Transfer local FILE to destination\n"
    " -u, --user <user:password> Server user and password\n"
    " -A, --user-agent <name>    Send User-Agent <name> to server\n"
    " -v, --verbose              Make the operation more talkative\n"
    " -V, --version              Show version number and quit\n"
    "\n"
    "This is not the full help, this menu is stripped into categories.\n"
    'Use "--help category" to get an overview of all categories.\n'
    'For all options use the manual or "--help all".\n'
)

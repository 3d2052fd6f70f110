"""What nginx itself answers: error pages, status lines, headers of static files."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

TITLES: Final = {
    301: "301 Moved Permanently", 302: "302 Found", 303: "303 See Other", 307: "307 Temporary Redirect",
    308: "308 Permanent Redirect", 400: "400 Bad Request", 401: "401 Authorization Required", 402: "402 Payment Required",
    403: "403 Forbidden", 404: "404 Not Found", 405: "405 Not Allowed", 406: "406 Not Acceptable",
    408: "408 Request Time-out", 409: "409 Conflict", 410: "410 Gone", 411: "411 Length Required",
    412: "412 Precondition Failed", 413: "413 Request Entity Too Large", 414: "414 Request-URI Too Large",
    415: "415 Unsupported Media Type", 416: "416 Requested Range Not Satisfiable", 421: "421 Misdirected Request",
    429: "429 Too Many Requests", 500: "500 Internal Server Error", 501: "501 Not Implemented", 502: "502 Bad Gateway",
    503: "503 Service Temporarily Unavailable", 504: "504 Gateway Time-out", 505: "505 HTTP Version Not Supported",
    507: "507 Insufficient Storage",
}  # fmt: skip
REASONS: Final = {
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently",
    302: "Moved Temporarily", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 401: "Unauthorized",
}  # fmt: skip
CLOSING: Final = frozenset({400, 413, 414, 500, 501})
"""After these nginx closes the connection."""

TYPES: Final = {
    "html": "text/html", "htm": "text/html", "shtml": "text/html", "css": "text/css", "xml": "text/xml",
    "gif": "image/gif", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "application/javascript", "txt": "text/plain",
    "png": "image/png", "svg": "image/svg+xml", "ico": "image/x-icon", "json": "application/json",
    "pdf": "application/pdf", "zip": "application/zip", "woff2": "font/woff2", "wasm": "application/wasm",
}  # fmt: skip

INDEX: Final = """<!DOCTYPE html>
<html>
<head>
<title>Welcome to nginx!</title>
<style>
html { color-scheme: light dark; }
body { width: 35em; margin: 0 auto;
font-family: Tahoma, Verdana, Arial, sans-serif; }
</style>
</head>
<body>
<h1>Welcome to nginx!</h1>
<p>If you see this page, the nginx web server is successfully installed and
working. Further configuration is required.</p>

<p>For online documentation and support please refer to
<a href="http://nginx.org/">nginx.org</a>.<br/>
Commercial support is available at
<a href="http://nginx.com/">nginx.com</a>.</p>

<p><em>Thank you for using nginx.</em></p>
</body>
</html>
"""
FIFTY: Final = """<!DOCTYPE html>
<html>
<head>
<title>Error</title>
<style>
html { color-scheme: light dark; }
body { width: 35em; margin: 0 auto;
font-family: Tahoma, Verdana, Arial, sans-serif; }
</style>
</head>
<body>
<h1>An error occurred.</h1>
<p>Sorry, the page you are looking for is currently unavailable.<br/>
Please try again later.</p>
<p>If you are the system administrator of this resource then you should check
the error log for details.</p>
<p><em>Faithfully yours, nginx.</em></p>
</body>
</html>
"""


def reason(status: int) -> str:
    """Return the phrase on nginx's status line."""
    found = REASONS.get(status)
    return found if found is not None else TITLES.get(status, "").partition(" ")[2]


@lru_cache(maxsize=256)
def page(status: int, server: str) -> str:
    """Return nginx's page for a status, "" when it has none. `server` is its Server header.

    Source: tests/golden/programs/nginx, curl (curl.nginx.*).
    """
    title = TITLES.get(status)
    if title is None:
        return ""
    return (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
        f"<hr><center>{server}</center>\r\n</body>\r\n</html>\r\n"
    )

"""What Go's net/http client says of requests that fail, from the URL to the last byte of the answer.

Source: tests/golden/promql/go_net (go1.26: http, url), tests/golden/programs/app-go.
"""

from __future__ import annotations

import re
from typing import Final

from env_core.objects.problems import quoted
from env_core.programs._go_net import GoError

EOF: Final = GoError("EOF", ("*errors.errorString",), is_timeout=False)
UNEXPECTED_EOF: Final = GoError("unexpected EOF", ("*errors.errorString",))
HTTP_TO_HTTPS: Final = GoError(
    "http: server gave HTTP response to HTTPS client", ("*errors.errorString",), is_timeout=False
)
CLIENT_TIMEOUT: Final = GoError(
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    ("*http.timeoutError",),
    is_timeout=True,
)
BODY_TIMEOUT: Final = GoError(
    "context deadline exceeded (Client.Timeout or context cancellation while reading body)", ("*http.timeoutError",),
    is_timeout=True,
)  # fmt: skip
HEADER_TIMEOUT: Final = GoError(
    "net/http: timeout awaiting response headers", ("*http.timeoutError",), is_timeout=True
)
CONTEXT_DEADLINE: Final = GoError(
    "context deadline exceeded", ("context.deadlineExceededError",), is_timeout=True
)
CONTEXT_CANCELED: Final = GoError("context canceled", ("*errors.errorString",), is_timeout=False)
BODY_TOO_LARGE: Final = GoError("http: request body too large", ("*http.MaxBytesError",))
TOO_MANY_REDIRECTS: Final = GoError("stopped after 10 redirects", ("*errors.errorString",), is_timeout=False)
NOT_FOUND: Final = (404, "404 page not found\n")
"""What a server's ServeMux answers when no pattern matches: status and body."""
METHOD_NOT_ALLOWED: Final = (405, "Method Not Allowed\n")
"""The same when a pattern matches but for its method."""
HANDSHAKE_TIMEOUT: Final = GoError(
    "net/http: TLS handshake timeout", ("http.tlsHandshakeTimeoutError",), is_timeout=True
)

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_HOST_MARKS: Final = frozenset("!$&'()*+,;=:[]<>\"-_.~%")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def timed_out(body: str) -> tuple[int, str]:
    """Return what TimeoutHandler answers when its handler takes too long: status and body."""
    return 503, body


def plain(text: str, *, is_timeout: bool | None = False) -> GoError:
    """Return an error that is nothing but its text."""
    return GoError(text, ("*errors.errorString",), is_timeout)


def in_request(method: str, url: str, error: GoError) -> GoError:
    """Return an error as url.Error shows it: `Get "http://…": …`."""
    text = f"{method.capitalize()} {quoted(url)}: {error.text}"
    return GoError(text, ("*url.Error", *error.chain), bool(error.is_timeout))


def url_error(url: str) -> GoError | None:
    """Return why Go does not take a text for a URL, or None.

    Source: Go net/url Parse.
    """
    found = _url_problem(url)
    if found is None:
        return None
    text, kind = found
    return GoError(f"parse {quoted(url)}: {text}", ("*url.Error", kind), is_timeout=False)


def _url_problem(url: str) -> tuple[str, str] | None:
    simple = "*errors.errorString"
    if _CONTROL.search(url):
        return "net/url: invalid control character in URL", simple
    bare = url.partition("#")[0]
    scheme, rest = "", bare
    if ":" in bare:
        head = bare.partition(":")[0]
        if not head:
            return "missing protocol scheme", simple
        if _SCHEME.fullmatch(head):
            scheme, rest = head, bare[len(head) + 1 :]
        elif (
            _SCHEME.match(head) is None
            and not head[0].isalpha()
            and "/" not in head
            and head[0] not in "0123456789+-."
        ):
            scheme = ""
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        if scheme:
            return None
        if ":" in rest.partition("/")[0]:
            return "first path segment in URL cannot contain colon", simple
    authority = ""
    if rest.startswith("//") and not rest.startswith("///"):
        authority, _, path = rest[2:].partition("/")
        rest = f"/{path}"
    problem = _authority_problem(authority) if authority else None
    if problem is not None:
        return problem
    return _escape_problem(rest, is_host=False)


def _escape_problem(text: str, *, is_host: bool) -> tuple[str, str] | None:
    position = 0
    while position < len(text):
        character = text[position]
        if character == "%":
            part = text[position : position + 3]
            if not re.fullmatch(r"%[0-9A-Fa-f]{2}", part):
                return f"invalid URL escape {quoted(part)}", "url.EscapeError"
            if is_host and int(part[1], 16) < 8 and part != "%25":
                return f"invalid URL escape {quoted(part)}", "url.EscapeError"
            position += 3
            continue
        if is_host and ord(character) < 0x80 and not character.isalnum() and character not in _HOST_MARKS:
            return f"invalid character {quoted(character)} in host name", "url.InvalidHostError"
        position += 1
    return None


def _authority_problem(authority: str) -> tuple[str, str] | None:
    user, at, host = authority.rpartition("@")
    if at and re.search(r"[^A-Za-z0-9\-._:~!$&'()*+,;=%@]", user):
        return "net/url: invalid userinfo", "*errors.errorString"
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            return "missing ']' in host", "*errors.errorString"
        port = host[end + 1 :]
    else:
        port = ":" + host.rpartition(":")[2] if ":" in host else ""
    if port and not re.fullmatch(r":[0-9]*", port):
        return f"invalid port {quoted(port)} after host", "*errors.errorString"
    return _escape_problem(host, is_host=True)


def request_problem(method: str, url: str) -> GoError | None:
    """Return why the client does not even dial for a URL, or None."""
    problem = url_error(url)
    if problem is not None:
        return problem
    found = _SCHEME.match(url)
    scheme = found[0].lower() if found and url[found.end() : found.end() + 1] == ":" else ""
    shown = url
    if scheme in ("http", "https"):
        rest = url[len(scheme) + 1 :]
        if rest.startswith("//") and rest[2:3] not in ("", "/", "?", "#"):
            return None
        if rest == "//":
            shown = f"{scheme}:"
        error = plain("http: no Host in request URL")
    else:
        error = plain(f"unsupported protocol scheme {quoted(scheme)}")
    return in_request(method, shown, error)


def redirect_problem(method: str, url: str, location: str) -> GoError | None:
    """Return what is wrong with the Location of an answer to a request for `url`, or None."""
    problem = url_error(location)
    if problem is not None:
        return in_request(
            method, url, plain(f"failed to parse Location header {quoted(location)}: {problem.text}")
        )
    found = _SCHEME.match(location)
    if found and location[found.end() : found.end() + 1] == ":" and found[0].lower() not in ("http", "https"):
        return in_request(method, location, plain(f"unsupported protocol scheme {quoted(found[0].lower())}"))
    return None


def answer_problem(data: bytes, header_bytes_max: int = 0) -> GoError | None:
    """Return why the client does not take some bytes for an answer, or None.

    Source: Go net/http ReadResponse, net/textproto.
    """
    if not data:
        return EOF
    if header_bytes_max and len(data.partition(b"\r\n\r\n")[0]) > header_bytes_max:
        return _broken(plain(f"net/http: server response headers exceeded {header_bytes_max} bytes; aborted"))
    line, _, rest = data.partition(b"\n")
    first = line.removesuffix(b"\r").decode("latin-1")
    version, blank, status = first.partition(" ")
    shown = _quoted_bytes(line.removesuffix(b"\r"))
    if not blank:
        return _broken(plain(f"malformed HTTP response {shown}"))
    code = status.lstrip(" ").partition(" ")[0]
    if len(code) != 3 or not code.isdigit():
        return _broken(plain(f"malformed HTTP status code {_quoted_bytes(code.encode('latin-1'))}"))
    if not re.fullmatch(r"HTTP/\d\.\d", version):
        return _broken(plain(f"malformed HTTP version {_quoted_bytes(version.encode('latin-1'))}"))
    for raw in rest.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        text = raw.decode("latin-1")
        name, colon, value = text.partition(":")
        if text and not colon:
            return _broken(
                GoError(f"malformed MIME header: missing colon: {quoted(text)}", ("textproto.ProtocolError",))
            )
        if name.lower() == "content-length" and not value.strip().isdigit():
            return _broken(plain(f"bad Content-Length {quoted(value.strip())}"))
    return None


def _broken(error: GoError) -> GoError:
    text = f"net/http: HTTP/1.x transport connection broken: {error.text}"
    return GoError(text, ("*fmt.wrapError", *error.chain), is_timeout=False)


def _quoted_bytes(data: bytes) -> str:
    """Return bytes as %q shows them."""
    out = ['"']
    for byte in data:
        character = chr(byte)
        if character in '"\\':
            out.append("\\" + character)
        elif 0x20 <= byte < 0x7F:
            out.append(character)
        else:
            out.append(
                {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}.get(
                    byte, f"\\x{byte:02x}"
                )
            )
    return "".join(out) + '"'


def body_problem(data: bytes, headers: dict[str, str]) -> GoError | None:
    """Return why reading the body of an answer fails when its connection ends after `data`, or None."""
    if headers.get("Transfer-Encoding") == "chunked":
        rest = data
        while True:
            size, line_end, rest = rest.partition(b"\r\n")
            if not line_end:
                return UNEXPECTED_EOF
            length = size.partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,16}", length):
                text = "empty hex number for chunk length" if not length else "invalid byte in chunk length"
                return GoError(text, ("*errors.errorString",))
            count = int(length, 16)
            if not count:
                return None
            if len(rest) < count + 2:
                return UNEXPECTED_EOF
            if rest[count : count + 2] != b"\r\n":
                return GoError("malformed chunked encoding", ("*errors.errorString",))
            rest = rest[count + 2 :]
    wanted = headers.get("Content-Length")
    return UNEXPECTED_EOF if wanted is not None and len(data) < int(wanted) else None


def header_problem(name: str, value: str) -> GoError | None:
    """Return why a header cannot be sent, or None. Source: golang.org/x/net/http/httpguts."""
    if not name or re.search(r"[^!#$%&'*+\-.^_`|~0-9A-Za-z]", name):
        return plain(f"net/http: invalid header field name {quoted(name)}")
    if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
        return plain(f"net/http: invalid header field value for {quoted(name)}")
    return None


def length_problem(declared: int, length: int) -> GoError | None:
    """Return why a request's body does not fit its declared length, or None."""
    if length == declared:
        return None
    if length > declared:
        return plain(f"http: ContentLength={declared} with Body length {length}")
    return GoError(
        f"http: ContentLength={declared} with Body length {length}", ("http.nothingWrittenError", "*errors.errorString"),
        is_timeout=False,
    )  # fmt: skip

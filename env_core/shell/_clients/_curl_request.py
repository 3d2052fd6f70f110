"""The request that curl's options describe: method, target, headers, body."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from env_core.programs._http import LONG, LONG_MIN, VERSION
from env_core.shell._clients._curl_session import Paced
from env_core.shell._clients._wire import Request
from env_core.shell.filesystem import ShellFileError

AGENT: Final = "curl/7.88.1"
_EXPECTED_BYTES: Final = 1 << 20
"""From which size on curl asks before it sends a body. Source: curl 7.88 lib/http.h EXPECT_100_THRESHOLD."""


class Requesting(Paced):
    """Makes requests."""

    __slots__ = ()

    def _request(self) -> tuple[Request, list[tuple[str, str]], str]:
        options = self.session.options
        body = self._body()
        if options.has("head"):
            method = "HEAD"
        elif options.text("upload-file"):
            method = "PUT"
        else:
            method = "POST" if body is not None or options.all("form") else "GET"
        method = options.text("request") or method
        if (
            self.redirects
            and body is not None
            and self.status in (301, 302, 303)
            and not options.has(f"post{self.status}")
        ):
            body = None
            method = options.text("request") or "GET"
        self.method = method
        headers = self._headers(body)
        sent = {name: value for name, value in headers if name != "Host" or value}
        if any(len(value) > LONG_MIN for value in sent.values()):
            sent[LONG] = ""
        version = "1.0" if options.has("http1.0") else "1.1"
        if version != "1.1":
            sent[VERSION] = version
        request = Request(
            method=method, path=self._path(), host=self.url.authority, headers=sent, body=body or "",
            protocol="tls" if self.url.scheme == "https" else "http", timeout_ms=self.limit_ms(),
        )  # fmt: skip
        return request, headers, version

    def _path(self) -> str:
        options = self.session.options
        path = self.url.path
        if options.has("get") and options.posted:
            joined = "&".join(self._data_parts())
            path += ("&" if "?" in path else "?") + joined
        return path

    def _data_parts(self) -> list[str]:
        parts: list[str] = []
        for name, value in self.session.options.posted:
            if name != "data-raw" and value.startswith("@"):
                try:
                    text = (
                        self.session.process.stdin
                        if value == "@-"
                        else self.session.process.fs.read(self.session.process.path(value[1:]))
                    )
                except ShellFileError:
                    text = ""
                parts.append(
                    text if name in ("data-binary", "json") else text.replace("\n", "").replace("\r", "")
                )
            elif name == "data-urlencode":
                key, equals, rest = value.partition("=")
                parts.append((f"{key}=" if equals and key else "") + _quoted(rest if equals else value))
            else:
                parts.append(value)
        return parts

    def _body(self) -> str | None:
        options = self.session.options
        if options.has("get"):
            return None
        if options.posted:
            joiner = "" if options.posted[-1][0] == "json" else "&"
            return joiner.join(self._data_parts())
        forms = options.all("form")
        if forms:
            return self._multipart(forms)
        path = options.text("upload-file")
        if path:
            try:
                return (
                    self.session.process.stdin
                    if path == "-"
                    else self.session.process.fs.read(self.session.process.path(path))
                )
            except ShellFileError:
                return ""
        return None

    def _multipart(self, forms: list[str]) -> str:
        boundary = "------------------------8d2f6c1c3a5b7e90"
        parts = []
        for form in forms:
            name, _, value = form.partition("=")
            if value.startswith(("@", "<")):
                try:
                    text = self.session.process.fs.read(
                        self.session.process.path(value[1:].partition(";")[0])
                    )
                except ShellFileError:
                    text = ""
                file = value[1:].partition(";")[0].rpartition("/")[2]
                parts.append(
                    f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: application/octet-stream\r\n\r\n{text}\r\n'
                )
            else:
                parts.append(
                    f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                )
        return "".join(parts) + f"--{boundary}--\r\n"

    def _headers(self, body: str | None) -> list[tuple[str, str]]:
        options = self.session.options
        custom: dict[str, tuple[str, str]] = {}
        for line in options.all("header"):
            name, colon, value = line.partition(":")
            if colon:
                custom[name.strip().lower()] = (name.strip(), value.strip())
            elif line.endswith(";"):
                custom[line[:-1].strip().lower()] = (line[:-1].strip(), "")
        found: list[tuple[str, str]] = [("Host", custom.pop("host", ("", self.url.authority))[1])]
        user = options.text("user") or self.url.user
        if user and "authorization" not in custom:
            self.session.tell(f"Server auth using Basic with user '{user.partition(':')[0]}'")
            found.append(("Authorization", "Basic " + b64encode(user.encode()).decode()))
        elif options.text("oauth2-bearer"):
            found.append(("Authorization", f"Bearer {options.text('oauth2-bearer')}"))
        is_json = any(name == "json" for name, _ in options.posted)
        standard: list[tuple[str, str]] = []
        if options.text("range"):
            standard.append(("Range", f"bytes={options.text('range')}"))
        standard.append(("User-Agent", options.text("user-agent", AGENT)))
        standard.append(("Accept", "application/json" if is_json else "*/*"))
        if options.has("compressed"):
            standard.append(("Accept-Encoding", "deflate, gzip, br, zstd"))
        if options.text("referer"):
            standard.append(("Referer", options.text("referer")))
        cookies = "; ".join(each for each in options.all("cookie") if "=" in each)
        if cookies:
            standard.append(("Cookie", cookies))
        for name, value in standard:
            if name.lower() not in custom:
                found.append((name, value))
        if is_json and "content-type" not in custom:
            custom["content-type"] = ("Content-Type", "application/json")
        found += [
            (name, value)
            for name, value in custom.values()
            if value or (options.all("header") and any(line.endswith(";") for line in options.all("header")))
        ]
        if body is not None:
            if "content-length" not in custom:
                found.append(("Content-Length", str(len(body.encode()))))
            if "content-type" not in custom and not options.text("upload-file"):
                kind = (
                    "multipart/form-data; boundary=------------------------8d2f6c1c3a5b7e90"
                    if options.all("form")
                    else "application/x-www-form-urlencoded"
                )
                found.append(("Content-Type", kind))
            if len(body) > _EXPECTED_BYTES and "expect" not in custom and not options.has("http1.0"):
                found.append(("Expect", "100-continue"))
        return found


def _quoted(text: str) -> str:
    safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    return "".join(chr(byte) if chr(byte) in safe else f"%{byte:02X}" for byte in text.encode())

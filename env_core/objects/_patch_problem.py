"""The refusal of a patch, before the API server puts it into a Status."""

from __future__ import annotations


class PatchError(Exception):
    """A patch that cannot be applied or computed.

    `code` and `reason` are those of the Status the server answers ("" where it answers a bare 500);
    `is_bodyless` marks refusals whose Status carries empty details and a generic message; `why` is what it keeps to
    itself.
    """

    def __init__(
        self, message: str, code: int = 500, reason: str = "", *, is_bodyless: bool = False, why: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.is_bodyless = is_bodyless
        self.why = why


def bad_request(message: str) -> PatchError:
    """400: the patch is no patch."""
    return PatchError(message, 400, "BadRequest")


GENERIC_422 = "the server rejected our request due to an error in our request"


def unprocessable(why: str) -> PatchError:
    """422 of a patch that does not fit the object; the server keeps the reason to itself."""
    return PatchError(GENERIC_422, 422, "Invalid", is_bodyless=True, why=why)

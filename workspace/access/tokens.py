"""JSON web tokens of a browser: verified against a key set fetched over HTTP.

Only asymmetric algorithms are accepted, and `exp` is required. Keys are fetched with a timeout,
kept, and fetched again for an unknown key id at most once a minute.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jwt

ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
    "ES256", "ES256K", "ES384", "ES512", "EdDSA",
)  # fmt: skip
FETCH_TIMEOUT_S = 5.0
FETCH_LIMIT = 1024 * 1024
REFETCH_S = 60.0
RETRY_S = 5.0  # pause between fetches while there are no keys

log = logging.getLogger(__name__)


class NoKeys(Exception):
    """The key set could not be fetched yet."""


class BadToken(Exception):
    """The token is not valid here."""


def fetch(url: str) -> bytes:
    """The body at an http(s) address; ValueError for any other scheme."""
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError(f"not an http(s) URL: {url}")
    request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=FETCH_TIMEOUT_S) as answer:  # noqa: S310
        body: bytes = answer.read(FETCH_LIMIT)
    return body


class Keys:
    """The key set at a URL. Thread-safe."""

    def __init__(
        self,
        url: str,
        *,
        fetch: Callable[[str], bytes] = fetch,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url, self._fetch, self._clock = url, fetch, clock
        self._lock = threading.Lock()
        self._keys: list[jwt.PyJWK] = []
        self._asked: float | None = None

    def get(self, key_id: str | None) -> jwt.PyJWK:
        """The key of that id; without an id, the only key. Raises NoKeys, BadToken."""
        with self._lock:
            found = self._find(key_id)
            if found is None and self._may_ask():
                self._refresh()
                found = self._find(key_id)
            if found is not None:
                return found
            raise BadToken("unknown key") if self._keys else NoKeys(self._url)

    def _find(self, key_id: str | None) -> jwt.PyJWK | None:
        if key_id is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.key_id == key_id), None)

    def _may_ask(self) -> bool:
        pause = REFETCH_S if self._keys else RETRY_S
        return self._asked is None or self._clock() - self._asked >= pause

    def _refresh(self) -> None:
        self._asked = self._clock()
        try:
            self._keys = _usable(json.loads(self._fetch(self._url)))
        except (OSError, ValueError) as error:
            log.warning("auth: the key set at %s could not be read: %s", self._url, error)


def _usable(body: Any) -> list[jwt.PyJWK]:
    entries = body.get("keys") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise ValueError("no list of keys")
    keys = []
    for entry in entries:
        try:
            key = jwt.PyJWK.from_dict(entry)
        except (jwt.PyJWTError, TypeError, AttributeError, KeyError):
            continue  # a kind of key that is not supported
        if key.algorithm_name in ALGORITHMS:
            keys.append(key)
    return keys


@dataclass(frozen=True, slots=True)
class Verifier:
    """The conditions that a token must satisfy."""

    keys: Keys
    issuer: str = ""
    audience: str = ""

    def claims(self, token: str) -> dict[str, Any]:
        """The claims of a valid token. Raises BadToken, NoKeys."""
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
            return jwt.decode(
                token,
                self.keys.get(key_id),
                algorithms=list(ALGORITHMS),
                issuer=self.issuer or None,
                audience=self.audience or None,
                options={"require": ["exp"], "verify_aud": bool(self.audience)},
            )
        except (jwt.PyJWTError, ValueError) as error:
            raise BadToken(type(error).__name__) from None

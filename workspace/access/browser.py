"""Authentication of browsers and command lines: auth modes none, trusted-header and jwt.

Provides one function for the guard of the main surface. Every admitted user may do everything.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.conf import settings

from config.web.answers import Refusal
from config.web.connections import local
from config.web.guard import Headers
from config.web.hosts import loopback
from workspace.access import proxies
from workspace.access.principals import User

if TYPE_CHECKING:  # it loads cryptography, needed only in mode jwt
    from workspace.access import tokens

REQUIRED = Refusal(401, {"error": "unauthorized", "code": "auth_required"})
INVALID = Refusal(401, {"error": "invalid token", "code": "auth_invalid"})
NO_SUBJECT = Refusal(401, {"error": "the token names no user", "code": "auth_no_subject"})
NO_KEYS = Refusal(
    503, {"error": "the signing keys could not be fetched", "code": "unavailable"}
)  # fmt: skip


def authenticate(scope: dict[str, Any]) -> User | Refusal:
    """The user of this request, or its refusal. May fetch keys in mode jwt."""
    match settings.SVC.auth_mode:
        case "trusted-header":
            return _from_header(scope)
        case "jwt":
            return _from_token(scope)
        case _:
            return User()


def _from_header(scope: dict[str, Any]) -> User | Refusal:
    options, headers = settings.SVC, Headers(scope)
    if not _peers(tuple(options.auth_trusted_peers)).believes(proxies.peer(scope)):
        return REQUIRED
    username = _header(headers, options.auth_user_header)
    if not username:
        return REQUIRED
    if stranger := _stranger(scope):
        return stranger
    groups = _header(headers, options.auth_groups_header).split(",")
    return User(
        username=username,
        email=_header(headers, options.auth_email_header),
        groups=tuple(group for part in groups if (group := part.strip())),
        anonymous=False,
    )


def _stranger(scope: Mapping[str, Any]) -> Refusal | None:
    """The refusal of a connection from this machine whose headers are not believed, else None.
    Any program of any user may send them, so they must come from the service's or the proxy's
    user."""
    users, uid = local.users(settings.SVC), scope.get("peer_uid")
    if users is None or uid in users or (uid is None and not loopback(proxies.peer(scope))):
        return None
    whose = "a user that cannot be determined" if uid is None else f"uid {uid}"
    text = (
        f"This connection belongs to {whose}, whose headers name no user here. "
        "If it is the proxy's, name that user in SVC_LOCAL_USERS."
    )
    return Refusal(403, {"error": text, "code": "user_not_allowed"})


@functools.cache
def _peers(entries: tuple[str, ...]) -> proxies.Trust:
    return proxies.read(entries)[0]


def _header(headers: Headers, name: str) -> str:
    """The value of a header sent exactly once, else ""; a proxy may write it in UTF-8."""
    value = headers.only(name.lower().encode()) if name else ""
    return value.encode("latin1").decode("utf-8", "replace")


def _from_token(scope: dict[str, Any]) -> User | Refusal:
    from workspace.access import tokens

    options = settings.SVC
    value = Headers(scope).only(options.auth_jwt_header.lower().encode())
    scheme, _, token = value.partition(" ")
    if scheme.lower() != "bearer":
        token = "" if options.auth_jwt_header.lower() == "authorization" else value
    if not token.strip():
        return REQUIRED
    try:
        claims = _verifier().claims(token.strip())
    except tokens.NoKeys:
        return NO_KEYS
    except tokens.BadToken:
        return INVALID
    return _user(claims, options.auth_username_claim, options.auth_groups_claim)


@functools.cache
def _verifier() -> tokens.Verifier:
    from workspace.access import tokens

    options = settings.SVC
    return tokens.Verifier(
        tokens.Keys(options.auth_jwks_url),
        issuer=options.auth_jwt_issuer,
        audience=options.auth_jwt_audience,
    )


def _user(claims: Mapping[str, Any], username_claim: str, groups_claim: str) -> User | Refusal:
    names = [username_claim] if username_claim else ["preferred_username", "email", "sub"]
    username = next((name for claim in names if (name := _text(claims.get(claim)))), "")
    if not username:
        return NO_SUBJECT
    groups = claims.get(groups_claim) if groups_claim else None
    listed = groups.split(",") if isinstance(groups, str) else groups
    return User(
        username=username,
        email=_text(claims.get("email")),
        groups=tuple(_text(group) for group in listed if _text(group))
        if isinstance(listed, list)
        else (),
        anonymous=False,
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""

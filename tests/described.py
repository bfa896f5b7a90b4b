"""A client that holds every answer against the service's own description (/api/schema)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

JSON = "application/json"


class Description:
    """What /api/schema says of every answer."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = _as_json_schema(schema)
        self.paths = {
            re.compile(re.sub(r"\{\w+\}", "[^/]+", path)): item
            for path, item in sorted(self.schema["paths"].items(), key=_blanks)
        }

    def check(self, answer: httpx.Response, path: str) -> None:
        """Fails unless the answer's status, type and body are described for its route."""
        operation = self._operation(answer.request.method, path)
        if operation is None or answer.request.method == "HEAD":
            return
        where = f"{answer.request.method} {path} {answer.status_code}"
        described = operation["responses"].get(str(answer.status_code))
        assert described is not None, f"{where} is not described: {answer.text[:500]}"
        if "content" not in described:
            assert answer.content == b"", where
            return
        kind = answer.headers["Content-Type"].partition(";")[0]
        kinds = {name.partition(";")[0]: inner for name, inner in described["content"].items()}
        assert kind in kinds, (where, kind)
        if kind == JSON:
            shape = kinds[kind]["schema"] | {"components": self.schema["components"]}
            found = [
                error.message for error in Draft202012Validator(shape).iter_errors(answer.json())
            ]
            assert found == [], where

    def _operation(self, method: str, path: str) -> Any:
        for pattern, item in self.paths.items():
            if pattern.fullmatch(path):
                return item.get(method.lower())
        return None


def _blanks(path: tuple[str, Any]) -> int:
    """A path without blanks goes before one that fits it too."""
    return path[0].count("{")


def _as_json_schema(value: Any) -> Any:
    """OpenAPI 3.0 says null in a word of its own."""
    if isinstance(value, list):
        return [_as_json_schema(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: _as_json_schema(inner) for key, inner in value.items() if key != "nullable"}
    return {"anyOf": [made, {"type": "null"}]} if value.get("nullable") is True else made


class Api:
    """A client of one mount; every answer is checked."""

    def __init__(self, base: str, description: Description) -> None:
        self.base, self.description = base, description
        self.client = httpx.Client(timeout=30, trust_env=False)

    def ask(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        answer = self.client.request(method, self.base + path, **kwargs)
        if answer.status_code != 304:
            self.description.check(answer, path.partition("?")[0])
        return answer

    def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return self.ask("GET", path, **kwargs)

    def post(self, path: str, body: Any = None, **kwargs: Any) -> httpx.Response:
        return self.ask("POST", path, json=body or {}, **kwargs)

    def put(self, path: str, body: Any, **kwargs: Any) -> httpx.Response:
        return self.ask("PUT", path, json=body, **kwargs)

    def patch(self, path: str, body: Any, **kwargs: Any) -> httpx.Response:
        return self.ask("PATCH", path, json=body, **kwargs)

    def delete(self, path: str, **kwargs: Any) -> httpx.Response:
        return self.ask("DELETE", path, **kwargs)

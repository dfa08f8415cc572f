"""Holds calls and replies to a forge's own published API description (OpenAPI 3.0 or Swagger 2.0).

Stricter than the forge: a query parameter or a body's property that isn't in the description is
wrong too, since a forge ignores what it doesn't know, and a misspelt one with it.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from jsonschema import Draft7Validator, ValidationError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

METHODS = ("get", "post", "put", "patch", "delete")


class WrongCallError(AssertionError):
    """A call that the description doesn't know."""


class Operation(NamedTuple):
    """One operation of the description, by method and path."""

    name: str
    said: Mapping[str, Any]


class Description:
    """A published description, by which calls are judged.

    ``also`` are properties of bodies that are sent on purpose for versions with other names.
    """

    def __init__(self, document: dict[str, Any], also: frozenset[str] = frozenset()) -> None:
        self.document = document
        self._also = also
        resource = Resource.from_contents(_nullable(document), default_specification=DRAFT7)
        self._registry: Registry[Any] = Registry().with_resource("doc:", resource)
        self._paths = [(_pattern(path), path) for path in document["paths"]]
        self.seen: set[str] = set()

    def operation(self, method: str, path: str) -> Operation:
        """Find the operation of a call; the most literal path wins."""
        found = [
            (name.count("{"), name)
            for pattern, name in self._paths
            if pattern.fullmatch(path) and method.lower() in self.document["paths"][name]
        ]
        if not found:
            raise WrongCallError(f"{method} {path} is not in the description")
        name = min(found)[1]
        item = self.document["paths"][name]
        said = dict(item[method.lower()])
        said["parameters"] = [
            self.resolved(p) for p in (*item.get("parameters", ()), *said.get("parameters", ()))
        ]
        return Operation(f"{method.upper()} {name}", said)

    def check_call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Operation:
        """Raise WrongCallError unless the description allows this call."""
        found = self.operation(method, path)
        self.seen.add(found.name)
        known = {p["name"]: p for p in found.said["parameters"] if p["in"] == "query"}
        for key, text in query.items():
            if key not in known:
                raise WrongCallError(f"{found.name} has no parameter {key!r}")
            self._check(_typed(text, _schema(known[key])), _schema(known[key]), found.name)
        for key in (p["name"] for p in known.values() if p.get("required")):
            if key not in query:
                raise WrongCallError(f"{found.name} lacks the parameter {key!r}")
        schema = self._body_schema(found)
        if schema is None:
            if body is not None:
                raise WrongCallError(f"{found.name} takes no body")
        elif body is not None:
            self._check(body, schema, found.name)
            self._strictly(body, schema, found.name)
        elif found.said.get("requestBody", {}).get("required"):
            raise WrongCallError(f"{found.name} lacks its body")
        return found

    def check_reply(self, operation: Operation, status: int, body: Any) -> None:
        """Raise WrongCallError unless the description has this reply."""
        replies = operation.said["responses"]
        if str(status) not in replies:
            raise WrongCallError(f"{operation.name} doesn't answer {status}")
        reply = self.resolved(replies[str(status)])
        schema = reply.get("schema") or next(
            (c.get("schema") for c in reply.get("content", {}).values()), None
        )
        if schema is not None:
            self._check(body, schema, f"the reply of {operation.name}")

    def resolved(self, item: Any) -> Any:
        """Return what a reference points to."""
        while isinstance(item, dict) and "$ref" in item:
            target = self.document
            for part in item["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            item = target
        return item

    def _body_schema(self, operation: Operation) -> Any:
        content = self.resolved(operation.said.get("requestBody", {})).get("content", {})
        if content:
            return content["application/json"]["schema"]
        bodies = [p["schema"] for p in operation.said["parameters"] if p["in"] == "body"]
        return bodies[0] if bodies else None

    def _check(self, value: Any, schema: Any, where: str) -> None:
        schema = _nullable(_based(schema))
        try:
            Draft7Validator(schema, registry=self._registry).validate(value)
        except ValidationError as error:
            at = "/".join(map(str, error.absolute_path))
            raise WrongCallError(f"{where}: {at}: {error.message[:300]}") from None

    def _strictly(self, value: Any, schema: Any, where: str) -> None:
        schema = self.resolved(schema)
        known = schema.get("properties")
        if isinstance(value, dict) and known is not None:
            for key, item in value.items():
                if key not in known and key not in self._also:
                    raise WrongCallError(f"{where} knows no {key!r}")
                self._strictly(item, known.get(key, {}), f"{where}: {key}")
        if isinstance(value, list) and "items" in schema:
            for item in value:
                self._strictly(item, schema["items"], where)


def _schema(parameter: Mapping[str, Any]) -> Any:
    keys = ("type", "enum", "items")
    return parameter.get("schema") or {k: v for k, v in parameter.items() if k in keys}


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return [text] if kind == "array" else text


@cache
def _pattern(path: str) -> re.Pattern[str]:
    """Return what matches a path; of GitHub's, references and heads may hold slashes."""
    parts = re.split(r"\{([^}]+)\}", path)
    body = (re.escape(p) if i % 2 == 0 else f"(?:{_part(p)})" for i, p in enumerate(parts))
    return re.compile("".join(body))


def _part(name: str) -> str:
    return ".+" if name in ("ref", "basehead", "filepath", "branch") else "[^/]+"


def _based(schema: Any) -> Any:
    """Return a schema whose references are about the whole document."""
    if isinstance(schema, list):
        return [_based(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("$ref"), str):
        return {"$ref": f"doc:{schema['$ref']}"}
    return {key: _based(value) for key, value in schema.items()}


def _nullable(schema: Any) -> Any:
    """Return OpenAPI 3.0's "nullable" in JSON Schema's own words."""
    if isinstance(schema, list):
        return [_nullable(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    done = {key: _nullable(value) for key, value in schema.items() if key != "nullable"}
    if schema.get("nullable") is True:
        return {"anyOf": [done, {"type": "null"}]}
    return done

"""What GitLab's own Go client says about its API, as a description that calls are judged by.

GitLab publishes no OpenAPI description in a registry; its client, which GitLab maintains, holds the
same in types: each method has its path, its options and its reply. ``python -m
tests.forges.gitlab_published`` fetches it (needs Go); without it the tests that need it skip.
"""

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

MODULE = "gitlab.com/gitlab-org/api/client-go"
VERSION = "v1.46.0"
FILES = (
    "branches",
    "commits",
    "gitlab",
    "merge_request_approvals",
    "merge_requests",
    "notes",
    "repositories",
    "repository_files",
    "types",
    "users",
)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(
    r'^\t(\w+)(?:\s+(\S+))?(?:\s+`(?:url:"([^",]*)[^`]*?)?(?:json:"([^",]*)[^`]*)?`)?$'
)
_CALL = re.compile(
    r"^func \(s \*\w+\) \w+\((.*?)\) .*?\{\n.*?do\[(\S+)\]\(s\.client,\n(.*?)\n\t\)\n",
    re.MULTILINE | re.DOTALL,
)
_PLAIN = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int64": {"type": "integer"},
    "float64": {"type": "number"},
    "time.Time": {"type": "string"},
    "LabelOptions": {"type": "string"},  # it joins them with commas
    "Labels": {"type": "array", "items": {"type": "string"}},
    "FileActionValue": {"enum": ["create", "delete", "move", "update", "chmod"]},
    "BuildStateValue": {"enum": ["pending", "running", "success", "failed", "canceled", "skipped"]},
}


def folder() -> Path:
    """Where Go keeps the module."""
    done = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()) / f"{MODULE}@{VERSION}"


def need() -> None:
    """Skip the test, with the reason, where the client isn't there."""
    try:
        found = folder().is_dir()
    except OSError:
        found = False
    if not found:
        pytest.skip("no GitLab client (python -m tests.forges.gitlab_published, needs Go)")


@cache
def document() -> dict[str, Any]:
    """The description, in the form of Swagger 2.0."""
    texts = [(folder() / f"{name}.go").read_text("utf-8") for name in FILES]
    structs = dict(found for text in texts for found in _STRUCT.findall(text))
    paths: dict[str, Any] = {}
    for text in texts:
        for given, reply, how in _CALL.findall(text):
            method = re.search(r"http\.Method(\w+)", how)
            path = re.search(r'withPath\("([^"]+)"', how)
            option = re.search(r"opt \*(\w+)", given)
            if path is None:
                continue
            name = "/" + re.sub(r"%[sd]", "{part}", path[1])
            verb = method[1].lower() if method else "get"
            asked = _properties(structs, option[1], verb == "get") if option else {}
            paths.setdefault(name, {})[verb] = _operation(structs, verb, asked, reply)
    return {"swagger": "2.0", "paths": paths}


def example(name: str) -> Any:
    """A reply that was recorded for the client's own tests."""
    return json.loads((folder() / f"testdata/{name}.json").read_text("utf-8"))


def _operation(structs: dict[str, str], verb: str, asked: dict[str, Any], reply: str) -> Any:
    if verb == "get":
        parameters = [{"name": name, "in": "query", **schema} for name, schema in asked.items()]
    else:
        schema = {"type": "object", "properties": asked}
        parameters = [{"name": "body", "in": "body", "schema": schema}] if asked else []
    shown = {} if reply == "none" else {"schema": _schema(structs, reply, 3)}
    return {"parameters": parameters, "responses": dict.fromkeys(("200", "201", "204"), shown)}


def _properties(structs: dict[str, str], name: str, query: bool, depth: int = 3) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in structs.get(name, "").splitlines():
        field = _FIELD.match(line)
        if field is None:
            continue
        word, kind, url, tag = field.groups()
        if kind is None:  # embedded
            found |= _properties(structs, word, query, depth)
        else:
            found[(url if query else tag) or word.lower()] = _schema(structs, kind, depth)
    return found


def _schema(structs: dict[str, str], kind: str, depth: int) -> dict[str, Any]:
    kind = kind.removeprefix("*")
    if kind.startswith("[]"):
        return {"type": "array", "items": _schema(structs, kind[2:], depth)}
    if kind in _PLAIN:
        return _PLAIN[kind] | {"nullable": True}
    if kind not in structs or not depth:
        return {}
    properties = _properties(structs, kind, False, depth - 1)
    return {"type": "object", "properties": properties, "nullable": True}


if __name__ == "__main__":
    subprocess.run(["go", "mod", "download", f"{MODULE}@{VERSION}"], check=True, cwd="/")

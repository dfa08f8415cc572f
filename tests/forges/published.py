"""GitHub's published API descriptions, from npm, in a folder outside of the repository.

``python -m tests.forges.published`` installs them; without them the tests that need them skip.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ("@octokit/openapi@23.0.2", "@octokit/graphql-schema@15.26.1")
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpubot/forge-api"
_REST = FOLDER / "node_modules/@octokit/openapi/generated"
_JUDGE = """
const {buildSchema, parse, validate} = require('graphql');
const {getVariableValues} = require('graphql/execution/values');
const {readFileSync} = require('fs');
const sdl = readFileSync(process.argv[1], 'utf8');
// As published it defines some fields twice.
const schema = buildSchema(sdl, {assumeValidSDL: true});
const calls = JSON.parse(readFileSync(0, 'utf8'));
const found = calls.map(({query, variables}) => {
  const document = parse(query);
  const errors = validate(schema, document);
  if (errors.length) return errors.map(String);
  const given = document.definitions[0].variableDefinitions || [];
  return (getVariableValues(schema, given, variables).errors || []).map(String);
});
console.log(JSON.stringify(found));
"""


def install() -> None:
    """Install the descriptions where the tests look for them; does nothing when they are there."""
    if not (_REST / "api.github.com.json").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run([*npm, "--prefix", str(FOLDER), *PACKAGES], check=True)


def need() -> None:
    """Skip the test, with the reason, where the descriptions are not installed."""
    if not (_REST / "api.github.com.json").exists() or not shutil.which("node"):
        pytest.skip("no GitHub API description (python -m tests.forges.published, needs npm)")


@cache
def rest(name: str = "api.github.com") -> dict[str, Any]:
    """The REST description of github.com, or of an Enterprise Server ("ghes-3.19")."""
    document: dict[str, Any] = json.loads((_REST / f"{name}.json").read_text("utf-8"))
    return document


def graphql_errors(calls: list[dict[str, Any]]) -> list[list[str]]:
    """What GitHub's GraphQL schema has against these calls (query and variables), for each."""
    environment = os.environ | {"NODE_PATH": str(FOLDER / "node_modules")}
    done = subprocess.run(
        ["node", "-e", _JUDGE, FOLDER / "node_modules/@octokit/graphql-schema/schema.graphql"],
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    errors: list[list[str]] = json.loads(done.stdout)
    return errors


if __name__ == "__main__":
    install()
    sys.exit(0 if (_REST / "api.github.com.json").exists() else 1)

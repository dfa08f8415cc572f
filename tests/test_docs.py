"""The documents agree with the code."""

import ast
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from bot.settings import Settings
from commands.table import COMMANDS
from gitops import people_file, policy_file

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = (ROOT / "README.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


ABOUT = (
    "Each is an environment variable, or the lower-case name without `GPUBOT_` in the TOML file that "
    "`GPUBOT_CONFIG` names; the environment wins. An unknown name is refused at start."
)


def settings_page() -> str:
    tree = ast.parse((ROOT / "bot/settings.py").read_text("utf-8"))
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Settings").body
    lines = [
        "# Settings",
        "",
        ABOUT,
        "",
        "| setting | default | meaning |",
        "|---|---|---|",
    ]
    for field, doc in pairwise(body):
        if not (isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr)):
            continue
        name = field.target.id
        default = Settings.model_fields[name].get_default()
        secret = "Secret" in str(Settings.model_fields[name].annotation)
        shown = "" if default in (None, "", ()) else f"`{'(secret)' if secret else default}`"
        meaning = " ".join(ast.literal_eval(doc.value).split()).replace("|", "\\|")
        lines.append(f"| `GPUBOT_{name.upper()}` | {shown} | {meaning} |")
    return "\n".join(lines) + "\n"


def test_the_settings_page_is_what_the_fields_say() -> None:
    page = ROOT / "docs/settings.md"
    if os.environ.get("GPUBOT_UPDATE_GOLDEN") == "1":
        page.write_text(settings_page(), "utf-8")
    assert page.read_text("utf-8") == settings_page()


def test_every_setting_has_its_meaning_at_the_field() -> None:
    for name in Settings.model_fields:
        assert f"`GPUBOT_{name.upper()}`" in settings_page(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_and_picture_leads_to_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_readme_names_every_command_and_no_other() -> None:
    named = set(re.findall(r"`/gpu-([a-z]+)", README))
    assert named == {command.word for command in COMMANDS}
    rows = re.findall(r"^\| `/gpu-([a-z]+)", README, re.MULTILINE)
    assert len(rows) == len(set(rows))


def test_every_make_target_that_the_documents_name_is_there() -> None:
    for page in PAGES:
        for target in re.findall(r"`make ([a-z]+)", page.read_text("utf-8")):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), (page.name, target)


def test_the_policy_page_examples_are_valid() -> None:
    text = (ROOT / "docs/policy.md").read_text("utf-8")
    people, policy = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    known = people_file.parse(people.encode())
    assert known.people
    assert not known.problems
    parsed = policy_file.parse(policy.encode())
    assert parsed.rules
    assert not parsed.problems


def test_the_operations_page_names_settings_and_metrics_that_are_there() -> None:
    text = (ROOT / "docs/operations.md").read_text("utf-8")
    named = set(re.findall(r"`GPUBOT_([A-Z_]+)", text))
    assert {name.lower() for name in named} <= set(Settings.model_fields)
    code = "".join(path.read_text("utf-8") for path in (ROOT / "bot").glob("*.py"))
    for metric in re.findall(r"`(gpubot_[a-z_]+)", text):
        assert f'"{metric}"' in code, metric


def test_the_deployment_sets_what_the_settings_know() -> None:
    objects = list(yaml.safe_load_all((ROOT / "deploy/gpubot.yaml").read_text("utf-8")))
    pod = next(o for o in objects if o["kind"] == "Deployment")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    given = {e["name"].removeprefix("GPUBOT_").lower(): e["value"] for e in container["env"]}
    secrets = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1", "forge_token": "x"}
    settings = Settings(**given, **secrets)
    assert settings.listen_host == "0.0.0.0"
    assert [p["containerPort"] for p in container["ports"]] == [settings.listen_port]
    mounts = {m["mountPath"] for m in container["volumeMounts"]}
    assert str(Path(settings.repository).parent) in mounts
    users = re.findall(r"^USER (\d+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert users == [str(pod["securityContext"]["runAsUser"])]
    rbac = yaml.safe_load_all((ROOT / "deploy/rbac.yaml").read_text("utf-8"))
    accounts = {o["metadata"]["name"] for o in rbac if o["kind"] == "ServiceAccount"}
    assert pod["serviceAccountName"] in accounts

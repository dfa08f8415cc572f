"""The command line: run the bot, ask it in the terminal, check what it needs, play with it.

What only one command needs is imported inside it: a question in the terminal shouldn't wait for
the libraries of Slack and of the database.
"""
# ruff: noqa: PLC0415

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from bot import logs, text
from bot.apology import apology
from bot.json_ import to_json
from bot.settings import Settings, load
from bot.sources import read_side
from capacity.errors import GpubotError, UnknownName, UsageError
from commands.command import Asker
from commands.page import Page
from gitops.people import People

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    help="Gpubot answers what GPUs you may use, and turns changes into reviewed pull requests.",
)
audit = typer.Typer(no_args_is_help=True, help="The hash-chained record of every decision.")
app.add_typer(audit, name="audit")


@app.command()
def run() -> None:
    """Run the bot until it is told to stop. Settings come from GPUBOT_* and GPUBOT_CONFIG."""
    from bot.wiring import run as run_bot

    asyncio.run(run_bot(_settings()))


@app.command()
def ask(
    question: Annotated[list[str], typer.Argument(help='What to ask, like "quota research".')],
    as_json: Annotated[bool, typer.Option("--json", help="The answer's data, exact.")] = False,
    person: Annotated[str, typer.Option("--as", help="A person of people.yaml.")] = "",
) -> None:
    """Ask in the terminal what /gpu answers in Slack."""
    sources = read_side(_settings("WARNING"))
    sources.reader.start()
    try:
        asker = _asker(person, sources.world.people()) if person else Asker()
        answer, page = sources.answer(" ".join(question), asker)
    finally:
        sources.reader.stop()
    if as_json:
        print(json.dumps(to_json(answer), ensure_ascii=False, indent=2))
    else:
        _show(page)


@app.command()
def digest(
    wishes: Annotated[
        list[str] | None, typer.Argument(help="CHANNEL=question; the settings', else a week's.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print, post nothing.")] = False,
) -> None:
    """Print the digests that the running bot would post."""
    settings = _settings("WARNING")
    if not dry_run:
        raise UsageError("The running bot posts digests when they are due.", "Use --dry-run.")
    sources = read_side(settings)
    sources.reader.start()
    try:
        for wish in wishes or settings.digests or ("this terminal=digest",):
            channel, _, question = wish.partition("=")
            print(f"# to {channel}: {question}\n")
            asker = Asker(time_zone=settings.digest_time_zone)
            _show(sources.answer(question, asker)[1])
    finally:
        sources.reader.stop()


@app.command()
def play(
    port: Annotated[
        int | None, typer.Option(help="Where the page is: 8484, or a free one if that is taken.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="A folder to keep its world in.")] = None,
    speed: Annotated[float, typer.Option(help="How fast simulated time runs.")] = 1.0,
) -> None:
    """Open the playground: the bot with a Slack and a cluster of its own, in your browser."""
    from bot.playground.play import play as run_playground

    logs.configure("WARNING", "console")
    try:
        run_playground(port=port, keep=keep, speed=speed)
    except UsageError as error:
        _fail(error)


@app.command()
def check() -> None:
    """Check tokens, scopes, cluster access, repository and policy; change nothing."""
    from bot.cli_check import checks

    found = list(checks(_settings("ERROR")))
    for one in found:
        print(f"{'ok     ' if one.ready else 'LACKING'}  {one.name}: {one.words}")
    if not all(one.ready for one in found):
        raise typer.Exit(1)


@app.command("lint")
def lint_manifests(
    path: Annotated[
        Path | None, typer.Argument(help="A folder of manifests; else the settings' repository.")
    ] = None,
    base: Annotated[
        str, typer.Option(help="What was so at this revision already doesn't fail the run.")
    ] = "",
    annotate: Annotated[
        bool, typer.Option(envvar="GITHUB_ACTIONS", help="Findings as annotations of the lines.")
    ] = False,
) -> None:
    """Check queues by Kueue's own rules and the platform's; exits with 1 on errors."""
    from bot.cli_lint import lines, of_branch, of_folder

    if path is None:
        settings = _settings("WARNING")
        found = list(of_branch(Path(settings.repository or "."), settings.repository_branch))
    else:
        found = list(of_folder(path, base))
    for line in lines(found, annotate=annotate, root="" if path is None else path.as_posix()):
        print(line)
    if any(finding.blocks for _, finding in found):
        raise typer.Exit(1)


@audit.command("verify")
def audit_verify() -> None:
    """Check that no record was changed, removed or reordered."""
    from bot.store import open_store
    from gitops.audit import verify

    store = open_store(_settings("WARNING").database_url.get_secret_value())
    records = store.audit.records()
    broken = verify(records)
    if broken:
        print(broken)
        raise typer.Exit(1)
    print(f"The chain holds: {len(records)} records, head {store.audit.head()}")


def main() -> None:
    """Run the command line; an error is a sentence, a next step and an exit code."""
    try:
        app()
    except GpubotError as error:
        _fail(error)


def _settings(level: str = "") -> Settings:
    settings = load()
    logs.configure(level or settings.log_level, settings.log_format)
    return settings


def _asker(person: str, people: People) -> Asker:
    if person not in people.people:
        raise UnknownName("person", person, tuple(people.people)[:3])
    return Asker(person, tuple(team.name for team in people.teams_of(person)))


def _show(page: Page) -> None:
    width = min(100, shutil.get_terminal_size().columns)
    print(text.render(page, width, colour=sys.stdout.isatty()))


def _fail(error: GpubotError) -> NoReturn:
    print(text.render(apology(error)).strip(), file=sys.stderr)
    sys.exit(2 if isinstance(error, UsageError) else 1)

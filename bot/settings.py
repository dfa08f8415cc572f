"""Settings: the only reader of the environment and of the configuration file.

Every field is ``GPUBOT_<FIELD>`` in the environment or ``<field>`` in the TOML file that
``GPUBOT_CONFIG`` names; the environment wins. An unknown name is refused at start, because a typo
in a limit or a token must never silently mean the default.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic import model_validator as validates
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from capacity.errors import UsageError

PREFIX = "GPUBOT_"
SHORTEST_SECRET = 16
PUBLIC_FORGES = {"github": "https://github.com", "gitlab": "https://gitlab.com"}
CONFIG = "GPUBOT_CONFIG"
# Read by the test suite, which may run a command with them in its environment.
OF_THE_TESTS = {
    "GPUBOT_SHARED",
    "GPUBOT_UPDATE_GOLDEN",
    "GPUBOT_REQUIRE_ALL",
    "GPUBOT_CONFORMANCE_TREES",
    "GPUBOT_SCREENSHOTS",
}


def _comma_separated(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _known_zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError("not an IANA time zone, like Europe/Berlin")
    return name


def _secret(token_start: str) -> AfterValidator:
    def check(value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(token_start):
            raise ValueError(f"a token of this kind starts with {token_start}")
        return value

    return AfterValidator(check)


def _long_enough() -> AfterValidator:
    def check(value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"a secret has at least {SHORTEST_SECRET} characters")
        return value

    return AfterValidator(check)


def _workspaces(ids: tuple[str, ...]) -> tuple[str, ...]:
    if not all(re.fullmatch(r"[TE][A-Z0-9]+", one) for one in ids):
        raise ValueError("ids of workspaces, like T0123,E0456")
    return ids


Names = Annotated[tuple[str, ...], BeforeValidator(_comma_separated)]
Zone = Annotated[str, AfterValidator(_known_zone)]


class Settings(BaseSettings):
    """Everything an operator decides; times are in seconds, secrets never print."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    # Slack
    slack_mode: Literal["socket", "http"] = "socket"
    """How Slack reaches the bot: ``socket`` needs no inbound path, ``http`` a public address."""
    slack_bot_token: Annotated[SecretStr | None, _secret("xoxb-")] = None
    """The bot user's token. Without it the bot doesn't run, but ``gpubot ask`` does."""
    slack_app_token: Annotated[SecretStr | None, _secret("xapp-")] = None
    """The app-level token with ``connections:write``; needed in socket mode."""
    slack_signing_secret: SecretStr | None = None
    """Verifies that a request comes from Slack; needed in http mode."""
    slack_base_url: str = Field(default="https://slack.com/api/", pattern=r"^https?://.+/$")
    """Slack's Web API. Another host is for the playground: the bot then answers only there."""
    slack_team_ids: Annotated[Names, AfterValidator(_workspaces)] = ()
    """Workspaces (T..., on a grid the E... too) whose people are served. Empty: the token's own
    workspace, so that a shared channel never lets another company in."""
    requests_channel: str = Field(default="", pattern=r"^([CG][A-Z0-9]+)?$")
    """Id of the channel that holds every request's card. Empty: no requests are taken."""

    # Kubernetes, read only
    cluster: str = "default"
    """The cluster's name, as answers and the repository's layout spell it."""
    kube_server: str = ""
    """The API server's address. Empty: from the kubeconfig or the pod's service account."""
    kube_token: SecretStr | None = None
    """A bearer token for ``kube_server``."""
    kube_ca_file: Path | None = None
    """The certificate authority of ``kube_server``. None: the system's."""
    kubeconfig: Path | None = None
    """A kubeconfig file. None, with no ``kube_server``: the pod's service account."""
    kube_context: str = ""
    """The context in the kubeconfig. Empty: its current one."""
    visibility_url: str = ""
    """Kueue's visibility API, when it isn't aggregated into the API server."""

    # Prometheus
    prometheus_url: str = ""
    """Prometheus or a compatible store. Empty: answers about use say that it isn't configured."""
    prometheus_token: SecretStr | None = None
    """A bearer token for it."""
    mig_weights: Literal["max", "compute", "memory"] = "max"
    """What share of a card a MIG slice counts as: by its compute, its memory, or the larger."""

    # The GitOps repository
    repository: str = ""
    """Path of the bare repository whose main branch the cluster follows; with a forge, of the
    mirror that the bot makes and keeps there."""
    repository_branch: str = "main"
    """The branch that the cluster follows."""
    pull_url: str = Field(default="", pattern=r"^(https?://.*\{number\}.*)?$")
    """Where people see a pull request, with ``{number}`` in it. Empty: nowhere but in Slack. Only
    for the forge ``local``; the others know."""
    forge: Literal["local", "github", "gitlab", "gitea"] = "local"
    """Where pull requests are made. ``local``: in the bare repository itself. ``gitea`` is for
    Forgejo too, ``github`` for Enterprise Server too."""
    forge_url: str = Field(default="", pattern=r"^(https?://.+)?$")
    """The forge's web address. Empty: github.com or gitlab.com."""
    forge_repository: str = Field(default="", pattern=r"^([\w.-]+(/[\w.-]+)+)?$")
    """The repository there, as OWNER/NAME (on GitLab GROUP/.../NAME)."""
    forge_token: SecretStr | None = None
    """The token of the bot's own account: it reads and writes contents, pull requests and commit
    statuses of this one repository. The account must be nobody who approves."""
    forge_app_id: int = Field(default=0, ge=0)
    """The GitHub App's id, instead of a token."""
    forge_app_installation: int = Field(default=0, ge=0)
    """The id of the App's installation that has the repository."""
    forge_app_key_file: Path | None = None
    """The App's private key, a PEM file."""
    forge_webhook_secret: Annotated[SecretStr | None, _long_enough()] = None
    """Opens ``/forge/webhook`` for the forge's webhooks, which must carry this secret. They only
    save the wait until the next poll. Empty: there is no such address."""

    # The bot itself
    database_url: SecretStr = SecretStr("sqlite:///gpubot.db")
    """Where requests, votes and the audit live. PostgreSQL when more than one replica runs."""
    listen_host: str = "127.0.0.1"
    """Where health, metrics and http mode listen. Loopback unless a network must reach it."""
    listen_port: int = Field(default=8080, ge=0, le=65535)
    """0 picks a free port."""
    workers: int = Field(default=8, ge=1, le=64)
    """Threads that answer. An answer takes well under a second; sources are given 5."""
    waiting: int = Field(default=64, ge=1, le=10_000)
    """Answers that may wait for a thread; above it people are told to ask again."""
    poll_seconds: float = Field(default=5.0, ge=0.2, le=600)
    """How often open requests are moved on: the forge read, the cluster looked at."""
    digests: Names = ()
    """Which channel gets which answer by itself, as ``CHANNEL=question``: C012=digest research."""
    digest_cron: str = "0 9 * * mon"
    """When digests are due: five cron fields, in ``digest_time_zone``."""
    digest_time_zone: Zone = "UTC"
    """An IANA zone, so that nine o'clock stays nine o'clock across daylight saving."""
    log_format: Literal["console", "json"] = "console"
    """``json`` for a log collector."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """The libraries of Slack never log below INFO: their DEBUG prints whole payloads."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The given values only; ``load`` puts the file and the environment together."""
        return (init_settings,)

    @validates(mode="after")
    def _tokens_fit_the_mode(self) -> Self:
        if self.slack_bot_token is None:
            return self
        if self.slack_mode == "socket" and self.slack_app_token is None:
            raise ValueError("socket mode needs GPUBOT_SLACK_APP_TOKEN")
        if self.slack_mode == "http" and self.slack_signing_secret is None:
            raise ValueError("http mode needs GPUBOT_SLACK_SIGNING_SECRET")
        return self

    @validates(mode="after")
    def _forge_is_whole(self) -> Self:
        if self.forge == "local":
            return self
        app = (self.forge_app_id, self.forge_app_installation, self.forge_app_key_file)
        if any(app) and not (all(app) and self.forge == "github" and self.forge_token is None):
            raise ValueError("a GitHub App needs its id, installation and key file, and no token")
        lacks = {
            "GPUBOT_REPOSITORY (where the mirror is kept)": self.repository,
            "GPUBOT_FORGE_REPOSITORY": self.forge_repository,
            "GPUBOT_FORGE_TOKEN": self.forge_token or any(app),
            "GPUBOT_FORGE_URL": self.forge_address,
        }
        missing = [name for name, value in lacks.items() if not value]
        if missing:
            raise ValueError(f"the forge {self.forge} needs {', '.join(missing)}")
        return self

    @property
    def forge_address(self) -> str:
        """The forge's web address, without a slash at its end."""
        return (self.forge_url or PUBLIC_FORGES.get(self.forge, "")).rstrip("/")

    @property
    def zone(self) -> ZoneInfo:
        """The zone of the digests."""
        return ZoneInfo(self.digest_time_zone)


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings, or raise one UsageError that names every field that is off."""
    if {"SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"} <= set(environ):
        # Bolt would turn on its OAuth flow and ignore the bot's token, without a word.
        raise UsageError("SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are set; unset them.")
    given = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    path = given.pop(CONFIG, "")
    values = {} if not path else _file(Path(path))
    values |= {
        name.removeprefix(PREFIX).lower(): value
        for name, value in given.items()
        if name not in OF_THE_TESTS
    }
    try:
        return Settings(**values)
    except ValidationError as error:
        raise UsageError(_sentence(error), "See the settings page of the documentation.") from error


def _file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UsageError(f"{CONFIG} names {path}, which is not a file.")
    try:
        return TomlConfigSettingsSource(Settings, path)()
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from error


def _sentence(error: ValidationError) -> str:
    faults = []
    for fault in error.errors(include_input=False, include_url=False):
        name = PREFIX + "_".join(str(part) for part in fault["loc"]).upper()
        unknown = fault["type"] == "extra_forbidden"
        text = "no such setting" if unknown else fault["msg"].removeprefix("Value error, ")
        faults.append(f"{name}: {text}" if fault["loc"] else text)
    return "The settings don't hold: " + "; ".join(faults) + "."

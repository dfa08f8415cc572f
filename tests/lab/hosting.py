"""The lab's repository on a real Gitea, protected, and Flux that applies it."""

from contextlib import ExitStack
from pathlib import Path

from bot.playground.seeding import seed_files
from bot.wiring import Hosted
from gitops.forge import STATUS_CONTEXT
from tests.cluster.control_plane import ControlPlane
from tests.cluster.flux import Flux
from tests.cluster.forge import BOT, Gitea
from tests.cluster.repository import Repository

PROGRAMS = ("gitea", "source-controller", "kustomize-controller")
NAME, OWNER = "fleet", "platform"
PEOPLE = ("ana", "rae", "li", "tom", "vera", "kim", "pat")


class Hosting:
    """Gitea with the seed repository and its people, and Flux; ``apply`` starts both."""

    def __init__(self, control_plane: ControlPlane, folder: Path) -> None:
        self.gitea = Gitea(folder / "gitea", (BOT, *PEOPLE))
        self._control_plane = control_plane
        self._folder = folder
        self.repository = Repository(self.gitea, OWNER, NAME)
        self._ends = ExitStack()

    @property
    def web(self) -> str:
        """Where people look at the repository."""
        return f"{self.gitea.url}/{OWNER}/{NAME}"

    def apply(self) -> str:
        """Start Gitea and Flux; returns the first commit when Flux has applied it."""
        with ExitStack() as undo:
            self.gitea.start()
            undo.callback(self.gitea.stop)
            files = {path: data.decode() for path, data in seed_files().items()}
            self.gitea.repository(NAME, files, owner=OWNER)
            self.repository.protect(statuses=[STATUS_CONTEXT])
            flux = Flux(self._control_plane, self._folder / "flux")
            undo.enter_context(flux)
            flux.follow(NAME, self.repository.clone_url, "./clusters/prod")
            head = self.repository.head()
            flux.wait_applied(NAME, head)
            self._ends = undo.pop_all()
        return head

    def start(self) -> None:
        """Do nothing: Flux looks for new commits by itself."""

    def stop(self) -> None:
        """End Flux, then Gitea."""
        self._ends.close()

    def hosted(self) -> Hosted:
        """What the bot is told of it."""
        return Hosted("gitea", self.gitea.url, f"{OWNER}/{NAME}", self.gitea.token(BOT))

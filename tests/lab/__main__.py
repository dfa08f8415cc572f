"""`make lab`: the playground's page on the real thing, until Ctrl-C."""

import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path

from tests.cluster.build import missing_reason
from tests.cluster.forge import PASSWORD
from tests.cluster.stack import NEEDS
from tests.lab.hosting import PROGRAMS
from tests.lab.lab import Lab

PORT = 8485


def main() -> int:
    for program in (*NEEDS, *PROGRAMS):
        sys.stdout.write(f"{program} ... ")
        sys.stdout.flush()
        reason = missing_reason(program)
        sys.stdout.write(f"{reason or 'built'}\n")
        if reason:
            return 1
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    folder = Path(tempfile.mkdtemp(prefix="gpubot-lab-"))
    port = int(sys.argv[1]) if len(sys.argv) > 1 else PORT
    try:
        with Lab(folder, port=port, gitea=True) as lab:
            lab.stream.start()
            sys.stdout.write(f"Gpubot's lab is at {lab.playground.url}  (Ctrl-C ends it)\n")
            if lab.hosting is not None:
                sys.stdout.write(f"Its repository is at {lab.hosting.web}  (as kim: {PASSWORD})\n")
            sys.stdout.flush()
            ended.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

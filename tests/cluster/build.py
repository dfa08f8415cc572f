"""Builds the programs of the test cluster into the user's cache folder: `python -m tests.cluster.build [PROGRAM...]`.

A build is keyed by its go.mod, go.sum, flags and data files, so that it happens once per version. Only the standard
library is used: this runs before anything is installed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.cluster.programs import PROGRAMS, Data, Program

# Kueue v0.19 reads its metrics and visibility certificates from these paths and knows no option for them.
KUEUE_CERTIFICATE_FOLDERS = (Path("/etc/kueue/metrics/certs"), Path("/visibility"))
# What a program's start needs besides the program: our certificate is made by openssl, and Gitea calls git.
_RUNS_WITH = {"kubernetes": "openssl", "gitea": "git"}
_OUTPUT_LINES = 25


class BuildError(RuntimeError):
    """A program can't be had here; the text names it and says why."""


def cache_root() -> Path:
    """The folder that holds the built programs: $GPUBOT_CACHE, or gpubot in the user's cache folder."""
    if chosen := os.environ.get("GPUBOT_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpubot"


def folder_of(program: Program) -> Path:
    """Where the program is, or will be once it is built."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((program.folder / name).read_bytes())
    digest.update(repr((program.binaries, program.build_flags, program.cgo, program.data)).encode())
    return cache_root() / f"{program.name}-{digest.hexdigest()[:16]}"


def is_built(name: str) -> bool:
    """Whether the program is in the cache already."""
    return folder_of(PROGRAMS[name]).is_dir()


def path_of(program: str, file: str | None = None) -> Path:
    """The path of a built binary or data file; the binary named like its program when no file is given."""
    return folder_of(PROGRAMS[program]) / (file or program)


@cache
def missing_reason(name: str) -> str | None:
    """Says why a program can't be had here, or None when it can; builds it first if it isn't built yet.

    Remembered for the process, so that a build that fails is not tried again by each test.
    """
    if name == "kueue" and (reason := _certificate_paths_reason()):
        return reason
    if name in _RUNS_WITH and shutil.which(_RUNS_WITH[name]) is None:
        return f"{name}: it needs {_RUNS_WITH[name]} on PATH to run"
    try:
        build([name])
    except BuildError as error:
        return str(error)
    return None


def build(names: Sequence[str] = ()) -> list[Path]:
    """Builds what of these programs (all by default) is not built yet, and returns their folders.

    Raises:
        BuildError: for the first program that can't be built.
    """
    wanted = [PROGRAMS[name] for name in names] or list(PROGRAMS.values())
    if not all(folder_of(program).is_dir() for program in wanted):
        with _build_lock():
            for program in wanted:
                if not folder_of(program).is_dir():
                    _build_one(program)
            _forget_go_cache()
    return [folder_of(program) for program in wanted]


def _build_one(program: Program) -> None:
    if shutil.which("go") is None:
        raise BuildError(f"{program.name}: it is not built and there is no Go on PATH")
    if program.cgo and not (shutil.which("gcc") or shutil.which("cc")):
        raise BuildError(f"{program.name}: it is not built and there is no C compiler on PATH")
    started = time.monotonic()
    print(f"building {program.name} ...", file=sys.stderr, flush=True)
    target = folder_of(program)
    # Beside the target, so that the rename at the end is atomic: a folder that exists is complete.
    unfinished = Path(tempfile.mkdtemp(prefix=f".{program.name}-", dir=cache_root()))
    try:
        for name, package in program.binaries:
            _go(program, "build", *program.build_flags, "-o", str(unfinished / name), package)
        for data in program.data:
            _copy(program, data, unfinished)
        unfinished.chmod(0o755)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    print(
        f"built {program.name} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True
    )


def _copy(program: Program, data: Data, folder: Path) -> None:
    module = Path(_go(program, "list", "-m", "-f", "{{.Dir}}", data.module).strip())
    found = sorted(module.glob(data.source))
    if not found:
        raise BuildError(f"{program.name}: {data.module} has no {data.source}")
    target = folder / data.target
    for path in found:
        if path.is_dir():
            shutil.copytree(path, target, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    # Module caches are read-only, and a folder that can't be written can't be removed either.
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)


def _go(program: Program, *arguments: str) -> str:
    """Runs the go command in the program's module and returns its output."""
    environment = {
        **os.environ,
        "GOFLAGS": "",
        "GOWORK": "off",
        "CGO_ENABLED": "1" if program.cgo else "0",
        **_go_cache(),
    }
    done = subprocess.run(
        ["go", *arguments],
        cwd=program.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-_OUTPUT_LINES:])
        raise BuildError(f"{program.name}: go {arguments[0]} failed:\n{tail}")
    return done.stdout


def _go_cache() -> dict[str, str]:
    return {"GOMODCACHE": str(cache_root() / "go-mod"), "GOCACHE": str(cache_root() / "go-build")}


def _forget_go_cache() -> None:
    """Removes Go's own caches, which grow to 22 GB, unless $GPUBOT_KEEP_GO_CACHE or a file keep-go-cache says otherwise."""
    if os.environ.get("GPUBOT_KEEP_GO_CACHE") or (cache_root() / "keep-go-cache").exists():
        return
    # By the go command: its module cache is read-only, and only it knows how to remove that.
    subprocess.run(
        ["go", "clean", "-modcache", "-cache"],
        env={**os.environ, **_go_cache()},
        capture_output=True,
        check=False,
    )
    for folder in _go_cache().values():
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _build_lock() -> Iterator[None]:
    """Lets one builder work at a time; a second one waits, and finds the programs built."""
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _certificate_paths_reason() -> str | None:
    for folder in KUEUE_CERTIFICATE_FOLDERS:
        existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if not os.access(folder / "tls.key", os.R_OK) and not os.access(existing, os.W_OK):
            return f"kueue: it reads its certificates from {folder}, which this user can't write (run as root)"
    return None


def main(arguments: Sequence[str]) -> int:
    """Builds the programs named on the command line, or all of them."""
    if unknown := [name for name in arguments if name not in PROGRAMS]:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    try:
        for folder in build(arguments):
            print(folder)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

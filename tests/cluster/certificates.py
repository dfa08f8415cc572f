"""One self-signed certificate for every server of every stack, made once per machine."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.build import KUEUE_CERTIFICATE_FOLDERS, BuildError, cache_root

_NAMES = "IP:127.0.0.1,DNS:localhost"
_DAYS = "3650"
_STILL_VALID_SECONDS = str(7 * 24 * 3600)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that is its own authority, and its key."""

    folder: Path

    @property
    def cert(self) -> Path:
        """The certificate; also what clients trust."""
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        """The private key; also signs service account tokens."""
        return self.folder / "tls.key"

    @property
    def bundle(self) -> str:
        """The certificate as Kubernetes objects want it: PEM in base64."""
        return b64encode(self.cert.read_bytes()).decode()

    def is_valid(self) -> bool:
        """Whether both files are there, belong together and don't expire within a week."""
        if not (self.cert.exists() and self.key.exists()):
            return False
        of_cert = _openssl(
            "x509", "-in", self.cert, "-noout", "-pubkey", "-checkend", _STILL_VALID_SECONDS
        )
        of_key = _openssl("pkey", "-in", self.key, "-pubout")
        return of_cert is not None and of_key is not None and of_key.strip() in of_cert


def shared_certificate() -> Certificate:
    """The machine's certificate; made when it is missing or about to expire."""
    certificate = Certificate(cache_root() / "tls")
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / "tls.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not certificate.is_valid():
            _make(certificate)
        return certificate


def provide_kueue_certificates() -> None:
    """Puts the certificate where Kueue looks for it, unless valid files are there.

    Nothing is removed afterwards: another stack on this machine may be reading the same files.
    """
    certificate = shared_certificate()
    with (cache_root() / "tls.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for folder in KUEUE_CERTIFICATE_FOLDERS:
            if Certificate(folder).is_valid():
                continue
            folder.mkdir(parents=True, exist_ok=True)
            for source in (certificate.cert, certificate.key):
                _replace(source, folder / source.name)


def _make(certificate: Certificate) -> None:
    certificate.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=certificate.folder) as folder:
        new = Certificate(Path(folder))
        made = _openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", _DAYS),
            *("-subj", "/CN=gpubot-test-cluster", "-keyout", new.key, "-out", new.cert),
            *(
                "-addext",
                f"subjectAltName={_NAMES}",
                "-addext",
                "keyUsage=critical,digitalSignature,keyCertSign",
            ),
        )
        if made is None or not new.is_valid():
            raise BuildError("certificates: openssl on PATH is needed, and it could not make one")
        new.cert.replace(certificate.cert)
        new.key.replace(certificate.key)


def _replace(source: Path, target: Path) -> None:
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy(source, unfinished)
    unfinished.replace(target)


def _openssl(*arguments: str | Path) -> str | None:
    """The output of openssl, None when it fails or isn't there."""
    if shutil.which("openssl") is None:
        return None
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None

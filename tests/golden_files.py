"""Golden files: what people see, kept as files; GPUBOT_UPDATE_GOLDEN=1 writes them anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def check(name: str, shown: str) -> None:
    """Compare with ``tests/golden/<name>``; a difference shows as a plain diff of strings."""
    path = FOLDER / name
    if os.environ.get("GPUBOT_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown

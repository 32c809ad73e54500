"""A small library of the tests' own that one child loads before all others."""

from __future__ import annotations

import subprocess
from pathlib import Path


def preload(module: str, directory: Path) -> dict[str, str]:
    """Compiles the C file beside the Python file `module` into `directory`; the child's `env`."""
    source = Path(module).with_suffix(".c")
    library = directory / source.with_suffix(".so").name
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True
    )
    return {"LD_PRELOAD": str(library)}

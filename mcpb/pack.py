"""Packs the bundle that desktop hosts install with one click: `python mcpb/pack.py [OUTPUT]`, needs `mcpb` on the path.

What goes in is the package that this environment runs, so that a checkout and an installed wheel pack the same files.
The host's uv installs the dependencies that `pyproject.toml` names, on the machine where the bundle is opened.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import mcp_memory_server

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "dist" / "mcp-memory-server.mcpb"


def pack(output: Path) -> int:
    """Write the bundle; the exit status of the packer, which says itself what is wrong."""
    packer = shutil.which("mcpb")
    if packer is None:
        sys.exit("mcpb is not on the path: npm install @anthropic-ai/mcpb")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder, "bundle")
        package = Path(mcp_memory_server.__file__).parent
        shutil.copytree(package, content / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        for file in (ROOT / "mcpb" / "manifest.json", *(ROOT / n for n in ("pyproject.toml", "README.md", "LICENSE"))):
            shutil.copy(file, content)
        return subprocess.run([packer, "pack", content, output], check=False).returncode


if __name__ == "__main__":
    sys.exit(pack(Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT))

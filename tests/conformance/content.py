"""Content of every kind, as small as it can be, for the fixtures."""

import base64
import io
import struct
import wave
import zlib
from typing import Final

import mcp_types as types


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _png() -> bytes:
    """One red pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _wav() -> bytes:
    """One silent sample."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setparams((1, 2, 8000, 1, "NONE", ""))
        sound.writeframes(b"\x00\x00")
    return out.getvalue()


PNG: Final = base64.b64encode(_png()).decode()
IMAGE: Final = types.ImageContent(type="image", data=PNG, mime_type="image/png")
AUDIO: Final = types.AudioContent(type="audio", data=base64.b64encode(_wav()).decode(), mime_type="audio/wav")


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def embedded(uri: str, said: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=mime_type, text=said)
    return types.EmbeddedResource(type="resource", resource=resource)

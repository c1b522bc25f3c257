"""Bodies and pictures that the provider's tests send."""

import base64
import json
import struct
import zlib

from clankie_stage.provider.shapes import JsonObject

HEADERS = {"authorization": "Bearer sk-test", "content-type": "application/json"}


def chat(*messages: JsonObject, **changes: object) -> JsonObject:
    """A body that is accepted when its messages are."""
    return {"model": "rehearsal", "messages": list(messages) or [user("hi")], **changes}


def raw(*messages: JsonObject, **changes: object) -> bytes:
    return json.dumps(chat(*messages, **changes)).encode()


def user(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def said(text: str) -> JsonObject:
    return {"role": "assistant", "content": text}


def called(*ids: str, arguments: str = "{}") -> JsonObject:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}} for call_id in ids
        ],
    }


def result(call_id: str, text: str = "done") -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool(name: str = "look", **function: object) -> JsonObject:
    parameters = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **function}}


def picture(data: bytes, media_type: str = "image/png") -> JsonObject:
    url = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


def png(width: int = 1, height: int = 1, before: bytes = b"") -> bytes:
    """One grey pixel; its header may claim more of them, and other chunks may stand ``before`` them."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + before
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\x00\x80")) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    b"\xff\xc0\x00\x0b\x08\x00\x01\x00\x02\x01\x01\x11\x00" + b"\x01" * 40 + b"\xff\xd9"
)
GIF = b"GIF89a" + b"\x01\x00\x01\x00\x00\x00\x00" + b"\x2c" + b"\x00" * 9 + b"\x02\x00;"
WEBP = b"RIFF" + (20).to_bytes(4, "little") + b"WEBP" + b"VP8L" + b"\x08\x00\x00\x00" + b"\x2f" + b"\x00" * 7

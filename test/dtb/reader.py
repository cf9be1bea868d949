#!/usr/bin/env python3
"""A second reader of DTB files, written from docs/dtb.md alone, with nothing but Python's standard library.

usage: reader.py FILE...    one JSON object a record on standard output; how each file ended on standard error
"""

import hashlib
import json
import struct
import sys
import zlib

PAYLOAD_BYTES_LIMIT = 64 << 20
JSON_BYTES_LIMIT = 16 << 20
FILE_HEADER = struct.Struct("<8sHHI16sQQI8sI")
BLOCK_HEADER = struct.Struct("<4sBBHIIIIQQQQII")
CLOCKS = ("wall", "monotonic", "device")
CODES = dict(u8="B", i8="b", u16="H", i16="h", u32="I", i32="i", u64="Q", i64="q", f32="f", f64="d", bool="?", symbol="I")


class Fault(Exception):
    """Why a block does not hold."""


class Cut(Fault):
    """The file ends within a block."""


def text_of(value):
    return json.dumps(value, ensure_ascii=False)


def float_text(value):
    if value != value:
        return '"NaN"'
    if value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    text = repr(value)
    return text[:-2] if text.endswith(".0") and text != "-0.0" else text


WRITERS = dict(f32=float_text, f64=float_text, bool=lambda value: "true" if value else "false")


def fingerprint_of(definition):
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def width_of(field):
    """The largest width of an element in a field: what an aligned layout aligns it to."""
    if field["kind"] == "record":
        return max(width_of(inner) for inner in field["fields"])
    return 1 if field["kind"] == "char" else struct.calcsize("<" + CODES[field["kind"]])


def has_optional(fields):
    return any(field["optional"] or field["kind"] == "record" and has_optional(field["fields"]) for field in fields)


class Type:
    """How the records of one type are laid out: slot after slot, those of nested records in their place."""

    def __init__(self, definition):
        self.name = definition["name"]
        self.aligned = definition["layout"] == "aligned"
        self.slots = []
        self.layout, self.at, self.values = "", 0, 0
        self.place_all(definition["fields"], "", 1)
        self.words = (len(self.slots) + 31) // 32 if has_optional(definition["fields"]) else 0
        # Presence comes first, and moves everything behind it.
        self.slots = []
        self.layout, self.at, self.values = "<" + "I" * self.words, 4 * self.words, self.words
        self.place_all(definition["fields"], "", 1)
        if self.aligned:
            self.pad(8)
        self.record = struct.Struct(self.layout)
        if self.record.size > 1 << 20:
            raise Fault("a record beyond the limit")

    def pad(self, width):
        if self.aligned and self.at % width:
            gap = width - self.at % width
            self.layout, self.at = self.layout + f"{gap}x", self.at + gap

    def place_all(self, fields, prefix, depth):
        if depth > 8:
            raise Fault("records nest too deeply")
        for field in fields:
            name, kind, count, width = prefix + field["name"], field["kind"], field["count"], width_of(field)
            self.pad(width)
            if kind == "record":
                for element in range(count):
                    self.place_all(field["fields"], f"{name}.{element}." if count > 1 else f"{name}.", depth + 1)
                    self.pad(width)
                continue
            if len(self.slots) >= 1024:
                raise Fault("more slots than a type may have")
            code = "s" if kind == "char" else CODES[kind].replace("?", "B")
            self.layout, self.at = self.layout + f"{count}{code}", self.at + width * count
            values = 1 if kind == "char" else count
            self.slots.append((text_of(name) + ":", kind, len(self.slots), self.values, values))
            self.values += values

    def lines(self, payload, symbols):
        """The fields of each record as the inside of a JSON object."""
        for row in self.record.iter_unpack(payload):
            parts = []
            for key, kind, number, place, count in self.slots:
                if self.words and not row[number >> 5] >> (number & 31) & 1:
                    continue
                if kind == "symbol":
                    parts.append(key + (symbols.get(row[place]) or text_of(f"?{row[place]}")))
                elif kind == "char":
                    parts.append(key + text_of(row[place].split(b"\0", 1)[0].decode("utf-8", "replace")))
                elif count == 1:
                    parts.append(key + WRITERS.get(kind, str)(row[place]))
                else:
                    parts.append(f"{key}[{','.join(map(WRITERS.get(kind, str), row[place:place + count]))}]")
            yield ",".join(parts)


class Reader:
    """One file, from its start to its end or to the first block that does not hold."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.at = 0
        self.types = {}
        self.source = None
        self.origin = None
        self.symbols = {0: '""'}
        self.ended = False
        self.records = 0

    def take(self, size):
        got = self.file.read(size)
        if len(got) < size:
            raise Cut("the file ends within a block")
        return got

    def header(self):
        head = self.take(64)
        magic, major, _minor, size = FILE_HEADER.unpack(head)[:4]
        if magic != b"DTLMBIN\x01" or zlib.crc32(head[:60]) != FILE_HEADER.unpack(head)[-1]:
            raise Fault("no DTB file")
        if major != 1 or size != 64:
            raise Fault(f"version {major}, header of {size} bytes")
        self.at = 64

    def block(self):
        """Reads one block and gives what it adds to the output; None at the end of the file."""
        head = self.file.read(64)
        if not head:
            return None
        if self.ended:
            raise Fault("something follows the end")
        if head[:4] != b"DTBK"[:len(head)]:
            raise Fault("no block header")
        if len(head) < 64:
            raise Cut("the file ends within a header")
        _magic, kind, flags, index, stored, unpacked, count, size = BLOCK_HEADER.unpack(head)[:8]
        payload_crc, crc = BLOCK_HEADER.unpack(head)[-2:]
        if zlib.crc32(head[:60]) != crc:
            raise Fault("no block header")
        if max(stored, unpacked) > PAYLOAD_BYTES_LIMIT:
            raise Fault("a payload beyond the limit")
        payload, padding = self.take(stored), self.take(-stored % 8)
        if zlib.crc32(payload) != payload_crc or any(padding):
            raise Fault("payload or padding is damaged")
        if flags & 1:
            unpacker = zlib.decompressobj(-15)
            payload = unpacker.decompress(payload, unpacked + 1)
            if not unpacker.eof or unpacker.unused_data:
                raise Fault("payload does not unpack")
        if len(payload) != unpacked:
            raise Fault("payload has another size than it says")
        lines = self.content(kind, flags >> 1 & 3, index, payload, count, size)
        self.at += 64 + stored + len(padding)
        return lines

    def content(self, kind, clock, index, payload, count, size):
        if self.source is None and kind == 3 or index not in self.types and kind == 3:
            raise Fault("records before their type or source")
        if kind == 1:
            for entry in self.json(payload):
                if fingerprint_of(entry["definition"]) != entry["fingerprint"]:
                    raise Fault("a type is another than its fingerprint says")
                if self.types.setdefault(entry["index"], entry) is entry:
                    entry["type"] = Type(entry["definition"])
                elif entry["fingerprint"] != self.types[entry["index"]]["fingerprint"]:
                    raise Fault("an index means two types")
        elif kind == 2 and self.source is not None:
            raise Fault("two sources")
        elif kind == 2:
            self.source = self.json(payload)
        elif kind == 4:
            self.learn(payload)
        elif kind == 6:
            self.origin = self.json(payload)
        elif kind == 255:
            self.ended = True
        elif kind == 3:
            type_ = self.types[index]["type"]
            if size != type_.record.size or len(payload) != size * count:
                raise Fault("records of another size than their type has")
            self.records += count
            named = [f'"type":{text_of(type_.name)}'] + [f'"{key}":{text_of((self.origin or self.source)[key])}' for key in ("source", "tag")]
            start = "{" + ",".join(named) + (f',"clock":"{CLOCKS[clock]}"' if clock else "")
            return (f'{start},"record":{{{line}}}}}\n' for line in type_.lines(payload, self.symbols))
        return ()

    def json(self, payload):
        if len(payload) > JSON_BYTES_LIMIT:
            raise Fault("JSON beyond the limit")
        value = json.loads(payload.decode("utf-8"))
        return value if isinstance(value, list) else {**value, "source": value["id"]}

    def learn(self, payload):
        first, count = struct.unpack_from("<II", payload)
        at = 8
        for number in range(first, first + count):
            (size,) = struct.unpack_from("<I", payload, at)
            text = payload[at + 4:at + 4 + size]
            if len(text) < size:
                raise Fault("a text is longer than its block")
            self.symbols[number] = text_of(text.decode("utf-8"))
            at += 4 + size
        if at != len(payload):
            raise Fault("something follows the texts")


def read(path, write):
    reader = Reader(path)
    how = "open"
    try:
        reader.header()
        while (lines := reader.block()) is not None:
            write("".join(lines))
        how = "ended" if reader.ended else "open"
    except Cut as cut:
        how = f"truncated: {cut}"
    except (Fault, ValueError, KeyError, TypeError, RecursionError, struct.error, zlib.error) as fault:
        how = f"damaged: {fault}"
    size = reader.file.seek(0, 2)
    print(f"{path}: {reader.records} records, {how} at {reader.at}, {size - reader.at} bytes ignored", file=sys.stderr)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for name in sys.argv[1:]:
        read(name, sys.stdout.write)

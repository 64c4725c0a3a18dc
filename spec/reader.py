#!/usr/bin/env python3
# SPDX-License-Identifier: MIT-0
"""A reader of the Variant format, written from SPEC.md, and a measure of readers by the vectors:

    python3 reader.py godot4 vectors                            measures this reader
    conform -format godot4 -- python3 reader.py godot4          the same by the runner
    python3 reader.py godot4 vectors ./mine                     measures a program that answers as section 18 says

To measure a function, import this file and call measure with it.
"""
import json, os, struct, subprocess, sys

GODOT4 = """Nil bool int float String Vector2 Vector2i Rect2 Rect2i Vector3 Vector3i Transform2D Vector4 Vector4i Plane Quaternion
    AABB Basis Transform3D Projection Color StringName NodePath RID Object Callable Signal Dictionary Array PackedByteArray
    PackedInt32Array PackedInt64Array PackedFloat32Array PackedFloat64Array PackedStringArray PackedVector2Array
    PackedVector3Array PackedColorArray PackedVector4Array""".split()
NEW = """Vector2i Rect2i Vector3i Vector4 Vector4i Projection StringName Callable Signal PackedVector4Array""".split()
MANUAL4 = [t for t in GODOT4 if t not in NEW]
GODOT3 = [t for t in MANUAL4 if "64" not in t]
GODOT2 = GODOT3[:15] + ["Image"] + GODOT3[15:18] + ["InputEvent"] + GODOT3[18:]
TYPES = dict(godot4=GODOT4, godot3=GODOT3, godot2=GODOT2, manual4=MANUAL4, manual3=GODOT3, manual30=GODOT3)
MASKS = dict(godot4=0xFF, godot3=0xFF, manual4=0xFFFF)
MATH = dict(Vector2=2, Rect2=4, Vector3=3, Transform2D=6, Vector4=4, Plane=4, Quaternion=4, AABB=6, Basis=9, Transform3D=12,
            Projection=16, Color=4, Vector2i=2, Rect2i=4, Vector3i=3, Vector4i=4)
ELEMENTS = dict(PackedInt32Array=(1, "i"), PackedInt64Array=(1, "q"), PackedFloat32Array=(1, "f"), PackedFloat64Array=(1, "d"),
                PackedVector2Array=(2, "f"), PackedVector3Array=(3, "f"), PackedVector4Array=(4, "f"), PackedColorArray=(4, "f"))
EVENT = {1: 8, 3: 4, 4: 8, 5: 4, 6: 4}


def number(x):  # as tagged JSON has it
    return x if x - x == 0 else "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"


def present(**members): return {name: m for name, m in members.items() if m}


class Reader:
    def __init__(self, data, name, objects):
        self.b, self.at, self.format, self.objects = data, 0, name, objects
        self.types, self.engine = TYPES[name], name.startswith("godot")

    def take(self, n):
        if n > len(self.b) - self.at:
            raise ValueError(f"offset {self.at}: {n} bytes needed, {len(self.b) - self.at} are left")
        self.at += n
        return self.b[self.at - n:self.at]

    def unpack(self, code, n=1): return struct.unpack(f"<{n}{code}", self.take(n * struct.calcsize("<" + code)))

    def u32(self): return self.unpack("I")[0]

    def padded(self, n, may_miss=False):
        v = self.take(n)
        self.take(min(-n % 4, len(self.b) - self.at) if may_miss else -n % 4)
        return v

    def text(self, may_miss=False): return self.padded(self.u32(), may_miss).decode("utf-8")

    def declared(self, kind):
        if kind == 0 or self.format != "godot4":
            return None
        if kind == 1:
            n = self.u32()
            return {"builtin": self.types[n]} if n else None
        name = self.text()
        return {"class" if kind == 2 else "script": name} if name else {"builtin": "Object"}

    def value(self, level=0):
        if level > 1024:
            raise ValueError("too many levels")
        header = self.u32()
        mask = MASKS.get(self.format, 0xFFFFFFFF)
        flags = header >> 16 if mask < 1 << 16 else 0
        t = self.types[header & mask]
        return {"t": t, **(self.content(t, flags, level) or {})}

    def content(self, t, flags, level):
        wide = flags & 1 and (self.format == "godot4" or t in ("int", "float", "Object"))
        if t in MATH:
            code = "i" if t.endswith("i") else "d" if wide and t != "Color" else "f"
            return {"v": [x if code == "i" else number(x) for x in self.unpack(code, MATH[t])]}
        if t in ELEMENTS:
            size, code = ELEMENTS[t]
            code = "d" if "Vector" in t and wide else code
            all = self.unpack(code, size * self.u32())
            return {"v": [str(x) if code == "q" else x if code == "i" else number(x) for x in all]}
        return getattr(self, "read_" + t, lambda *_: None)(wide, flags, level)

    def read_bool(self, *_): return {"v": self.u32() != 0}
    def read_int(self, wide, *_): return {"v": str(self.unpack("q" if wide or self.format == "manual3" else "i")[0])}
    def read_float(self, wide, *_): return {"v": number(self.unpack("d" if wide else "f")[0])}
    def read_String(self, *_): return {"v": self.text(self.format == "godot2")}
    def read_StringName(self, *_): return {"v": self.text()}
    def read_RID(self, *_): return {"v": str(self.unpack("q")[0])} if self.format == "godot4" else {"v": "0"}
    def read_PackedByteArray(self, *_): return {"v": self.padded(self.u32(), self.engine).hex()}
    def read_Signal(self, *_): return {"name": self.text(), "object": str(self.unpack("q")[0])}

    def read_NodePath(self, *_):
        n = self.u32()
        if n < 1 << 31:
            if self.format in ("godot4", "godot3"):
                raise ValueError("NodePath in its old form")
            return {"absolute": False, "names": [self.padded(n).decode("utf-8")], "subnames": []}
        n, subs, flags = n - (1 << 31), self.u32(), self.u32()
        if self.engine:
            total = (n + subs + (flags >> 1 & 1)) % (1 << 32)
            n = min(n, total)
            subs = total - n
        names = [self.text() for _ in range(n)]
        return {"absolute": flags & 1 == 1, "names": names, "subnames": [self.text() for _ in range(subs)]}

    def read_Object(self, wide, _, level):
        if self.format in ("godot2", "manual3", "manual30"):
            return {"t": "ObjectID", "v": "0"}
        if wide:
            return {"t": "ObjectID", "v": str(self.unpack("q")[0])}
        name = self.text()
        if not self.objects and (name or self.format != "manual4"):
            raise ValueError("serialized objects are not allowed")
        n = self.u32() if name else 0
        n = 0 if self.engine and n >> 31 else n
        return {"class": name, "properties": [[self.text(), self.value(level + 1)] for _ in range(n)]}

    def read_Array(self, _, flags, level):
        head = present(type=self.declared(flags & 3))
        return {**head, "v": [self.value(level + 1) for _ in range(self.u32() & 0x7FFFFFFF)]}

    def read_Dictionary(self, _, flags, level):
        key, elem = self.declared(flags & 3), self.declared(flags >> 2 & 3)
        pairs = [[self.value(level + 1), self.value(level + 1)] for _ in range(self.u32() & 0x7FFFFFFF)]
        return {**present(key_type=key, value_type=elem), "v": pairs}

    def read_PackedStringArray(self, *_):
        n = self.u32()
        n = 0 if self.engine and n >> 31 else n
        return {"v": [self.text().removesuffix("\0") if self.engine else self.text() for _ in range(n)]}

    def read_Image(self, *_):
        head = dict(zip(("format", "mipmaps", "width", "height"), self.unpack("I", 4)))
        return {**head, **self.read_PackedByteArray()}

    def read_InputEvent(self, *_):
        event, device, length = self.unpack("I", 3)
        data, need = self.take(length - 12), EVENT.get(event, 0)
        need = 4 if event == 4 and len(data) == 4 else need
        if length < 12 or len(data) < need:
            raise ValueError("InputEvent that is too short")
        return {"event": event, "device": device, "v": data[:need].hex()}


def read(data, name, objects): return Reader(data, name, objects).value()


def engine_text(s): return s.split("\0")[0].removeprefix("\ufeff")


def plain(key, apart):  # what equal keys have in common, or a new object if no other key is equal
    if isinstance(key, dict):
        t = "String" if key.get("t") == "StringName" else key.get("t")
        return object() if t in apart else tuple((n, t if n == "t" else plain(key[n], apart)) for n in sorted(key))
    if isinstance(key, list):
        return tuple(plain(v, apart) for v in key)
    return engine_text(key) if isinstance(key, str) and key != "-0.0" else (type(key) is bool, float(key or 0))


def merged(pairs, apart):  # equal keys as engines keep them
    all = {}
    for key, value in pairs:
        k = plain(key, apart)
        all[k] = [all.get(k, [key])[0], value]
    return list(all.values())


def same(want, got):
    """Reports whether an answer is the value of a vector: section 18 of SPEC.md."""
    if isinstance(want, dict) and isinstance(got, dict):
        t = want.get("t")
        null = t == "Object" and not want["class"] or t == "ObjectID" and want.get("v", "0") == "0"
        if null and got.get("t") == "Nil":
            return True
        if t is None and got.get("class") == "EncodedObjectAsID" and want.get("builtin", "Object") == "Object":
            return True
        missing = {"v": "0"} if t in ("RID", "ObjectID") else {}
        names = [n for n in {**want, **got} if n != "v" or t != "Dictionary"]
        if not all(same(want.get(n, missing.get(n)), got.get(n, missing.get(n))) for n in names):
            return False
        if t != "Dictionary" or len(want["v"]) == len(got.get("v", ())):
            return t != "Dictionary" or same(want["v"], got["v"])
        apart = ("Object", "ObjectID"), ("Object", "ObjectID", "Dictionary", "RID")  # Godot 4, Godot 3
        return any(same(merged(want["v"], a), got.get("v")) for a in apart)
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(same, want, got))
    if isinstance(want, bool) or want is None or isinstance(got, bool):
        return want is got
    if isinstance(want, (int, float)) or want == "-0.0":
        return (isinstance(got, (int, float)) or got == "-0.0") and repr(float(want)) == repr(float(got))
    return want == got or isinstance(want, str) and engine_text(want) == got


def expand(parts, number):  # hex and value of long.jsonl
    return "".join(p if isinstance(p, str) else "".join(p["text"].replace("{i}", number(i)) for i in range(p["repeat"])) for p in parts)


def program(*command):
    """Returns a function that asks a program, which reads a packet on each line and answers with its value."""
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def ask(data, _, objects):
        print(data.hex() + " objects" * objects, file=p.stdin, flush=True)
        answer = json.loads(p.stdout.readline() or sys.exit(f"{command[0]} has ended"))
        if isinstance(answer, dict) and "error" in answer:
            raise ValueError(answer["error"])
        return answer
    return ask


def measure(read, name, folder):
    """Prints how many vectors a function reads as it must, which it does not, and on which engines differ or whose width
    the format does not tell. It returns whether all are right."""
    right, wrong, unjudged = {True: 0, False: 0}, [], []
    for file in ("values", "packets", "long"):
        for line in open(os.path.join(folder, file + ".jsonl"), encoding="utf-8"):
            v = json.loads(line)
            if name not in v["formats"]:
                continue
            if v.get("verdict") == "differs" or v.get("double") and name != "godot4":
                unjudged += [v["id"]]
                continue
            if file == "long":
                v["hex"] = expand(v["hex"], lambda i: struct.pack("<I", i).hex())
                v["value"] = json.loads(expand(v["value"], str)) if "value" in v and v["verdict"] == "valid" else None
            valid = v.get("verdict", "valid") == "valid"
            try:
                got = read(bytes.fromhex(v["hex"]), name, v.get("objects", False))
                ok = valid and (v.get("value") is None or same(v["value"], got))
            except ERRORS:
                ok = not valid
            right[valid] += ok
            wrong += [] if ok else [v["id"]]
    print(f"{name}: {right[True]} valid and {right[False]} invalid right, {len(wrong)} wrong", *wrong[:20])
    print(f"{name}: {len(unjudged)} not judged", *unjudged)
    return not wrong


ERRORS = ValueError, IndexError, struct.error, OverflowError, MemoryError
sys.setrecursionlimit(20000)
if __name__ == "__main__" and len(sys.argv) > 2:
    sys.exit(not measure(program(*sys.argv[3:]) if sys.argv[3:] else read, *sys.argv[1:3]))
if __name__ == "__main__":
    for line in sys.stdin:
        words = line.split()
        try:
            answer = read(bytes.fromhex(words[0]) if words else b"", sys.argv[1], "objects" in words)
        except ERRORS as e:
            answer = {"error": str(e)}
        print(json.dumps(answer), flush=True)

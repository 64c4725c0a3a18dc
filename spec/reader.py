#!/usr/bin/env python3
"""A reader of the Variant format, written from SPEC.md, for gdwire conform:

    gdwire conform -format godot4 -- python3 spec/reader.py godot4
"""
import json, struct, sys

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
    def read_RID(self, *_): return {"v": str(self.unpack("q")[0])} if self.format == "godot4" else None
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
            return {"t": "ObjectID"}
        if wide:
            return {"t": "ObjectID", "v": str(self.unpack("q")[0])}
        name = self.text()
        if not self.objects and (name or self.format != "manual4"):
            raise ValueError("serialized objects are not allowed")
        n = self.u32() if name else 0
        n = 0 if self.engine and n >> 31 else n
        return {"class": name, "properties": [[self.text(), self.value(level + 1)] for _ in range(n)]}

    def read_Array(self, _, flags, level):
        return {"type": self.declared(flags & 3), "v": [self.value(level + 1) for _ in range(self.u32() & 0x7FFFFFFF)]}

    def read_Dictionary(self, _, flags, level):
        key, elem = self.declared(flags & 3), self.declared(flags >> 2 & 3)
        pairs = [[self.value(level + 1), self.value(level + 1)] for _ in range(self.u32() & 0x7FFFFFFF)]
        return {"key_type": key, "value_type": elem, "v": pairs}

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


sys.setrecursionlimit(10000)
for line in sys.stdin:
    words = line.split()
    try:
        answer = Reader(bytes.fromhex(words[0]) if words else b"", sys.argv[1], "objects" in words).value()
    except (ValueError, IndexError, struct.error, OverflowError, MemoryError) as e:
        answer = {"error": str(e)}
    print(json.dumps(answer), flush=True)

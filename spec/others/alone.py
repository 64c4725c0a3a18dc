# A reader of the Variant format by somebody who had SPEC.md and no vectors, as it was at its first run.
"""Reads packets (hex lines) and writes tagged JSON, from SPEC.md alone.  Usage: reader1.py FORMAT [--double]"""
import sys, json, struct, threading

G4 = ("Nil bool int float String Vector2 Vector2i Rect2 Rect2i Vector3 Vector3i Transform2D Vector4 Vector4i Plane "
      "Quaternion AABB Basis Transform3D Projection Color StringName NodePath RID Object Callable Signal Dictionary "
      "Array PackedByteArray PackedInt32Array PackedInt64Array PackedFloat32Array PackedFloat64Array "
      "PackedStringArray PackedVector2Array PackedVector3Array PackedColorArray PackedVector4Array").split()
G3 = ("Nil bool int float String Vector2 Rect2 Vector3 Transform2D Plane Quaternion AABB Basis Transform3D Color "
      "NodePath RID Object Dictionary Array PackedByteArray PackedInt32Array PackedFloat32Array PackedStringArray "
      "PackedVector2Array PackedVector3Array PackedColorArray").split()
G2 = ("Nil bool int float String Vector2 Rect2 Vector3 Transform2D Plane Quaternion AABB Basis Transform3D Color "
      "Image NodePath RID Object InputEvent Dictionary Array PackedByteArray PackedInt32Array PackedFloat32Array "
      "PackedStringArray PackedVector2Array PackedVector3Array PackedColorArray").split()
M4 = ("Nil bool int float String Vector2 Rect2 Vector3 Transform2D Plane Quaternion AABB Basis Transform3D Color "
      "NodePath RID Object Dictionary Array PackedByteArray PackedInt32Array PackedInt64Array PackedFloat32Array "
      "PackedFloat64Array PackedStringArray PackedVector2Array PackedVector3Array PackedColorArray").split()
assert (len(G4), len(G3), len(G2), len(M4)) == (39, 27, 29, 29)
TABLE = {"godot4": G4, "godot3": G3, "godot2": G2, "manual4": M4, "manual3": G3, "manual30": G3}

REALS = {"Vector2": 2, "Rect2": 4, "Vector3": 3, "Vector4": 4, "Quaternion": 4, "Plane": 4, "AABB": 6,
         "Transform2D": 6, "Basis": 9, "Transform3D": 12, "Projection": 16, "Color": 4}
INTS = {"Vector2i": 2, "Rect2i": 4, "Vector3i": 3, "Vector4i": 4}
PACKED = {"PackedVector2Array": 2, "PackedVector3Array": 3, "PackedVector4Array": 4, "PackedColorArray": 4}
EVENT = {1: 8, 3: 4, 5: 4, 6: 4, 4: 4}
S31 = 1 << 31


class Bad(Exception):
    pass


def num(x):
    if x != x:
        return '"NaN"'
    if x == float("inf"):
        return '"Infinity"'
    if x == float("-inf"):
        return '"-Infinity"'
    return repr(x)


def nums(xs):
    return "[" + ",".join(map(num, xs)) + "]"


js = json.dumps


class Reader:
    def __init__(self, b, fmt, objects, double):
        self.b, self.p, self.fmt, self.objects, self.double = b, 0, fmt, objects, double
        self.engine = fmt.startswith("godot")
        self.names = TABLE[fmt]

    def left(self):
        return len(self.b) - self.p

    def take(self, n):
        if n > self.left():
            raise Bad("too short")
        r = self.b[self.p:self.p + n]
        self.p += n
        return r

    def un(self, code, n=1):
        s = "<%d%s" % (n, code)
        return struct.unpack(s, self.take(struct.calcsize(s)))

    def u32(self):
        return self.un("I")[0]

    def id64(self):
        return '"%d"' % self.un("q")

    def pad(self, n, lenient):
        k = -n % 4
        if lenient:
            k = min(k, self.left())
        self.take(k)

    def raw(self, n, lenient=False):
        r = self.take(n)
        self.pad(n, lenient)
        return r

    def text(self, raw):
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise Bad("invalid UTF-8")

    def string(self, lenient=False):
        return self.text(self.raw(self.u32(), lenient))

    def declared(self, bits):
        if bits == 0:
            return None
        if bits == 1:
            i = self.u32()
            if i >= len(self.names):
                raise Bad("unknown declared type")
            return None if i == 0 else '{"builtin":%s}' % js(self.names[i])
        s = self.string()
        if s == "":
            return '{"builtin":"Object"}'
        return '{"%s":%s}' % ("class" if bits == 2 else "script", js(s))

    def value(self, level):
        if level > 1024:
            raise Bad("too many levels")
        h = self.u32()
        fmt = self.fmt
        if fmt in ("godot4", "godot3"):
            tid, flags = h & 0xff, h >> 16
        elif fmt == "manual4":
            tid, flags = h & 0xffff, h >> 16
        else:
            tid, flags = h, 0
        if tid >= len(self.names):
            raise Bad("unknown type")
        t = self.names[tid]
        b16 = flags & 1
        g2 = fmt == "godot2"
        wide = "d" if (fmt == "godot4" and b16) or (not self.engine and self.double) else "f"
        if t in ("Nil", "Callable"):
            return '{"t":"%s"}' % t
        if t == "bool":
            v = "true" if self.u32() else "false"
        elif t == "int":
            v = '"%d"' % self.un("q" if b16 or fmt == "manual3" else "i")
        elif t == "float":
            v = num(self.un("d" if b16 else "f")[0])
        elif t in ("String", "StringName"):
            v = js(self.string(g2))
        elif t in REALS:
            if t == "Color" and self.engine:
                wide = "f"
            v = nums(self.un(wide, REALS[t]))
        elif t in INTS:
            v = js(list(self.un("i", INTS[t])))
        elif t == "NodePath":
            return self.nodepath()
        elif t == "RID":
            if fmt != "godot4":
                return '{"t":"RID"}'
            v = self.id64()
        elif t == "Signal":
            n = self.string()
            return '{"t":"Signal","name":%s,"object":%s}' % (js(n), self.id64())
        elif t == "Object":
            return self.object(b16, level)
        elif t == "Array":
            d = self.declared(flags & 3) if fmt == "godot4" else None
            n = self.u32() & 0x7fffffff
            if n * 4 > self.left():
                raise Bad("count past the end")
            v = "[" + ",".join([self.value(level + 1) for _ in range(n)]) + "]"
            if d:
                return '{"t":"Array","type":%s,"v":%s}' % (d, v)
        elif t == "Dictionary":
            ex = ""
            if fmt == "godot4":
                for name, bits in (("key_type", flags & 3), ("value_type", flags >> 2 & 3)):
                    d = self.declared(bits)
                    if d:
                        ex += '"%s":%s,' % (name, d)
            n = self.u32() & 0x7fffffff
            if n * 8 > self.left():
                raise Bad("count past the end")
            out = []
            for _ in range(n):
                k = self.value(level + 1)
                out.append("[%s,%s]" % (k, self.value(level + 1)))
            return '{"t":"Dictionary",%s"v":[%s]}' % (ex, ",".join(out))
        elif t == "Image":
            f, m, w, hh, n = self.un("I", 5)
            return '{"t":"Image","format":%d,"mipmaps":%d,"width":%d,"height":%d,"v":"%s"}' % (
                f, m, w, hh, self.raw(n, True).hex())
        elif t == "InputEvent":
            e, dev, n = self.un("I", 3)
            if n < 12:
                raise Bad("event length")
            data = self.take(n - 12)
            need = EVENT.get(e, 0)
            if len(data) < need:
                raise Bad("event too short")
            if e == 4 and len(data) >= 8:
                need = 8
            return '{"t":"InputEvent","event":%d,"device":%d,"v":"%s"}' % (e, dev, data[:need].hex())
        else:
            v = self.packed(t, wide)
        return '{"t":"%s","v":%s}' % (t, v)

    def packed(self, t, wide):
        n = self.u32()
        if t == "PackedStringArray":
            if n >= S31 and self.engine:
                return "[]"
            if n * 4 > self.left():
                raise Bad("count past the end")
            out = []
            for _ in range(n):
                r = self.raw(self.u32())
                if self.engine and r[-1:] == b"\0":
                    r = r[:-1]
                out.append(js(self.text(r)))
            return "[" + ",".join(out) + "]"
        if n > self.left():
            raise Bad("count past the end")
        if t == "PackedByteArray":
            return '"%s"' % self.raw(n, self.engine).hex()
        if t == "PackedInt32Array":
            return js(list(self.un("i", n)))
        if t == "PackedInt64Array":
            return js([str(x) for x in self.un("q", n)])
        if t == "PackedFloat32Array":
            return nums(self.un("f", n))
        if t == "PackedFloat64Array":
            return nums(self.un("d", n))
        if t == "PackedColorArray" and self.engine:
            wide = "f"
        return nums(self.un(wide, n * PACKED[t]))

    def nodepath(self):
        a = self.u32()
        if a < S31:
            if self.fmt in ("godot4", "godot3"):
                raise Bad("old NodePath")
            s = self.text(self.raw(a))
            return '{"t":"NodePath","absolute":false,"names":[%s],"subnames":[]}' % js(s)
        names = a & 0x7fffffff
        subs, flags = self.un("I", 2)
        if self.engine:
            total = (names + subs + (flags >> 1 & 1)) & 0xffffffff
        else:
            total = names + subs
        if total * 4 > self.left():
            raise Bad("count past the end")
        out = [js(self.string()) for _ in range(total)]
        return '{"t":"NodePath","absolute":%s,"names":[%s],"subnames":[%s]}' % (
            "true" if flags & 1 else "false", ",".join(out[:names]), ",".join(out[names:]))

    def object(self, b16, level):
        if self.fmt in ("godot2", "manual3", "manual30"):
            return '{"t":"ObjectID"}'
        if b16:
            return '{"t":"ObjectID","v":%s}' % self.id64()
        if not self.objects and self.engine:
            raise Bad("object not allowed")
        c = self.string()
        if c == "":
            return '{"t":"Nil"}'
        if not self.objects:
            raise Bad("object not allowed")
        n = self.u32()
        if n >= S31 and self.engine:
            n = 0
        if n * 8 > self.left():
            raise Bad("count past the end")
        out = []
        for _ in range(n):
            k = js(self.string())
            out.append("[%s,%s]" % (k, self.value(level + 1)))
        return '{"t":"Object","class":%s,"properties":[%s]}' % (js(c), ",".join(out))


def main():
    fmt = sys.argv[1] if len(sys.argv) > 1 else "godot4"
    double = "--double" in sys.argv
    for line in sys.stdin:
        line = line.rstrip("\r\n")
        objects = line.endswith(" objects")
        if objects:
            line = line[:-8]
        try:
            out = Reader(bytes.fromhex(line), fmt, objects, double).value(0)
        except (Bad, ValueError) as e:
            out = js({"error": str(e)})
        print(out, flush=True)


sys.setrecursionlimit(20000)
threading.stack_size(256 << 20)
th = threading.Thread(target=main)
th.start()
th.join()

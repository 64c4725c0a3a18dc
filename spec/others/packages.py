# SPDX-License-Identifier: MIT-0
"""Answers of readers in Python by others, for the runner: python3 packages.py FORMAT NAME DIRECTORY of its source.

What they return are plain values without the type that the packet told, so the type of the header counts in favor
of the answer. Values in containers have the type that Python shows.
"""
import json, logging, os, signal, struct, sys, types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reader import MASKS, TYPES, number

NAMES = {"ByteArray": "PackedByteArray", "StringArray": "PackedStringArray", "ColorArray": "PackedColorArray",
         **{n: "Packed" + n for n in ("Int32Array", "Int64Array", "Float32Array", "Float64Array", "Vector2Array", "Vector3Array")}}


def load(name, root, fmt):
    """Returns the function that reads a packet."""
    if name == "PlayGodot":
        sys.path.insert(0, os.path.join(root, "python", "playgodot"))
        import variant
        return lambda p: variant.decode_variant(p)[0]
    if name == "auto-godot":
        for package, path in (("auto_godot", "src/auto_godot"), ("auto_godot.debugger", "src/auto_godot/debugger")):
            module = sys.modules[package] = types.ModuleType(package)  # without the packages that the command needs
            module.__path__ = [os.path.join(root, path)]
        from auto_godot.debugger import variant
        return lambda p: variant.decode(p)[0]
    if name == "gdtype-python":
        logging.disable(logging.CRITICAL)
        sys.modules.setdefault("numpy", types.SimpleNamespace(ndarray=list))  # only for conversions
        sys.path.insert(0, os.path.join(root, "src"))
        from gdtype import binaryapiv3, binaryapiv4
        api = {"godot3": binaryapiv3, "godot4": binaryapiv4}[fmt]
        return lambda p: api.ct.deserialize(struct.pack("<I", len(p)) + p)
    sys.exit(f"unknown package {name}")


def flat(v):
    if isinstance(v, (list, tuple)):
        return [y for x in v for y in flat(x)]
    return [number(v) if isinstance(v, float) else v]


def path(text):
    text, *subnames = text.split(":")
    return {"absolute": text.startswith("/"), "names": [n for n in text.split("/") if n], "subnames": subnames}


def tagged(v, t=None):
    name = v.get("_type") if isinstance(v, dict) else type(v).__name__
    if v is None:
        return {"t": "Nil"}
    if isinstance(v, bool):
        return {"t": "bool", "v": v}
    if isinstance(v, int):
        t = t if t in ("RID", "ObjectID") else "int"
        return {"t": t, "v": str(v - (1 << 64) if t != "int" and v >> 63 == 1 else v)}
    if isinstance(v, float):
        return {"t": "float", "v": number(v)}
    if isinstance(v, (str,)) or name in ("GodotStringName", "GodotNodePath", "StringName", "NodePath"):
        t = t if isinstance(v, str) and t in ("StringName", "NodePath") else name.removeprefix("Godot").replace("str", "String")
        text = v if isinstance(v, str) else v.value
        return {"t": t, **(path(text) if t == "NodePath" else {"v": text})}
    if isinstance(v, bytes) or name == "ByteArray" or t == "PackedByteArray" and isinstance(v, list):
        return {"t": "PackedByteArray", "v": bytes(v.values if name == "ByteArray" else v).hex()}
    if name == "RID":
        return {"t": "RID", "v": str(v["id"] if isinstance(v, dict) else v.id)}
    if isinstance(v, dict) and name:
        return {"t": name, "v": flat([x for n, x in v.items() if n != "_type"])}
    if isinstance(v, dict):
        return {"t": "Dictionary", "v": [[tagged(k), tagged(x)] for k, x in v.items()]}
    if isinstance(v, (list, tuple)) and (t is None or t == "Array"):
        return {"t": "Array" if isinstance(v, list) else "tuple", "v": [tagged(x) for x in v]}
    items = v if isinstance(v, (list, tuple)) else v.getDataArray() if hasattr(v, "getDataArray") else getattr(v, "items", None) or getattr(v, "values", [])
    t = t if isinstance(v, (list, tuple)) else NAMES.get(name, name)
    all = flat(items)
    return {"t": t, "v": [str(x) for x in all] if t == "PackedInt64Array" else all}


class Slow(BaseException):
    pass


def slow(*_):
    raise Slow


def main(fmt, name, root):
    read = load(name, root, fmt)
    signal.signal(signal.SIGPROF, slow)
    for line in sys.stdin:
        try:
            p = bytes.fromhex(line.split()[0])
            header = struct.unpack("<I", p[:4])[0] & MASKS[fmt] if len(p) > 3 else 0
            t = TYPES[fmt][header] if header < len(TYPES[fmt]) else None
            signal.setitimer(signal.ITIMER_PROF, 2)
            answer = tagged(read(p), "ObjectID" if t == "Object" else t)
        except Slow:
            answer = {"t": "nothing after two seconds"}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(answer), flush=True)


sys.setrecursionlimit(10000)
main(*sys.argv[1:])

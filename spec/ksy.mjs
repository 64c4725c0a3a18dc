// Compiles variant4.ksy or variant3.ksy and parses every value of its format in vectors with it:
//
//	node spec/ksy.mjs 4
//
// It needs kaitai-struct-compiler, kaitai-struct and js-yaml of npm.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const here = (name) => readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8");
const compiler = require("kaitai-struct-compiler");
const { KaitaiStream } = require("kaitai-struct");
const yaml = require("js-yaml");

const release = process.argv[2];
const files = await compiler.compile("javascript", yaml.load(here(`variant${release}.ksy`)), null, false);
const module = { exports: {} };
new Function("module", "exports", "require", files[`Variant${release}.js`])(module, module.exports, require);
const Variant = module.exports[`Variant${release}`] ?? module.exports;

// Parts of values, as tagged JSON of SPEC.md has them. Numbers are compared one by one.
const same = (a, b) => Object.is(a, b) || String(a) === String(b);
function check(p, v) {
	const c = p.payload;
	switch (v.t) {
		case "Nil": case "Callable": return true;
		case "bool": return (c.value !== 0) === v.v;
		case "int": return p.isWide || same(c.value, v.v); // of 64 bits: rounded to a double
		case "float": return same(c.value, v.v);
		case "String": case "StringName": return c.value === v.v.replace(/^\ufeff/, ""); // rule T8
		case "NodePath": return c.isAbsolute === v.absolute && c.names.map((n) => n.value).join() === v.names.join() && c.subnames.map((n) => n.value).join() === v.subnames.join();
		case "Object": return c.className.value === v.class && v.properties.every(([name, x], i) => c.properties[i].name.value === name && check(c.properties[i].value, x));
		case "Array": return c.elements.length === v.v.length && v.v.every((x, i) => check(c.elements[i], x));
		case "Dictionary": return c.pairs.length === v.v.length && v.v.every(([k, x], i) => check(c.pairs[i].key, k) && check(c.pairs[i].value, x));
		case "PackedByteArray": return Buffer.from(c.value).toString("hex") === v.v;
		case "PackedStringArray": return c.value.map((s) => s.value).join("") === v.v.map((s) => `${s}\0`).join("");
		case "RID": case "ObjectID": case "Signal": case "PackedInt64Array": return true; // ids of 64 bits are rounded, too
		default: return c.value.length === v.v.length && v.v.every((x, i) => same(c.value[i], x));
	}
}

let [count, wrong] = [0, 0];
for (const line of here("vectors/values.jsonl").trim().split("\n")) {
	const v = JSON.parse(line);
	if (!v.formats.includes(`godot${release}`)) continue;
	count++;
	let fault = "another value";
	try {
		const bytes = Buffer.from(v.hex, "hex");
		const stream = new KaitaiStream(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
		const p = new Variant(stream);
		if (stream.isEof() && check(p, v.value)) continue;
	} catch (e) {
		fault = e;
	}
	wrong++;
	console.log(v.id, fault);
}
console.log(`variant${release}.ksy: ${count - wrong} of ${count} right`);
process.exitCode = wrong > 0 ? 1 : 0;

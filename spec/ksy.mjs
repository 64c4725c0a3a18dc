// SPDX-License-Identifier: MIT-0
// Compiles variant4.ksy or variant3.ksy and parses every value and packet of its format in vectors with it:
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

// parse returns the packet in a vector and whether it took all bytes.
function parse(v) {
	const bytes = Buffer.from(v.hex, "hex");
	const stream = new KaitaiStream(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
	const p = new Variant(stream);
	return { p, whole: stream.isEof() };
}

// faults of the two files of vectors: what is wrong, or nothing.
function valueFault(v) {
	try {
		const { p, whole } = parse(v);
		return whole && check(p, v.value) ? "" : "another value";
	} catch (e) {
		return e;
	}
}

function packetFault(v) {
	let refused = "";
	try {
		parse(v);
	} catch (e) {
		refused = e;
	}
	if (v.verdict === "differs") return "";
	return (v.verdict === "invalid") === (refused !== "") ? "" : refused || "accepted";
}

// Rules that the description cannot say are in its doc, and excuse packets.
const source = yaml.load(here(`variant${release}.ksy`));
const unsaid = new Set(source.doc.match(/\b[A-Z]\d+\b/g));
const excused = {};
const lines = (name) => here(`vectors/${name}.jsonl`).trim().split("\n").map((line) => JSON.parse(line)).filter((v) => v.formats.includes(`godot${release}`));
let [right, wrong] = [0, 0];
for (const [name, faultOf] of [["values", valueFault], ["packets", packetFault]]) {
	for (const v of lines(name)) {
		const fault = faultOf(v);
		const excuse = name === "packets" && v.rules.find((rule) => unsaid.has(rule));
		if (!fault) right++;
		else if (excuse) excused[excuse] = (excused[excuse] ?? 0) + 1;
		else {
			wrong++;
			console.log(v.id, v.kind ?? "", v.rules.join(), String(fault).slice(0, 200));
		}
	}
}
console.log(`variant${release}.ksy: ${right} right, ${wrong} wrong; packets for which it cannot say a rule:`, excused);
process.exitCode = wrong > 0 ? 1 : 0;

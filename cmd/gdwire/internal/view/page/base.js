// What all parts of the page use. Text from the input only ever becomes text: there is no HTML in it.

import {reach} from "./reach.js";

export const byId = id => document.getElementById(id);

// ask returns the answer to a request. If it is nothing but an error, this is thrown.
export async function ask(what, args, signal) {
	const answer = await reach(what + "?" + new URLSearchParams(args), {signal});
	const json = await answer.json();
	if (json.error && Object.keys(json).length === 1) throw new Error(json.error.text);
	return json;
}

// post asks for a change, and returns the answer.
export async function post(what, body) {
	const answer = await reach(what, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
	if (!answer.ok) throw new Error("gdwire refuses the request");
	const json = await answer.json();
	if (json.error) throw new Error(json.error.text);
	return json;
}

// askLines calls each for the lines of JSON of an answer, as they arrive.
export async function askLines(what, args, signal, each) {
	const answer = await reach(what + "?" + new URLSearchParams(args), {signal});
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const {value, done} = await reader.read();
		if (done) return;
		const lines = (rest + value).split("\n");
		rest = lines.pop();
		for (const line of lines) {
			const json = JSON.parse(line);
			if (json.error && Object.keys(json).length === 1) throw new Error(json.error.text);
			each(json);
		}
	}
}

export function make(tag, className, text) {
	const e = document.createElement(tag);
	if (className) e.className = className;
	if (text !== undefined) e.textContent = text;
	return e;
}

// notice tells what has happened to what the page shows. Edits that are not saved can be copied, as lines.
export function notice(text, lines = []) {
	byId("notice").hidden = text === "";
	byId("notice-text").textContent = text;
	byId("notice-copy").hidden = lines.length === 0;
	byId("notice-copy").onclick = () => navigator.clipboard.writeText(lines.join("\n"));
}
byId("notice-close").addEventListener("click", () => notice(""));

// isTyping returns whether an event is about a field of text, whose keys mean text.
export const isTyping = event => event.target instanceof HTMLInputElement && event.target.type !== "checkbox" || event.target instanceof HTMLTextAreaElement;

// shortPath returns a path as people write it.
export const shortPath = path => path.replace(/^\$\.?(?!\d|$)/, "");

// quote quotes an argument for a shell.
export function quote(text) {
	return /^[\w./:=@%+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

// sizeText returns a number of bytes, in a unit that is easy to read.
export function sizeText(n) {
	for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]])
		if (n >= size) return (n / size).toFixed(1) + " " + unit;
	return n + " bytes";
}

// shortSize returns it for a narrow column.
export const shortSize = n => sizeText(n).replace(/ bytes$/, " B");

// sized returns a number of bytes, exactly and readably.
export const sized = n => n < 1000 ? sizeText(n) : `${n.toLocaleString("en")} bytes (${sizeText(n)})`;

// textClass returns the class of the text of a value.
export function textClass(row) {
	if (row.count > 0) return "kind-container";
	return /^(String|StringName|NodePath)$/.test(row.type) ? "kind-string" : "kind-number";
}

// verdict returns what engines make of a value, as a class and text: refused, odd, or neither.
export function verdict(row) {
	if (row.refused) return ["refused", row.refused[0].toUpperCase() + row.refused.slice(1)];
	return row.odd ? ["odd", "No engine writes it like this: " + row.odd] : ["", ""];
}

// swatch returns a small field of a color, above a pattern that shows through it.
export function swatch(color) {
	const e = make("span", "dot");
	e.style.setProperty("--color", color);
	return e;
}

// bold returns elements for text, in which the occurrences of a part are bold.
export function bold(text, part) {
	const found = [];
	const lower = text.toLowerCase(), wanted = part.toLowerCase();
	if (!wanted || lower.length !== text.length) return [text];
	let from = 0;
	for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
		found.push(text.slice(from, at), make("b", "", text.slice(at, at + wanted.length)));
		from = at + wanted.length;
	}
	return [...found, text.slice(from)];
}

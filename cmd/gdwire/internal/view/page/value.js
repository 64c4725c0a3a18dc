// The selected value: what it is, the commands for it, what takes the space in it, and its bytes.

import {ask, askLines, byId, make, notice, quote, shortPath, sized, sizeText, swatch, verdict} from "./base.js";
import {showPicture} from "./reach.js";

const autoMeasure = 64e6; // bytes of a value whose content is measured without being asked

export class Value {
	// follow selects the value to which a way leads.
	constructor(info, tree, follow) {
		this.info = info;
		this.tree = tree;
		this.follow = follow;
		this.request = null;
		this.shown = null; // the one whose bytes are shown
		const bytes = byId("hex");
		bytes.tabIndex = 0; // keys scroll it in a small window
		new ResizeObserver(() => {
			if (this.shown && this.shown.perLine !== perLine()) this.hex(this.shown);
		}).observe(bytes);
		new ResizeObserver(showLastCrumb).observe(byId("crumbs"));
		bytes.addEventListener("pointermove", event => this.pointAt(event));
		bytes.addEventListener("pointerleave", () => light([]));
		bytes.addEventListener("click", event => this.selectAt(event));
		byId("measure").addEventListener("click", () => this.measure());
		byId("set").addEventListener("focus", event => {
			const from = event.target.value.indexOf(" = ") + 3;
			event.target.setSelectionRange(from, from + this.setLength);
		});
		for (const id of ["get", "set"]) byId("copy-" + id).addEventListener("click", event => copy(event.target, byId(id)));
		for (const what of ["path", "value", "link"]) byId("copy-" + what).addEventListener("click", () => this.copy(what));
		byId("tree").addEventListener("keydown", event => {
			if (event.ctrlKey || event.metaKey || event.altKey || event.key.toLowerCase() !== "c") return;
			event.preventDefault();
			this.copy(event.shiftKey ? "path" : "value");
		});
	}

	// attach makes the tree light the bytes of the value that is pointed at.
	attach() {
		const {element} = this.tree();
		element.addEventListener("pointermove", event => this.lightRow(event));
		element.addEventListener("pointerleave", () => light([]));
	}

	// copy copies the path or the value that is selected, or the address of the page that leads there.
	async copy(what) {
		const [c, row] = this.tree().chosenRow() || [];
		if (!row?.step) return;
		const copied = {
			path: () => shortPath(c.path + row.step) || "$",
			value: () => this.text(row),
			link: () => location.href,
		};
		const button = byId("copy-" + what);
		try {
			await navigator.clipboard.writeText(await copied[what]());
		} catch (error) {
			notice(error.message);
			return;
		}
		button.classList.add("copied");
		setTimeout(() => button.classList.remove("copied"), 1500);
	}

	// text returns the whole value of a row, as set takes it.
	async text(row) {
		if (row.width && row.type !== "String") return row.text;
		return (await ask("text", {...this.tree().args, at: row.at, end: row.end, width: row.width || 0})).text;
	}

	async show(c, row) {
		byId("where-it-is").hidden = false;
		this.address(c, row);
		const args = this.tree().args;
		this.crumbs(c, row);
		this.request?.abort();
		this.request = new AbortController();
		this.row = row;
		this.commands(c, row);
		byId("nothing").hidden = true;
		byId("detail").hidden = false;
		byId("type").textContent = row.type + (row.count > 0 ? `, ${row.count} in it` : "");
		byId("offset").textContent = row.at < 0 ? "" : `${row.at} (0x${row.at.toString(16)})`;
		byId("size").textContent = "";
		const mark = this.tree().marks(c.path + row.step);
		byId("before").hidden = !mark?.old;
		byId("was").textContent = mark?.old || "";
		setError(row.error);
		const [kind, why] = verdict(row);
		byId("verdict").hidden = !kind && !row.since;
		byId("verdict").className = kind;
		byId("verdict").textContent = [why, row.since && `Godot before ${row.since} cannot read it`].filter(Boolean).join("; ");
		for (const id of ["swatch", "picture", "text", "map"]) byId(id).hidden = true;
		byId("hex").replaceChildren();
		this.shown = null;
		if (row.at < 0) return;
		let value;
		try {
			value = await ask("value", {...args, at: row.at, end: row.end, width: row.width || 0}, this.request.signal);
		} catch (error) {
			if (error.name !== "AbortError") setError({text: error.message});
			return;
		}
		byId("size").textContent = value.size < 0 ? "unknown" : sized(value.size);
		setError(value.error || row.error);
		const color = value.color || row.color;
		byId("swatch").hidden = !color;
		if (color) byId("swatch").replaceChildren(swatch(color));
		byId("picture").hidden = !value.picture;
		if (value.picture) showPicture(byId("picture"), {...args, at: row.at});
		byId("text").hidden = !value.text || !row.text.includes("…") && !value.text.includes("\n"); // the row shows it
		byId("text").textContent = printable(value.text);
		this.hex(value);
		byId("map").hidden = !(row.count > 0);
		byId("map-list").replaceChildren();
		byId("map-bar").replaceChildren();
		byId("map-bar").hidden = true;
		byId("map-sum").textContent = "";
		byId("measure").hidden = false;
		if (row.count > 0 && value.size >= 0 && value.size <= autoMeasure) this.measure();
	}

	// commands shows the commands that print and change the value.
	commands(c, row) {
		const path = shortPath(c.path + row.step) || "$";
		const complete = row.count === 0 && row.type && !row.error && !row.text.includes("…");
		const file = this.tree().args.packet === undefined && this.info.file && quote(this.info.file.command);
		byId("get").textContent = file ? `gdwire get ${quote(path)} ${file}` : path;
		byId("get-line").hidden = !row.step || !file && path === "$";
		byId("set").value = file && complete ? `gdwire set ${quote(path + " = " + row.text)} ${file} -o ${file}` : "";
		this.setLength = quote(path + " = " + row.text).length - quote(path + " = ").length;
		byId("set-line").hidden = byId("set").value === "";
	}

	// address makes the address of the page lead to the value.
	address(c, row) {
		byId("copy-link").hidden = this.tree().args.packet !== undefined;
		if (byId("copy-link").hidden || !row.step) return;
		const path = encodeURIComponent(c.path + row.step).replace(/%(24|5B|5D|2C)/g, decodeURIComponent);
		if (location.hash !== "#" + path) history.replaceState(null, "", "#" + path);
	}

	crumbs(c, row) {
		const steps = [];
		for (let at = c, step = row.step, index = row.index; at; step = at.row.step, index = at.index, at = at.parent) {
			if (!step) continue; // an error
			const [container, i] = [at, index];
			const button = make("button", "", at.parent ? step : this.tree().name(index));
			button.type = "button";
			button.addEventListener("click", () => this.tree().select(container, i));
			steps.unshift(button);
		}
		byId("crumbs").replaceChildren(...steps);
		showLastCrumb();
	}

	// measure shows which children take how many bytes.
	async measure() {
		const {row, request} = this;
		const bar = byId("measured");
		byId("measure").hidden = true;
		bar.hidden = false;
		bar.max = row.to ? row.to - row.at : 1;
		bar.removeAttribute("value");
		try {
			await askLines("sizes", {...this.tree().args, at: row.at, end: row.end}, request.signal, all => {
				if (row !== this.row) return;
				if (row.to) bar.value = all.bytes;
				byId("map-sum").textContent = `${all.count.toLocaleString("en")} values, ${sizeText(all.bytes)}` + (all.error ? ", and then: " + all.error.text : "");
				if (all.done) this.map(all);
			});
		} catch (error) {
			if (error.name !== "AbortError") byId("map-sum").textContent = error.message;
		}
		if (row === this.row) bar.hidden = true;
	}

	map(all) {
		const largest = all.largest || [];
		const share = x => 100 * x.bytes / Math.max(1, all.bytes);
		byId("map-bar").hidden = false;
		byId("map-bar").replaceChildren(...largest.slice(0, 20).map((x, i) => {
			const part = make("span", "shade-" + i % 4);
			part.style.width = share(x) + "%";
			part.title = `${x.step} ${percent(share(x))}`;
			return part;
		}));
		byId("map-list").replaceChildren(...largest.map(x => {
			const item = make("li"), button = make("button");
			button.type = "button";
			button.append(make("span", "step", x.step), make("span", "share", percent(share(x))),
				make("span", "bytes", sizeText(x.bytes)), make("span", "type", x.type + (x.count > 0 ? " " + x.count : "")));
			button.addEventListener("click", async () => {
				const [c, index] = this.tree().chosen;
				const open = await this.tree().expand(c, index);
				if (open) this.tree().select(open, x.index, true);
			});
			item.append(button);
			return item;
		}));
	}

	// hex shows bytes and marks the parts of the value and the place of an error.
	hex(value) {
		value.raw ??= Uint8Array.from(atob(value.bytes), c => c.charCodeAt(0));
		const bytes = value.raw;
		const lines = [];
		const partAt = at => value.parts.find(p => p.from <= at && at < p.to);
		const count = perLine();
		this.shown = value;
		this.shown.perLine = count;
		const end = value.size >= 0 ? Math.max(value.at + value.size + 32, value.at + 64) : Infinity;
		const first = value.from - value.from % count;
		for (let at = first; at < value.from + bytes.length && at < end; at += count) {
			const line = make("div");
			line.append(make("span", "place", at.toString(16).padStart(8, "0") + "  "));
			const text = make("span");
			for (let i = at; i < at + count; i++) {
				const b = i < value.from ? undefined : bytes[i - value.from];
				const part = partAt(i);
				const inside = i >= value.at && (value.size < 0 || i < value.at + value.size);
				const name = part ? part.kind : inside ? "" : "far";
				const e = make("span", name, b === undefined ? "  " : b.toString(16).padStart(2, "0"));
				if (b !== undefined) e.dataset.at = i;
				if (part) e.title = part.name;
				if (value.error && value.error.at === i) e.classList.add("wrong");
				line.append(e, " ");
				if (b === undefined) continue;
				const c = make("span", name, b >= 32 && b < 127 ? String.fromCharCode(b) : ".");
				c.dataset.at = i;
				text.append(c);
			}
			line.append(" ", text);
			lines.push(line);
		}
		byId("hex").replaceChildren(...lines);
		const shown = x => x >= value.from && x < value.from + bytes.length;
		const content = value.parts.find(p => p.kind === "content")?.from;
		this.describeByte([value.error?.at, content].find(shown) ?? value.at);
	}

	// pointAt lights the value of the byte that is pointed at, and describes the byte.
	pointAt(event) {
		const at = event.target.dataset.at;
		if (at === undefined) return;
		this.describeByte(Number(at));
		const line = this.tree().lineAt(Number(at));
		light(line ? [line] : []);
	}

	// lightRow lights the bytes of the value that is pointed at.
	lightRow(event) {
		const line = event.target.closest(".line");
		const row = line && this.tree().rowOf(line);
		if (!row) return;
		light(Array.from(byId("hex").querySelectorAll("[data-at]")).filter(e => row.at <= e.dataset.at && e.dataset.at < row.to));
	}

	// selectAt selects the value of a byte.
	async selectAt(event) {
		const at = event.target.dataset.at;
		if (at === undefined || String(getSelection())) return;
		const {way} = await ask("way", {...this.tree().args, at});
		if (way) this.follow(way);
	}

	// describeByte shows the bytes from an offset on as numbers, text and a color.
	describeByte(at) {
		const value = this.shown, i = at - value.from;
		const view = new DataView(value.raw.buffer, i);
		const part = value.parts.find(p => p.from <= at && at < p.to);
		const cursor = byId("cursor");
		cursor.replaceChildren(make("span", "", `offset ${at}` + (part ? `, ${part.name}` : "")));
		const read = (name, size, get) => {
			if (view.byteLength < size) return;
			const e = make("span", "", name + " ");
			e.append(make("b", "", get()));
			cursor.append(e);
		};
		read("u8", 1, () => view.getUint8(0));
		read("i32", 4, () => view.getInt32(0, true));
		read("i64", 8, () => view.getBigInt64(0, true));
		read("f32", 4, () => Number(view.getFloat32(0, true).toPrecision(7)));
		read("f64", 8, () => view.getFloat64(0, true));
		read("text", 1, () => new TextDecoder().decode(value.raw.slice(i, i + 8)).replace(/(?! )[\p{C}\p{Z}\uFFFD]/gu, "."));
		if (view.byteLength < 16) return;
		const channels = [0, 4, 8, 12].map(n => view.getFloat32(n, true));
		if (channels.every(x => x >= 0 && x <= 1) && channels.some(x => x > 1e-6))
			cursor.append(swatch("#" + channels.map(x => Math.round(255 * x).toString(16).padStart(2, "0")).join("")));
	}
}

// showLastCrumb scrolls the path to its end, the value itself.
function showLastCrumb() {
	byId("crumbs").scrollLeft = byId("crumbs").scrollWidth;
}

// light lights elements, and no others.
function light(elements) {
	for (const e of document.querySelectorAll(".lit")) e.classList.remove("lit");
	for (const e of elements) e.classList.add("lit");
}

// copy copies the text of an element, and shows a tick.
async function copy(button, from) {
	try {
		await navigator.clipboard.writeText(from.value ?? from.textContent);
		button.classList.add("copied");
		setTimeout(() => button.classList.remove("copied"), 1500);
	} catch { // to copy by hand
		getSelection().selectAllChildren(from);
		from.select?.();
	}
}

// printable returns text with escape sequences for all characters that are not printable, except
// for newlines and tabs.
function printable(text) {
	return text.replace(/(?![ \n\t])[\p{C}\p{Z}]/gu, c => {
		const code = c.codePointAt(0);
		const [prefix, digits] = code < 0x80 ? ["\\x", 2] : code < 0x10000 ? ["\\u", 4] : ["\\U", 8];
		return prefix + code.toString(16).padStart(digits, "0");
	});
}

// percent returns a share with at most one digit after the point.
function percent(share) {
	return (share < 0.1 ? "<0.1" : share.toFixed(share < 10 ? 1 : 0)) + " %";
}

function setError(error) {
	byId("error").hidden = !error;
	byId("error").textContent = error ? error.text : "";
}

// perLine returns how many bytes a line has place for.
const perLine = () => byId("hex").clientWidth < 560 ? 8 : 16;

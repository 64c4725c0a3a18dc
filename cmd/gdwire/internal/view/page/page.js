// The page of gdwire view. Text from the input only ever becomes text: there is no HTML in it.

const byId = id => document.getElementById(id);
const rowHeight = 22;
const pageRows = 200;
const maxHeight = 8e6; // of a scrolled element, in pixels: beyond it, lines share a pixel

// ask returns the answer to a request. If it is nothing but an error, this is thrown.
async function ask(what, args, signal) {
	const answer = await fetch(what + "?" + new URLSearchParams(args), {signal});
	const json = await answer.json();
	if (json.error && Object.keys(json).length === 1) throw new Error(json.error.text);
	return json;
}

function make(tag, className, text) {
	const e = document.createElement(tag);
	if (className) e.className = className;
	if (text !== undefined) e.textContent = text;
	return e;
}

// Lines shows count() lines in an element, of which only the visible ones exist. fill sets the
// content of an element that shows a line.
class Lines {
	constructor(element, count, fill) {
		this.element = element;
		this.count = count;
		this.fill = fill;
		this.top = 0; // the first visible line
		this.frame = make("div", "frame");
		this.spacer = make("div");
		this.element.replaceChildren(this.frame, this.spacer);
		this.pending = false;
		this.element.addEventListener("scroll", () => {
			if (Math.abs(this.element.scrollTop - this.expected) > 1) {
				this.top = this.element.scrollTop / this.scale();
				this.expected = this.element.scrollTop;
			}
			this.update();
		});
		this.element.addEventListener("wheel", event => {
			if (this.scale() === rowHeight || event.ctrlKey) return; // the browser scrolls
			event.preventDefault();
			this.scrollTo(this.top + event.deltaY / rowHeight);
		}, {passive: false});
		new ResizeObserver(() => this.update()).observe(element);
		this.expected = 0;
	}
	visible() { return Math.max(1, Math.floor(this.element.clientHeight / rowHeight)); }
	// scale returns the pixels of a line in the scrolled height.
	scale() {
		const n = this.count();
		return n * rowHeight > maxHeight ? maxHeight / n : rowHeight;
	}
	scrollTo(line) {
		this.top = Math.max(0, Math.min(line, this.count() - this.visible()));
		this.resize();
		this.expected = this.top * this.scale();
		this.element.scrollTop = this.expected;
		this.expected = this.element.scrollTop;
		this.update();
	}
	// show scrolls until a line is visible.
	show(line) {
		if (line < this.top) this.scrollTo(line);
		else if (line > this.top + this.visible() - 1) this.scrollTo(line - this.visible() + 1);
		else this.update();
	}
	resize() {
		const height = Math.max(0, this.count() * this.scale() - this.element.clientHeight);
		this.spacer.style.height = height + "px";
	}
	update() {
		if (this.pending) return;
		this.pending = true;
		requestAnimationFrame(() => { this.pending = false; this.draw(); });
	}
	draw() {
		this.resize();
		const n = this.count();
		const first = Math.max(0, Math.min(Math.floor(this.top), n - 1));
		const shown = n === 0 ? 0 : Math.min(n - first, this.visible() + 1);
		while (this.frame.childElementCount < shown) this.frame.append(make("div", "line"));
		while (this.frame.childElementCount > shown) this.frame.lastElementChild.remove();
		for (let i = 0; i < shown; i++) {
			const e = this.frame.children[i];
			e.dataset.line = first + i;
			this.fill(e, first + i);
		}
	}
	// lineOf returns the line of an event, or -1.
	lineOf(event) {
		const e = event.target.closest(".line");
		return e ? Number(e.dataset.line) : -1;
	}
}

// A Container is an open value: its children, of which those that were shown are known.
class Container {
	constructor(parent, index, row) {
		this.parent = parent;
		this.index = index;
		this.row = row;
		this.rows = new Map();
		this.open = []; // the open children, by index
		this.count = Math.max(row.count, 0); // lines of children
		this.unknown = row.count < 0; // the number of children is not known yet
		this.below = this.count; // lines of children and of what is open in them
		this.loading = new Set();
		this.fault = null; // what comes instead of a child
		this.path = (parent ? parent.path : "") + row.step;
		this.depth = parent ? parent.depth + 1 : 0;
	}
	grow(lines) {
		for (let c = this; c; c = c.parent) c.below += lines;
	}
	setCount(n) {
		this.grow(n - this.count);
		this.count = n;
	}
	child(index) { return this.open.find(c => c.index === index); }
	// showsFault returns whether an error in this value is shown below it.
	showsFault() { return this.fault || this.open.some(c => c.showsFault()); }
	// at returns the container and index of a line below this container.
	at(line) {
		let before = 0;
		for (const c of this.open) {
			const place = c.index + before;
			if (line <= place) break;
			if (line <= place + c.below) return c.at(line - place - 1);
			before += c.below;
		}
		return [this, line - before];
	}
	// line returns the line of a child, below the root.
	line(index) {
		let n = index;
		for (const c of this.open) if (c.index < index) n += c.below;
		return this.parent ? this.parent.line(this.index) + 1 + n : n;
	}
	addOpen(c) {
		this.open.push(c);
		this.open.sort((a, b) => a.index - b.index);
		this.grow(c.below);
	}
	removeOpen(c) {
		this.open.splice(this.open.indexOf(c), 1);
		this.grow(-c.below);
	}
}

// Tree shows a source: the file, or a packet.
class Tree {
	constructor(element) {
		this.element = element;
		this.lines = new Lines(element, () => this.root ? this.root.below : 0, (e, line) => this.fill(e, line));
		element.addEventListener("click", event => {
			const line = this.lines.lineOf(event);
			if (line < 0) return;
			const [c, index] = this.root.at(line);
			this.select(c, index);
			if (event.target.closest(".twisty") || event.detail === 2) this.toggle(c, index);
		});
		element.addEventListener("keydown", event => this.key(event));
		new ResizeObserver(() => {
			if (this.chosen) this.lines.show(this.chosen[0].line(this.chosen[1]));
		}).observe(element);
	}
	// reset shows another source.
	reset(args, whole) {
		this.args = args;
		this.chosen = null;
		this.generation = (this.generation || 0) + 1;
		this.root = new Container(null, 0, {at: -1, end: 0, step: "", count: -1});
		this.root.setCount(1);
		const loaded = this.load(this.root, 0); // before the layout, which takes longer than the answer
		this.lines.scrollTo(0);
		this.ready = loaded.then(async () => {
			if (!info.file || info.file.frame === "none") await this.expand(this.root, 0);
			if (whole) this.select(this.root, 0);
		});
	}
	// load asks for the children from an index on.
	async load(c, index) {
		if (c.rows.has(index) || c.fault && index >= c.count - 1) return;
		const start = c.unknown ? index : Math.max(0, Math.min(index, c.count - 1));
		const from = c.unknown ? start : start - start % pageRows;
		const want = c.rows.has(from) ? start : from;
		if (c.loading.has(want)) return c.loading.get?.(want);
		c.loading.add(want);
		const generation = this.generation;
		try {
			const list = await ask("children", {...this.args, at: c.row.at, end: c.row.end, index: want});
			if (generation !== this.generation) return;
			for (const row of list.rows) c.rows.set(row.index, row);
			const known = want + list.rows.length;
			const last = list.rows.at(-1);
			if (list.error || last?.error && list.next < 0) {
				if (list.error) c.rows.set(known, {index: known, step: "", at: list.error.at, end: 0, type: "", text: "", count: 0, error: list.error});
				c.unknown = false;
				c.fault = list.error || last.error;
				c.setCount(known + (list.error ? 1 : 0));
			} else if (c.unknown) {
				c.unknown = list.next >= 0;
				c.setCount(Math.max(c.count, known + (c.unknown ? 1 : 0)));
				if (!c.unknown) c.setCount(known);
			}
		} catch (error) {
			if (generation !== this.generation) return;
			c.rows.set(want, {index: want, step: "", at: -1, end: 0, type: "", text: "", count: 0, error: {at: -1, text: error.message}});
		} finally {
			c.loading.delete(want);
		}
		this.lines.update();
	}
	fill(e, line) {
		const [c, index] = this.root.at(line);
		const row = c.rows.get(index);
		const open = c.child(index);
		e.id = "line-" + line;
		e.className = "line";
		e.setAttribute("role", "treeitem");
		e.setAttribute("aria-level", c.depth + 1);
		e.setAttribute("aria-posinset", index + 1);
		e.setAttribute("aria-setsize", c.unknown ? -1 : c.count);
		const chosen = this.chosen && this.chosen[0] === c && this.chosen[1] === index;
		e.setAttribute("aria-selected", chosen ? "true" : "false");
		if (chosen) {
			e.classList.add("chosen");
			this.element.setAttribute("aria-activedescendant", e.id);
		}
		e.style.paddingLeft = 4 + 16 * c.depth + "px";
		e.removeAttribute("aria-expanded");
		if (!row) {
			this.load(c, index);
			e.replaceChildren(make("span", "type", "…"));
			return;
		}
		if (row.count > 0) e.setAttribute("aria-expanded", open ? "true" : "false");
		const parts = [make("span", "twisty", row.count > 0 ? (open ? "▾" : "▸") : "")];
		parts.push(make("span", "step", row.step || ""), make("span", "type", row.type + (row.count > 0 ? " " + row.count : "")));
		if (row.color) {
			const dot = make("span", "dot");
			dot.style.backgroundColor = row.color;
			parts.push(dot);
		}
		if (row.text && !open) parts.push(make("span", textClass(row), row.text));
		if (row.error && !open?.showsFault()) parts.push(make("span", "bad", "  " + row.error.text));
		e.replaceChildren(...parts);
	}
	async expand(c, index) {
		await this.load(c, index);
		const row = c.rows.get(index);
		if (!row || row.count <= 0 || c.child(index)) return c.child(index);
		const opened = new Container(c, index, row);
		c.addOpen(opened);
		await this.load(opened, 0);
		this.lines.update();
		return opened;
	}
	toggle(c, index) {
		const open = c.child(index);
		if (open) c.removeOpen(open);
		else this.expand(c, index);
		this.lines.update();
	}
	async select(c, index) {
		this.chosen = [c, index];
		this.lines.show(c.line(index));
		await this.load(c, index);
		const row = c.rows.get(index);
		if (row && this.chosen[0] === c && this.chosen[1] === index) showValue(this.args, c, row);
	}
	// follow opens the way to a value and selects it.
	async follow(way) {
		let c = this.root;
		for (const [i, index] of way.entries()) {
			while (c.unknown && index >= c.count - 1) {
				const before = c.count;
				await this.load(c, c.count - 1);
				if (c.count === before && c.unknown) await new Promise(resolve => setTimeout(resolve, 10));
			}
			if (i === way.length - 1) return this.select(c, index);
			const next = await this.expand(c, index);
			if (!next) return this.select(c, index);
			c = next;
		}
	}
	key(event) {
		if (!this.root || event.ctrlKey || event.altKey || event.metaKey) return;
		const last = this.root.below - 1;
		const line = this.chosen ? this.chosen[0].line(this.chosen[1]) : -1;
		const go = n => this.select(...this.root.at(Math.max(0, Math.min(n, last))));
		const [c, index] = this.chosen || [this.root, 0];
		switch (event.key) {
		case "ArrowDown": go(line + 1); break;
		case "ArrowUp": go(line - 1); break;
		case "PageDown": go(line + this.lines.visible()); break;
		case "PageUp": go(line - this.lines.visible()); break;
		case "Home": go(0); break;
		case "End": go(last); break;
		case "ArrowRight": if (c.child(index)) go(line + 1); else this.expand(c, index); break;
		case "ArrowLeft": if (c.child(index)) this.toggle(c, index); else if (c.parent) this.select(c.parent, c.index); break;
		case "Enter": case " ": this.toggle(c, index); break;
		default: return;
		}
		event.preventDefault();
	}
}

function textClass(row) {
	if (row.count > 0) return "kind-container";
	if (/^(String|StringName|NodePath)$/.test(row.type)) return "kind-string";
	return "kind-number";
}

// The selected value.

let valueRequest = null;

async function showValue(args, c, row) {
	crumbs(c, row);
	valueRequest?.abort();
	valueRequest = new AbortController();
	const path = (c.path + row.step).replace(/^\$\.?(?!\d)/, "") || "$";
	const complete = row.count === 0 && row.type && !row.error && !row.text.includes("…");
	const file = info.file && quote(info.file.command);
	byId("get").value = file ? `gdwire get ${quote(path)} ${file}` : path;
	byId("get-line").hidden = !row.step;
	byId("set").value = file && complete ? `gdwire set ${quote(path + " = " + row.text)} ${file} -o ${file}` : "";
	byId("set-line").hidden = byId("set").value === "";
	byId("copy-get").dataset.text = path;
	byId("copy-set").dataset.text = byId("set").value;
	byId("nothing").hidden = true;
	byId("detail").hidden = false;
	byId("type").textContent = row.type + (row.count > 0 ? `, ${row.count} in it` : "");
	byId("offset").textContent = row.at < 0 ? "" : `${row.at} (0x${row.at.toString(16)})`;
	byId("size").textContent = "";
	setError(row.error);
	for (const id of ["swatch", "picture", "text"]) byId(id).hidden = true;
	byId("hex").replaceChildren();
	shownValue = null;
	if (row.at < 0) return;
	let value;
	try {
		value = await ask("value", {...args, at: row.at, end: row.end, width: row.width || 0}, valueRequest.signal);
	} catch (error) {
		if (error.name !== "AbortError") setError({text: error.message});
		return;
	}
	byId("size").textContent = value.size < 0 ? "" : `${value.size} bytes`;
	setError(value.error || row.error);
	const color = value.color || row.color;
	byId("swatch").hidden = !color;
	if (color) byId("swatch").style.backgroundColor = color;
	byId("picture").hidden = !value.picture;
	if (value.picture) byId("picture").src = "picture?" + new URLSearchParams({...args, at: row.at});
	byId("text").hidden = !value.text;
	byId("text").textContent = printable(value.text);
	hex(value);
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

function setError(error) {
	byId("error").hidden = !error;
	byId("error").textContent = error ? error.text : "";
}

// quote quotes an argument for a shell.
function quote(text) {
	return /^[\w./:=@%+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

let shownValue = null; // the one whose bytes are shown

// perLine returns how many bytes a line has place for.
const perLine = () => byId("hex").clientWidth < 560 ? 8 : 16;

new ResizeObserver(() => {
	if (shownValue && shownValue.perLine !== perLine()) hex(shownValue);
}).observe(byId("hex"));

// hex shows bytes and marks the parts of the value and the place of an error.
function hex(value) {
	const bytes = Uint8Array.from(atob(value.bytes), c => c.charCodeAt(0));
	const lines = [];
	const partAt = at => value.parts.find(p => p.from <= at && at < p.to);
	const count = perLine();
	shownValue = value;
	shownValue.perLine = count;
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
			if (part) e.title = part.name;
			if (value.error && value.error.at === i) e.classList.add("wrong");
			line.append(e, " ");
			if (b !== undefined) text.append(make("span", name, b >= 32 && b < 127 ? String.fromCharCode(b) : "."));
		}
		line.append(" ", text);
		lines.push(line);
	}
	byId("hex").replaceChildren(...lines);
}

function crumbs(c, row) {
	const steps = [];
	for (let at = c, step = row.step, index = row.index; at; step = at.row.step, index = at.index, at = at.parent) {
		if (!step) continue; // an error
		const [container, i] = [at, index];
		const button = make("button", "", step);
		button.type = "button";
		button.addEventListener("click", () => tree.select(container, i));
		steps.unshift(button);
	}
	byId("crumbs").replaceChildren(...steps);
}

for (const id of ["copy-get", "copy-set"]) {
	byId(id).addEventListener("click", async event => {
		try {
			await navigator.clipboard.writeText(event.target.dataset.text);
		} catch {
			byId(id.slice(5)).select(); // to copy by hand
		}
	});
}

// Search.

let searching = null;

byId("search").addEventListener("submit", event => {
	event.preventDefault();
	search();
});

async function search() {
	searching?.abort();
	const run = new AbortController();
	searching = run;
	const hits = byId("hits");
	hits.replaceChildren();
	const q = byId("query").value;
	hits.hidden = q === "";
	byId("found").textContent = "";
	if (q === "") return;
	let n = 0;
	const state = end => { byId("found").textContent = `${n} found${end}`; };
	const args = {...tree.args, q, kind: byId("number").checked ? "number" : "text"};
	try {
		const answer = await fetch("search?" + new URLSearchParams(args), {signal: run.signal});
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
		let rest = "";
		for (;;) {
			const {value, done} = await reader.read();
			if (done) break;
			const lines = (rest + value).split("\n");
			rest = lines.pop();
			for (const line of lines) {
				const p = JSON.parse(line);
				if (p.hit) {
					n++;
					const button = make("button", "", p.hit.path.replace(/^\$/, () => p.hit.way[0] ? "$" + p.hit.way[0] : "$"));
					button.type = "button";
					button.addEventListener("click", () => tree.follow(p.hit.way));
					const item = make("li");
					item.append(button);
					hits.append(item);
				}
				if (p.error) hits.append(make("li", "error", p.error.text));
				state(p.done ? n === 500 ? ", the first ones" : "" : info.file ? `, ${Math.floor(100 * p.at / Math.max(1, info.file.size))} %` : " …");
			}
		}
	} catch (error) {
		if (error.name !== "AbortError") byId("found").textContent = error.message;
	}
}

document.addEventListener("keydown", event => {
	if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
		event.preventDefault();
		byId("query").focus();
	}
	if (event.key === "Escape" && event.target === byId("query")) {
		byId("query").value = "";
		search();
		byId("tree").focus();
	}
});

// Live packets.

class Packets {
	constructor() {
		this.all = []; // that are kept
		this.shown = []; // and fit the filter
		this.next = 0;
		this.missed = 0;
		this.chosen = -1;
		this.lines = new Lines(byId("packets"), () => this.shown.length, (e, line) => this.fill(e, line));
		byId("packets").addEventListener("click", event => this.select(this.lines.lineOf(event)));
		byId("packets").addEventListener("keydown", event => {
			const at = this.shown.findIndex(p => p.number === this.chosen);
			const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.shown.length - 1}[event.key];
			if (to === undefined) return;
			event.preventDefault();
			byId("follow").checked = false;
			this.select(Math.max(0, Math.min(to, this.shown.length - 1)));
		});
		byId("filter").addEventListener("input", () => this.refresh());
		byId("pause").addEventListener("change", () => this.refresh());
	}
	matches(p) {
		const filter = byId("filter").value.toLowerCase();
		return filter === "" || this.text(p).toLowerCase().includes(filter);
	}
	text(p) {
		const time = p.time.slice(11, 23).padEnd(12, "0");
		return `${time} #${p.connection} ${p.toServer ? "->" : "<-"} ${p.size} ${p.text}${p.error ? "  " + p.error.text : ""}`;
	}
	fill(e, line) {
		const p = this.shown[line];
		e.id = "packet-" + line;
		e.className = "line" + (p.error ? " bad" : "") + (p.number === this.chosen ? " chosen" : "");
		e.setAttribute("role", "option");
		e.setAttribute("aria-selected", p.number === this.chosen ? "true" : "false");
		if (p.number === this.chosen) byId("packets").setAttribute("aria-activedescendant", e.id);
		e.textContent = this.text(p);
	}
	select(line) {
		const p = this.shown[line];
		if (!p) return;
		this.chosen = p.number;
		this.lines.show(line);
		tree.reset({packet: p.number}, true);
	}
	refresh() {
		if (byId("pause").checked) return;
		this.shown = this.all.filter(p => this.matches(p));
		byId("packets-shown").textContent = `${this.shown.length} of ${this.next + this.missed} packets`;
		if (byId("follow").checked) this.lines.scrollTo(this.shown.length);
		else this.lines.update();
	}
	async run() {
		for (;;) {
			try {
				const {packets, oldest, missed} = await ask("live", {from: this.next});
				this.missed = missed;
				this.all = this.all.filter(p => p.number >= oldest);
				this.all.push(...packets);
				await new Promise(resolve => setTimeout(resolve, 250)); // forwarding comes first
				if (packets.length > 0) {
					this.next = packets.at(-1).number + 1;
					this.refresh();
				}
			} catch {
				byId("packets-shown").textContent = "the proxy has ended";
				return;
			}
		}
	}
}

const info = await ask("info", {});
const tree = new Tree(byId("tree"));
if (info.file) {
	document.title = info.file.name + " – gdwire view";
	byId("name").textContent = info.file.name;
	const frame = info.file.frame === "none" ? "" : ", packets with length";
	byId("about").textContent = `${info.file.format}${frame}${info.file.container}, ${info.file.size.toLocaleString("en")} bytes`;
	tree.reset({});
	byId("tree").focus();
}
if (info.live) {
	byId("live").hidden = false;
	if (!info.file) byId("name").textContent = "live packets";
	new Packets().run();
}
await tree.ready;
document.body.dataset.ready = "true";

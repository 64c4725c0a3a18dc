import {ask, make, pause, swatch, textClass, verdict} from "./base.js";
import {Lines} from "./lines.js";
import {showPicture} from "./reach.js";

const pageRows = 200;
const maxOpened = 1000; // values that * opens

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
		this.odd = false; // a child that was loaded is odd
		this.path = (parent ? parent.path : "") + row.step;
		this.depth = parent ? parent.depth + 1 : 0;
	}
	grow(lines) {
		for (let c = this; c; c = c.parent) {
			c.below += lines;
			if (c.parent && !c.parent.open.includes(c)) break; // it was closed
		}
	}
	setCount(n) {
		this.grow(n - this.count);
		this.count = n;
	}
	// isShown returns whether this container and those around it are open in a root.
	isShown(root) { return this === root || Boolean(this.parent?.open.includes(this) && this.parent.isShown(root)); }
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
	// way returns the indexes that lead to a child.
	way(index) { return [...this.parent ? this.parent.way(this.index) : [], index]; }
	// paths returns the paths of this container and of those that are open in it.
	paths() { return [...this.parent ? [this.path] : [], ...this.open.flatMap(c => c.paths())]; }
}

// Tree shows a source: the file, or a packet. show is called with the container and row of the value
// that is selected, edit with those of one without children that is opened, and flip with those of a bool to be the other
// one. marks has the changes to be marked, and name the name of a value that is in no other.
export class Tree {
	constructor(element, {show, edit, flip, marks, name}) {
		this.element = element;
		this.show = show;
		this.edit = edit;
		this.flip = flip;
		this.marks = marks;
		this.name = name;
		this.room = 200; // for the indentation of names, in pixels
		this.lines = new Lines(element, () => this.root ? this.root.below : 0, (e, line) => this.fill(e, line));
		this.lines.pressed(({c, index, generation}, event) => {
			if (generation !== this.generation) return;
			if (event.target.closest(".twisty")) {
				this.select(c, index);
				this.toggle(c, index);
			} else if (event.target.matches("input")) {
				event.preventDefault(); // the tree keeps the focus
				this.element.focus();
				this.select(c, index);
				this.flip(c, c.rows.get(index));
			} else if (event.detail === 2) {
				event.preventDefault(); // the field has the focus then
				this.enter(c, index);
			} else {
				this.select(c, index);
			}
		});
		element.addEventListener("keydown", event => this.key(event));
		new ResizeObserver(() => {
			this.room = Math.max(24, 0.36 * element.clientWidth - 100);
			if (this.chosen) this.lines.show(this.chosen[0].line(this.chosen[1]));
		}).observe(element);
	}
	// reset shows another source. Its value is opened, unless it is one of several framed packets, which have lengths.
	// What fits the window is opened, if fit is set.
	reset(args, framed, fit) {
		this.args = args;
		this.chosen = null;
		this.generation = (this.generation || 0) + 1;
		this.root = new Container(null, 0, {at: -1, end: 0, step: "", count: -1});
		this.root.setCount(1);
		const loaded = this.load(this.root, 0); // before the layout, which takes longer than the answer
		this.lines.scrollTo(0);
		this.ready = loaded.then(async () => {
			if (!framed || this.root.count === 1 && !this.root.unknown) await this.expand(this.root, 0);
			if (fit) await this.expandWhatFits();
			if (!this.chosen) await this.select(this.root, 0);
		});
		return this.ready;
	}
	// expandWhatFits opens values, the outer ones first, as long as all lines fit the window.
	async expandWhatFits() {
		const room = this.lines.visible();
		const next = [this.root];
		for (const {generation} = this; next.length > 0 && generation === this.generation && this.root.below <= room;) {
			const c = next.shift();
			for (let i = 0; i < Math.min(c.count, room) && generation === this.generation; i++) {
				const row = await this.row(c, i);
				if (row?.count > 0 && this.root.below + row.count <= room) await this.expand(c, i);
			}
			next.push(...c.open);
		}
	}
	// load asks for the children from an index on.
	async load(c, index) {
		if (c.rows.has(index) || c.fault && index >= c.count - 1) return;
		const start = c.unknown ? index : Math.max(0, Math.min(index, c.count - 1));
		const from = c.unknown ? start : start - start % pageRows;
		const want = c.rows.has(from) ? start : from;
		if (c.loading.has(want)) return;
		c.loading.add(want);
		const generation = this.generation;
		try {
			const list = await ask("children", {...this.args, at: c.row.at, end: c.row.end, index: want});
			if (generation !== this.generation) return;
			for (const row of list.rows) c.rows.set(row.index, row);
			c.odd ||= list.rows.some(row => row.odd);
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
	// row returns the row of a child, when it is there: an answer has a limited time, so that far
	// children take several.
	async row(c, index) {
		for (const generation = this.generation; generation === this.generation && index < c.count;) {
			await this.load(c, index);
			if (c.rows.has(index) || c.fault) break;
			await pause(10);
		}
		return c.rows.get(index);
	}
	fill(e, line) {
		const [c, index] = this.root.at(line);
		const row = c.rows.get(index);
		const open = c.child(index);
		const drawn = {c, index, generation: this.generation};
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
		e.removeAttribute("aria-expanded");
		const name = make("span", "name");
		name.style.paddingLeft = 4 + this.indent(c.depth) + "px";
		if (!row) {
			this.load(c, index);
			name.append("…");
			e.replaceChildren(name);
			return drawn;
		}
		if (row.count > 0) e.setAttribute("aria-expanded", open ? "true" : "false");
		name.append(make("span", "twisty", row.count > 0 ? (open ? "▾" : "▸") : ""), make("span", "step", row.step || ""));
		if (row.key) name.append(" ", make("span", "root", row.key));
		if (!c.parent && row.step) name.append(" ", make("span", "root", this.name(index)));
		const mark = this.marks(c.path + row.step);
		if (mark) e.classList.add(mark.kind);
		const value = make("span", "value");
		if (row.color) value.append(swatch(row.color));
		if (row.type === "bool" && this.flip && this.args.packet === undefined) {
			const box = make("input");
			Object.assign(box, {type: "checkbox", checked: row.text === "true", tabIndex: -1, ariaLabel: row.step});
			box.addEventListener("click", event => event.preventDefault()); // it is drawn again
			value.append(box);
		}
		if (row.picture) {
			const picture = make("img", "thumbnail");
			picture.alt = "";
			showPicture(picture, {...this.args, at: row.at});
			value.append(picture);
		}
		if (mark?.old) value.append(make("del", "", mark.old), " → ");
		if (mark?.inside && !open) value.append(make("span", "inside", "changes in it"), " ");
		if (row.text && !open) value.append(make("span", textClass(row), row.text));
		if (row.error && !open?.showsFault()) value.append(make("span", "bad", " " + row.error.text));
		const type = make("span", "type", row.type + (row.count > 0 ? " " + row.count : ""));
		const [kind, why] = verdict(row);
		if (kind === "refused" || kind && !open?.odd) { // what is odd may be a key, or not loaded yet
			const badge = make("span", kind, {refused: "!", odd: "≠"}[kind]);
			badge.title = badge.ariaLabel = why;
			badge.role = "img";
			type.prepend(badge, " ");
		}
		e.replaceChildren(name, ...value.childNodes.length > 0 ? [value] : [], type);
		return drawn;
	}
	// indent returns the pixels before the name of a value: less and less for each level, so that there is
	// always room for the name.
	indent(depth) { return Math.round(this.room * (1 - Math.exp(-14 * depth / this.room))); }
	async expand(c, index) {
		const row = await this.row(c, index);
		if (!row || row.count <= 0 || c.child(index)) return c.child(index);
		const opened = new Container(c, index, row);
		c.addOpen(opened);
		await this.load(opened, 0);
		this.lines.update();
		return opened;
	}
	// expandAll opens a value and all in it, up to a number of values.
	async expandAll(c, index) {
		let opened = 0;
		for (const next = [[c, index]]; next.length > 0 && opened < maxOpened; opened++) {
			const open = await this.expand(...next.shift());
			for (let i = 0; open && i < Math.min(open.count, maxOpened); i++)
				if ((await this.row(open, i))?.count > 0) next.push([open, i]);
		}
	}
	// enter opens or closes a value with children, and edits another.
	enter(c, index) {
		const row = c.rows.get(index);
		if (row?.count === 0 && !row.error) this.edit(c, row);
		else this.toggle(c, index);
	}
	toggle(c, index) {
		const open = c.child(index);
		if (open) c.removeOpen(open);
		else this.expand(c, index);
		this.lines.update();
	}
	async select(c, index, centered) {
		this.chosen = [c, index];
		this.lines.show(c.line(index), centered);
		const row = await this.row(c, index);
		if (this.chosen?.[0] !== c || this.chosen[1] !== index) return;
		if (row) await this.show(c, row);
		else if (index >= c.count) await this.select(...this.root.at(Math.max(0, c.line(index) - 1))); // nothing follows, it turned out
	}
	// follow opens the way to a value and selects it, unless it shall only be opened. Keys wait for it.
	follow(way, open) {
		const done = this.walk(way, open);
		if (open) return done;
		const jump = done.catch(() => {}).finally(() => { if (this.jump === jump) this.jump = null; });
		this.jump = jump;
		return done;
	}
	async walk(way, open) {
		let c = this.root;
		for (const [i, index] of way.entries()) {
			while (c.unknown && index >= c.count - 1) {
				const before = c.count;
				await this.load(c, c.count - 1);
				if (c.count === before && c.unknown) await pause(10);
			}
			if (i === way.length - 1) return open ? this.expand(c, index) : this.select(c, index, true);
			const next = await this.expand(c, index);
			if (!c.isShown(this.root)) return null; // the user has closed it
			if (!next) return open ? null : this.select(c, index, true);
			c = next;
		}
	}
	// goTo selects the value at a path, and returns what of the path leads to nothing.
	async goTo(path, open) {
		const {way, missing} = await ask("way", {...this.args, path});
		if (!open || !missing) await this.follow(way, open);
		return missing;
	}
	// chosenRow returns the container and row of the value that is selected, or nothing.
	chosenRow() {
		const [c, index] = this.chosen || [];
		const row = c?.rows.get(index);
		return row && [c, row];
	}
	// state returns what is open and selected, and restore opens and selects it again after reset.
	state() {
		const [c, index] = this.chosen || [null, 0];
		return {open: this.root.paths(), chosen: c ? c.path + (c.rows.get(index)?.step || "") : "", top: this.lines.top};
	}
	// With a way, this selects what is there.
	async restore(state, way) {
		for (const path of state.open.slice(0, maxOpened)) await this.goTo(path, true).catch(() => {});
		if (way) await this.follow(way);
		else if (state.chosen) await this.goTo(state.chosen).catch(() => {});
		this.lines.scrollTo(state.top);
		if (this.chosen) this.lines.show(this.chosen[0].line(this.chosen[1]));
	}
	// rowAt returns the smallest value with an offset in it, among the visible lines, as its line.
	lineAt(offset) {
		let best = null, size = Infinity;
		for (const e of this.lines.frame.children) {
			const row = this.rowOf(e);
			if (row && row.at <= offset && offset < row.to && row.to - row.at < size) [best, size] = [e, row.to - row.at];
		}
		return best;
	}
	rowOf(line) {
		return line.drawn.c.rows.get(line.drawn.index);
	}
	key(event) {
		if (!this.root || event.ctrlKey || event.altKey || event.metaKey) return;
		if (this.jump && /^(Arrow|Page)|^(Home|End|Enter|[ *-])$/.test(event.key)) {
			event.preventDefault();
			this.jump.then(() => this.key(event));
			return;
		}
		const last = this.root.below - 1;
		const line = this.chosen ? this.chosen[0].line(this.chosen[1]) : -1;
		const go = n => this.select(...this.root.at(Math.max(0, Math.min(n, last))));
		const [c, index] = this.chosen || [this.root, 0];
		const close = () => { if (c.child(index)) this.toggle(c, index); else if (c.parent) this.select(c.parent, c.index); };
		switch (event.key) {
		case "ArrowDown": go(line + 1); break;
		case "ArrowUp": go(line - 1); break;
		case "PageDown": go(line + this.lines.visible()); break;
		case "PageUp": go(line - this.lines.visible()); break;
		case "Home": go(0); break;
		case "End": go(last); break;
		case "ArrowRight": if (c.child(index)) go(line + 1); else this.expand(c, index); break;
		case "ArrowLeft": case "-": close(); break;
		case "*": this.expandAll(c, index); break;
		case "Enter": this.enter(c, index); break;
		case " ": this.toggle(c, index); break;
		default: return;
		}
		event.preventDefault();
	}
}

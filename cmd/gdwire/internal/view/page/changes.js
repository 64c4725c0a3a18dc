// What differs between two versions of the file.

import {askLines, byId, isTyping, make, shortPath} from "./base.js";
import {choices, Lines, option} from "./lines.js";

export class Changes {
	// goTo selects the value at a path.
	constructor(goTo) {
		this.goTo = goTo;
		this.list = [];
		this.byPath = new Map();
		this.sorted = [];
		this.at = -1;
		this.request = null; // the latest
		this.lines = new Lines(byId("change-lines"), () => this.list.length, (e, line) => this.fill(e, line));
		choices(this.lines, () => this.at, n => n, n => this.choose(n));
		byId("next").addEventListener("click", () => this.choose(this.at + 1));
		byId("previous").addEventListener("click", () => this.choose(this.at - 1));
		byId("only").addEventListener("change", event => document.body.classList.toggle("only-changes", event.target.checked));
		document.addEventListener("keydown", event => {
			const by = {n: 1, p: -1}[event.key];
			if (by && this.list.length > 0 && !isTyping(event) && !event.ctrlKey && !event.altKey && !event.metaKey) this.choose(this.at + by);
		});
	}

	// clear hides the list.
	clear() {
		this.request?.abort();
		byId("changes").hidden = true;
		this.set([]);
	}

	// load asks what has changed since the version before. since says when.
	async load(since) {
		if (byId("changes").hidden) byId("changed").textContent = "comparing …";
		byId("changes").hidden = false;
		this.request?.abort();
		const request = new AbortController();
		this.request = request;
		const list = [];
		let answer = {}, shown = performance.now();
		try {
			await askLines("changes", {}, request.signal, line => {
				if (!line.change) answer = line;
				else list.push(line.change);
				if (performance.now() - shown < 500 || request.signal.aborted) return;
				shown = performance.now();
				byId("changed").textContent = `comparing … ${list.length} changes so far`;
				this.set(list);
			});
		} catch (error) {
			answer = {failed: error.message};
		}
		if (request.signal.aborted) return;
		this.set(answer.failed ? [] : list);
		const n = this.list.length;
		byId("changed").title = byId("changed").textContent = answer.failed || (n === 0 && !answer.error ? "nothing has changed" : n === 1 ? "1 change" : `${answer.more ? "the first " : ""}${n} changes`) + since +
			(answer.note ? "; " + answer.note : "") + (answer.error ? "; " + answer.error.text : "");
	}

	// set shows a list, perhaps of more changes than before.
	set(list) {
		if (list !== this.list) this.at = -1;
		for (const c of list) {
			c.kind = c.old === "" ? "added" : c.new === "" ? "gone" : "changed";
			c.at ||= c.path;
		}
		this.list = list;
		this.byPath = new Map(list.map(c => [c.at, c]));
		this.sorted = list.map(c => c.at).sort();
		byId("change-lines").style.setProperty("--count", list.length);
		byId("next").disabled = byId("previous").disabled = list.length === 0;
		this.lines.scrollTo(this.at < 0 ? 0 : this.lines.top);
	}

	// mark returns how the line of a path in the tree is marked.
	mark(path) {
		if (this.list.length === 0) return null;
		const change = this.byPath.get(path);
		if (change?.kind === "gone") return {kind: "gone-here"}; // another element is at its place now
		if (change) return {kind: change.kind, old: change.old};
		let low = 0, high = this.sorted.length;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (this.sorted[mid] <= path) low = mid + 1;
			else high = mid;
		}
		for (; low < this.sorted.length && this.sorted[low].startsWith(path); low++)
			if (".[".includes(this.sorted[low][path.length])) return {kind: "around", inside: true};
		return null;
	}

	fill(e, line) {
		const c = this.list[line];
		e.className = `line ${c.kind}` + (line === this.at ? " chosen" : "");
		option(this.lines, e, line, line === this.at);
		const name = make("span", "name"), value = make("span", "value");
		name.append(make("span", "sign", {added: "+", gone: "−", changed: "~"}[c.kind]), make("span", "step", shortPath(c.path)));
		const was = c.kind === "gone" ? "before" : c.from ? "was " + shortPath(c.from) : "";
		if (was) name.append(" ", make("span", "root", was));
		if (c.kind === "gone") value.append(make("del", "", c.old));
		else if (c.kind === "changed") value.append(make("del", "", c.old), " → ", c.new);
		else value.append(c.new);
		e.replaceChildren(name, value);
		return line;
	}

	choose(n) {
		if (this.list.length === 0) return;
		this.at = (n + this.list.length) % this.list.length;
		this.lines.show(this.at);
		this.goTo(this.list[this.at].at);
	}
}

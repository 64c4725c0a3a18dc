// The search: for text, a number or a path.

import {askLines, bold, byId, isTyping, make, shortPath} from "./base.js";

const maxHits = 500;

// isCondition returns whether text is path = value, which packets have or not.
export const isCondition = text => /\S\s*=\s*\S/.test(text);

// isPath returns whether text can be a path.
const isPath = text => /^\$|[.[]/.test(text);

export class Search {
	// where returns what is searched, follow selects a hit, and find returns the way to a path.
	constructor(where, follow, find) {
		this.where = where;
		this.follow = follow;
		this.find = find;
		this.hits = []; // in the order of the list: {hit, button}
		this.at = -1; // the chosen one
		this.query = ""; // which found the hits
		byId("search").addEventListener("submit", event => {
			event.preventDefault();
			this.run();
		});
		document.addEventListener("keydown", event => this.key(event));
		byId("hits").addEventListener("keydown", event => this.arrows(event));
		byId("query").addEventListener("input", event => {
			clearTimeout(this.typing);
			if (event.target.value === "") this.clear();
			else if (event.target.value.length > 1 && !isPath(event.target.value)) this.typing = setTimeout(() => this.run(true), 300);
		});
	}

	clear() {
		this.request?.abort();
		this.hits = [];
		this.groups = new Map();
		this.at = -1;
		byId("hits").replaceChildren();
		byId("hits").hidden = true;
		byId("found").textContent = "";
	}

	// run searches, or chooses the next hit. While the user is typing, nothing is chosen.
	async run(whileTyping) {
		clearTimeout(this.typing);
		const q = byId("query").value;
		if (this.hits.length > 0 && q + byId("number").checked + byId("where").value === this.query) { // Enter, again
			this.choose(this.at + 1);
			return;
		}
		this.clear();
		this.query = q + byId("number").checked + byId("where").value;
		if (q === "" || byId("where").value === "packets" && isCondition(q)) return; // the packets are those that have it
		const request = new AbortController();
		this.request = request;
		if (isPath(q) && await this.goToPath(q)) return;
		byId("hits").hidden = false;
		let n = 0;
		const {args, size} = this.where();
		try {
			await askLines("search", {...args, q, kind: byId("number").checked ? "number" : "text"}, request.signal, p => {
				if (p.hit) {
					n++;
					this.add(p.hit, q);
				}
				if (p.error) byId("hits").append(make("li", "error", p.error.text));
				const progress = p.done ? "" : size ? `, ${Math.floor(100 * p.at / size)} %` : " …";
				byId("found").textContent = `${p.done && n === maxHits ? "the first " : ""}${n} found${progress}`;
				if (p.done && n === 1 && !whileTyping) this.choose(0);
			});
		} catch (error) {
			if (error.name !== "AbortError") byId("found").textContent = error.message;
		}
	}

	// goToPath goes to the value at a path, if text is one.
	async goToPath(text) {
		try {
			const {way, missing} = await this.find(text);
			if (missing && !text.startsWith("$")) return false;
			await this.follow({way});
			if (missing) byId("found").textContent = "there is no " + missing.replace(/^\$/, "") + " in it";
			return true;
		} catch {
			return false;
		}
	}

	// add adds a hit to the group of the paths that differ from its path only in their indexes.
	add(hit, q) {
		const path = shortPath(hit.path);
		const name = path.replace(/\[\d+\](?=[.[]|$)/g, "[*]");
		const packet = hit.packet === undefined ? "" : `packet ${hit.packet}  `;
		const button = make("button");
		button.type = "button";
		button.append(packet, make("span", "step"), "  ");
		button.querySelector(".step").append(...bold(path, q));
		button.append(...bold(hit.text, q));
		const entry = {hit, button};
		button.addEventListener("click", () => this.choose(this.hits.indexOf(entry)));
		const item = make("li");
		item.append(button);
		const group = this.groups.get(name);
		if (!group) {
			this.groups.set(name, {items: [item], after: item, list: null});
			byId("hits").append(item);
			this.hits.push(entry);
			return;
		}
		this.hits.splice(this.hits.findIndex(h => h.button === group.items.at(-1).querySelector("button")) + 1, 0, entry);
		group.items.push(item);
		if (!group.list) { // the second: both move into a group that a click opens
			group.list = make("details");
			group.head = make("summary");
			const outer = make("li"), inner = make("ol");
			outer.append(group.list);
			group.after.replaceWith(outer);
			inner.append(group.items[0]);
			group.list.append(group.head, inner);
		}
		group.list.lastElementChild.append(item);
		group.head.replaceChildren(make("span", "step", name), `  ${group.items.length} times`);
	}

	// choose selects a hit, and opens its group.
	choose(n) {
		if (this.hits.length === 0) return;
		this.hits[this.at]?.button.classList.remove("chosen");
		this.at = (n + this.hits.length) % this.hits.length;
		const {hit, button} = this.hits[this.at];
		button.classList.add("chosen");
		const group = button.closest("details");
		if (group) group.open = true;
		button.scrollIntoView({block: "nearest"});
		this.follow(hit);
	}

	key(event) {
		const isFind = event.key === "f" && (event.ctrlKey || event.metaKey) && event.target !== byId("query");
		if (isFind || event.key === "/" && !isTyping(event)) {
			event.preventDefault();
			byId("query").focus();
			byId("query").select();
		}
		if (event.key === "F3") {
			event.preventDefault();
			this.choose(this.at + (event.shiftKey ? -1 : 1));
		}
		if (event.key === "Escape" && event.target === byId("query")) {
			byId("query").value = "";
			byId("query").dispatchEvent(new Event("input"));
			byId("tree").focus();
		}
		if (event.target === byId("query")) this.arrows(event);
	}

	arrows(event) {
		const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
		if (!by || this.hits.length === 0) return;
		event.preventDefault();
		this.choose(this.at < 0 ? 0 : this.at + by);
	}
}

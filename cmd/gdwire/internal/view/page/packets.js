// The list of live packets.

import {ask, byId, make, notice, pause, shortSize} from "./base.js";
import {choices, Lines, option} from "./lines.js";
import {isCondition} from "./search.js";

// clock returns the time of day in a time, to milliseconds.
function clock(time) {
	const [, seconds, fraction = "."] = time.match(/T([\d:]{8})(\.\d{1,3})?/);
	return seconds + fraction.padEnd(4, "0");
}

export class Packets {
	// select shows a packet.
	constructor(select) {
		this.select = select;
		this.all = []; // that are kept
		this.shown = []; // and fit the filter
		this.connections = new Set();
		this.next = 0;
		this.missed = 0;
		this.chosen = -1;
		this.where = ""; // the path = value that the server compares with
		this.ended = false;
		this.lines = new Lines(byId("packets"), () => this.shown.length, (e, line) => this.fill(e, line));
		choices(this.lines, () => this.shown.findIndex(p => p.number === this.chosen), n => this.shown[n], p => this.choose(p));
		for (const [id, event] of [["query", "input"], ["where", "change"], ["number", "change"]]) byId(id).addEventListener(event, () => this.filter());
		for (const id of ["pause", "direction", "connection"]) byId(id).addEventListener("change", () => this.refresh());
		byId("follow").addEventListener("change", () => this.refresh());
	}

	// wanted returns what is searched in all packets: those that are shown have it.
	wanted() { return byId("where").value === "packets" && !byId("number").checked ? byId("query").value : ""; }

	// filter asks the server again for all packets if a path = value is to be compared.
	filter() {
		const text = this.wanted();
		const where = isCondition(text) ? text : "";
		if (where !== this.where && !this.ended) {
			this.where = where;
			this.all = [];
			this.next = 0;
			this.request?.abort();
		}
		this.refresh();
	}

	matches(p) {
		const text = this.wanted().toLowerCase(), direction = byId("direction").value, connection = byId("connection").value;
		return (direction === "" || String(p.toServer) === direction) && (connection === "" || String(p.connection) === connection) &&
			(this.where ? p.match : text === "" || (p.text + (p.error?.text || "")).toLowerCase().includes(text));
	}

	fill(e, line) {
		const p = this.shown[line];
		const chosen = p.number === this.chosen;
		e.className = "line" + (p.error ? " bad" : "") + (chosen ? " chosen" : "");
		option(this.lines, e, line, chosen);
		e.replaceChildren(make("span", "number", p.number), make("span", "time", clock(p.time)), make("span", "connection", "#" + p.connection),
			make("span", p.toServer ? "to" : "from", p.toServer ? "→" : "←"), make("span", "size", shortSize(p.size)),
			make("span", "text", p.text + (p.error ? "  " + p.error.text : "")));
		return p;
	}

	choose(p) {
		if (this.ended) {
			notice("This packet cannot be opened any more: gdwire has ended.");
			return;
		}
		byId("follow").checked = false;
		this.chosen = p.number;
		const line = this.shown.indexOf(p);
		if (line >= 0) this.lines.show(line);
		this.select(p.number);
	}

	refresh() {
		if (byId("pause").checked) return;
		this.shown = this.all.filter(p => this.matches(p));
		const missed = this.missed ? `, ${this.missed.toLocaleString("en")} that came too fast are not here` : "";
		byId("packets-shown").textContent = `${this.shown.length} of ${this.next + this.missed} packets${missed}` +
			(this.ended ? "; gdwire has ended: packets cannot be opened any more" : "");
		byId("no-packets").hidden = this.shown.length > 0;
		byId("no-packets").textContent = this.connections.size === 0 ? "No packets yet." : "No packet fits the search, the direction and the connection.";
		if (byId("follow").checked) this.lines.scrollTo(this.shown.length);
		else this.lines.update();
	}

	addConnections(packets) {
		for (const p of packets) {
			if (this.connections.has(p.connection)) continue;
			this.connections.add(p.connection);
			const option = make("option", "", "#" + p.connection);
			option.value = p.connection;
			byId("connection").append(option);
		}
	}

	async run() {
		this.refresh();
		for (;;) {
			const request = new AbortController();
			this.request = request;
			try {
				const {packets, oldest, missed} = await ask("live", {from: this.next, where: this.where}, request.signal);
				if (request !== this.request) continue;
				this.missed = missed;
				this.all = this.all.filter(p => p.number >= oldest);
				this.all.push(...packets);
				this.addConnections(packets);
				if (packets.length > 0) this.next = packets.at(-1).number + 1;
				if (packets.length > 0) this.refresh();
				await pause(250); // forwarding comes first
			} catch (error) {
				if (error.name === "AbortError") continue;
				this.ended = true;
				this.refresh();
				return;
			}
		}
	}
}

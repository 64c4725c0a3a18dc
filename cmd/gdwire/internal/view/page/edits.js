// Edits of the file: what is written in the field, and what adds, moves, undoes and saves. The server holds them.

import {ask, byId, isTyping, make, notice, post, quote, shortPath} from "./base.js";
import {Field} from "./field.js";
import {rowHeight} from "./lines.js";

const isArray = row => /^(Array|Packed)/.test(row.type);
// takesMore returns whether a value can be added to another: bytes are edited as a whole.
const takesMore = row => /^(Array|Dictionary|Object|Packed)/.test(row.type) && row.type !== "PackedByteArray";

// isElement returns whether a row is an element of an Array, and isNamed whether it is a value with a key that can be written.
const isElement = (c, row) => Boolean(row?.step && c.parent) && isArray(c.row) && !row.error;
const isNamed = (c, row) => Boolean(row?.step && c.parent) && c.row.type === "Dictionary" && !row.key && !row.error;
// element returns the path of an element, or of a new one: the last has another.
const element = (path, index, count) => index === count ? path + "[+]" : `${path}[${index}]`;
// keyOf returns the key in a step of a path.
const keyOf = row => row.step.startsWith(".") ? row.step.slice(1) : row.step.slice(1, -1);

// decide asks a question, and returns the name of the button of the answer. "" is the one that ends the edit.
async function decide(question, answers) {
	const dialog = byId("question");
	byId("question-text").textContent = question;
	byId("question-answers").replaceChildren(...Object.entries(answers).map(([value, text]) => Object.assign(make("button", "", text), {value})));
	dialog.returnValue = "";
	dialog.showModal();
	await new Promise(resolve => dialog.addEventListener("close", resolve, {once: true}));
	if (!dialog.returnValue) throw new Error("Nothing is done: " + question);
	return dialog.returnValue;
}

export class Edits {
	// reload shows the latest version, in which a way leads to the value to select, and tells whether all others
	// stay where they were.
	constructor(info, tree, reload) {
		this.info = info;
		this.tree = tree;
		this.reload = reload;
		this.at = null; // what the field is about: {c, row, at, adds, way, version, chosen, generation}
		this.form = byId("field");
		this.field = new Field();
		this.input = this.field.input;
		this.sure = byId("field-sure");
		this.sending = false; // what is in the field
		this.submitted = Promise.resolve(); // after the latest that was asked for by the field
		this.sent = Promise.resolve(); // after all that was asked for without it
		this.narrow = matchMedia("(max-width: 600px)");
		tree.lines.drawn = () => this.place();
		new ResizeObserver(() => this.place()).observe(this.form);
		this.form.addEventListener("submit", event => {
			event.preventDefault();
			this.submit();
		});
		this.form.addEventListener("keydown", event => this.keyInField(event));
		this.form.addEventListener("focusout", event => {
			if (this.at && !this.form.contains(event.relatedTarget) && this.input.value !== this.refused) this.submit({leaving: true});
		});
		this.form.addEventListener("input", () => { // the question was about another text
			if (!this.sure.hidden) this.showError("");
		});
		this.sure.addEventListener("click", () => this.submit({sure: true}));
		const buttons = {
			edit: () => this.editChosen(), add: () => this.addChosen(), delete: () => this.deleteChosen(),
			rename: () => this.renameChosen(), duplicate: () => this.duplicateChosen(),
			undo: () => this.send("undo"), redo: () => this.send("redo"), save: () => this.send("save"), drop: () => this.send("drop"),
		};
		for (const [id, press] of Object.entries(buttons)) byId(id).addEventListener("click", press);
		byId("save").addEventListener("mousedown", event => { if (this.at) event.preventDefault(); }); // the field stays until the click: the button would move
		tree.element.addEventListener("keydown", event => this.keyInTree(event));
		tree.element.addEventListener("pointerdown", event => this.drag(event));
		document.addEventListener("keydown", event => this.key(event));
	}

	// shown shows what can be undone and saved.
	shown() {
		const {edits} = this.info.file;
		byId("edits").hidden = edits.readOnly !== "";
		byId("read-only").hidden = edits.readOnly === "";
		byId("read-only").textContent = edits.readOnly && "Not editable: " + edits.readOnly;
		byId("undo").disabled = edits.undo === 0;
		byId("redo").disabled = edits.redo === 0;
		byId("save").disabled = !edits.unsaved && !this.at;
		byId("unsaved").textContent = edits.unsaved ? "not saved" : edits.backup ? `saved; ${edits.backup.replace(/.*[\\/]/, "")} is the file before` : "";
		byId("waiting").hidden = edits.waiting.length === 0;
		byId("waiting-edits").textContent = "Not possible in this file, and not saved: " + edits.waiting.join("; ");
		if (document.activeElement?.disabled) this.tree.element.focus(); // the button that was pressed
		document.title = (edits.unsaved ? "● " : "") + this.info.file.name + " – gdwire view";
	}

	// chosen shows what can be done with the value that is selected. A whole packet is neither added nor deleted.
	chosen(c, row) {
		byId("edit").disabled = !row.step || Boolean(row.error);
		byId("add").disabled = !row.step || !c.parent && !takesMore(row);
		byId("delete").disabled = !row.step || !c.parent;
		byId("rename").disabled = !isNamed(c, row);
		byId("duplicate").disabled = !isNamed(c, row) && !isElement(c, row);
	}

	// allowed returns whether what is shown can be edited, or says why not.
	allowed() {
		const why = this.tree.args.packet !== undefined ? "packets are not edited" : this.info.file.edits.readOnly;
		if (why) notice("Nothing is edited: " + why);
		return !why;
	}

	// textOf returns a value: text is as set takes it, and raw as it is, of texts.
	async textOf(row) {
		if (row.width && row.type !== "String") return {text: row.text};
		return ask("text", {...this.tree.args, at: row.at, end: row.end, width: row.width || 0});
	}

	// edit shows the field for a value, with its text selected.
	edit(c, row) {
		if (!row.step || row.error || !this.allowed()) return;
		this.try(async () => {
			const {text, raw} = await this.textOf(row);
			this.open(c, row, {at: c.path + row.step, way: c.way(row.index), what: "Value of", label: c.path + row.step, type: row.type}, text, raw);
		});
	}

	async try(run) {
		try {
			await run();
		} catch (error) {
			notice(error.message);
		}
	}

	editChosen() {
		const chosen = this.tree.chosenRow();
		if (chosen) this.edit(...chosen);
	}

	// addChosen shows the field for a new value: in the container that is selected, or else beside the value
	// that is.
	addChosen() {
		let [c, row] = this.tree.chosenRow() || [];
		if (!row?.step || !this.allowed()) return;
		let before = null;
		if (!takesMore(row)) {
			if (!c.parent) return;
			before = row.index;
			[c, row] = [c.parent, c.row];
		}
		this.openNew(c, row, before, "");
	}

	openNew(c, row, before, first) {
		const path = c.path + row.step, way = [...c.way(row.index), before ?? row.count];
		this.open(c, row, {at: isArray(row) ? element(path, before ?? row.count, row.count) : path, adds: true, way, what: "New in", label: path}, first);
		this.input.placeholder = isArray(row) ? 'value, such as 10 or "text"' : 'key = value, such as title = "Sir"';
	}

	// renameChosen shows the field for the key of the value that is selected.
	renameChosen() {
		const [c, row] = this.tree.chosenRow() || [];
		if (!isNamed(c, row) || !this.allowed()) return;
		const key = keyOf(row);
		let raw; // unless the key is no String
		try {
			raw = row.step.startsWith(".") ? key : JSON.parse(/^"/.exec(key) ? key : "");
		} catch {}
		this.open(c, row, {at: `${c.path}.key(${row.index})`, way: c.way(row.index), what: "Key of", label: c.path + row.step}, key, raw);
	}

	// duplicateChosen adds an element like the one that is selected after it. The copy in a Dictionary needs another key.
	duplicateChosen() {
		const [c, row] = this.tree.chosenRow() || [];
		if (!isNamed(c, row) && !isElement(c, row) || !this.allowed()) return;
		this.try(async () => {
			const {version} = this.info.file, {text} = await this.textOf(row), to = row.index + 1;
			if (isElement(c, row)) {
				this.send("add", {at: element(c.path, to, c.count), text, way: c.way(to), version});
				return;
			}
			const key = keyOf(row);
			this.openNew(c.parent, c.row, null, `${key} = ${text}`);
			const quoted = key.startsWith('"') ? 1 : 0;
			this.input.setSelectionRange(quoted, key.length - quoted);
		});
	}

	// move moves an element to another index.
	move(c, row, to) {
		if (!isElement(c, row) || to < 0 || to >= c.count || to === row.index || !this.allowed()) return;
		const down = to > row.index;
		this.try(async () => {
			const {version} = this.info.file, {text} = await this.textOf(row);
			const then = {op: "delete", at: element(c.path, row.index + (down ? 0 : 1))};
			this.send("add", {at: element(c.path, to + (down ? 1 : 0), c.count), text, then, way: c.way(to), version});
		});
	}

	// drag moves an element to the line at which the mouse is released.
	drag(event) {
		const {c, index} = event.target.closest(".line")?.drawn || {}, row = c?.rows.get(index);
		if (event.button !== 0 || event.pointerType === "touch" || !isElement(c, row) || event.target.closest("input, .twisty")) return;
		const {element: box, generation} = this.tree, end = new AbortController();
		let over = null;
		const mark = line => {
			for (const e of box.querySelectorAll(".over")) e.classList.remove("over");
			line?.classList.add("over");
		};
		document.addEventListener("pointermove", moved => {
			if (over === null && Math.abs(moved.clientY - event.clientY) < rowHeight / 2) return;
			const line = document.elementFromPoint(moved.clientX, moved.clientY)?.closest("#tree .line");
			over = line?.drawn.c === c ? line.drawn.index : -1;
			mark(over >= 0 ? line : null);
		}, {signal: end.signal});
		for (const type of ["pointerup", "pointercancel"]) document.addEventListener(type, () => {
			end.abort();
			mark(null);
			if (type === "pointerup" && over !== null && over >= 0 && generation === this.tree.generation) this.move(c, row, over);
		}, {signal: end.signal});
	}

	// toggle makes a bool the other one.
	toggle(c, row) {
		this.send("set", {at: c.path + row.step, text: row.text === "true" ? "false" : "true", way: c.way(row.index), version: this.info.file.version});
	}

	deleteChosen() {
		const [c, row] = this.tree.chosenRow() || [];
		if (!row?.step || !c.parent || !this.allowed()) return;
		const parent = c.parent ? c.parent.way(c.index) : [0];
		const way = c.count > 1 ? [...parent, Math.min(row.index, c.count - 2)] : parent;
		this.send("delete", {at: c.path + row.step, way, version: this.info.file.version});
	}

	open(c, row, at, text, raw) {
		this.at = {...at, c, row, version: this.info.file.version, chosen: this.tree.chosen, generation: this.tree.generation};
		this.refused = null;
		byId("field-what").textContent = at.what;
		byId("field-name").textContent = (shortPath(at.label) || "$") + (at.type ? ", " + at.type : "");
		this.showError("");
		this.form.hidden = false;
		byId("save").disabled = false;
		this.field.open(at.type, text, raw);
		this.place();
	}

	close() {
		this.at = null;
		this.form.hidden = true;
		this.tree.element.focus();
		this.shown();
	}

	// place moves the field to the line that is selected, or below it if it is for a new value.
	place() {
		if (!this.at || !this.tree.chosen) return;
		const {lines, chosen: [c, index]} = this.tree;
		const line = c.line(index) - Math.floor(lines.top) + (this.at.adds ? 1 : 0);
		const names = parseFloat(getComputedStyle(lines.frame.firstElementChild).gridTemplateColumns);
		this.form.style.top = Math.max(0, Math.min(line * rowHeight, lines.element.clientHeight - this.form.offsetHeight)) + "px";
		this.form.style.left = (this.narrow.matches ? 8 : names + 5) + "px";
	}

	showError(text, isQuestion = false) {
		byId("field-error").hidden = text === "";
		byId("field-error").textContent = text;
		this.sure.hidden = !isQuestion;
		this.input.setAttribute("aria-invalid", text === "" ? "false" : "true");
	}

	// submit asks for the edit, unless that is under way. If it raises a question, the answer is to be sure.
	submit(how = {}) {
		if (!this.sending && this.at) this.submitted = this.request(how);
		return this.submitted;
	}

	// finish makes the edit in the field, if it is open, or throws why that can't be.
	async finish() {
		await this.submitted;
		await this.submit();
		if (this.at) throw new Error("Nothing is saved: " + byId("field-error").textContent);
	}

	async request({leaving = false, sure = false}) {
		if (this.field.isSame()) {
			this.close();
			return;
		}
		const {at, adds, row, way, version: before} = this.at;
		const edit = {op: adds ? "add" : "set", at, pair: adds && !isArray(row), ...this.field.asked()};
		this.sending = true;
		try {
			const {version, question} = await post("edit", {...edit, version: before, sure});
			if (question && this.at) {
				this.refuse(question, leaving, true);
				return;
			}
			this.close();
			if (version !== before) await this.reload(way, edit.op === "set");
		} catch (error) {
			if (!this.at) { // the user has left the field
				notice(error.message);
				return;
			}
			this.at.version = this.info.file.version;
			this.refuse(error.message, leaving);
		} finally {
			this.sending = false;
		}
	}

	// refuse keeps the field open, with an error or a question.
	refuse(text, leaving, isQuestion) {
		this.refused = this.input.value;
		this.showError(text, isQuestion);
		if (!leaving) (isQuestion ? this.sure : this.input).focus();
		else if (this.at.generation === this.tree.generation) this.tree.select(...this.at.chosen); // the field is beside it
	}

	// send asks for an edit that needs no field, after those before it: of a version, or of the latest.
	send(op, {way = null, version = 0, ...edit} = {}) {
		if (!this.allowed()) return;
		this.sent = this.sent.then(async () => {
			try {
				if (op === "save") await this.finish();
				const before = version || this.info.file.version;
				const answer = await this.decided({op, ...edit, version: before});
				notice("");
				if (answer.version !== before) await this.reload(way, op === "set");
			} catch (error) {
				notice(error.message, op === "save" ? this.commands() : []);
			}
		});
	}

	// commands returns the commands that make the edits that are not saved.
	commands() {
		const {command, edits: {pending}} = this.info.file;
		return (pending || []).map(({op, line}) => op === "undo" ? "# undo: " + line : `gdwire ${op} -i ${quote(line)} ${quote(command)}`);
	}

	// decided posts an edit and what the user decides, as long as there are questions.
	async decided(edit) {
		const {question, doubt, ...answer} = await post("edit", edit);
		if (question) {
			await decide(question, {sure: "do it", "": "do not"});
			return this.decided({...edit, sure: true});
		}
		if (!doubt) return answer;
		const how = await decide(`In the bytes around the values, ${doubt.text}.`, {keep: "keep the number", derive: "write it anew", "": "do not save"});
		const {version} = (await ask("info", {})).file;
		return this.decided({op: edit.op, version, [how]: doubt.at});
	}

	keyInField(event) {
		if (event.key === "Escape") this.close();
		else if (event.key === "Enter" && event.target.matches("input, textarea") && !event.isComposing && !(event.shiftKey && this.field.isRaw)) this.submit();
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	keyInTree(event) {
		if (event.ctrlKey || event.metaKey) return;
		if (this.tree.jump) {
			this.tree.jump.then(() => this.keyInTree(event));
			return;
		}
		const [c, row] = this.tree.chosenRow() || [];
		const move = by => row && this.move(c, row, row.index + by);
		const press = event.altKey ? {ArrowUp: () => move(-1), ArrowDown: () => move(1)}[event.key] : {
			F2: () => this.editChosen(), Insert: () => this.addChosen(), a: () => this.addChosen(), Delete: () => this.deleteChosen(),
			r: () => this.renameChosen(), d: () => this.duplicateChosen(), " ": row?.type === "bool" && (() => this.toggle(c, row)),
		}[event.key];
		if (!press) return;
		event.preventDefault();
		press();
	}

	// key is called for any key of the page.
	key(event) {
		if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
		const key = event.key.toLowerCase();
		const op = key === "s" ? "save" : key === "y" || key === "z" && event.shiftKey ? "redo" : key === "z" ? "undo" : "";
		if (!op || op !== "save" && isTyping(event)) return;
		event.preventDefault();
		this.send(op);
	}
}

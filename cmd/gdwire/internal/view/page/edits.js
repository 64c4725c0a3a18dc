// Edits of the file: the field in which a value is written, and what undoes and saves. The server holds them.

import {ask, byId, isTyping, notice, post, quote, shortPath} from "./base.js";
import {rowHeight} from "./lines.js";

const isText = row => /^(String|StringName|NodePath)$/.test(row.type);
const isArray = row => /^(Array|Packed)/.test(row.type);
// takesMore returns whether a value can be added to another: bytes are edited as a whole.
const takesMore = row => /^(Array|Dictionary|Object|Packed)/.test(row.type) && row.type !== "PackedByteArray";

export class Edits {
	// reload shows the latest version, in which a way leads to the value to select, and tells whether all others
	// stay where they were.
	constructor(info, tree, reload) {
		this.info = info;
		this.tree = tree;
		this.reload = reload;
		this.at = null; // what the field is about: {c, row, adds, first, version, chosen, generation}
		this.form = byId("field");
		this.input = byId("field-value");
		this.sure = byId("field-sure");
		this.sending = false; // what is in the field
		this.sent = Promise.resolve(); // after all that was asked for without it
		this.narrow = matchMedia("(max-width: 600px)");
		tree.lines.drawn = () => this.place();
		new ResizeObserver(() => this.place()).observe(this.form);
		this.form.addEventListener("submit", event => {
			event.preventDefault();
			this.submit();
		});
		this.form.addEventListener("keydown", event => this.keyInField(event));
		this.input.addEventListener("beforeinput", event => { // a value is one line
			if (event.inputType === "insertLineBreak") event.preventDefault();
		});
		this.form.addEventListener("focusout", event => {
			if (this.at && !this.form.contains(event.relatedTarget) && this.input.value !== this.refused) this.submit({leaving: true});
		});
		this.input.addEventListener("input", () => { // the question was about another text
			if (!this.sure.hidden) this.showError("");
		});
		this.sure.addEventListener("click", () => this.submit({sure: true}));
		const buttons = {
			edit: () => this.editChosen(), add: () => this.addChosen(), delete: () => this.deleteChosen(),
			undo: () => this.send("undo"), redo: () => this.send("redo"), save: () => this.send("save"), drop: () => this.send("drop"),
		};
		for (const [id, press] of Object.entries(buttons)) byId(id).addEventListener("click", press);
		tree.element.addEventListener("keydown", event => this.keyInTree(event));
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
		byId("save").disabled = !edits.unsaved;
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
	}

	// allowed returns whether what is shown can be edited, or says why not.
	allowed() {
		const why = this.tree.args.packet !== undefined ? "packets are not edited" : this.info.file.edits.readOnly;
		if (why) notice("Nothing is edited: " + why);
		return !why;
	}

	// edit shows the field for a value, with its text selected.
	async edit(c, row) {
		if (!row.step || row.error || !this.allowed()) return;
		try {
			const text = row.width && row.type !== "String" ? row.text : (await ask("text", {...this.tree.args, at: row.at, end: row.end, width: row.width || 0})).text;
			this.open(c, row, {first: text, label: c.path + row.step});
		} catch (error) {
			notice(error.message);
			return;
		}
		const quoted = isText(row) ? this.input.value.indexOf('"') + 1 : 0;
		this.input.setSelectionRange(quoted, this.input.value.length - (quoted ? 1 : 0));
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
		const path = c.path + row.step;
		this.open(c, row, {first: "", label: path, adds: isArray(row) ? before === null ? path + "[+]" : `${path}[${before}]` : path, before});
		this.input.placeholder = isArray(row) ? "value" : "key = value";
	}

	deleteChosen() {
		const [c, row] = this.tree.chosenRow() || [];
		if (!row?.step || !c.parent || !this.allowed()) return;
		const parent = c.parent ? c.parent.way(c.index) : [0];
		const way = c.count > 1 ? [...parent, Math.min(row.index, c.count - 2)] : parent;
		this.send("delete", {at: c.path + row.step, way, version: this.info.file.version});
	}

	open(c, row, at) {
		this.at = {...at, c, row, version: this.info.file.version, chosen: this.tree.chosen, generation: this.tree.generation};
		this.refused = null;
		this.input.value = at.first;
		this.input.placeholder = "";
		byId("field-what").textContent = at.adds ? "New in" : "Value of";
		byId("field-name").textContent = (shortPath(at.label) || "$") + (at.adds ? "" : ", " + row.type);
		this.showError("");
		this.form.hidden = false;
		this.place();
		this.input.focus({preventScroll: true});
	}

	close() {
		this.at = null;
		this.form.hidden = true;
		this.tree.element.focus();
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

	// asked returns the edit that the field asks for, and the way to its value after it.
	asked() {
		const {c, row, adds, before} = this.at;
		const text = this.input.value, way = c.way(row.index);
		if (!adds) return [{op: "set", at: c.path + row.step, text, bare: isText(row)}, way];
		return [{op: "add", at: adds, text, pair: !isArray(row)}, [...way, before ?? row.count]];
	}

	// submit asks for the edit. If it raises a question, the answer is to be sure.
	async submit({leaving = false, sure = false} = {}) {
		if (this.sending || !this.at) return;
		if (this.input.value === this.at.first) {
			this.close();
			return;
		}
		const [edit, way] = this.asked();
		const {version: before} = this.at;
		this.sending = true;
		try {
			const {version, question} = await post("edit", {...edit, version: before, sure});
			if (question) {
				this.refuse(question, leaving, true);
				return;
			}
			this.close();
			if (version !== before) await this.reload(way, edit.op === "set");
		} catch (error) {
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
	send(op, {at = "", way = null, version = 0} = {}) {
		if (!this.allowed()) return;
		this.sent = this.sent.then(async () => {
			try {
				const before = version || this.info.file.version;
				const answer = await this.decided({op, at, version: before});
				notice("");
				if (answer.version !== before) await this.reload(way);
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

	// decided posts an edit and, as long as numbers are doubtful, what the user decides about them.
	async decided(edit) {
		const answer = await post("edit", edit);
		if (!answer.doubt) return answer;
		const dialog = byId("doubt");
		byId("doubt-text").textContent = `In the bytes around the values, ${answer.doubt.text}.`;
		dialog.returnValue = "";
		dialog.showModal();
		await new Promise(resolve => dialog.addEventListener("close", resolve, {once: true}));
		if (!dialog.returnValue) throw new Error("Nothing is saved: " + answer.doubt.text);
		const {version} = (await ask("info", {})).file;
		return this.decided({op: edit.op, version, [dialog.returnValue]: answer.doubt.at});
	}

	keyInField(event) {
		if (event.key === "Escape") this.close();
		else if (event.key === "Enter" && event.target === this.input && !event.isComposing) this.submit();
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	keyInTree(event) {
		if (event.ctrlKey || event.altKey || event.metaKey) return;
		const press = {F2: () => this.editChosen(), Insert: () => this.addChosen(), a: () => this.addChosen(), Delete: () => this.deleteChosen()}[event.key];
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

// The page of gdwire view: what its parts have to do with each other.

import {ask, byId, isTyping, make, notice, pause, sized} from "./base.js";
import {Changes} from "./changes.js";
import {Edits} from "./edits.js";
import {Packets} from "./packets.js";
import {Search} from "./search.js";
import {Tree} from "./tree.js";
import {Value} from "./value.js";

const info = await ask("info", {});
const changes = new Changes(path => tree.goTo(path));
const value = new Value(info, () => tree, way => tree.follow(way));
const tree = new Tree(byId("tree"), {
	show: (c, row) => {
		edits?.chosen(c, row);
		return value.show(c, row);
	},
	edit: (c, row) => edits?.edit(c, row),
	flip: info.file?.edits.readOnly === "" && ((c, row) => edits.toggle(c, row)),
	marks: path => tree.args.packet === undefined ? changes.mark(path) : null,
	name: index => tree.args.packet !== undefined ? "packet " + tree.args.packet : tree.root.count === 1 ? info.file.name : "value " + index,
});
value.attach();

// showFile shows the latest version of the file. What fits the window is opened, if fit is set.
function showFile(fit) {
	const {file} = info;
	byId("name").textContent = file.name;
	const framed = file.frame !== "none";
	byId("about").textContent = `${file.format}${framed ? ", packets with length" : ""}${file.container}, ${sized(file.size)}`;
	edits.shown();
	return tree.reset({version: file.version}, framed, fit);
}

function showPacket(number) {
	return tree.reset({packet: number}, false, true);
}

let loading = Promise.resolve();

// reload shows the latest version of the file with what was open and selected. A way selects another value.
// The hits of a search stay if they are still where they were.
function reload(way, staysInPlace) {
	loading = loading.catch(() => {}).then(async () => {
		const latest = await ask("info", {});
		if (latest.file.version === info.file.version) { // watch was faster
			if (way && !edits.at) await tree.follow(way); // or the user edits the next value already
			return;
		}
		const state = tree.state();
		Object.assign(info, latest);
		tree.lines.hold(true);
		if (!staysInPlace) search.clear();
		notice(info.file.edits.note);
		const compared = compare();
		try {
			await showFile(false);
			await tree.restore(state, way);
		} finally {
			tree.lines.hold(false);
		}
		await compared;
	});
	return loading;
}
const edits = info.file && new Edits(info, tree, reload);

// Search.

const scopes = {
	file: ["this file", () => ({args: {version: info.file.version}, size: info.file.size})],
	packets: ["all packets", () => ({args: {packets: "all"}, size: 0})],
	packet: ["this packet", () => ({args: tree.args, size: 0})],
};
for (const [name, [text]] of Object.entries(scopes)) {
	if (name === "file" ? !info.file : !info.live) continue;
	const option = make("option", "", text);
	option.value = name;
	byId("where").append(option);
}
byId("where").hidden = byId("where").options.length < 2;
if (byId("where").hidden) byId("scope").textContent = "Search " + scopes[byId("where").value][0];

async function followHit(hit) {
	if (hit.packet !== undefined && tree.args.packet !== hit.packet) await showPacket(hit.packet);
	await tree.follow(hit.way);
}
const search = new Search(() => scopes[byId("where").value][1](), followHit, path => ask("way", {...tree.args, path}));

// The border between values and bytes.

const border = byId("border"), right = byId("right");

const setWidth = width => { right.style.flexBasis = Math.max(320, Math.min(width, innerWidth - 300)) + "px"; };

function moveBorder(width) {
	setWidth(width);
	localStorage.setItem("width", width);
}
border.addEventListener("pointerdown", event => border.setPointerCapture(event.pointerId));
border.addEventListener("pointermove", event => {
	if (border.hasPointerCapture(event.pointerId)) moveBorder(innerWidth - event.clientX);
});
border.addEventListener("keydown", event => {
	const by = {ArrowLeft: 20, ArrowRight: -20}[event.key];
	if (by) moveBorder(right.getBoundingClientRect().width + by);
});
setWidth(Number(localStorage.getItem("width")) || 600);

// compare shows what differs from the file, or from another one, or from this one before it changed.
async function compare() {
	const {before, changed, edits: {unsaved}} = info.file;
	if (unsaved) await changes.load(", not saved");
	else if (changed) await changes.load(` since the file changed at ${new Date(changed).toLocaleTimeString()}`);
	else if (before) await changes.load(` since ${before}`);
	else changes.clear();
	tree.lines.update();
}

// showEnd tells that gdwire has ended. The edits that are not saved can be copied, as commands.
function showEnd(why) {
	const {edits: state} = info.file;
	const rest = state.unsaved || state.waiting.length > 0 ? "The file is as it was, without the edits that are not saved." : "This page does not change any more.";
	notice(`${why}. ${rest}`, edits.commands());
	state.readOnly ||= why;
	edits.shown();
}

// watch shows each new version of the file, and what has changed in it.
async function watch() {
	let fault = null;
	for (;;) {
		let answer;
		try {
			answer = await ask("watch", {version: info.file.version, ...fault && {fault: true}});
		} catch (error) {
			showEnd(error.message);
			return;
		}
		if (answer.fault) {
			const {unsaved, waiting} = info.file.edits;
			notice(`The file cannot be read any more (${answer.fault.text}): this is what it was.` + (unsaved || waiting.length > 0 ? " Your edits are kept." : ""));
			await pause(1000);
		} else if (fault) notice("");
		fault = answer.fault;
		await reload().catch(() => {}); // watch says what has happened
	}
}

// The address leads to a value.

const goToAddress = async hash => {
	try {
		const missing = await tree.goTo(decodeURIComponent(hash.slice(1)));
		if (missing) notice("There is no " + missing.replace(/^\$/, "") + " in it.");
	} catch (error) {
		notice(error.message);
	}
};
addEventListener("hashchange", () => { if (info.file) goToAddress(location.hash); });

// The keys and the theme.

byId("help").addEventListener("click", () => byId("keys").showModal());
document.addEventListener("keydown", event => {
	if (event.key !== "?" || isTyping(event) || event.ctrlKey || event.altKey || event.metaKey) return;
	event.preventDefault();
	byId("keys").showModal();
});
for (const e of document.querySelectorAll(".of-edits")) e.hidden = info.file?.edits.readOnly !== "";
byId("theme").addEventListener("click", () => {
	const {dataset} = document.documentElement;
	const isDark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	dataset.theme = isDark ? "light" : "dark";
	localStorage.setItem("theme", dataset.theme);
});
if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");

if (info.file) {
	const address = location.hash; // before a value is selected
	const loaded = showFile(true);
	byId("tree").focus();
	notice(info.file.edits.note);
	compare();
	if (info.file.changes) watch();
	if (address.length > 1) loaded.then(() => goToAddress(address));
}
if (info.live) {
	byId("query").placeholder = "text or path = value (/)";
	byId("nothing").textContent = "Select a packet to see its values and bytes.";
	byId("where-it-is").hidden = !info.file;
	byId("live").hidden = false;
	const name = info.recording || "live packets";
	document.title = name + " – gdwire view";
	byId("name").textContent = name;
	new Packets(showPacket).run();
}
await tree.ready;
document.body.dataset.ready = "true";

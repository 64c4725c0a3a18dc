// The page of gdwire view: what its parts have to do with each other.

import {ask, byId, make, notice, pause, sized} from "./base.js";
import {Changes} from "./changes.js";
import {Packets} from "./packets.js";
import {Search} from "./search.js";
import {Tree} from "./tree.js";
import {Value} from "./value.js";

const info = await ask("info", {});
const changes = new Changes(path => tree.goTo(path));
const value = new Value(info, () => tree, way => tree.follow(way));
const tree = new Tree(byId("tree"), (c, row) => value.show(c, row), path => tree.args.packet === undefined ? changes.mark(path) : null);
value.attach();

// showFile shows the latest version of the file.
function showFile() {
	const file = info.file;
	document.title = file.name + " – gdwire view";
	byId("name").textContent = file.name;
	const framed = file.frame !== "none";
	byId("about").textContent = `${file.format}${framed ? ", packets with length" : ""}${file.container}, ${sized(file.size)}`;
	return tree.reset({version: file.version}, framed);
}

function showPacket(number) {
	return tree.reset({packet: number}, false);
}

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

// compare shows what differs from another file, or from this one before it changed.
async function compare() {
	const {before, changed} = info.file;
	if (changed) await changes.load(` since the file changed at ${new Date(changed).toLocaleTimeString()}`);
	else if (before) await changes.load(` since ${before}`);
}

// watch shows each new version of the file, and what has changed in it.
async function watch() {
	for (;;) {
		let answer;
		try {
			answer = await ask("watch", {version: info.file.version});
		} catch {
			notice("gdwire has ended: this page does not change any more");
			return;
		}
		if (answer.fault) {
			notice(`The file cannot be read any more (${answer.fault.text}): this is what it was.`);
			await pause(1000);
		}
		if (answer.version === info.file.version) continue;
		const state = tree.state();
		Object.assign(info, await ask("info", {}));
		const loaded = showFile();
		search.clear();
		notice("");
		await compare();
		await loaded;
		await tree.restore(state);
	}
}

if (info.file) {
	showFile();
	byId("tree").focus();
	compare();
	if (info.file.changes) watch();
}
if (info.live) {
	byId("live").hidden = false;
	const name = info.recording || "live packets";
	document.title = name + " – gdwire view";
	byId("name").textContent = name;
	new Packets(showPacket).run();
}
await tree.ready;
document.body.dataset.ready = "true";

// gdwire-web before a file is open: which file, how it is read, and where it is saved.

import {byId, make, sizeText} from "./base.js";
import {change, open, script} from "./reach.js";

const large = 256e6; // bytes of a file that takes long
const maxListed = 200; // files of a folder
const changed = "another program has changed the file: open it again";

function say(text) {
	byId("start-note").textContent = text;
}

// download offers a file for download.
function download(blob, name) {
	const link = make("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// A Target is a file that is open, and where it is saved: a handle of it, and of its folder, if the browser gives them.
class Target {
	constructor(file, handle, folder) {
		Object.assign(this, {file, handle, folder});
	}

	// allow asks the user for the permission to save in place.
	async allow() {
		await this.handle?.requestPermission?.({mode: "readwrite"});
	}

	// isOther returns whether a file is another one than that which was read.
	isOther(file) {
		return file.size !== this.file.size || file.lastModified !== this.file.lastModified;
	}

	// look tells gdwire when another program has changed the file.
	async look() {
		const now = await this.handle.getFile();
		if (this.saving || !this.isOther(now)) return;
		this.file = now;
		change(now);
	}

	// save writes a new file, and returns it, and the name of the copy of the old one if needed. Files that are too large for
	// memory are read where they are, and so are downloaded.
	async save(blob, isBackupNeeded) {
		const {file: {name}} = this;
		if (!this.handle || this.file.size > 64 * 1024 * 1024) {
			await this.file.slice(0, 1).arrayBuffer().catch(() => { throw new Error(changed); });
			download(blob, name);
			return {file: new File([blob], name), backup: "", note: `The new ${name} is among your downloads. Keep a copy of the old one, and put the new one in its place. ${byId("places").textContent}`};
		}
		this.saving = true;
		try {
			if (this.isOther(await this.handle.getFile())) throw new Error(changed);
			const backup = isBackupNeeded ? await this.copy() : "";
			const to = await this.handle.createWritable();
			await to.write(blob);
			await to.close(); // replaces the file
			this.file = await this.handle.getFile();
			return {backup, file: this.file, note: ""};
		} finally {
			this.saving = false;
		}
	}

	// copy makes a copy of the file: beside it, or as a download.
	async copy() {
		const old = await this.file.arrayBuffer();
		const {name} = this.file;
		if (!this.folder) {
			download(new Blob([old]), name + ".bak");
			return name + ".bak";
		}
		for (let n = 1; ; n++) {
			const backup = name + (n === 1 ? ".bak" : `.${n}.bak`);
			if (await this.folder.getFileHandle(backup).then(() => true, error => error.name !== "NotFoundError")) continue;
			const to = await (await this.folder.getFileHandle(backup, {create: true})).createWritable();
			await to.write(old);
			await to.close();
			return backup;
		}
	}
}

// choose waits until the user chooses one of several, each a button with a text.
function choose(list, all) {
	byId(list).hidden = false;
	return new Promise(resolve => {
		byId(list).replaceChildren(...all.map(([text, value]) => {
			const item = make("li"), button = make("button", "", text);
			button.type = "button";
			button.addEventListener("click", () => {
				byId(list).hidden = true;
				resolve(value);
			});
			item.append(button);
			return item;
		}));
	});
}

function password() {
	byId("password-form").hidden = false;
	byId("password").focus();
	return new Promise(resolve => {
		byId("password-form").onsubmit = event => {
			event.preventDefault();
			resolve(byId("password").value);
		};
	});
}

// show opens files, the newest last, and shows the page.
async function show(targets) {
	const target = targets.at(-1);
	const options = {format: byId("format").value, frame: byId("frame").value};
	for (;;) {
		say(target.file.size > large ? `${sizeText(target.file.size)}: this takes a while, and each edit does.` : "opening …");
		const answer = await open(targets, options);
		if (!answer.error) break;
		say(answer.error);
		if (answer.password) options.password = await password();
		else if (answer.readings) Object.assign(options, await choose("readings", answer.readings.map(r => [`${r.format}, length: ${r.frame}, ${r.text}`, {format: r.format, frame: r.frame}])));
		else return;
	}
	byId("start").hidden = true;
	document.body.classList.remove("starting");
	await import("./page.js");
	addEventListener("beforeunload", event => { if (!byId("save").disabled) event.preventDefault(); });
	if (target.handle) setInterval(() => target.look().catch(() => {}), 1000); // a file that is gone can come back
}

// inFolder returns the files in a folder and the folders in it.
async function inFolder(folder, path = "", all = []) {
	for await (const handle of folder.values()) {
		if (all.length === maxListed) break;
		if (handle.kind === "directory") await inFolder(handle, path + handle.name + "/", all);
		else all.push({path: path + handle.name, target: new Target(await handle.getFile(), handle, folder)});
	}
	return all;
}

async function showFolder(folder) {
	const all = await inFolder(folder);
	all.sort((a, b) => b.target.file.lastModified - a.target.file.lastModified);
	say(all.length === 0 ? "The folder is empty." : "");
	await show([await choose("in-folder", all.map(({path, target}) => [`${path}, ${sizeText(target.file.size)}, ${new Date(target.file.lastModified).toLocaleString()}`, target]))]);
}

const showTargets = targets => show(targets.sort((a, b) => a.file.lastModified - b.file.lastModified).slice(-2));

// showHandles shows files, or a folder, of which the browser gives handles.
async function showHandles(handles) {
	if (handles[0]?.kind === "directory") await showFolder(handles[0]);
	else await showTargets(await Promise.all(handles.map(async handle => new Target(await handle.getFile(), handle))));
}

async function drop(event) {
	const items = [...event.dataTransfer.items].filter(item => item.kind === "file");
	const handles = globalThis.isSecureContext && items[0]?.getAsFileSystemHandle ? items.map(item => item.getAsFileSystemHandle()) : []; // before the event ends
	const files = [...event.dataTransfer.files];
	const got = (await Promise.all(handles)).filter(Boolean);
	if (got.length > 0) await showHandles(got);
	else if (files.length > 0) await showTargets(files.map(file => new Target(file)));
}

// on runs what the user asks for, and says why it fails, unless the user has canceled it.
function on(element, type, run) {
	element.addEventListener(type, event => {
		if (byId("start").hidden) return;
		run(event)?.catch(error => { if (error.name !== "AbortError") say(error.message); });
	});
}
on(byId("file"), "change", event => showTargets(Array.from(event.target.files, file => new Target(file))));
on(byId("open-file"), "click", async () => showHandles(await showOpenFilePicker({multiple: true})));
on(byId("open-folder"), "click", async () => showFolder(await showDirectoryPicker({mode: "readwrite"})));
on(byId("example"), "click", async () => show([new Target(new File([await (await fetch("example.save")).blob()], "example.save"))]));
addEventListener("dragover", event => event.preventDefault());
addEventListener("drop", event => event.preventDefault());
on(globalThis, "drop", drop);
byId("in-place").hidden = !globalThis.showOpenFilePicker;
navigator.serviceWorker?.register(script("offline.js")).catch(() => {}); // without it, the page needs the network
document.body.dataset.started = "true";

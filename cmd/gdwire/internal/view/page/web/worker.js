// The Worker, in which gdwire runs and answers the page. A service worker would lose the edits when the browser ends it.
importScripts("wasm_exec.js");

const reader = new FileReaderSync();
let written = null; // what tells gdwire that the file is saved

self.readFile = (file, from, to) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to)));
self.answered = (id, type, bytes, done) => postMessage({id, type, bytes, done}, [bytes.buffer]);
self.save = (parts, backup, done) => {
	written = done;
	postMessage({save: new Blob(parts), backup});
};
const running = new Promise(resolve => { self.started = resolve; });

async function load(imports) {
	try {
		return await WebAssembly.instantiateStreaming(fetch("gdwire.wasm"), imports);
	} catch { // the host sends another type than application/wasm
		return WebAssembly.instantiate(await (await fetch("gdwire.wasm")).arrayBuffer(), imports);
	}
}

async function start() {
	const go = new Go();
	const {instance} = await load(go.importObject);
	go.run(instance).then(() => postMessage({ended: "perhaps there is not enough memory"}), error => postMessage({ended: error.message}));
	await running;
}
const ready = start().catch(error => postMessage({ended: error.message}));

addEventListener("message", async ({data}) => {
	await ready;
	if (data.open) gdwire.open(data.open, data.options, question => postMessage({opened: question}));
	else if (data.written) written(data.written);
	else if (data.change) gdwire.change(data.change);
	else if (data.abort) gdwire.abort(data.abort);
	else gdwire.answer(data.id, data.what, data.body ?? "");
});

// How the page asks gdwire: in a Worker of this page.

const scripts = ["worker.js", "offline.js"];
const policy = globalThis.trustedTypes?.createPolicy("gdwire", {createScriptURL: name => {
	if (scripts.includes(name)) return name;
	throw new TypeError(name);
}});
// script returns the address of a script that the page starts.
export const script = name => policy ? policy.createScriptURL(name) : name;

const worker = new Worker(script("worker.js"));
const waiting = new Map(); // functions for the parts and the error of each answer, by the number of the request
let number = 0, opened = null, target = null, ended = "";

function end(why) {
	ended = "gdwire has ended" + (why ? ": " + why : "");
	opened?.({error: ended});
	for (const [, fail] of [...waiting.values()]) fail(new Error(ended));
}
worker.onerror = event => end(event.message);
worker.onmessage = async ({data}) => {
	if (data.opened) opened(JSON.parse(data.opened));
	else if (data.save) worker.postMessage({written: await target.save(data.save, data.backup).catch(error => ({error: error.message}))});
	else if (data.ended !== undefined) end(data.ended);
	else waiting.get(data.id)?.[0](data);
};

// open opens the files of targets, the newest last, and returns what gdwire has to ask.
export function open(targets, options) {
	target = targets.at(-1);
	return new Promise(resolve => {
		opened = resolve;
		if (ended) end("");
		else worker.postMessage({open: targets.map(t => t.file), options: JSON.stringify(options)});
	});
}

// change tells gdwire that the file is another one.
export const change = file => worker.postMessage({change: file});

// reach returns the answer to a request, unless gdwire has ended.
export async function reach(what, {signal, body} = {}) {
	if (body && JSON.parse(body).op === "save") await target.allow(); // the browser asks while the user's click is recent
	if (ended) throw new Error(ended);
	signal?.throwIfAborted();
	const id = ++number;
	return new Promise((resolve, reject) => {
		let to;
		const stream = new ReadableStream({start: controller => { to = controller; }});
		const fail = error => {
			waiting.delete(id);
			reject(error);
			to.error(error);
		};
		waiting.set(id, [({type, bytes, done}) => {
			to.enqueue(bytes);
			resolve?.(new Response(stream, {headers: {"Content-Type": type}}));
			resolve = null; // the page reads the stream now
			if (!done) return;
			waiting.delete(id);
			to.close();
		}, fail]);
		signal?.addEventListener("abort", () => {
			if (!waiting.has(id)) return;
			worker.postMessage({abort: id});
			fail(signal.reason);
		});
		worker.postMessage({id, what, body});
	});
}

// showPicture shows a picture in an element.
export async function showPicture(image, args) {
	const answer = await reach("picture?" + new URLSearchParams(args)).catch(() => null);
	if (!answer) return;
	image.onload = image.onerror = () => URL.revokeObjectURL(image.src);
	image.src = URL.createObjectURL(await answer.blob());
}

// The service worker, which keeps the files of a release for use without a network. A new release is used when no page shows
// the old one.
const prefix = `gdwire-web ${registration.scope} `; // other pages of the host have caches, too
const release = prefix + "RELEASE", files = ["FILES"];

async function keep() {
	const cache = await caches.open(release);
	await cache.addAll(files.map(file => new Request(file, {cache: "reload"})));
}

async function drop() {
	for (const name of await caches.keys()) if (name.startsWith(prefix) && name !== release) await caches.delete(name);
	await clients.claim();
}

async function answer(request) {
	const cache = await caches.open(release);
	return await cache.match(request, {ignoreSearch: true}) || fetch(request);
}

addEventListener("install", event => event.waitUntil(keep()));
addEventListener("activate", event => event.waitUntil(drop()));
addEventListener("fetch", event => event.respondWith(answer(event.request)));

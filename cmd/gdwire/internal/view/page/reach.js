// How the page asks gdwire: by HTTP.

// reach returns the answer to a request, unless gdwire has ended.
export async function reach(what, options) {
	try {
		return await fetch(what, options);
	} catch (error) {
		throw error.name === "AbortError" ? error : new Error("gdwire has ended");
	}
}

// showPicture shows a picture in an element.
export const showPicture = (image, args) => { image.src = "picture?" + new URLSearchParams(args); };

// The field in which a value is written: text as it is, a vector or Color by its components, and anything else as set takes it.

import {byId, make} from "./base.js";

const axes = {Rect2: "x y w h", Rect2i: "x y w h", Plane: "x y z d", Quaternion: "x y z w", Color: "r g b a"};

// namesOf returns the names of the components of a type.
const namesOf = type => (axes[type] || "x y z w".slice(0, 2 * (/^Vector([234])i?$/.exec(type)?.[1] || 0))).split(" ").filter(Boolean);

// hexOf returns a color of a picker from components.
const hexOf = all => "#" + all.slice(0, 3).map(x => Math.round(255 * Math.max(0, Math.min(1, x || 0))).toString(16).padStart(2, "0")).join("");

export class Field {
	constructor() {
		this.input = byId("field-value");
		this.parts = byId("field-parts");
		this.isRaw = false; // the text is without quotes
		this.input.addEventListener("beforeinput", event => { // a value that is no text is one line
			if (event.inputType === "insertLineBreak" && !this.isRaw) event.preventDefault();
		});
		this.input.addEventListener("input", () => this.split());
		this.parts.addEventListener("input", event => this.join(event.target));
	}

	// open shows a value of a type, or nothing yet, with what is likely to be replaced selected.
	open(type, literal, raw) {
		this.isRaw = raw !== undefined;
		this.type = type;
		this.first = this.input.value = this.isRaw ? raw : literal;
		this.input.placeholder = "";
		this.show(literal);
		const first = this.parts.querySelector("input") || this.input;
		first.focus({preventScroll: true});
		first.select();
	}

	// show shows a field for each component, if all are numbers.
	show(literal) {
		const names = namesOf(this.type), numbers = componentsOf(literal);
		const fields = numbers.length === names.length ? names.map((name, i) => {
			const label = make("label", "", name), input = make("input");
			input.value = numbers[i];
			input.inputMode = "decimal";
			label.append(input);
			return label;
		}) : [];
		if (this.type === "Color" && fields.length > 0) {
			const picker = make("input");
			picker.type = "color";
			picker.ariaLabel = "Color";
			picker.value = hexOf(numbers);
			fields.push(picker);
		}
		this.parts.hidden = fields.length === 0;
		this.parts.replaceChildren(...fields);
	}

	numbers() { return [...this.parts.querySelectorAll("label input")]; }

	// join makes the value of the components, of which one was changed. What is no number is the whole value.
	join(changed) {
		const inputs = this.numbers(), typed = changed.value.trim();
		if (changed.type !== "color" && !/^[-+]?(inf|nan|[\d._]*(e[-+]?\d*)?|0[xb]\w*)$/i.test(typed)) {
			this.input.value = typed;
			return;
		}
		if (changed.type === "color") {
			for (const [i, digits] of changed.value.slice(1).match(/../g).entries()) inputs[i].value = Number((Number.parseInt(digits, 16) / 255).toFixed(4));
		}
		this.input.value = `${this.type}(${inputs.map(input => input.value).join(", ")})`;
	}

	// split shows the components of the value.
	split() {
		const inputs = this.numbers(), numbers = componentsOf(this.input.value);
		if (numbers.length === inputs.length) for (const [i, input] of inputs.entries()) input.value = numbers[i];
	}

	// isSame returns whether nothing was changed.
	isSame() { return this.input.value === this.first; }

	// asked returns the value for a request.
	asked() {
		const text = this.input.value;
		if (this.isRaw) return {text, raw: true};
		return {text: /^\s*#([\da-f]{3,4}){1,2}\s*$/i.test(text) ? `Color("${text.trim()}")` : text};
	}
}

// componentsOf returns the components of a vector or Color, as text.
function componentsOf(literal) {
	const [, inside] = /^\s*\w*\s*\(([^()]*)\)\s*$/.exec(literal) || [];
	return inside ? inside.split(",").map(text => text.trim()) : [];
}

import {make} from "./base.js";

export const rowHeight = 24;
const maxHeight = 8e6; // of a scrolled element, in pixels: beyond it, lines share a pixel

// Lines shows count() lines in an element, of which only the visible ones exist. fill sets the
// content of an element that shows a line, and returns the item in it.
export class Lines {
	constructor(element, count, fill) {
		this.element = element;
		this.count = count;
		this.fill = fill;
		this.top = 0; // the first visible line
		this.frame = make("div", "frame");
		this.frame.setAttribute("role", "presentation");
		this.spacer = make("div");
		this.spacer.setAttribute("role", "presentation");
		this.element.replaceChildren(this.frame, this.spacer);
		this.pending = false;
		this.held = false; // what is drawn stays, while the lines change
		this.drawn = () => {};
		this.element.addEventListener("scroll", () => {
			if (Math.abs(this.element.scrollTop - this.expected) > 1) {
				this.top = this.element.scrollTop / this.scale();
				this.expected = this.element.scrollTop;
			}
			this.update();
		});
		this.element.addEventListener("wheel", event => {
			if (this.scale() === rowHeight || event.ctrlKey) return; // the browser scrolls
			event.preventDefault();
			this.scrollTo(this.top + event.deltaY / rowHeight);
		}, {passive: false});
		new ResizeObserver(() => this.update()).observe(element);
		this.expected = 0;
	}
	visible() { return Math.max(1, Math.floor(this.element.clientHeight / rowHeight)); }
	// scale returns the pixels of a line in the scrolled height.
	scale() {
		const n = this.count();
		return n * rowHeight > maxHeight ? maxHeight / n : rowHeight;
	}
	scrollTo(line) {
		this.top = Math.max(0, Math.min(line, this.count() - this.visible()));
		this.resize();
		this.expected = this.top * this.scale();
		this.element.scrollTop = this.expected;
		this.expected = this.element.scrollTop;
		this.update();
	}
	// show scrolls until a line is visible, or in the middle.
	show(line, centered) {
		const outside = line < this.top || line > this.top + this.visible() - 1;
		if (outside && centered) this.scrollTo(line - Math.floor(this.visible() / 2));
		else if (line < this.top) this.scrollTo(line);
		else if (outside) this.scrollTo(line - this.visible() + 1);
		else this.update();
	}
	resize() {
		const height = Math.max(0, this.count() * this.scale() - this.element.clientHeight);
		this.spacer.style.height = height + "px";
	}
	hold(held) {
		this.held = held;
		this.update();
	}
	update() {
		if (this.pending || this.held) return;
		this.pending = true;
		requestAnimationFrame(() => { this.pending = false; this.draw(); });
	}
	draw() {
		if (this.held) return;
		this.resize();
		const n = this.count();
		const first = Math.max(0, Math.min(Math.floor(this.top), n - 1));
		const shown = n === 0 ? 0 : Math.min(n - first, this.visible() + 1);
		this.element.removeAttribute("aria-activedescendant"); // unless the chosen line is drawn
		while (this.frame.childElementCount < shown) this.frame.append(make("div", "line"));
		while (this.frame.childElementCount > shown) this.frame.lastElementChild.remove();
		for (let i = 0; i < shown; i++) {
			const e = this.frame.children[i];
			e.drawn = this.fill(e, first + i);
		}
		this.drawn();
	}
	// pressed calls each with the item of a line when the line is pressed: the one that was drawn, because others can be
	// at the line since. The mouse presses at once, as a line that is drawn again before the button is released gets no click.
	pressed(each) {
		const press = event => {
			const e = event.target.closest(".line");
			if (e) each(e.drawn, event);
		};
		this.element.addEventListener("mousedown", event => { if (event.button === 0) press(event); });
		this.element.addEventListener("click", event => { if (event.detail === 0) press(event); }); // by other means
	}
}

// choices makes the lines of a listbox selectable: chosen() is the line that is, item(n) the item of a line, and
// select(item) selects another.
export function choices(lines, chosen, item, select) {
	lines.pressed(select);
	lines.element.addEventListener("keydown", event => {
		const last = lines.count() - 1, at = chosen(), page = lines.visible();
		const to = {ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last}[event.key];
		if (to === undefined || last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
		event.preventDefault();
		select(item(Math.max(0, Math.min(to, last))));
	});
}

// option describes a line of a listbox.
export function option(lines, e, line, chosen) {
	e.id = lines.element.id + "-" + line;
	e.setAttribute("role", "option");
	e.setAttribute("aria-selected", chosen ? "true" : "false");
	if (chosen) lines.element.setAttribute("aria-activedescendant", e.id);
}

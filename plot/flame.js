// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zoom, search and keyboard of a flame graph (plot/flame.c). The data is a JSON script in the
 * picture. Frames are in the order of the drawing, each with its depth: a frame's descendants follow
 * it. Frames that would be narrower than half a pixel are not drawn.
 */
(function () {
"use strict";
const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text) {
	return text.replace(/[&<>"]/g, c => escapes[c]);
}

function element(parent, name, attributes, text) {
	const e = document.createElementNS(SVG, name);
	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	e.textContent = text || "";
	return parent.appendChild(e);
}

/* Cuts the text to so many characters. */
function fitted(text, columns) {
	const all = [...text];
	return all.length > columns ? all.slice(0, columns - 1).join("") + "…" : text;
}

function start(svg) {
	const data = JSON.parse(svg.querySelector("script[type='application/json']").textContent);
	const n = data.frames.length / data.stride, frames = [], last = [];
	const group = svg.querySelector(".frames"), alone = svg === document.documentElement;
	let view = 0, shift = 0, at = 0, moved = false, found = null, input = null;

	for (let i = 0; i < n; i++) {
		const [depth, label, width, base, fresh, color, test] =
			data.frames.slice(i * data.stride, (i + 1) * data.stride);
		const up = depth ? last[depth - 1] : -1;
		const f = { depth, up, label: data.labels[label], width, base, fresh, end: i + 1,
			    color: data.colors[color === undefined ? data.labels[label][4] : color],
			    test: test ? data.tests[test - 1] : "; not tested", x: up < 0 ? 0 : frames[up].next };
		f.next = f.x;
		if (up >= 0)
			frames[up].next += width;
		for (let a = up; a >= 0; a = frames[a].up)
			frames[a].end = i + 1;
		last[depth] = frames.length;
		frames.push(f);
	}

	const total = frames[0];
	const number = v => (v / data.scale).toFixed(data.digits);
	const signed = v => (v < 0 ? "−" : "+") + number(Math.abs(v));
	const share = v => (100 * v / total.width).toFixed(2) + " %";

	function figures(f) {
		if (!data.ends)
			return number(f.width) + " " + data.unit + (data.unit === "%" ? "" : ", " + share(f.width)) +
				"; without what it calls: " + number(Math.max(0, f.width - (f.next - f.x)));
		return data.ends[0] + " " + number(f.base) + ", " + data.ends[1] + " " + number(f.fresh) + " " + data.unit +
			": " + signed(f.fresh - f.base) + f.test;
	}

	function what(f) {
		const [name, dso, component, context] = f.label;
		return name + (dso ? " (" + dso + ")" : "") + (component ? " · " + component : "") +
			(context ? " · context " + context : "");
	}

	function top(f) {
		return data.top + data.row * (data.icicle ? f.depth - shift : data.depth + shift - f.depth);
	}

	/* Returns the left edge and the width in pixels; the frames below the view fill the row. */
	function place(f, i) {
		const v = frames[view], per = data.width / v.width;
		if (i < view && f.end >= v.end)
			return [data.left, data.width];
		const x = Math.max(0, (f.x - v.x) * per), end = Math.min(data.width, (f.x + f.width - v.x) * per);
		return [data.left + x, end - x];
	}

	function drawn(f, i) {
		const [x, w] = place(f, i), y = top(f), columns = Math.floor((w - 6) / data.column);
		const classes = [i < view ? "above" : "", found && found.has(i) ? "found" : "", moved && i === at ? "at" : ""];
		const [name, , , context, , mark] = f.label, text = (mark ? "[" + context + "] " : "") + name;
		let out = '<g class="' + classes.join(" ") + '" data-i="' + i + '"><title>' +
			escaped(what(f) + "\n" + figures(f)) + '</title><rect x="' + x.toFixed(1) + '" y="' + y +
			'" width="' + Math.max(w - 0.5, 0.3).toFixed(1) + '" height="' + (data.row - 1) + '" fill="' +
			f.color[0] + '"/>';
		if (mark && w >= data.mark)
			out += '<rect x="' + x.toFixed(1) + '" y="' + (data.icicle ? y : y + data.row - 4) +
				'" width="' + w.toFixed(1) + '" height="3" fill="' + mark + '"/>';
		if (columns >= 3)
			out += '<text x="' + (x + 3).toFixed(1) + '" y="' + (y + data.base) + '" fill="' + f.color[1] +
				'">' + escaped(fitted(text, columns)) + "</text>";
		return out + "</g>";
	}

	/* The picture has rows for the frames that are wide before anyone zooms. Narrow ones may stand higher: the rows
	 * move until they fit or the view has moved to the end, and frames outside the picture are left out. */
	function draw() {
		const v = frames[view], shown = [];
		let deepest = 0;
		for (let i = 0; i < n; i++) {
			const f = frames[i], inside = i >= view ? i < v.end : f.end >= v.end;
			if (inside && place(f, i)[1] >= 0.5) {
				shown.push(i);
				deepest = Math.max(deepest, f.depth);
			} else if (f.end > i + 1 && !(f.end > view && i < view))
				i = f.end - 1;
		}
		shift = Math.min(v.depth, Math.max(0, deepest - data.depth));
		group.innerHTML = shown.filter(i => frames[i].depth >= shift && frames[i].depth - shift <= data.depth)
			.map(i => drawn(frames[i], i)).join("");
		group.classList.toggle("searched", found !== null);
	}

	function say(f) {
		what1.textContent = fitted(what(f), 140);
		what2.textContent = figures(f);
	}

	function zoom(i) {
		view = at = i;
		moved = false;
		draw();
		say(frames[i]);
	}

	/* Adds up the matching frames without those below other matching frames. */
	function search(term) {
		let pattern, sum = 0, base = 0, fresh = 0, end = 0;
		found = null;
		if (term) {
			try {
				pattern = new RegExp(term, "i");
			} catch (e) {
				matched.textContent = "no regular expression: " + fitted(term, 40);
				draw();
				return;
			}
			found = new Set();
			frames.forEach((f, i) => {
				if (!i || !pattern.test(f.label[0]))
					return;
				found.add(i);
				if (i < end)
					return;
				end = f.end;
				sum += f.width;
				base += f.base;
				fresh += f.fresh;
			});
		}
		matched.textContent = !found ? "" : "matched: " + (data.ends
			? number(base) + " → " + number(fresh) + " " + data.unit + ": " + signed(fresh - base)
			: share(sum) + (data.unit === "%" ? "" : " = " + number(sum) + " " + data.unit));
		draw();
	}

	/* Removing the field takes the focus from it, which calls this again. */
	function close() {
		const box = input && input.parentNode;
		input = null;
		if (box)
			box.remove();
	}

	function ask() {
		close();
		const box = element(svg, "foreignObject", { x: data.left, y: data.controls - 18, width: 300, height: 28 });
		input = box.appendChild(document.createElementNS(HTML, "input"));
		input.setAttribute("placeholder", "regular expression, then Enter");
		input.setAttribute("aria-label", "search functions");
		input.addEventListener("blur", close);
		input.focus();
	}

	function reset() {
		close();
		search("");
		zoom(0);
	}

	/* Moves to the next frame on the same row, or to one above or below. */
	function move(key) {
		const f = frames[at], out = key === (data.icicle ? "ArrowDown" : "ArrowUp");
		const seen = i => i >= view && i < frames[view].end && place(frames[i], i)[1] >= 1;
		let to = -1;
		if (key === "ArrowLeft" || key === "ArrowRight") {
			for (let i = 0; i < n; i++)
				if (frames[i].depth === f.depth && seen(i) && (key === "ArrowLeft" ? i < at : i > at && to < 0))
					to = i;
		} else if (out) {
			for (let i = at + 1; i < f.end; i++)
				if (frames[i].up === at && seen(i) && (to < 0 || frames[i].width > frames[to].width))
					to = i;
		} else {
			to = f.up;
		}
		moved = true;
		if (to >= 0) {
			at = to;
			draw();
			say(frames[at]);
		}
	}

	const keys = { "/": ask, Escape: reset, Enter: () => zoom(at), ArrowUp: move, ArrowDown: move,
		       ArrowLeft: move, ArrowRight: move };

	function key(event) {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (input && event.key === "Enter") {
			search(input.value);
			close();
		} else if (event.target.onclick && event.key === "Enter") {
			event.target.onclick();
		} else if (keys[event.key] && (!input || event.key === "Escape")) {
			keys[event.key](event.key);
		} else {
			return;
		}
		event.preventDefault();
	}

	function button(x, text, act) {
		const b = element(svg, "text", { x, y: data.controls, class: "button", role: "button", tabindex: 0 }, text);
		b.onclick = act;
	}

	function frame_of(event) {
		const g = event.target.closest("g[data-i]");
		return g ? Number(g.dataset.i) : -1;
	}

	button(data.left, "Search (/)", ask);
	button(data.left + 110, "Reset (Esc)", reset);
	const matched = element(svg, "text", { x: data.left + 230, y: data.controls, class: "detail matched" });
	const what1 = element(svg, "text", { x: data.left, y: data.controls + 22, class: "detail" });
	const what2 = element(svg, "text", { x: data.left, y: data.controls + 42, class: "detail" });
	group.addEventListener("click", e => frame_of(e) >= 0 && zoom(frame_of(e)));
	group.addEventListener("mouseover", e => frame_of(e) >= 0 && say(frames[frame_of(e)]));
	(alone ? document : svg).addEventListener("keydown", key);
	if (!alone)
		svg.setAttribute("tabindex", 0);
	svg.classList.add("live");
	zoom(0);
}

for (const svg of document.querySelectorAll("svg.flame:not(.live)"))
	start(svg);
})();

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays a person in front of a page of `report --html`. tests/cmd/report-html.t puts this script at the end of the page,
 * Chromium runs it, and each answer is a line on the browser's console: "answer: ok NAME" or "answer: not ok NAME".
 */
const one = selector => document.querySelector(selector);
const shown = selector => [...document.querySelectorAll(selector)].filter(e => !e.closest("[hidden]"));
const key = (name, at) =>
	(at || document.body).dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const field = one("#search");

function answer(name, good) {
	console.log("answer: " + (good ? "ok " : "not ok ") + name);
}

function search(text) {
	field.value = text;
	field.dispatchEvent(new Event("input"));
}

/* The cells of one column, from the top down. */
function column(table, name) {
	const at = [...table.tHead.rows[0].cells].findIndex(c => c.firstChild.textContent.trim() === name);

	return { head: table.tHead.rows[0].cells[at], cells: [...table.tBodies[0].rows].map(r => r.cells[at].textContent) };
}

function is_sorted(texts, order) {
	const known = texts.filter(t => t !== "-"), numbers = known.map(parseFloat);

	return numbers.every((n, i) => !i || order * (n - numbers[i - 1]) >= 0) && texts.slice(0, known.length).every(t => t !== "-");
}

window.addEventListener("error", e => answer("error: " + e.message, false));
const functions = one("#t0-functions table"), rows = functions.tBodies[0].rows.length;
column(functions, "self_ns").head.click();
answer("a click sorts by a column of numbers, the largest first", is_sorted(column(functions, "self_ns").cells, -1));
answer("the heading says so", column(functions, "self_ns").head.getAttribute("aria-sort") === "descending");
key("Enter", column(functions, "self_ns").head);
answer("Enter sorts the other way round", is_sorted(column(functions, "self_ns").cells, 1));
key(" ", column(functions, "symbol").head);
answer("a blank sorts by names", column(functions, "symbol").cells.every((t, i, all) => !i || all[i - 1].toLowerCase() <= t.toLowerCase()));
answer("no row is lost", functions.tBodies[0].rows.length === rows);
key("/");
answer("/ goes to the search", document.activeElement === field);
const whole = shown("tbody tr").length;
search("mmap insert_page");
answer("the search leaves the rows that have all words",
	shown("tbody tr").length > 0 && shown("tbody tr").every(r => /insert_page/.test(r.textContent)));
answer("it says how many", one("#found").textContent.startsWith(shown("tbody tr").length + " rows in "));
answer("it opens the tables with a hit and hides the others", shown("details.table").every(d => d.open && d.querySelector("tbody tr:not([hidden])")));
search("there is no such word");
answer("a search without a hit leaves no row", shown("tbody tr").length === 0 && one("#found").textContent === "0 rows in 0 tables");
key("Escape", field);
answer("Escape shows all rows again", shown("tbody tr").length === whole && field.value === "" && document.activeElement !== field);
answer("names are text, not markup", !one("b.evil") && !window.evil && /<b class=evil>/.test(one("#t0-functions").textContent));
const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
answer("no two elements have the same id", new Set(ids).size === ids.length);
const frames = [...document.querySelectorAll("iframe")];
answer("the charts have figures", frames.filter(f => f.srcdoc.includes("gnuplot_plot")).length > 4);

/* No script of the page can look into the sandboxed frame of a flame graph. This function is called in the frame. */
function person_in_flame() {
	const frames = () => [...document.querySelectorAll(".frames g")];
	const width = g => Number(g.querySelector("rect").getAttribute("width"));
	const tip = g => g.querySelector("title").textContent;
	const say = (name, good) => parent.postMessage((good ? "ok " : "not ok ") + name, "*");
	const click = e => e.dispatchEvent(new MouseEvent("click", { bubbles: true }));
	const labeled = frames().filter(g => g.querySelector("text"));
	const chosen = labeled.sort((a, b) => width(a) - width(b))[0], name = tip(chosen), narrow = width(chosen);
	const whole = frames().length, full = width(frames()[0]);

	click(chosen.querySelector("rect"));
	const wide = frames().find(g => tip(g) === name);
	say("a click in a flame graph of the page makes a frame as wide as the picture", narrow < full && width(wide) === full);
	say("the zoom leaves out the frames beside it", frames().length < whole);
	click(document.querySelectorAll(".button")[1]);
	say("the reset shows all frames again", frames().length === whole && width(frames().find(g => tip(g) === name)) === narrow);
	say("the flame graph has answered", true);
}

const frame = frames.find(f => f.srcdoc.includes('class="flame"'));
answer("every chart loads with the page, so that it is on paper, too", frames.every(f => f.srcdoc.includes("<svg") && f.loading !== "lazy"));
window.addEventListener("message", e => answer(e.data.replace(/^(not )?ok /, ""), e.source === frame.contentWindow && e.data.startsWith("ok ")));
/* A frame that is still loading would lose the new document. */
window.addEventListener("load", () => { frame.srcdoc += "<script>(" + person_in_flame + ")()</" + "script>"; });
answer("the page needs no request", performance.getEntriesByType("resource").length === 0);
answer("the page is no wider than the window", document.documentElement.scrollWidth <= window.innerWidth);

// SPDX-License-Identifier: GPL-2.0-only
/* Sorts and searches the tables of the page. Without a script the page has the same figures. */
(function () {
"use strict";
const all = (selector, at) => [...(at || document).querySelectorAll(selector)];

/* --- a click or Enter on a heading sorts by its column; cells without a value stay last --- */

function cell_key(row, column, number) {
	const text = row.cells[column].textContent;

	if (text === "-" || text === "")
		return null;
	return number ? parseFloat(text) : text.toLowerCase();
}

function sort(th) {
	const table = th.closest("table"), body = table.tBodies[0], number = th.classList.contains("n");
	const was = th.getAttribute("aria-sort");
	const down = was === "none" ? number : was === "ascending";
	const rows = [...body.rows].map(row => ({ row, key: cell_key(row, th.cellIndex, number) }));

	rows.sort((a, b) => {
		if (a.key === null || b.key === null)
			return (a.key === null) - (b.key === null);
		const order = number ? a.key - b.key : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
		return down ? -order : order;
	});
	for (const other of table.tHead.rows[0].cells)
		other.setAttribute("aria-sort", "none");
	th.setAttribute("aria-sort", down ? "descending" : "ascending");
	body.append(...rows.map(r => r.row));
}

for (const th of all("thead th")) {
	th.tabIndex = 0;
	th.setAttribute("aria-sort", "none");
	th.addEventListener("click", () => sort(th));
	th.addEventListener("keydown", e => {
		if (e.key !== "Enter" && e.key !== " ")
			return;
		e.preventDefault();
		sort(th);
	});
}

/* --- the search leaves the rows that have all of its words --- */

const input = document.getElementById("search"), count = document.getElementById("found");
let tables = null;

function tables_read() {
	return all("details.table").map(details => ({
		details, open: details.open, name: details.querySelector("summary b").textContent.toLowerCase(),
		rows: all("tbody tr", details).map(row => ({ row, text: [...row.cells].map(c => c.textContent).join(" ").toLowerCase() })),
	}));
}

function search() {
	const words = input.value.toLowerCase().split(/\s+/).filter(w => w);
	let found = 0, places = 0;

	if (!tables)
		tables = tables_read();
	for (const t of tables) {
		let hits = 0;

		for (const r of t.rows) {
			r.row.hidden = !words.every(w => r.text.includes(w) || t.name.includes(w));
			hits += !r.row.hidden;
		}
		found += hits;
		places += hits > 0;
		t.details.hidden = words.length > 0 && !hits;
		t.details.open = words.length ? hits > 0 : t.open;
	}
	for (const e of all("figure, .absent"))
		e.hidden = words.length > 0;
	count.textContent = words.length ? found + " rows in " + places + " tables" : "";
	if (!words.length)
		tables = null;
}

input.parentElement.hidden = false;
input.addEventListener("input", search);
document.addEventListener("keydown", e => {
	if (e.key === "/" && !e.ctrlKey && !e.metaKey && document.activeElement !== input) {
		e.preventDefault();
		input.focus();
		input.select();
	} else if (e.key === "Escape" && document.activeElement === input) {
		input.value = "";
		search();
		input.blur();
	}
});

/* A link to a table opens it. */
function open_target() {
	const target = location.hash && document.getElementById(location.hash.slice(1));

	if (target && target.matches("details"))
		target.open = true;
}
addEventListener("hashchange", open_target);
open_target();
})();

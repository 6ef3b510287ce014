// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays a person in front of a flame graph. tests/cmd/plot-flame.t puts this script at the end of the picture,
 * Chromium runs it, and the answers are in an attribute of the document: "ok NAME" or "not ok NAME".
 */
const answers = [];
const one = selector => document.querySelector(selector);
const all = selector => [...document.querySelectorAll(selector)];
const key = (name, at) =>
	(at || document).dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const titled = text => all(".frames g").filter(g => g.querySelector("title").textContent.startsWith(text));
const width = g => Number(g.querySelector("rect").getAttribute("width"));

function answer(name, good) {
	answers.push((good ? "ok " : "not ok ") + name);
	document.documentElement.dataset.answers = answers.join(";");
}

function search(text) {
	key("/");
	one("input").value = text;
	key("Enter", one("input"));
}

window.addEventListener("error", e => answer("error: " + e.message, false));
const whole = all(".frames g").length, before = width(titled("do_syscall_64")[0]);
answer("a frame's tip has its name, object, component and context",
	/^do_syscall_64 \(\[kernel.kallsyms\]\) · entry · context syscall\n/.test(titled("do_syscall_64")[0].textContent));
titled("do_softirq")[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
answer("a click makes a frame as wide as the picture", width(titled("do_softirq")[0]) > 1199);
answer("a zoom leaves out the frames beside it", titled("vanished_fn").length === 0);
answer("the frames below it are pale", all(".above").length > 3 && titled("do_syscall_64")[0].matches(".above"));
key("Escape");
answer("Escape shows all frames again", all(".frames g").length === whole && width(titled("do_syscall_64")[0]) === before);
key("/");
answer("/ opens the search", one("input") === document.activeElement);
key("Escape");
answer("Escape closes the search", !one("input"));
search("^_copy_to|^do_softirq");
answer("the search marks all that match", all(".found").length === 3);
answer("a match below a match counts once: " + one(".matched").textContent, one(".matched").textContent === one("desc").dataset.want);
search("(");
answer("a wrong regular expression is a message", one(".matched").textContent.startsWith("no regular expression"));
key("Escape");
answer("Escape ends the search", all(".found").length === 0 && one(".matched").textContent === "");
key("ArrowUp");
key("ArrowUp");
answer("arrows move to the widest frame above", one(".at").textContent.startsWith("main"));
key("Enter");
answer("Enter zooms into it", all(".above").length === 2);
answer("the lines above name it", one(".detail:not(.matched)").textContent.startsWith("main"));
all(".button")[1].dispatchEvent(new MouseEvent("click", { bubbles: true }));
answer("the button resets the zoom", all(".above").length === 0);
answer("names are text, not markup", titled("std::map<").length > 0 && all("b").length === 0);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * As flame-check.js, on a page with two pictures: the difference of two flame graphs, and a flame graph. Here a script
 * must keep to its own picture.
 */
const answers = [];
const [diff, other] = document.querySelectorAll("svg.flame");
const titled = (svg, text) =>
	[...svg.querySelectorAll(".frames g title")].filter(t => t.textContent.startsWith(text)).map(t => t.textContent);
const key = (name, at) => at.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));

function answer(name, good) {
	answers.push((good ? "ok " : "not ok ") + name);
	document.documentElement.dataset.answers = answers.join(";");
}

window.addEventListener("error", e => answer("error: " + e.message, false));
answer("a tip has base, new, change, interval, p, verdict and the frame with the same test", titled(diff, "do_syscall_64").some(t =>
	/\nbaseline [0-9.]+, mmap [0-9.]+ ns per KiB: −[0-9.]+ ± [0-9.]+. p = 0\.[0-9]+: better; same test as entry_SYSCALL_64_after_hwframe$/.test(t)));
answer("a region's tip has its change", titled(diff, "vanished: −").length === 1);
key("/", diff);
diff.querySelector("input").value = "^(vanished|new)_fn$";
key("Enter", diff.querySelector("input"));
answer("a search has the change of all matches: " + diff.querySelector(".matched").textContent,
	diff.querySelector(".matched").textContent.endsWith(document.body.dataset.want));
answer("the other picture is not searched", other.querySelectorAll(".found").length === 0);
key("ArrowUp", other);
answer("keys move in the picture that has them", other.querySelector(".at") && !diff.querySelector(".at"));
answer("names are text", titled(other, "std::map<").length > 0);

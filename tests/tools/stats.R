# SPDX-License-Identifier: GPL-2.0-only
# What R says: Rscript stats.R SEED ROUNDS. Lines of stats_table's input, one question each:
#   question  parameter  a  b  tolerance  answers
# lists with commas. tests/data/stats-r.tsv is `Rscript tests/tools/stats.R 1 8`, from R 4.2.2.
args <- commandArgs(trailingOnly = TRUE)
set.seed(as.integer(args[1]))
rounds <- as.integer(args[2])

list_of <- function(x) paste(sprintf("%.17g", x), collapse = ",")
ask <- function(question, parameter, a, b, answers, tolerance = 1e-9)
	cat(question, list_of(parameter), list_of(a), list_of(b), sprintf("%g", tolerance),
	    list_of(answers), sep = "\t", fill = FALSE)
say <- function(...) { ask(...); cat("\n") }

# Runs as they come: skewed, of any size, without ties.
runs <- function(n, scale = 1) scale * exp(rnorm(n, 0, 0.1))
tied <- function(n) sample(1:6, n, replace = TRUE)

# The permutation distribution itself: every way to call so many of the values "a".
permutation <- function(a, b) {
	r <- rank(c(a, b))
	e <- length(a) * (length(r) + 1) / 2
	w <- combn(length(r), length(a), function(i) sum(r[i]))
	mean(abs(w - e) >= abs(sum(r[seq_along(a)]) - e) - 1e-9)
}

# The order statistics of all pairs that the test of this level leaves inside.
pairs_inside <- function(pairs, na, nb, level) {
	k <- max(1, qwilcox((1 - level) / 2, na, nb))
	s <- sort(pairs)
	c(median(s), s[k], s[length(s) + 1 - k])
}

for (i in seq_len(rounds)) {
	na <- sample(4:12, 1); nb <- sample(4:12, 1)
	a <- runs(na); b <- runs(nb, 1 + 0.1 * (i %% 3))
	w <- wilcox.test(b, a, exact = TRUE, conf.int = TRUE)
	say("mann_whitney", 0, a, b, w$p.value)
	say("test_shift", 0.95, a, b, pairs_inside(outer(b, a, "-"), na, nb, 0.95))
	say("test_ratio", 0.98, a, b, pairs_inside(outer(b, a, "/"), na, nb, 0.98))
	t <- t.test(b, a)
	say("welch", 0.95, a, b, c(diff(rev(t$estimate)), t$conf.int))
	say("mean", 0.95, a, 0, c(mean(a), t.test(a)$conf.int))
	say("middle", 0.95, a, 0, c(mean(a[2:(na - 1)]), t.test(a[2:(na - 1)])$conf.int))
	k <- max(1, qbinom(0.025, na, 0.5))
	say("median", 0.95, a, 0, c(median(a), sort(a)[k], sort(a)[na + 1 - k], 1 - 2 * pbinom(k - 1, na, 0.5)))
	at <- round(runif(1), 3)
	say("quantile", at, a, 0, quantile(a, at, type = 7, names = FALSE))

	ta <- tied(sample(3:6, 1)); tb <- tied(sample(3:6, 1)) + i %% 2
	say("mann_whitney", 0, ta, tb, permutation(ta, tb))
	la <- runs(sample(31:40, 1)); lb <- runs(sample(31:40, 1), 1.05)
	say("mann_whitney", 0, la, lb, wilcox.test(la, lb, exact = FALSE)$p.value)
	ea <- runs(30); eb <- runs(sample(20:30, 1), 1.03)
	say("mann_whitney", 0, ea, eb, wilcox.test(ea, eb, exact = TRUE)$p.value)
	tl <- tied(40); tm <- tied(35)
	say("mann_whitney", 0, tl, tm, wilcox.test(tl, tm, exact = FALSE)$p.value)

	p <- runif(sample(1:9, 1)) ^ 3
	say("holm", 0, p, 0, p.adjust(p, "holm"))
	n <- sample(1:300, 1); hits <- sample(0:n, 1)
	say("proportion", c(hits, n), 0, 0, c(hits / n, binom.test(hits, n)$conf.int))
	say("sd", 0, a, 0, sd(a))
	x <- rnorm(1, 0, 2); df <- runif(1, 1, 40)
	say("normal", x, 0, 0, c(pnorm(x), qnorm(pnorm(x))), 1e-7)
	say("student", c(x, df), 0, 0, c(pt(x, df), qt(pt(x, df), df)), 1e-7)
	say("binomial", c(hits, n, 0.4), 0, 0, pbinom(hits, n, 0.4))

	# Within the error of both bootstraps: 20000 rounds here, 10000 there.
	boot <- replicate(20000, mean(sample(b, nb, TRUE)) / mean(sample(a, na, TRUE)))
	say("boot_ratio", 0.95, a, b, c(mean(b) / mean(a), quantile(boot, c(0.025, 0.975), names = FALSE)), 0.01)
}

# The largest Q of the segment with these distances, and its split: the formula over all pairs, split by split.
best_split <- function(d) {
	n <- nrow(d)
	q <- sapply(5:(n - 5), function(m) {
		x <- seq_len(m); k <- n - m
		m * k / n * (2 * mean(d[x, -x]) - sum(d[x, x]) / (m * (m - 1)) - sum(d[-x, -x]) / (k * (k - 1)))
	})
	c(max(q), which.max(q) + 4)
}
e_divisive <- function(x, alpha, rounds = 199) {
	ends <- c(0, length(x))
	repeat {
		from <- head(ends, -1) + 1; to <- tail(ends, -1)
		best <- mapply(function(f, t) if (t - f < 9) c(0, 0) else best_split(as.matrix(dist(x[f:t]))) + c(0, f - 1), from, to)
		q <- max(best[1, ])
		more <- replicate(rounds, max(mapply(function(f, t) if (t - f < 9) 0 else best_split(as.matrix(dist(sample(x[f:t]))))[1], from, to)))
		if ((1 + sum(more >= q)) / (1 + rounds) > alpha) return(ends[-c(1, length(ends))])
		ends <- sort(c(ends, best[2, which.max(best[1, ])]))
	}
}
# Steps of ten standard deviations have one answer, that of least squares (Bai and Perron), too.
for (i in seq_len(ceiling(rounds / 4))) {
	lengths <- sample(8:20, 3)
	x <- rnorm(sum(lengths)) + rep(c(100, 110, 85 + 35 * (i %% 2)), lengths)
	found <- e_divisive(x, 0.005)
	if (requireNamespace("strucchange", quietly = TRUE))
		stopifnot(identical(as.numeric(found), as.numeric(strucchange::breakpoints(x ~ 1, h = 5, breaks = 2)$breakpoints)))
	say("changes", 0.001, x, 0, found)
}

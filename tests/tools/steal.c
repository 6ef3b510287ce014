// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that tries to reach what belongs to the user who started it, and the traps for it.
 *
 *   steal                 types a command into its controlling terminal, reads a key of its
 * session, and prints what it got steal terminal CMD... runs CMD with a new controlling terminal,
 * then prints what was typed into it steal key CMD...      runs CMD with a key in a new session
 * keyring
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY "zcost-test"

static const char *steal_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR);

	if (fd < 0)
		return strerror(errno);
	for (const char *p = "touch stolen\n"; *p; p++)
		if (ioctl(fd, TIOCSTI, p))
			return "opened";
	return "typed into";
}

static const char *steal_key(void)
{
	static char text[64];
	long key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", KEY, 0);

	if (key < 0 || syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof(text) - 1) < 0)
		return strerror(errno);
	return text;
}

/* Runs in the terminal: starts the command, then reads what waits in the terminal's input. */
static int terminal_run(char **argv)
{
	char text[256];
	pid_t pid = fork();
	ssize_t n;

	if (!pid) {
		execvp(*argv, argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	while ((n = read(STDIN_FILENO, text, sizeof(text))) > 0)
		printf("typed: %.*s", (int)n, text);
	printf("terminal: over\n");
	return 0;
}

static int terminal_open(char **argv)
{
	char text[4096];
	pid_t pid;
	ssize_t n;
	int fd;

	pid = forkpty(&fd, NULL, NULL, NULL);
	if (pid < 0)
		return 1;
	if (!pid)
		return terminal_run(argv);
	while ((n = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	waitpid(pid, NULL, 0);
	return 0;
}

static int key_add(char **argv)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
	    syscall(SYS_add_key, "user", KEY, "secret", 6, KEY_SPEC_SESSION_KEYRING) < 0) {
		perror("keyctl");
		return 1;
	}
	execvp(*argv, argv);
	return 127;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "terminal"))
		return terminal_open(argv + 2);
	if (argc > 2 && !strcmp(argv[1], "key"))
		return key_add(argv + 2);
	printf("terminal: %s\nkey: %s\n", steal_terminal(), steal_key());
	return 0;
}

/* The progress line on a real (pseudo) terminal: there, gone at the end, and nowhere else. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* posix_openpt */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nobody waits longer than this for a line that should appear after a second. */
enum { PATIENCE_SECONDS = 60, TEXT_BYTES = 1 << 16 };

/* A maxrace that reads its trace from `feed`, and what it writes to standard error. */
typedef struct child {
    pid_t pid;
    int feed, error; /* our ends */
    char text[TEXT_BYTES];
    size_t length;
} child;

static void open_terminal(int ends[2])
{
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[0] < 0) { /* a sandbox without them */
        print_message("there are no pseudo-terminals here\n");
        skip();
    }
    assert_int_equal(grantpt(ends[0]), 0);
    assert_int_equal(unlockpt(ends[0]), 0);
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    assert_true(ends[1] >= 0);
}

static void start(child *self, bool terminal, char *const arguments[])
{
    const char *program = getenv("MAXRACE");
    int feed[2], error[2];
    assert_int_equal(pipe(feed), 0);
    if (terminal)
        open_terminal(error);
    else
        assert_int_equal(pipe(error), 0);
    *self = (child){.feed = feed[1], .error = error[0]};
    assert_int_equal(fcntl(self->feed, F_SETFD, FD_CLOEXEC), 0);
    assert_int_equal(fcntl(self->error, F_SETFD, FD_CLOEXEC), 0);
    self->pid = fork();
    assert_true(self->pid >= 0);
    if (self->pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        if (dup2(feed[0], 0) < 0 || dup2(null, 1) < 0 || dup2(error[1], 2) < 0)
            _exit(125);
        execv(program != NULL ? program : "build/release/maxrace", arguments);
        _exit(126);
    }
    close(feed[0]);
    close(error[1]);
}

/* Takes what is there to be read; false at the end. (A terminal nobody writes to any more is an
 * error.) */
static bool take(child *self, int wait_ms)
{
    struct pollfd ready = {.fd = self->error, .events = POLLIN};
    if (poll(&ready, 1, wait_ms) <= 0)
        return true;
    ssize_t got = read(self->error, self->text + self->length, TEXT_BYTES - 1 - self->length);
    if (got <= 0)
        return false;
    self->length += (size_t)got;
    assert_true(self->length < TEXT_BYTES - 1);
    return true;
}

/* Closes the trace and waits for the end. */
static void finish(child *self)
{
    int status;
    close(self->feed);
    while (take(self, 1000 * PATIENCE_SECONDS))
        ;
    close(self->error);
    assert_int_equal(waitpid(self->pid, &status, 0), self->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void feed(child *self, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t put = write(self->feed, text, length);
        assert_true(put > 0);
        text += put;
        length -= (size_t)put;
    }
}

/* Feeds all of them until the first shows something, and then some more. */
static void feed_all(child *children, size_t count)
{
    enum { LINES = 1 << 16 };
    static const char line[] = "T1|r(x)|1\n";
    size_t length = sizeof line - 1;
    char *lines = malloc(LINES * length);
    assert_non_null(lines);
    for (size_t i = 0; i < LINES; i++)
        memcpy(lines + i * length, line, length);
    int more = 10;
    for (int i = 0; i < PATIENCE_SECONDS * 20 && more > 0; i++) {
        for (size_t k = 0; k < count; k++)
            feed(&children[k], lines, LINES * length);
        take(&children[0], 50);
        more -= children[0].length > 0;
    }
    free(lines);
}

static void test_line(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    static child children[3];
    start(&children[0], true, (char *[]){"maxrace", "info", "-", NULL});
    start(&children[1], true, (char *[]){"maxrace", "info", "--quiet", "-", NULL});
    start(&children[2], false, (char *[]){"maxrace", "info", "-", NULL});
    feed_all(children, 3);
    for (int i = 0; i < 3; i++)
        finish(&children[i]);
    const char *text = children[0].text;
    if (strncmp(text, "\rreading ", 9) != 0)
        fail_msg("'%s'", text);
    assert_non_null(strstr(text, " MB, "));
    assert_non_null(strstr(text, " MB/s\033[K\r"));
    assert_string_equal(text + children[0].length - 4, "\r\033[K");
    assert_null(strchr(text, '\n'));
    assert_string_equal(children[1].text, "");
    assert_string_equal(children[2].text, "");
}

/* The line is gone before anything else is said. */
static void test_order_and_complaint(void **state)
{
    (void)state;
    static child children[1];
    start(&children[0], true,
          (char *[]){"maxrace", "order", "--relation", "hb", "--repair", "-", NULL});
    feed(&children[0], "nonsense\n", 9);
    feed_all(children, 1);
    finish(&children[0]);
    const char *complaint = strstr(children[0].text, "maxrace: repair dropped 1 event or line");
    assert_non_null(complaint);
    assert_true(complaint - children[0].text > 5);
    assert_memory_equal(complaint - 4, "\r\033[K", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_order_and_complaint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#define _DEFAULT_SOURCE /* wait4 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 40

/* Splits at blanks and puts the folder for '@'. `buffer` holds the words. */
static void split(const char *arguments, const char *dir, char buffer[8192],
                  char *words[ARGUMENTS_MAX])
{
    size_t used = 0, count = 1;
    bool in_word = false;
    for (; *arguments != '\0'; arguments++) {
        assert_true(used + strlen(dir) + 2 < 8192 && count < ARGUMENTS_MAX - 1);
        if (*arguments == ' ') {
            if (in_word)
                buffer[used++] = '\0';
            in_word = false;
            continue;
        }
        if (!in_word)
            words[count++] = buffer + used;
        in_word = true;
        if (*arguments == '@')
            used += (size_t)sprintf(buffer + used, "%s", dir);
        else
            buffer[used++] = *arguments;
    }
    buffer[used] = '\0';
    words[count] = NULL;
}

static void redirect(const char *path, int flags, int target)
{
    int fd = open(path, flags, 0600);
    if (fd < 0 || dup2(fd, target) < 0)
        _exit(125);
    close(fd);
}

static void redirect_output(mr_run_output output, const char *path)
{
    int ends[2];
    switch (output) {
    case MR_RUN_CAPTURE:
        redirect(path, O_WRONLY | O_CREAT | O_TRUNC, 1);
        break;
    case MR_RUN_FULL:
        redirect("/dev/full", O_WRONLY, 1);
        break;
    case MR_RUN_CLOSED:
        close(1);
        break;
    case MR_RUN_CLOSED_PIPE:
        if (pipe(ends) != 0 || close(ends[0]) != 0 || dup2(ends[1], 1) < 0)
            _exit(125);
        close(ends[1]);
        break;
    }
}

void mr_run_start(mr_run *run, const mr_scratch *scratch, const char *arguments, const char *input,
                  mr_run_output output)
{
    const char *program = getenv("MAXRACE");
    char words_text[8192], in_path[512];
    char *words[ARGUMENTS_MAX] = {NULL};
    words[0] = (char *)(program != NULL ? program : "build/release/maxrace");
    split(arguments, scratch->dir, words_text, words);
    mr_scratch_write(scratch, ".in", input != NULL ? input : "", in_path);
    mr_scratch_write(scratch, ".out", "", run->out_path);
    mr_scratch_path(scratch, ".error", run->error_path);
    run->process = fork();
    assert_true(run->process >= 0);
    if (run->process == 0) {
        signal(SIGPIPE, SIG_DFL);
        redirect(in_path, O_RDONLY, 0);
        redirect(run->error_path, O_WRONLY | O_CREAT | O_TRUNC, 2);
        redirect_output(output, run->out_path);
        execv(words[0], words);
        _exit(126);
    }
}

void mr_run_wait(mr_run *run)
{
    int status;
    struct rusage usage;
    assert_int_equal(wait4(run->process, &status, 0, &usage), run->process);
    run->peak_kib = (uint64_t)usage.ru_maxrss;
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    run->out = mr_file_text(run->out_path);
    run->error = mr_file_text(run->error_path);
    assert_non_null(run->out);
    assert_non_null(run->error);
}

void mr_run_maxrace(mr_run *run, const mr_scratch *scratch, const char *arguments,
                    const char *input, mr_run_output output)
{
    mr_run_start(run, scratch, arguments, input, output);
    mr_run_wait(run);
}

void mr_run_free(mr_run *run)
{
    free(run->out);
    free(run->error);
}

void mr_run_expand(const mr_scratch *scratch, const char *text, char buffer[1024])
{
    size_t used = 0;
    for (; *text != '\0' && used < 1000; text++)
        if (*text == '@')
            used += (size_t)snprintf(buffer + used, 1024 - used, "%.300s", scratch->dir);
        else
            buffer[used++] = *text;
    assert_true(used < 1024);
    buffer[used] = '\0';
}

void mr_run_rows(const mr_scratch *scratch, const mr_run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mr_run run;
        char expected[1024] = "";
        mr_run_maxrace(&run, scratch, rows[i].arguments, NULL, MR_RUN_CAPTURE);
        if (rows[i].error != NULL)
            mr_run_expand(scratch, rows[i].error, expected);
        bool out = rows[i].out == NULL ? run.out[0] == '\0' : strstr(run.out, rows[i].out) != NULL;
        if (run.status != rows[i].status || !out || strcmp(run.error, expected) != 0)
            fail_msg("%s: status %d\nout: %s\nerror: %s", rows[i].arguments, run.status, run.out,
                     run.error);
        mr_run_free(&run);
    }
}

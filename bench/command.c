#define _DEFAULT_SOURCE /* wait4 */

#include "command.h"

#include "base/seconds.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 30 };

/* Becomes the program; the alarm stays set. */
static void become(const char *const *words, unsigned limit_seconds, int output)
{
    int errors = open("/dev/null", O_WRONLY);
    if (output < 0)
        output = errors;
    if (errors < 0 || dup2(output, STDOUT_FILENO) < 0)
        _exit(126);
    alarm(limit_seconds);
    /* execvp does not change the words, but its type is older than const. */
    char *copies[MOST_WORDS + 1] = {NULL};
    for (int i = 0; i < MOST_WORDS && words[i] != NULL; i++)
        copies[i] = strdup(words[i]);
    if (copies[0] != NULL)
        execvp(copies[0], copies);
    _exit(127);
}

static char *read_all(FILE *file)
{
    if (fseek(file, 0, SEEK_END) != 0)
        return NULL;
    long size = ftell(file);
    if (size < 0)
        return NULL;
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (text == NULL)
        return NULL;
    size_t got = fread(text, 1, (size_t)size, file);
    text[got] = '\0';
    return text;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

mr_bench_run mr_bench_run_command(const char *const *words, unsigned limit_seconds,
                                  bool keep_output)
{
    mr_bench_run run = {.status = -2};
    FILE *file = keep_output ? tmpfile() : NULL;
    if (keep_output && file == NULL)
        return run;
    fflush(NULL);
    double start = mr_seconds();
    pid_t child = fork();
    if (child == 0)
        become(words, limit_seconds, file != NULL ? fileno(file) : -1);
    int wait_status = 0;
    struct rusage usage = {0};
    if (child > 0 && wait4(child, &wait_status, 0, &usage) == child) {
        run.seconds = mr_seconds() - start;
        run.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
        run.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
        if (WIFEXITED(wait_status))
            run.status = WEXITSTATUS(wait_status);
        else if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM)
            run.status = -1;
    }
    if (file != NULL) {
        run.output = read_all(file);
        fclose(file);
    }
    return run;
}

/* main: calls the command, prints its error as a line, and returns the exit status. */
#include "cli.h"
#include "config/suggest.h"
#include "cut_off.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void mr_cli_complain(const mr_error *error)
{
    char line[1152];
    mr_error_line(error, line, sizeof line);
    fprintf(stderr, "%s%s\n", error->file[0] == '\0' ? "maxrace: " : "", line);
}

/* Opens /dev/null for each standard stream that is closed, so that no later file gets its number.
 * Ignores SIGPIPE and SIGXFSZ, so that writing to a closed pipe, or beyond the limit of file sizes,
 * is an error like any other. */
static void prepare_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* Blocks from LARGE_BYTES on are mapped, so they go back to the system when they are freed, and grow in
 * place. Left alone, glibc raises this size and keeps freed blocks, which count for memory.limit_mb until
 * the ceiling or the room trims the heap (base/ceiling.h, base/room.h). Up to END_BYTES that are free at
 * the end of the heap stay, as the next windows need them again. */
static void prepare_memory(void)
{
#ifdef __GLIBC__
    enum { LARGE_BYTES = 1 << 20, END_BYTES = 32 << 20 };
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, END_BYTES);
#endif
}

static mr_status unknown_command(const char *name, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    const mr_command *near = mr_command_suggest(name);
    if (near != NULL)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "unknown command %s (did you mean '%s'?)",
                            mr_quote(name, quoted), near->name);
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                        "unknown command %s; 'maxrace help' names them all",
                        mr_quote(name, quoted));
}

/* Below this a limit is not kept: code, a few pages of the file, and what memory may grow before it is asked for (base/ceiling.c). */
enum { LEAST_LIMIT_MB = 32 };

static void tell_least_limit(const mr_command *command, const mr_config *config)
{
    int64_t limit = mr_config_int(config, "memory.limit_mb");
    if (limit > 0 && limit < LEAST_LIMIT_MB &&
        mr_command_has(command, (size_t)mr_config_find("memory.limit_mb")))
        fprintf(stderr,
                "maxrace: memory.limit_mb %" PRId64
                " is less than maxrace itself needs: it may take %d MiB\n",
                limit, LEAST_LIMIT_MB);
}

static mr_status run(int argc, char **argv, int *exit_status, mr_error *error)
{
    if (argc < 2)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "no command given; 'maxrace help' names them all");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0)
        name = "version";
    const mr_command *command = mr_command_find(name);
    if (command == NULL)
        return unknown_command(name, error);
    mr_cli cli;
    mr_status status = mr_cli_parse(&cli, command, argc - 2, argv + 2, error);
    if (status == MR_OK && cli.help)
        mr_cli_help(command, false);
    else if (status == MR_OK) {
        tell_least_limit(command, cli.config);
        status = command->run(&cli, exit_status, error);
    }
    mr_cli_free(&cli);
    return status;
}

int main(int argc, char **argv)
{
    int exit_status = 0;
    mr_error error = {0};
    prepare_streams();
    mr_cut_off_watch();
    prepare_memory();
    mr_status status = run(argc, argv, &exit_status, &error);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == MR_OK)
        status = mr_error_set(&error, MR_ERR_IO, NULL, 0, "cannot write to standard output: %s",
                              strerror(errno != 0 ? errno : EIO));
    if (status == MR_OK)
        return exit_status;
    mr_cli_complain(&error);
    return mr_status_exit(status);
}

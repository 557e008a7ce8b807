/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* struct dirent64, syscall */

#include "leftovers.h"

#include "record/child_logs.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

typedef struct leftover {
    char path[MR_LEFTOVER_BYTES];
    atomic_int end; /* mr_leftover_end */
    atomic_bool is_there;
} leftover;

/* A signal handler has no other way to know. */
static leftover leftovers[MR_LEFTOVERS_MAX];
static pid_t process; /* a child that has not called exec yet must not remove our files */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody to tell */
}

static void tell_log(const char *log)
{
    say("maxrace: interrupted before the trace was written; the log stays: maxrace record "
        "--convert ");
    say(log);
    say("\n");
}

static void tell_folder(const char *folder)
{
    say("maxrace: interrupted; this folder of the sandbox is not empty and stays, remove it: ");
    say(folder);
    say("\n");
}

/* Without opendir, which a handler of signals must not call. Folders in it stay, and so does it then. */
static void remove_folder(const char *path)
{
    _Alignas(struct dirent64) char room[2048];
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool removed = folder >= 0;
    while (removed && lseek(folder, 0, SEEK_SET) == 0) {
        removed = false;
        long got = syscall(SYS_getdents64, folder, room, sizeof room);
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(room + at);
            removed = unlinkat(folder, entry->d_name, 0) == 0 || removed;
            at += entry->d_reclen;
        }
    }
    if (folder >= 0)
        close(folder);
    rmdir(path);
}

static void settle(leftover *file)
{
    if (!atomic_exchange(&file->is_there, false))
        return;
    if (file->end == MR_LEFTOVER_REMOVE_FOLDER) {
        remove_folder(file->path);
    } else if (file->end == MR_LEFTOVER_TELL_FOLDER) {
        if (rmdir(file->path) != 0)
            tell_folder(file->path);
    } else if (file->end == MR_LEFTOVER_REMOVE) {
        unlink(file->path);
    } else if (file->end == MR_LEFTOVER_REMOVE_LOG) {
        mr_child_logs_visit(file->path, mr_child_log_remove);
    } else {
        mr_child_logs_visit(file->path, tell_log);
    }
}

void mr_leftovers_settle(void)
{
    if (getpid() != process)
        return;
    for (int i = MR_LEFTOVERS_MAX - 1; i >= 0; i--)
        settle(&leftovers[i]);
}

static void handle(int number)
{
    mr_leftovers_settle();
    signal(number, SIG_DFL);
    raise(number); /* takes effect when this returns */
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

int mr_leftover_add(const char *path, mr_leftover_end end)
{
    size_t length = strlen(path);
    for (int i = 0; i < MR_LEFTOVERS_MAX && length < sizeof leftovers[i].path; i++) {
        leftover *file = &leftovers[i];
        if (file->is_there)
            continue;
        memcpy(file->path, path, length + 1);
        file->end = end;
        process = getpid();
        file->is_there = true;
        catch_signals();
        return i;
    }
    return -1;
}

void mr_leftover_forget(int number)
{
    if (number >= 0)
        leftovers[number].is_there = false;
}

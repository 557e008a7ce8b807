#include "../channels.h"
#include "../descriptors.h"
#include "../input_descriptors.h"
#include "calls.h"

#define pair(status, to) mr_descriptors_pair((status), (to));
#define shown(name)                                                                                \
    while (result != NULL && mr_descriptor_is_hidden_entry(folder, result->d_name)) {              \
        result = MR_REAL(name)(folder);                                                            \
    }

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <grp.h>
#include <mntent.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>
#include <wordexp.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "../direct.h"

/* For programs that were built with older headers. */
extern int __xstat(int version, const char *path, struct stat *to);
extern int __xstat64(int version, const char *path, struct stat64 *to);
extern int __lxstat(int version, const char *path, struct stat *to);
extern int __lxstat64(int version, const char *path, struct stat64 *to);
extern int __fxstat(int version, int fd, struct stat *to);
extern int __fxstat64(int version, int fd, struct stat64 *to);
extern ssize_t __readlink_chk(const char *path, char *to, size_t room, size_t all);
extern char *__getcwd_chk(char *to, size_t room, size_t all);
extern char *__realpath_chk(const char *path, char *to, size_t all);

enum { KERNEL_SET = 8 }; /* bytes of a sigset_t that are used */

static void *word_of(const sigset_t *set, int number)
{
    const size_t BITS = 8 * sizeof(long);
    return number < 1 || number > 64 ? NULL : (unsigned long *)set + ((size_t)number - 1) / BITS;
}

/* What a name is made of in a template. */
static char *last_six(char *path)
{
    size_t length = text(path) - 1;
    return length < 6 ? NULL : path + length - 6;
}

static void log_user(const struct passwd *user, uintptr_t code)
{
    if (user != NULL) {
        out(user, sizeof *user);
        out(user->pw_name, text(user->pw_name));
        out(user->pw_passwd, text(user->pw_passwd));
        out(user->pw_gecos, text(user->pw_gecos));
        out(user->pw_dir, text(user->pw_dir));
        out(user->pw_shell, text(user->pw_shell));
    }
}

static void log_group(const struct group *group, uintptr_t code)
{
    if (group != NULL) {
        out(group, sizeof *group);
        out(group->gr_name, text(group->gr_name));
        out(group->gr_passwd, text(group->gr_passwd));
        size_t count = 0;
        for (; group->gr_mem[count] != NULL; count++) {
            out(group->gr_mem[count], text(group->gr_mem[count]));
        }
        out(group->gr_mem, (count + 1) * sizeof *group->gr_mem);
    }
}

#define out_user(user)   log_user((user), code);
#define out_group(group) log_group((group), code);

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wvla-parameter" /* as regexec is declared */
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs may call readdir_r still */

#include "system.def"

/* The set asks for something else of a descriptor. NULL: it asked, or asks, for nothing. */
static void log_asked(int set, const mr_epoll_wanted *before, const mr_epoll_wanted *now,
                      uintptr_t code)
{
    if (before != NULL && (now == NULL || now->data != before->data)) {
        mr_channel_log_watch(MR_LOG_BEFORE, set, before->data, code);
    }
    if (now != NULL) {
        mr_channel_log_watch(MR_LOG_BEFORE, set, now->data, code);
    }
}

/* Libraries that are not recorded wait for descriptors, too. */
MR_EXPORT int epoll_ctl(int set, int what, int fd, struct epoll_event *event)
{
    uintptr_t code = MR_CALLER;
    mr_thread *thread = mr_memory_begin(code);
    if (thread == NULL) {
        thread = mr_enter();
        code = 0;
    }
    if (thread == NULL) {
        return MR_REAL(epoll_ctl)(set, what, fd, event);
    }
    mr_yield(thread);
    mr_epoll_wanted before, now;
    bool was = mr_epoll_kept(set, fd, &before), is = what != EPOLL_CTL_DEL && event != NULL;
    in(event, what == EPOLL_CTL_DEL ? 0 : sizeof *event);
    if (is) {
        now = (mr_epoll_wanted){event->data.u64, event->events};
    }
    log_asked(set, was ? &before : NULL, is ? &now : NULL, code);
    mr_epoll_keep(set, fd, is ? &now : NULL);
    int result = MR_REAL(epoll_ctl)(set, what, fd, event);
    mr_leave(thread);
    return result;
}

/* Also by syscall(). */
MR_DIRECT(pipe)
MR_DIRECT(pipe2)
MR_DIRECT(epoll_ctl)

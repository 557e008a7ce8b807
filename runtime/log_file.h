/*
 * log_file: the file that the log is written to. There is one for the process.
 *
 *   mr_log_file_make → (mr_log_file_open → … → mr_log_file_close)*
 *
 * A descriptor with a high number stays open, so that the log can go on after chroot, or when the
 * program gives up rights. The program may close any descriptor, though close does not: then the path is opened
 * anew each time. Another file at the path is an error then. Results are -errno on failure.
 *
 * The path comes from the environment, and the program may have more rights than whoever set it. So
 * only a file that this process made is ever written, no symbolic link is followed at its end, and
 * nothing is removed. Of the log of another process of the same user the header counts programs.
 */
#ifndef MR_RUNTIME_LOG_FILE_H
#define MR_RUNTIME_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the file. Returns its descriptor; -EEXIST when there is anything at the path. */
int mr_log_file_make(const char *path);

/* After -EEXIST: maps the `bytes` bytes that the file at the path begins with, to read and write.
 * NULL: it is no regular file of this user, or shorter. */
void *mr_log_file_map_other(size_t bytes);

/* The file again. Returns its descriptor. */
int mr_log_file_open(void);
void mr_log_file_close(int fd);

/* Is it the descriptor that stays open? */
bool mr_log_file_own(int fd);
/* It gets another number, which is its own from here on. */
void mr_log_file_renumber(void);

/* In the child of a fork: the next mr_log_file_make makes the child's own. */
void mr_log_file_forget(void);

/* Its absolute path; what was asked for when mr_log_file_make has failed. */
const char *mr_log_file_path(void);

/* Gives the first `bytes` bytes of the file blocks on the disk. */
int mr_log_file_allocate(int fd, uint64_t bytes);

/* Writes bytes at an offset, when the disk then has room for the trace, too. */
int mr_log_file_write(int fd, const void *from, size_t bytes, uint64_t at);

/* The file ends at the offset: what is behind it is given back to the disk. */
void mr_log_file_truncate(int fd, uint64_t at);

#endif

#include "child_logs.h"

#include "runtime/inputs_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool mr_log_header_read(const char *log, mr_log_header *header)
{
    int file = open(log, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, header, sizeof *header);
    if (file >= 0)
        close(file);
    return got == (ssize_t)sizeof *header;
}

uint32_t mr_child_log_count(const char *log)
{
    mr_log_header header;
    return mr_log_header_read(log, &header) ? header.forks : 0;
}

bool mr_child_log(const char *log, uint32_t number, char path[MR_CHILD_LOG_BYTES])
{
    enum { DIGITS_MAX = 10 };
    char digits[DIGITS_MAX];
    size_t length = strlen(log), count = 0;
    uint32_t rest = number;
    do
        digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (length + 1 + count >= MR_CHILD_LOG_BYTES || number > mr_child_log_count(log))
        return false;
    memcpy(path, log, length);
    path[length++] = '.';
    while (count > 0)
        path[length++] = digits[--count];
    path[length] = '\0';
    return access(path, R_OK) == 0;
}

void mr_child_log_remove(const char *log)
{
    static const char suffix[] = MR_INPUTS_SUFFIX;
    char inputs[MR_CHILD_LOG_BYTES + sizeof suffix];
    unlink(log);
    if (strlen(log) >= MR_CHILD_LOG_BYTES)
        return;
    snprintf(inputs, sizeof inputs, "%s%s", log, suffix);
    unlink(inputs);
}

void mr_child_logs_visit(const char *log, void (*visit)(const char *log))
{
    char path[MR_CHILD_LOG_BYTES];
    /* The children first: a visit may remove the log, which tells their number. */
    for (uint32_t i = 1, count = mr_child_log_count(log); i <= count; i++)
        if (mr_child_log(log, i, path))
            mr_child_logs_visit(path, visit);
    if (access(log, F_OK) == 0)
        visit(log);
}

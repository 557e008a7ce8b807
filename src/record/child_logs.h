/*
 * child_logs: the logs of a recorded program's children (record --follow-forks). The log of the
 * n-th child of the process that wrote LOG is LOG.n, and so on for its children. Handlers of
 * signals may call all of it.
 */
#ifndef MR_RECORD_CHILD_LOGS_H
#define MR_RECORD_CHILD_LOGS_H

#include "runtime/log.h"

#include <stdbool.h>

enum { MR_CHILD_LOG_BYTES = 4352 };

/* False: there is no log of that path. */
bool mr_log_header_read(const char *log, mr_log_header *header);

/* How many children the process that wrote the log has forked. */
uint32_t mr_child_log_count(const char *log);

/* The log of a child, by the number of the fork in its parent: 1, 2, … False: there is no such log,
 * or no fork of that number. */
bool mr_child_log(const char *log, uint32_t number, char path[MR_CHILD_LOG_BYTES]);

/* Removes the log and the inputs beside it. */
void mr_child_log_remove(const char *log);

/* Does it for the log, as far as it is there, and for the logs of all children. */
void mr_child_logs_visit(const char *log, void (*visit)(const char *log));

#endif

/*
 * child_traces: what is made of the logs of a recorded program's children (--follow-forks), one after
 * the other.
 */
#ifndef MR_CLI_CHILD_TRACES_H
#define MR_CLI_CHILD_TRACES_H

#include "base/error.h"

/* `number` names the child: "2" is the one of the program's second fork, "2.1" that of the first fork
 * in it. */
typedef mr_status mr_child_visit(void *context, const char *log, const char *number,
                                 mr_error *error);

/*
 * Visits the log of each child of the process that wrote `log`, and of their children: a child
 * before its own. A log is removed when its visit and those of its children have succeeded. A visit
 * that fails keeps no other child from being visited; the first failure is returned, others are told
 * on standard error.
 */
mr_status mr_child_traces_visit(const char *log, mr_child_visit *visit, void *context,
                                mr_error *error);

#endif

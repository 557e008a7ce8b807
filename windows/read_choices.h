/*
 * read_choices: which writes of a window a read of a value-treated variable may see
 * (docs/semantics.md 2.6 `value`).
 *
 * A write is possible for a read when it has the value that the read saw, program order, fork
 * and join neither put it after the read nor put a write of another value between the two, and no
 * critical sections hide it from the read (hidden.h). The
 * carried value is possible when it equals the value and no write is certainly before the read. An
 * atomic update is a read and a write; it never sees itself.
 * A write that is ruled out here is seen in no reordering. A write that is not ruled out may still
 * be impossible.
 */
#ifndef MR_WINDOWS_READ_CHOICES_H
#define MR_WINDOWS_READ_CHOICES_H

#include "precedence.h"

/* The writes of `read`'s variable with `read`'s value: window->writes_by_value[*first … *end).
 * O(log). */
void mr_read_same_value_writes(const mr_window *window, uint32_t read, uint32_t *first,
                               uint32_t *end);

/* Is this write, of the same variable and value, possible for the read? O(1). */
bool mr_read_may_see(const mr_window *window, const mr_precedence *hard, uint32_t read,
                     uint32_t write);

/* Is the carried value possible for the read? O(1); may say yes too often. */
bool mr_read_may_see_carried(const mr_window *window, const mr_precedence *hard, uint32_t read);

#endif

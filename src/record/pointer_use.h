/* pointer_use: the events `deref` of a recorded program: the use of pointers (pointers.h). */
#ifndef MR_RECORD_POINTER_USE_H
#define MR_RECORD_POINTER_USE_H

#include "event_state.h"

/* An access of the whole of a kept variable of 8 bytes had its event, with this value for what it read. A thread that uses a pointer to
 * a block that was freed and given out again is told as misuse, at the event that read the pointer: no access shows that. */
mr_status mr_event_pass_pointer_access(mr_event_pass *pass, const uint64_t *record,
                                       const mr_emitted *access, int64_t named, mr_error *error);

/* A read of such a variable has no event, and gave no address. */
mr_status mr_event_pass_pointer_none(mr_event_pass *pass, const uint64_t *record, uint32_t variable,
                                     mr_error *error);

/* An access, before its events; `kept`: it will have one. The thread has an unused pointer. */
mr_status mr_event_pass_pointer_use(mr_event_pass *pass, const uint64_t *record, bool kept,
                                    mr_error *error);

/* A heap block is given back by the record; before its `free`. */
mr_status mr_event_pass_pointer_freed(mr_event_pass *pass, const uint64_t *record, mr_error *error);

/* The thread's next event is no `free`. */
mr_status mr_event_pass_pointer_loose(mr_event_pass *pass, mr_error *error);

/* May the value of the piece, which points into the life, point to what lives no more, in some reordering? The
 * thread reads what the last write left. See settled.h. */
bool mr_event_pass_may_dangle(const mr_event_pass *pass, const mr_piece *piece,
                              const mr_life *life);

#endif

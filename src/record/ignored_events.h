/*
 * ignored_events: the events of ignored reads, and those beside the accesses of quiet pieces (ignored.h).
 *
 * Each function that returns a status: MR_ERR_MEMORY, MR_ERR_IO, MR_ERR_TRACE.
 */
#ifndef MR_RECORD_IGNORED_EVENTS_H
#define MR_RECORD_IGNORED_EVENTS_H

#include "event_state.h"

/* Is the piece, which has these bytes of the life, quiet? A sparse one is not: only its release conflicts. */
bool mr_event_pass_is_quiet(const mr_event_pass *pass, mr_piece *piece, const mr_life *life,
                            uint64_t address, uint64_t bytes);

/* The variable that is the shadow of a quiet piece, which has the extent. False: no memory. */
bool mr_event_pass_shadow_of(mr_event_pass *pass, mr_piece *piece, mr_extent extent,
                             uint32_t *shadow);

/* The event of the shadow. `event` is that of the piece itself. */
mr_status mr_event_pass_shadow(mr_event_pass *pass, mr_piece *piece, const mr_emitted *event,
                               mr_extent extent, mr_error *error);

/* An ignored read of these bytes has had its events, of which `event` has the place, if any: the life goes on. */
mr_status mr_event_pass_alive(mr_event_pass *pass, const mr_emitted *event, const uint64_t *record,
                              mr_extent extent, mr_error *error);

/* A part of a life has had its alloc, or is about to have its free. `event` has object, place and thread. */
mr_status mr_event_pass_life_goes(mr_event_pass *pass, uint32_t life, const mr_emitted *event,
                                  bool begins, mr_error *error);

#endif

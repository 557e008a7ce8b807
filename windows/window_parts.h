/* window_parts: steps of mr_window_build that live in files of their own. False: no memory. */
#ifndef MR_WINDOWS_WINDOW_PARTS_H
#define MR_WINDOWS_WINDOW_PARTS_H

#include "window.h"

/* lockset.c: `locksets`, `lockset`, `region_end`; needs the sections. */
bool mr_window_build_locksets(mr_window *window, mr_arena *arena);

/* held.c: `held`; needs the sections. */
bool mr_window_build_held(mr_window *window, mr_arena *arena);

/* accesses.c: `previous_write`, `next_write`, `writes_by_value`; needs the grouped lists. */
bool mr_window_build_accesses(mr_window *window, mr_arena *arena);

/* barrier_edges.c: `opaque`; `edges` may be NULL. */
bool mr_window_build_opaque(mr_window *window, const mr_barrier_edges *edges, mr_arena *arena);

/* semaphores.c: `semaphores`, `posts`, `waits`; `units` is one a lock of the trace. Needs `object`
 * of posts and waits. */
bool mr_window_build_semaphores(mr_window *window, const uint32_t *units, mr_arena *arena);

#endif

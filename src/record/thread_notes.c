#include "thread_notes.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mr_thread_notes_free(mr_thread_notes *notes)
{
    free(notes->started);
    free(notes->items);
    *notes = (mr_thread_notes){.count = 0};
}

bool mr_thread_notes_fork(mr_thread_notes *notes, uint32_t thread, uint32_t location)
{
    void *started = notes->started;
    if (!mr_grow(&started, &notes->thread_capacity, thread + 1ull, sizeof *notes->started))
        return false;
    notes->started = started;
    while (notes->thread_count <= thread)
        notes->started[notes->thread_count++] = 0;
    notes->started[thread] = location + 1;
    return true;
}

bool mr_thread_notes_add(mr_thread_notes *notes, mr_log_note kind, uint32_t thread)
{
    void *items = notes->items;
    uint32_t location = thread < notes->thread_count ? notes->started[thread] : 0;
    for (size_t i = 0; i < notes->count; i++)
        if (notes->items[i].kind == kind && notes->items[i].location == location) {
            notes->items[i].count++;
            if (thread < notes->items[i].thread)
                notes->items[i].thread = thread;
            return true;
        }
    if (!mr_grow(&items, &notes->capacity, notes->count + 1, sizeof *notes->items))
        return false;
    notes->items = items;
    notes->items[notes->count++] = (mr_thread_note){kind, thread, location, 1};
    return true;
}

/* "worker (T1), started at bank.c:24:5," */
static size_t name_thread(const mr_thread_note *note, const mr_trace *trace, char *text,
                          size_t size)
{
    const char *name = trace->threads.items[note->thread].text;
    const char *shown = mr_names_display(&trace->threads, note->thread);
    size_t used = strcmp(name, shown) == 0
                      ? (size_t)snprintf(text, size, "%.80s", name)
                      : (size_t)snprintf(text, size, "%.80s (%.80s)", shown, name);
    if (note->location)
        used += (size_t)snprintf(text + used, size - used, ", started at %.300s,",
                                 mr_names_display(&trace->locations, note->location - 1));
    return used;
}

static bool tell(const mr_thread_note *note, mr_trace *trace)
{
    static const char *const endings[] = {
        [MR_LOG_NOTE_LEFT] = "ended and was neither joined nor detached",
        [MR_LOG_NOTE_IGNORES] = "ended while it asked that its events are not recorded",
    };
    char text[640];
    size_t used = name_thread(note, trace, text, sizeof text - 160);
    used += (size_t)snprintf(text + used, sizeof text - used, " %s", endings[note->kind]);
    if (note->count > 1)
        used += (size_t)snprintf(
            text + used, sizeof text - used, "; so did %" PRIu32 " other%s that %s started there",
            note->count - 1, note->count > 2 ? "s" : "", note->count > 2 ? "were" : "was");
    return mr_ending_add_detail(&trace->ending, text, used);
}

bool mr_thread_notes_tell(const mr_thread_notes *notes, mr_trace *trace)
{
    for (size_t i = 0; i < notes->count; i++)
        if (!tell(&notes->items[i], trace))
            return false;
    return true;
}

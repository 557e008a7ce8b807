/* findings_text: findings beside races, for people. */
#include "blocks.h"
#include "findings.h"
#include "schedule_table.h"
#include "witness/pack.h"

#include <ctype.h>
#include <inttypes.h>

static void print_event(const mr_context *context, const mr_trace *trace, FILE *stream,
                        const char *label, uint32_t event)
{
    mr_phrase_access(stream, label, trace, mr_access_of_event(trace, event, event));
    mr_context_print(context, stream, event);
}

static void print_starts(const mr_context *context, const mr_trace *trace, FILE *stream,
                         const mr_witness *witness)
{
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(witness, &count);
    for (uint32_t i = 0; i < count; i++)
        mr_context_print_start(context, stream, trace->thread[stops[i]]);
}

static void print_waits(const mr_context *context, const mr_trace *trace, FILE *stream,
                        const mr_witness *witness)
{
    for (uint32_t i = 0; i < witness->wait_count; i++) {
        uint32_t wait = witness->waits[i], holder = mr_finding_next_wait(witness, i);
        uint32_t since = mr_finding_held_since(trace, wait, holder);
        print_event(context, trace, stream, "waits", wait);
        fputs("          for ", stream);
        mr_phrase_name(stream, &trace->locks, trace->operand[wait]);
        fputs(", held by ", stream);
        mr_phrase_name(stream, &trace->threads, trace->thread[holder]);
        fputs(" since ", stream);
        mr_phrase_name(stream, &trace->locations, trace->location[since]);
        fprintf(stream, ", event %" PRIu32 "\n", since);
    }
}

static void print_pointer(const mr_context *context, const mr_trace *trace, FILE *stream,
                          const mr_witness *witness)
{
    print_event(context, trace, stream, "read", witness->second);
    if (witness->first != MR_NONE)
        print_event(context, trace, stream, "write", witness->first);
    else
        fputs("  write   none: the initial value\n", stream);
    if (witness->kind == MR_WITNESS_SEES)
        return;
    print_event(context, trace, stream, witness->kind == MR_WITNESS_DOUBLE_FREE ? "again" : "used",
                mr_finding_deref(trace, witness));
    if (witness->kind == MR_WITNESS_NULL)
        return;
    print_event(context, trace, stream, "free", witness->freed);
    mr_block_print(context, trace, stream, witness->freed);
}

/* What the finding is about: a block, a number of threads, a pointer. */
static void print_subject(const mr_trace *trace, FILE *stream, const mr_witness *witness)
{
    if (witness->kind == MR_WITNESS_DEADLOCK) {
        fprintf(stream, " of %" PRIu32 " threads\n", witness->wait_count);
        return;
    }
    if (witness->kind == MR_WITNESS_SEES) {
        fprintf(stream, " event %" PRIu32 "\n", witness->first);
        return;
    }
    fputs(" on ", stream);
    mr_phrase_name(stream, &trace->variables, trace->operand[witness->second]);
    fputs("\n", stream);
}

bool mr_finding_print(const mr_context *context, const mr_trace *trace, FILE *stream,
                      const mr_finding *finding, size_t number, size_t of, mr_sees *sees,
                      const mr_schedule_view *view)
{
    const mr_witness *witness = &finding->witness;
    const char *noun = mr_finding_noun(witness->kind, false);
    if (witness->kind == MR_WITNESS_SEES)
        fprintf(stream, "\nEvent %" PRIu32 " can see", witness->second);
    else
        fprintf(stream, "\n%c%s %zu of %zu", toupper((unsigned char)noun[0]), noun + 1, number, of);
    print_subject(trace, stream, witness);
    if (witness->kind == MR_WITNESS_USE_AFTER_FREE) {
        print_event(context, trace, stream, "free", witness->first);
        print_event(context, trace, stream, "use", witness->second);
        mr_block_print(context, trace, stream, witness->first);
    } else if (witness->kind == MR_WITNESS_DEADLOCK) {
        print_waits(context, trace, stream, witness);
    } else {
        print_pointer(context, trace, stream, witness);
    }
    print_starts(context, trace, stream, witness);
    mr_phrase_unseen(stream, &trace->ending);
    mr_phrase_confirmed(stream, finding->confirmed, finding->effect);
    mr_phrase_found_by(stream, finding->confirmed_by);
    if (view->show == MR_SCHEDULE_NONE)
        return true;
    mr_witness room;
    const mr_witness *open = mr_witness_open(trace, witness, &room);
    bool ok = open != NULL && mr_schedule_print(stream, open, sees, view);
    mr_witness_free(&room);
    return ok;
}

static void print_reason(const mr_trace *trace, FILE *stream, const mr_cycle_note *note)
{
    if (note->guard != MR_NONE) {
        fputs("          guarded by ", stream);
        mr_phrase_name(stream, &trace->locks, note->guard);
        fputs("\n", stream);
    } else if (note->before != MR_NONE) {
        fprintf(stream,
                "          event %" PRIu32 " comes before event %" PRIu32
                " in every order, by fork and join\n",
                note->before, note->after);
    } else {
        fputs("          no reordering leads there: proven by the decision\n", stream);
    }
}

void mr_cycle_notes_print(const mr_trace *trace, const mr_result *result, FILE *stream)
{
    if (result->cycle_note_count == 0)
        return;
    fputs("\nCircles of locks that are no deadlock:\n", stream);
    for (size_t i = 0; i < result->cycle_note_count; i++) {
        const mr_cycle_note *note = &result->cycle_notes[i];
        for (uint32_t k = 0; k < note->wait_count; k++) {
            uint32_t wait = note->waits[k];
            mr_phrase_access(stream, k ? "" : "waits", trace,
                             mr_access_of_event(trace, wait, wait));
            fputs("          for ", stream);
            mr_phrase_name(stream, &trace->locks, trace->operand[wait]);
            fputs("\n", stream);
        }
        print_reason(trace, stream, note);
    }
}

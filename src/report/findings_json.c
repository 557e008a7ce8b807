/* findings_json: findings beside races, for programs (docs/report-format.md). */
#include "blocks.h"
#include "findings.h"
#include "witness/pack.h"

/* The arrays, and which kinds stand in each. */
static const struct {
    const char *key;
    unsigned find; /* the bit of the option */
    mr_witness_kind first, last;
} arrays[] = {
    {"memory", MR_FIND_MEMORY, MR_WITNESS_USE_AFTER_FREE, MR_WITNESS_USE_AFTER_FREE},
    {"deadlocks", MR_FIND_DEADLOCKS, MR_WITNESS_DEADLOCK, MR_WITNESS_DEADLOCK},
    {"pointers", MR_FIND_POINTERS, MR_WITNESS_NULL, MR_WITNESS_DOUBLE_FREE},
};

/* An event with its value and its context. */
static mr_json event_object(const mr_context *context, const mr_trace *trace, uint32_t event)
{
    mr_json self = mr_json_event(trace, event, event);
    mr_json_put_value(&self, trace, event);
    mr_context_put(context, &self, event);
    return self;
}

static mr_json wait_object(const mr_context *context, const mr_trace *trace,
                           const mr_witness *witness, uint32_t i)
{
    uint32_t wait = witness->waits[i], holder = mr_finding_next_wait(witness, i);
    uint32_t since = mr_finding_held_since(trace, wait, holder);
    mr_json self = event_object(context, trace, wait);
    mr_json_put_name(&self, "held_by", "held_by_text", &trace->threads, trace->thread[holder]);
    mr_json_put_number(&self, "held_since", since);
    mr_json_put_object(&self, "held_at", event_object(context, trace, since));
    return self;
}

static void put_waits(mr_json *self, const mr_context *context, const mr_trace *trace,
                      const mr_witness *witness)
{
    json_t *waits = json_array();
    for (uint32_t i = 0; i < witness->wait_count; i++) {
        mr_json wait = wait_object(context, trace, witness, i);
        self->ok = self->ok && wait.ok;
        self->ok = json_array_append_new(waits, wait.json) == 0 && self->ok;
    }
    mr_json_put(self, "waits", waits);
}

static void put_pointer(mr_json *self, const mr_context *context, const mr_trace *trace,
                        const mr_witness *witness)
{
    mr_json_put_object(self, "read", event_object(context, trace, witness->second));
    if (witness->first != MR_NONE)
        mr_json_put_object(self, "write", event_object(context, trace, witness->first));
    else
        mr_json_put(self, "write", json_null());
    if (witness->kind == MR_WITNESS_SEES)
        return;
    mr_json_put_object(self, "deref",
                       event_object(context, trace, mr_finding_deref(trace, witness)));
    if (witness->kind == MR_WITNESS_NULL)
        return;
    mr_json_put_object(self, "free", event_object(context, trace, witness->freed));
    mr_block_put(context, trace, self, witness->freed);
}

static mr_json finding_object(const mr_context *context, const mr_trace *trace,
                              const mr_finding *finding)
{
    const mr_witness *witness = &finding->witness;
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "kind", mr_witness_kind_name(witness->kind));
    if (witness->kind == MR_WITNESS_USE_AFTER_FREE) {
        mr_json_put_object(&self, "free", event_object(context, trace, witness->first));
        mr_json_put_object(&self, "use", event_object(context, trace, witness->second));
        mr_block_put(context, trace, &self, witness->first);
    } else if (witness->kind == MR_WITNESS_DEADLOCK) {
        put_waits(&self, context, trace, witness);
    } else {
        put_pointer(&self, context, trace, witness);
    }
    mr_json_put_text(&self, "confirmed_by", mr_step_name(finding->confirmed_by));
    mr_json_put_confirmed(&self, finding->confirmed, finding->effect);
    mr_json_put_unseen(&self, &trace->ending);
    mr_json_put_window(&self, witness->window_start, witness->window_end);
    mr_witness room;
    const mr_witness *open = mr_witness_open(trace, witness, &room);
    if (open != NULL)
        mr_json_put_events(&self, "witness", open);
    else
        self.ok = false;
    mr_witness_free(&room);
    return self;
}

/* The answer to the option `sees`. */
static mr_json sees_object(const mr_context *context, const mr_trace *trace, const char *asked,
                           const mr_result *result)
{
    const mr_finding_stats *stats = &result->stats.findings[MR_WITNESS_SEES];
    mr_json self = mr_json_new();
    for (size_t i = 0; i < result->finding_count; i++) {
        if (result->findings[i].witness.kind != MR_WITNESS_SEES)
            continue;
        json_decref(self.json);
        self = finding_object(context, trace, &result->findings[i]);
    }
    mr_json_put_text(&self, "kind", mr_witness_kind_name(MR_WITNESS_SEES));
    mr_json_put_text(&self, "asked", asked);
    mr_json_put_text(&self, "verdict",
                     stats->found        ? "found"
                     : stats->impossible ? "impossible"
                                         : "unknown");
    return self;
}

mr_status mr_findings_dump(const mr_context *context, const mr_trace *trace,
                           const mr_config *config, const mr_result *result,
                           const mr_listing *listing, FILE *stream, mr_error *error)
{
    unsigned find = (unsigned)mr_config_set_of(config, "find");
    const char *asked = mr_config_text(config, "sees");
    if (asked[0] != '\0')
        return mr_json_dump_member(stream, "sees", sees_object(context, trace, asked, result),
                                   error);
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        size_t shown = 0;
        if (!(find & arrays[a].find))
            continue;
        fprintf(stream, "\"%s\":[", arrays[a].key);
        for (size_t i = 0; i < result->finding_count; i++) {
            const mr_finding *finding = &result->findings[i];
            if (finding->witness.kind < arrays[a].first || finding->witness.kind > arrays[a].last ||
                !listing->of_finding[i])
                continue;
            fputs(shown++ ? ",\n" : "\n", stream);
            mr_json object = finding_object(context, trace, finding);
            mr_json_put_listed(&object, listing->of_finding[i], listing);
            mr_status status = mr_json_dump(stream, object, error);
            if (status != MR_OK)
                return status;
        }
        fputs("],\n", stream);
    }
    return MR_OK;
}

mr_json mr_finding_unknown_object(const mr_trace *trace, const mr_finding_unknown *unknown)
{
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "kind", mr_witness_kind_name(unknown->kind));
    mr_json_put_object(&self, "first", mr_json_event(trace, unknown->first, unknown->first));
    if (unknown->second != MR_NONE)
        mr_json_put_object(&self, "second", mr_json_event(trace, unknown->second, unknown->second));
    mr_json_put_text(&self, "reason", mr_unknown_reason_name(unknown->reason));
    mr_json_put_text(&self, "detail", unknown->detail);
    mr_json_put_window(&self, unknown->window_start, unknown->window_end);
    return self;
}

void mr_findings_put_stats(mr_json *stats, const mr_result *result)
{
    mr_json self = mr_json_new();
    bool any = false;
    for (int kind = MR_WITNESS_USE_AFTER_FREE; kind < MR_WITNESS_KINDS; kind++) {
        const mr_finding_stats *s = &result->stats.findings[kind];
        if (!s->candidates)
            continue;
        mr_json of_kind = mr_json_new();
        mr_json_put_number(&of_kind, "candidates", s->candidates);
        mr_json_put_number(&of_kind, "questions", s->questions);
        mr_json_put_number(&of_kind, "found", s->found);
        mr_json_put_number(&of_kind, "impossible", s->impossible);
        mr_json_put_number(&of_kind, "unknown", s->unknown);
        mr_json_put_object(&self, mr_witness_kind_name((mr_witness_kind)kind), of_kind);
        any = true;
    }
    if (any || !self.ok)
        mr_json_put_object(stats, "findings", self);
    else
        json_decref(self.json);
    if (result->stats.cycles_missing)
        mr_json_put(stats, "cycles_missing", json_true());
}

static mr_json note_object(const mr_trace *trace, const mr_cycle_note *note)
{
    mr_json self = mr_json_new();
    json_t *waits = json_array();
    for (uint32_t i = 0; i < note->wait_count; i++) {
        mr_json wait = mr_json_event(trace, note->waits[i], note->waits[i]);
        self.ok = self.ok && wait.ok;
        self.ok = json_array_append_new(waits, wait.json) == 0 && self.ok;
    }
    mr_json_put(&self, "waits", waits);
    if (note->guard != MR_NONE)
        mr_json_put_name(&self, "guard", "guard_text", &trace->locks, note->guard);
    if (note->before != MR_NONE) {
        mr_json_put_number(&self, "before", note->before);
        mr_json_put_number(&self, "after", note->after);
    }
    return self;
}

mr_status mr_cycle_notes_dump(const mr_trace *trace, const mr_config *config,
                              const mr_result *result, FILE *stream, mr_error *error)
{
    if (!mr_config_bool(config, "explain_cycles"))
        return MR_OK;
    fputs("\"cycles\":[", stream);
    for (size_t i = 0; i < result->cycle_note_count; i++) {
        fputs(i ? ",\n" : "\n", stream);
        mr_status status = mr_json_dump(stream, note_object(trace, &result->cycle_notes[i]), error);
        if (status != MR_OK)
            return status;
    }
    fputs("],\n", stream);
    return MR_OK;
}

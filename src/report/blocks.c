#include "blocks.h"

#include "escape.h"

#include <inttypes.h>

/* "          freed at bank.c:20:3 by teller (T1), event 17", and its stack. */
static void print_event(const mr_context *context, const mr_trace *trace, FILE *stream,
                        const char *head, const char *word, uint32_t event)
{
    fprintf(stream, "%s%s ", head, word);
    mr_phrase_place(stream, trace, mr_access_of_event(trace, event, event));
    fprintf(stream, ", event %" PRIu32 "\n", event);
    mr_context_print(context, stream, event);
}

void mr_block_print(const mr_context *context, const mr_trace *trace, FILE *stream, uint32_t event)
{
    uint32_t object = mr_observed_object(trace, event);
    if (object == MR_NONE)
        return;
    char text[MR_VALUE_BYTES];
    const mr_object_info *info = &trace->object_info[object];
    fputs("  block   ", stream);
    mr_phrase_name(stream, &trace->objects, object);
    if (info->has_extent) {
        fputs(", ", stream);
        mr_phrase_count(stream, info->bytes, "byte", "");
        fprintf(stream, " at %s", mr_address_text(info->address, text));
    }
    fputs("\n", stream);
    if (info->alloc != MR_NONE)
        print_event(context, trace, stream, "          ", "allocated", info->alloc);
    if (info->free != MR_NONE)
        print_event(context, trace, stream, "          ", "freed", info->free);
}

static void put_event(const mr_context *context, const mr_trace *trace, mr_json *self,
                      const char *key, uint32_t event)
{
    if (event == MR_NONE)
        return;
    mr_json object = mr_json_event(trace, event, event);
    mr_context_put(context, &object, event);
    mr_json_put_object(self, key, object);
}

void mr_block_put(const mr_context *context, const mr_trace *trace, mr_json *self, uint32_t event)
{
    uint32_t object = mr_observed_object(trace, event);
    if (object == MR_NONE)
        return;
    const mr_object_info *info = &trace->object_info[object];
    mr_json block = mr_json_new();
    mr_json_put_name(&block, "object", "object_text", &trace->objects, object);
    if (info->has_extent) {
        char address[24];
        snprintf(address, sizeof address, "0x%" PRIx64, info->address);
        mr_json_put_text(&block, "address", address);
        mr_json_put_number(&block, "bytes", info->bytes);
    }
    put_event(context, trace, &block, "alloc", info->alloc);
    put_event(context, trace, &block, "free", info->free);
    mr_json_put_object(self, "block", block);
}

/* What the event is about: a variable, or a lock. */
static void print_operand(const mr_trace *trace, FILE *stream, uint32_t event)
{
    if (mr_op_is_access(trace->op[event]))
        mr_phrase_name(stream, &trace->variables, trace->operand[event]);
}

static void print_one(const mr_context *context, const mr_trace *trace, FILE *stream,
                      const mr_observed *found)
{
    bool about_memory =
        found->kind == MR_MISUSE_USE_AFTER_FREE || found->kind == MR_MISUSE_DOUBLE_FREE;
    mr_phrase_name(stream, &trace->threads, trace->thread[found->event]);
    fprintf(stream, " %s: ", mr_misuse_text(found->kind));
    print_operand(trace, stream, found->event);
    if (found->count > 1)
        fprintf(stream, ", %" PRIu64 " times", found->count);
    fputs("\n", stream);
    mr_access use = mr_access_of_event(trace, found->event, found->event);
    if (about_memory)
        mr_phrase_access(stream, "use", trace, use);
    else
        mr_phrase_deed(stream, "use", "call", trace, use);
    mr_context_print(context, stream, found->event);
    if (about_memory)
        mr_block_print(context, trace, stream, found->event);
    else if (found->other != MR_NONE)
        print_event(context, trace, stream, "  before  ", mr_misuse_other(found->kind),
                    found->other);
    mr_context_print_start(context, stream, trace->thread[found->event]);
}

void mr_observed_print_one(const mr_context *context, const mr_trace *trace, FILE *stream,
                           const mr_observed_list *list, size_t index)
{
    fprintf(stream, "\nObserved %zu of %zu: ", index + 1, list->count);
    print_one(context, trace, stream, &list->items[index]);
}

void mr_observed_print(const mr_context *context, const mr_trace *trace, FILE *stream,
                       const mr_observed_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        mr_observed_print_one(context, trace, stream, list, i);
}

static mr_json object_of(const mr_context *context, const mr_trace *trace, const mr_observed *found)
{
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "kind", mr_misuse_word(found->kind));
    put_event(context, trace, &self, "use", found->event);
    put_event(context, trace, &self, "other", found->other);
    mr_json_put_number(&self, "count", found->count);
    mr_block_put(context, trace, &self, found->event);
    return self;
}

mr_status mr_observed_dump(const mr_context *context, const mr_trace *trace,
                           const mr_observed_list *list, const mr_listing *findings, FILE *stream,
                           mr_error *error)
{
    mr_status status = MR_OK;
    const char *separator = "\"observed\":[\n";
    for (size_t i = 0; i < list->count && status == MR_OK; i++) {
        if (findings && !findings->of_observed[i])
            continue;
        fputs(separator, stream);
        separator = ",\n";
        mr_json object = object_of(context, trace, &list->items[i]);
        if (findings)
            mr_json_put_listed(&object, findings->of_observed[i], findings);
        status = mr_json_dump(stream, object, error);
    }
    if (separator[0] == ',')
        fputs("],\n", stream);
    return status;
}

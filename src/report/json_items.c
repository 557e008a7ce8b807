#include "json_items.h"

#include "text_items.h"

/* json_dump_callback_t */
static int add_text(const char *text, size_t length, void *context)
{
    mr_bytes *to = context;
    mr_bytes_raw(to, text, length);
    return to->failed ? -1 : 0;
}

/* mr_text_items.print: with a comma before each object. */
static mr_status print_item(void *context, unsigned worker, size_t index, mr_bytes *to,
                            mr_error *error)
{
    const mr_json_items *items = context;
    mr_json made = items->make(items->context, index);
    bool ok = made.ok;
    (void)worker;
    if (made.json && made.ok) {
        mr_bytes_raw(to, ",\n", 2);
        ok = json_dump_callback(made.json, add_text, to, MR_JSON_STYLE) == 0;
    }
    json_decref(made.json);
    return ok && !to->failed ? MR_OK : mr_error_memory(error, "writing the report");
}

mr_status mr_json_items_dump(FILE *stream, const mr_json_items *items, const mr_config *config,
                             mr_error *error)
{
    const mr_text_items texts = {
        .count = items->count, .print = print_item, .context = (void *)items, .skipped = 1};
    return mr_text_items_write(stream, &texts, config, error);
}

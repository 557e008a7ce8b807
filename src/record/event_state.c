#include "event_state.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

mr_status mr_event_pass_no_memory(mr_error *error)
{
    return mr_error_memory(error, "converting the log");
}

mr_status mr_event_pass_init(mr_event_pass *pass, const mr_log *log, mr_scan *scan, FILE *file,
                             const char *name, const char *symbol_folder, mr_error *error)
{
    *pass = (mr_event_pass){
        .log = log, .scan = scan, .jumper = {.gaps = &scan->gaps, .visits = &scan->pieces.visits}};
    mr_log_pass_init(&pass->reader, log);
    mr_status status = mr_emitter_init(&pass->emitter, file, name, error);
    pass->emitter.codes = &pass->positions.codes;
    if (status)
        return status;
    pass->symbols = mr_symbols_new(symbol_folder);
    pass->lock_of = mr_calloc(scan->objects.table.count + 1ull, sizeof *pass->lock_of);
    if (!pass->symbols || !pass->lock_of || !mr_settled_init(&pass->settled))
        return mr_event_pass_no_memory(error);
    pass->contexts.symbols = pass->naming.symbols = pass->symbols;
    pass->contexts.trace = pass->naming.trace = pass->emitter.trace;
    pass->locals = (mr_locals){
        .symbols = pass->symbols, .contexts = &pass->contexts, .trace = pass->emitter.trace};
    mr_names_init(&pass->locals.names);
    return MR_OK;
}

void mr_event_pass_free(mr_event_pass *pass)
{
    void *const blocks[] = {pass->lock_of,       pass->thread_of,  pass->given_at,
                            pass->atomic_locks,  pass->call_names, pass->reach,
                            pass->block_objects, pass->alive_of};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    mr_log_pass_free(&pass->reader);
    mr_locals_free(&pass->locals);
    mr_contexts_free(&pass->contexts);
    mr_emitter_free(&pass->emitter);
    mr_symbols_free(pass->symbols);
    mr_objects_free(&pass->objects);
    mr_uses_free(&pass->uses);
    mr_position_count_free(&pass->positions);
    mr_sparse_free(&pass->sparse);
    mr_settled_free(&pass->settled);
    mr_repeats_free(&pass->repeats);
    mr_addresses_free(&pass->addresses);
    mr_pairs_free(&pass->blocks);
    mr_pairs_free(&pass->contents);
    mr_waiting_free(&pass->waiting);
    mr_thread_notes_free(&pass->notes);
    mr_pointers_free(&pass->pointers);
    mr_pairs_free(&pass->atomics);
    mr_pairs_free(&pass->calls);
}

bool mr_event_pass_fill(uint32_t **array, size_t *capacity, size_t *count, size_t need)
{
    void *grown = *array;
    if (!mr_grow(&grown, capacity, need, sizeof **array))
        return false;
    *array = grown;
    while (*count < need)
        (*array)[(*count)++] = 0;
    return true;
}

mr_status mr_event_pass_thread(mr_event_pass *pass, uint32_t thread, uint32_t *number,
                               mr_error *error)
{
    if (thread > MR_LOG_THREADS_MAX)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the log has no thread %u", thread);
    if (thread >= pass->thread_count &&
        !mr_event_pass_fill(&pass->thread_of, &pass->thread_capacity, &pass->thread_count,
                            thread + 1ull))
        return mr_event_pass_no_memory(error);
    uint32_t *kept = &pass->thread_of[thread];
    if (!*kept) {
        if (!mr_naming_thread(&pass->naming, thread, number))
            return mr_event_pass_no_memory(error);
        *kept = *number + 1;
    }
    *number = *kept - 1;
    MR_ASSERT(*number < pass->emitter.trace->threads.count);
    return MR_OK;
}

void mr_event_pass_forget_code(mr_event_pass *pass)
{
    mr_contexts_forget(&pass->contexts);
    mr_locals_forget(&pass->locals);
    memset(pass->known_places, 0, sizeof pass->known_places);
}

static bool find_place(mr_event_pass *pass, const uint64_t *record, uint32_t caller, bool is_whole,
                       mr_known_place *found)
{
    if (!mr_contexts_above(&pass->contexts, caller, mr_log_code(record[1]), &found->stack) ||
        !mr_contexts_location(&pass->contexts, found->stack, &found->location))
        return false;
    found->number = mr_position_code(&pass->positions, record, is_whole);
    return found->number != MR_PAIRS_NONE;
}

/* The place of the record, from the cache when that has it; NULL: no memory. */
static const mr_known_place *place_of(mr_event_pass *pass, const uint64_t *record, bool is_whole)
{
    mr_known_place place = {.code = mr_log_code(record[1]),
                            .what = mr_log_kind_of(record[0]) << 1 | is_whole};
    if (!mr_contexts_caller(&pass->contexts, pass->reader.thread, &place.caller))
        return NULL;
    uint64_t mixed = (place.code ^ (uint64_t)place.caller << 20 ^ (uint64_t)place.what << 48) *
                     UINT64_C(0x9e3779b97f4a7c15);
    mr_known_place *known = &pass->known_places[mixed >> 40 & (MR_KNOWN_PLACES - 1)];
    if (known->code == place.code && known->caller == place.caller && known->what == place.what)
        return known;
    if (!find_place(pass, record, place.caller, is_whole, &place))
        return NULL;
    *known = place;
    return known;
}

mr_status mr_event_pass_place(mr_event_pass *pass, const uint64_t *record, mr_emitted *event,
                              mr_error *error)
{
    mr_status status = mr_event_pass_thread(pass, pass->reader.thread, &event->thread, error);
    if (status)
        return status;
    const mr_known_place *place = place_of(pass, record, event->is_whole);
    if (!place || !mr_position_room(&pass->positions, pass->reader.thread))
        return mr_event_pass_no_memory(error);
    event->stack = place->stack;
    event->location = place->location;
    event->code = place->number;
    event->position = pass->positions.of[pass->reader.thread];
    return MR_OK;
}

mr_status mr_event_pass_lock(mr_event_pass *pass, uint32_t object, uint32_t *lock, mr_error *error)
{
    MR_REQUIRE(object < pass->scan->objects.table.count);
    const mr_object *found = &pass->scan->objects.items[object];
    if (!pass->lock_of[object]) {
        const mr_life *life = mr_lifetimes_find(&pass->reader.lives, found->address);
        bool ok = mr_object_orders(found->role) ? mr_naming_order(&pass->naming, life, found, lock)
                                                : mr_naming_lock(&pass->naming, life, found, lock);
        if (!ok)
            return mr_event_pass_no_memory(error);
        pass->lock_of[object] = *lock + 1;
    }
    *lock = pass->lock_of[object] - 1;
    return MR_OK;
}

mr_status mr_event_pass_numbered(mr_event_pass *pass, const uint64_t *record, uint32_t number,
                                 mr_emitted *event, mr_error *error)
{
    MR_ASSERT(number < pass->scan->objects.table.count);
    const mr_object *object = &pass->scan->objects.items[number];
    mr_status status = mr_event_pass_lock(pass, number, &event->operand, error);
    if (status)
        return status;
    mr_local_use use = {mr_lifetimes_find(&pass->reader.lives, object->address), object->address,
                        mr_naming_object_bytes(object->role, object->number), pass->reader.thread};
    bool ok = mr_object_orders(object->role)
                  ? mr_locals_note_variable(&pass->locals, event->operand, &use)
                  : mr_locals_note_lock(&pass->locals, event->operand, &use);
    return ok ? mr_event_pass_place(pass, record, event, error) : mr_event_pass_no_memory(error);
}

mr_status mr_event_pass_object(mr_event_pass *pass, const uint64_t *record, const mr_object *object,
                               mr_emitted *event, mr_error *error)
{
    if (!object)
        return mr_event_pass_no_memory(error);
    uint32_t number = (uint32_t)(object - pass->objects.items);
    /* Both passes number the objects alike. */
    MR_ASSERT(number < pass->scan->objects.table.count &&
              pass->scan->objects.items[number].address == object->address);
    return mr_event_pass_numbered(pass, record, number, event, error);
}

bool mr_event_pass_keep_misuse(mr_event_pass *pass, const mr_misuse *misuse)
{
    enum { MISUSES_MAX = 256 };
    mr_ending *ending = &pass->emitter.trace->ending;
    return ending->misuse_count >= MISUSES_MAX || mr_ending_add_misuse(ending, misuse);
}

#include "positions.h"

#include "base/memory.h"
#include "formats/mrt/mrt_positions.h"
#include "runtime/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mr_position_count_free(mr_position_count *count)
{
    free(count->of);
    free(count->modules);
    mr_pairs_free(&count->codes);
    mr_bytes_free(&count->lines);
    *count = (mr_position_count){.of = NULL};
}

bool mr_position_grow(mr_position_count *count, uint32_t thread)
{
    void *of = count->of;
    if (!mr_grow(&of, &count->capacity, thread + 1ull, sizeof *count->of))
        return false;
    count->of = of;
    while (count->count <= thread)
        count->of[count->count++] = 0;
    return true;
}

/* The module with the code; NULL: none. */
static const mr_position_module *find(mr_position_count *count, uint64_t code)
{
    for (size_t i = 0; i < count->module_count; i++) {
        size_t at = (count->last + i) % count->module_count;
        const mr_position_module *module = &count->modules[at];
        if (!module->is_gone && code >= module->start && code < module->end) {
            count->last = at;
            return module;
        }
    }
    return NULL;
}

bool mr_position_counts(mr_position_count *count, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if (kind != MR_LOG_GIVEN && kind != MR_LOG_TAKEN)
        return mr_log_counts(kind);
    const mr_position_module *module = find(count, mr_log_code(record[1]));
    return !module || !module->allocates;
}

/* "module NUMBER START END BIAS BUILD-ID PATH" */
static void module_line(mr_position_count *count, const mr_log_module *module, uint32_t number,
                        const char *path)
{
    char id[2 * sizeof module->build_id + 1] = "-", text[200];
    for (size_t i = 0; i < module->build_id_bytes && i < sizeof module->build_id; i++)
        snprintf(id + 2 * i, 3, "%02x", module->build_id[i]);
    snprintf(text, sizeof text, "module %" PRIu32 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " %s",
             number, module->start, module->end, module->bias, id);
    mr_run_line(&count->lines, text, path);
}

bool mr_position_module_record(mr_position_count *count, const uint64_t *record)
{
    const mr_log_module *module = (const void *)record;
    const char *path = (const char *)(module + 1);
    if (mr_log_kind_of(record[0]) == MR_LOG_UNLOAD) {
        for (size_t i = 0; i < count->module_count; i++)
            if (count->modules[i].bias == mr_log_payload(record[0]))
                count->modules[i].is_gone = true;
        return true;
    }
    size_t room = mr_log_payload(record[0]) * sizeof *record;
    if (room <= sizeof *module || !memchr(path, '\0', room - sizeof *module) ||
        count->module_count >= MR_CODE_MODULES_MAX)
        return true;
    void *modules = count->modules;
    if (!mr_grow(&modules, &count->module_capacity, count->module_count + 1,
                 sizeof *count->modules))
        return false;
    count->modules = modules;
    uint32_t number = (uint32_t)count->module_count;
    count->modules[count->module_count++] =
        (mr_position_module){.bias = module->bias,
                             .start = module->start,
                             .end = module->end,
                             .number = number,
                             .allocates = mr_log_allocates(path)};
    module_line(count, module, number, path);
    return !count->lines.failed;
}

uint32_t mr_position_code(mr_position_count *count, const uint64_t *record, bool is_whole)
{
    uint64_t address = mr_log_code(record[1]);
    const mr_position_module *module = find(count, address);
    uint64_t offset_mask = ((uint64_t)1 << MR_CODE_MODULE_SHIFT) - 1;
    uint64_t code = (module ? address - module->start : address) & offset_mask;
    code |= (uint64_t)(module ? module->number + 1 : 0) << MR_CODE_MODULE_SHIFT;
    code |= (uint64_t)mr_log_kind_of(record[0]) << MR_CODE_KIND_SHIFT;
    code |= (uint64_t)is_whole << MR_CODE_WHOLE_SHIFT;
    return mr_pairs_add(&count->codes, (mr_pair){0, code});
}

#include "mrt_positions.h"

#include "base/bytes.h"
#include "mrt_format.h"
#include "mrt_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    mr_positions *positions;
    const mr_trace *trace;
    uint64_t *last; /* by thread: position of the last event */
    size_t code_capacity;
} reading;

static mr_status wrong(mr_error *error)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                        "the .mrt file is wrong: positions of other events");
}

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "reading the positions of events");
}

/* Room for all events; the first chunk asks for it. */
static bool make_room(reading *self)
{
    mr_positions *positions = self->positions;
    uint32_t count = self->trace->event_count;
    if (positions->position)
        return true;
    positions->position = mr_calloc(count + 1ull, sizeof *positions->position);
    positions->code = mr_calloc(count + 1ull, sizeof *positions->code);
    self->last = mr_calloc(self->trace->threads.count + 1ull, sizeof *self->last);
    return positions->position && positions->code && self->last;
}

static mr_status add_codes(reading *self, mr_bytes_reader *bytes, mr_error *error)
{
    mr_mrt_positions head;
    mr_positions *positions = self->positions;
    const uint8_t *raw = mr_bytes_get_raw(bytes, sizeof head);
    if (!raw)
        return wrong(error);
    memcpy(&head, raw, sizeof head);
    raw = mr_bytes_get_raw(bytes, head.code_count * sizeof *positions->codes);
    if (!raw)
        return wrong(error);
    void *codes = positions->codes;
    if (!mr_grow(&codes, &self->code_capacity, positions->code_count + (size_t)head.code_count,
                 sizeof *positions->codes))
        return no_memory(error);
    positions->codes = codes;
    if (head.code_count)
        memcpy(positions->codes + positions->code_count, raw,
               head.code_count * sizeof *positions->codes);
    positions->code_count += head.code_count;
    return MR_OK;
}

static mr_status add_block(reading *self, const mr_mrt_chunk *chunk, const unsigned char *payload,
                           mr_error *error)
{
    mr_positions *positions = self->positions;
    mr_bytes_reader bytes = {.next = payload, .end = payload + chunk->size_bytes};
    if (chunk->first != positions->event_count ||
        chunk->count > self->trace->event_count - chunk->first)
        return wrong(error);
    if (!make_room(self))
        return no_memory(error);
    mr_status status = add_codes(self, &bytes, error);
    if (status || !positions->code_count)
        return status ? status : wrong(error);
    for (uint32_t i = chunk->first; i < chunk->first + chunk->count; i++) {
        uint64_t *last = &self->last[self->trace->thread[i]];
        *last += mr_bytes_get(&bytes);
        positions->position[i] = *last;
        positions->code[i] = mr_bytes_get_u32(&bytes, positions->code_count - 1);
    }
    positions->event_count += chunk->count;
    return bytes.damaged ? wrong(error) : MR_OK;
}

static mr_status take(reading *self, const mr_mrt_chunk *chunk, mr_mrt_source *source,
                      mr_error *error)
{
    const unsigned char *payload;
    if (chunk->kind != MR_MRT_POSITIONS && chunk->kind != MR_MRT_RUN)
        return mr_mrt_source_skip(source, chunk, error);
    mr_status status = mr_mrt_source_payload(source, chunk, &payload, error);
    if (status || chunk->kind == MR_MRT_POSITIONS)
        return status ? status : add_block(self, chunk, payload, error);
    free(self->positions->run);
    self->positions->run = mr_strndup((const char *)payload, (size_t)chunk->size_bytes);
    return self->positions->run ? MR_OK : no_memory(error);
}

mr_status mr_positions_read(const char *path, const mr_trace *trace, mr_positions *positions,
                            mr_error *error)
{
    mr_mrt_source source;
    mr_mrt_chunk chunk = {.kind = 0};
    bool mapped = false;
    reading self = {.positions = positions, .trace = trace};
    *positions = (mr_positions){.run = NULL};
    mr_status status = mr_mrt_source_open(&source, path, &mapped, error);
    if (status || !mapped)
        return status;
    while (!status && chunk.kind != MR_MRT_END) {
        status = mr_mrt_source_next(&source, &chunk, error);
        if (!status)
            status = take(&self, &chunk, &source, error);
    }
    mr_mrt_source_close(&source);
    free(self.last);
    if (!status && positions->event_count && positions->event_count != trace->event_count)
        status = wrong(error);
    return status;
}

mr_status mr_mrt_inputs(const char *path, FILE *to, bool *found, mr_error *error)
{
    mr_mrt_source source;
    mr_mrt_chunk chunk = {.kind = 0};
    const unsigned char *payload;
    bool mapped = false;
    *found = false;
    mr_status status = mr_mrt_source_open(&source, path, &mapped, error);
    if (status || !mapped)
        return status;
    while (!status && chunk.kind != MR_MRT_END) {
        status = mr_mrt_source_next(&source, &chunk, error);
        if (status || chunk.kind != MR_MRT_INPUTS) {
            status = status ? status : mr_mrt_source_skip(&source, &chunk, error);
            continue;
        }
        status = mr_mrt_source_payload(&source, &chunk, &payload, error);
        if (!status && fwrite(payload, 1, (size_t)chunk.size_bytes, to) != chunk.size_bytes)
            status =
                mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write inputs: %s", strerror(errno));
        *found = true;
    }
    mr_mrt_source_close(&source);
    return status;
}

void mr_positions_free(mr_positions *positions)
{
    free(positions->position);
    free(positions->code);
    free(positions->codes);
    free(positions->run);
    *positions = (mr_positions){.run = NULL};
}

void mr_run_line(mr_bytes *lines, const char *key, const char *value)
{
    mr_bytes_raw(lines, key, strlen(key));
    mr_bytes_raw(lines, " ", 1);
    for (; *value; value++) {
        if (*value == '\n' || *value == '\\')
            mr_bytes_raw(lines, *value == '\n' ? "\\n" : "\\\\", 2);
        else
            mr_bytes_raw(lines, value, 1);
    }
    mr_bytes_raw(lines, "\n", 1);
}

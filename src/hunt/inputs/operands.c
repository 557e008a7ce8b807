#include "operands.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROOMS = 2 };

void mr_operands_free(mr_operands *operands)
{
    free(operands->items);
    *operands = (mr_operands){0};
}

/* Takes the record, and the rooms of its texts; returns how many rooms that were, 0: damaged. */
static uint32_t take(mr_operands *operands, const mr_operand *rooms, uint32_t left)
{
    const mr_operand *record = rooms;
    mr_compared *item = &operands->items[operands->count];
    bool is_text = record->kind == MR_OPERAND_TEXT;
    if (record->kind > MR_OPERAND_TEXT || (is_text && left <= TEXT_ROOMS) ||
        (is_text &&
         (record->bytes > MR_OPERANDS_TEXT_BYTES || record->other > MR_OPERANDS_TEXT_BYTES)) ||
        (!is_text && (record->bytes == 0 || record->bytes > 8)))
        return 0;
    *item = (mr_compared){.place = record->place,
                          .thread = record->thread,
                          .kind = record->kind,
                          .bytes = record->bytes,
                          .other = record->other,
                          .numbers = {record->a, record->b}};
    if (is_text) {
        memcpy(item->texts[0], rooms + 1, record->bytes);
        memcpy(item->texts[1], rooms + 2, record->other);
    }
    operands->count++;
    return is_text ? 1 + TEXT_ROOMS : 1;
}

static mr_status take_all(mr_operands *operands, const char *path, const mr_operand *rooms,
                          uint32_t count, size_t most, mr_error *error)
{
    operands->items = mr_calloc((count < most ? count : most) + 1, sizeof *operands->items);
    if (!operands->items)
        return mr_error_memory(error, "reading what the program compared");
    for (uint32_t at = 0; at < count && operands->count < most;) {
        uint32_t taken = take(operands, rooms + at, count - at);
        if (!taken)
            return mr_error_set(error, MR_ERR_IO, path, 0,
                                "record %u of comparisons is damaged; run again", at);
        at += taken;
        operands->is_cut |= operands->count == most && at < count;
    }
    return MR_OK;
}

static mr_status read_file(FILE *file, const char *path, size_t most, mr_operands *operands,
                           mr_error *error)
{
    mr_operands_header header;
    if (fread(&header, sizeof header, 1, file) != 1 ||
        memcmp(header.magic, MR_OPERANDS_MAGIC, sizeof header.magic) != 0 ||
        header.version != MR_OPERANDS_VERSION || header.count > MR_OPERANDS_MAX)
        return mr_error_set(error, MR_ERR_IO, path, 0,
                            "is no file of comparisons of this version; run again");
    mr_operand *rooms = mr_calloc((size_t)header.count + 1, sizeof *rooms);
    if (!rooms)
        return mr_error_memory(error, "reading what the program compared");
    mr_status status = MR_OK;
    if (fread(rooms, sizeof *rooms, header.count, file) != header.count)
        status = mr_error_set(error, MR_ERR_IO, path, 0,
                              "the file of comparisons is too short; run again");
    if (!status)
        status = take_all(operands, path, rooms, header.count, most, error);
    operands->is_cut |= header.dropped > 0;
    free(rooms);
    return status;
}

mr_status mr_operands_read(const char *path, size_t most, mr_operands *operands, mr_error *error)
{
    *operands = (mr_operands){0};
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOENT)
        return MR_OK;
    if (!file)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot be read: %s", strerror(errno));
    mr_status status = read_file(file, path, most, operands, error);
    fclose(file);
    if (status)
        mr_operands_free(operands);
    return status;
}

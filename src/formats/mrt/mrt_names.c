#include "mrt_names.h"

#include "base/huge.h"
#include "formats/pack/lines.h"
#include "trace/columns.h"
#include "trace/members.h"

#include <stdlib.h>
#include <string.h>

/* What a byte is to the grammar. */
enum {
    IS_LINE_END = 1, /* or a NUL */
    IS_BAR = 2,
    IS_PARENTHESIS = 4,
    IS_COLON = 8,
    IS_COMMA = 16,
    IS_BLANK = 32,
    IS_EQUALS = 64,
};

static const uint8_t byte_classes[256] = {
    [0] = IS_LINE_END,      ['\n'] = IS_LINE_END, ['|'] = IS_BAR,   ['('] = IS_PARENTHESIS,
    [')'] = IS_PARENTHESIS, [':'] = IS_COLON,     [','] = IS_COMMA, [' '] = IS_BLANK,
    ['\t'] = IS_BLANK,      ['='] = IS_EQUALS,
};

static unsigned classes_of(const char *text, uint32_t length)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < length; i++)
        seen |= byte_classes[(unsigned char)text[i]];
    return seen;
}

/* Can a line of a text have this name? */
static bool is_name(unsigned space, const char *text, uint32_t length)
{
    static const uint8_t forbidden[MR_MRT_SPACE_COUNT] = {
        /* a thread may be an operand, too */
        [MR_MRT_THREADS] = IS_LINE_END | IS_BAR,
        [MR_MRT_VARIABLES] = IS_LINE_END | IS_BAR | IS_PARENTHESIS,
        [MR_MRT_LOCKS] = IS_LINE_END | IS_BAR | IS_PARENTHESIS,
        [MR_MRT_LOCATIONS] = IS_LINE_END,
        [MR_MRT_CALLS] = IS_LINE_END | IS_BAR | IS_PARENTHESIS | IS_COLON,
        [MR_MRT_REACHES] = IS_LINE_END | IS_BAR | IS_PARENTHESIS | IS_COMMA,
        [MR_MRT_FRAMES] = IS_LINE_END,
        [MR_MRT_OBJECTS] = IS_LINE_END | IS_BAR | IS_PARENTHESIS | IS_EQUALS,
    };
    if (classes_of(text, length) & forbidden[space])
        return false;
    return length || space == MR_MRT_LOCATIONS;
}

static mr_status wrong(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the .mrt file is wrong: %s", what);
}

/* Lists the names of a chunk in `items`. Their texts begin at `text`. */
static mr_status list_names(const mr_mrt_chunk *chunk, const unsigned char *lengths,
                            const char *text, mr_name *items, mr_error *error)
{
    uint64_t left = chunk->size_bytes - (uint64_t)chunk->count * sizeof(uint32_t);
    for (uint32_t i = 0; i < chunk->count; i++) {
        uint32_t length;
        memcpy(&length, lengths + (size_t)i * sizeof length, sizeof length);
        if (length > MR_LINE_MAX_BYTES || length >= left || text[length])
            return wrong(error, "a name does not end where it should");
        if (!is_name(chunk->space, text, length))
            return wrong(error, "a name that no text can have");
        items[i] = (mr_name){.text = text, .length = length};
        text += length + 1;
        left -= length + 1;
    }
    return left ? wrong(error, "more text than names") : MR_OK;
}

/* Copies the texts of a chunk. mr_names_take needs some readable bytes behind them. */
static const char *copy_texts(mr_names *names, const char *text, size_t size_bytes)
{
    char *copy = mr_arena_alloc(&names->strings, size_bytes + MR_NAME_SHORT_BYTES, 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, size_bytes);
    memset(copy + size_bytes, 0, MR_NAME_SHORT_BYTES);
    return copy;
}

/* `items` have room. */
static mr_status take_names(mr_names *names, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, mr_mrt_keep keep, mr_error *error)
{
    size_t lengths_bytes = (size_t)chunk->count * sizeof(uint32_t);
    const char *text = (const char *)payload + lengths_bytes;
    uint32_t first = names->count, twice;
    if (keep == MR_MRT_KEEP_COPY)
        text = copy_texts(names, text, (size_t)chunk->size_bytes - lengths_bytes);
    if (!text)
        return mr_error_memory(error, "reading the trace");
    mr_status status = list_names(chunk, payload, text, names->items + first, error);
    if (status)
        return status;
    names->count += chunk->count;
    if (keep == MR_MRT_KEEP_LOAN)
        return MR_OK;
    if (!mr_names_take(names, first, &twice)) {
        names->count = first;
        return mr_error_memory(error, "reading the trace");
    }
    if (twice == names->count)
        return MR_OK;
    names->count = twice;
    return wrong(error, "a name comes twice");
}

mr_status mr_mrt_names_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, mr_mrt_keep keep, mr_error *error)
{
    if (chunk->space >= MR_MRT_SPACE_COUNT ||
        chunk->size_bytes < (uint64_t)chunk->count * sizeof(uint32_t))
        return wrong(error, "names without a place");
    mr_names *names = mr_mrt_names_of(trace, chunk->space);
    /* UINT32_MAX - 2: as many as mr_names takes */
    if (chunk->first != names->count || chunk->count > UINT32_MAX - 2 - names->count)
        return wrong(error, "names that are out of order");
    void *items = names->items;
    if (!mr_huge_grow(&items, &names->capacity, (size_t)names->count + chunk->count,
                      sizeof *names->items))
        return mr_error_memory(error, "reading the trace");
    names->items = items;
    return take_names(names, chunk, payload, keep, error);
}

/* Can a line that begins with the name give the text? */
static bool is_text_of(const mr_name *name, const char *text, uint32_t length)
{
    return length && !(byte_classes[(unsigned char)*text] & IS_BLANK) &&
           !(classes_of(text, length) & IS_LINE_END) && name->length &&
           !(classes_of(name->text, name->length) & IS_BLANK);
}

static mr_status add_text(mr_names *names, const mr_mrt_text *head, const char *text,
                          mr_mrt_keep keep, mr_error *error)
{
    mr_name *name = &names->items[head->name];
    if (!is_text_of(name, text, head->length) || name->display)
        return wrong(error, "a text for people that no directive can give");
    if (keep == MR_MRT_KEEP_LOAN)
        name->display = text;
    else if (!mr_names_set_display(names, head->name, text, head->length))
        return mr_error_memory(error, "reading the trace");
    return MR_OK;
}

mr_status mr_mrt_texts_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, mr_mrt_keep keep, mr_error *error)
{
    uint64_t heads_bytes = (uint64_t)chunk->count * sizeof(mr_mrt_text);
    bool has_texts = chunk->space <= MR_MRT_LOCATIONS || chunk->space == MR_MRT_OBJECTS;
    if (!has_texts || chunk->size_bytes < heads_bytes)
        return wrong(error, "texts without a place");
    mr_names *names = mr_mrt_names_of(trace, chunk->space);
    const char *text = (const char *)payload + heads_bytes;
    uint64_t left = chunk->size_bytes - heads_bytes;
    for (uint32_t i = 0; i < chunk->count; i++) {
        mr_mrt_text head;
        memcpy(&head, payload + (size_t)i * sizeof head, sizeof head);
        if (head.name >= names->count)
            return wrong(error, "a text of a name that there is not");
        if (head.length > MR_LINE_MAX_BYTES || head.length >= left || text[head.length])
            return wrong(error, "a text does not end where it should");
        mr_status status = add_text(names, &head, text, keep, error);
        if (status)
            return status;
        text += head.length + 1;
        left -= head.length + 1;
    }
    return left ? wrong(error, "more text than names") : MR_OK;
}

/* Finds the texts of the types, which are all of `text`. */
static mr_status list_types(const char *text, uint64_t size_bytes, mr_slice *types, uint32_t count,
                            mr_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *end = size_bytes ? memchr(text, '\0', (size_t)size_bytes) : NULL;
        if (!end || end - text > MR_LINE_MAX_BYTES)
            return wrong(error, "a type does not end where it should");
        types[i] = (mr_slice){text, (uint32_t)(end - text)};
        size_bytes -= (uint64_t)(end + 1 - text);
        text = end + 1;
    }
    return size_bytes ? wrong(error, "more text than types") : MR_OK;
}

static mr_status add_type(mr_trace *trace, mr_mrt_type pair, const mr_slice *types,
                          uint32_t type_count, mr_error *error)
{
    if (pair.variable >= trace->variables.count || pair.type >= type_count)
        return wrong(error, "a type of a variable that there is not");
    if (!is_text_of(&trace->variables.items[pair.variable], types[pair.type].text,
                    types[pair.type].length) ||
        mr_value_types_text(&trace->types, pair.variable))
        return wrong(error, "a type that no line can give");
    return mr_value_types_set_text(&trace->types, pair.variable, types[pair.type].text,
                                   types[pair.type].length)
               ? MR_OK
               : mr_error_memory(error, "reading the trace");
}

mr_status mr_mrt_types_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, mr_error *error)
{
    mr_mrt_types head;
    uint64_t heads_bytes = sizeof head + (uint64_t)chunk->count * sizeof(mr_mrt_type);
    if (chunk->size_bytes < heads_bytes)
        return wrong(error, "types of another size");
    memcpy(&head, payload, sizeof head);
    uint64_t left = chunk->size_bytes - heads_bytes;
    if (head.type_count > left) /* each has a NUL */
        return wrong(error, "types of another size");
    mr_slice *types = mr_calloc(head.type_count + 1ull, sizeof *types);
    if (!types)
        return mr_error_memory(error, "reading the trace");
    mr_status status =
        list_types((const char *)payload + heads_bytes, left, types, head.type_count, error);
    for (uint32_t i = 0; i < chunk->count && !status; i++) {
        mr_mrt_type pair;
        memcpy(&pair, payload + sizeof head + (size_t)i * sizeof pair, sizeof pair);
        status = add_type(trace, pair, types, head.type_count, error);
    }
    free(types);
    return status;
}

mr_status mr_mrt_lines_read(mr_trace *trace, const mr_mrt_chunk *chunk,
                            const unsigned char *payload, uint64_t first, mr_error *error)
{
    if (chunk->size_bytes != (uint64_t)chunk->count * sizeof(mr_mrt_line))
        return wrong(error, "line numbers of another size");
    mr_status status =
        mr_columns_reserve_lines(trace, trace->line_step_count + chunk->count, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < chunk->count; i++) {
        mr_mrt_line line;
        memcpy(&line, payload + (size_t)i * sizeof line, sizeof line);
        size_t count = trace->line_step_count;
        uint64_t least = count ? trace->line_steps[count - 1].event + 1ull : 0;
        uint64_t offset = count ? trace->line_steps[count - 1].offset : 0;
        if (line.event < least || line.event < first || line.event > UINT64_MAX / 2 ||
            (!count && line.event) || line.offset <= offset || line.offset > UINT64_MAX / 2)
            return wrong(error, "line numbers that go backwards");
        trace->line_steps[trace->line_step_count++] =
            (mr_line_step){.event = line.event, .offset = line.offset};
    }
    return MR_OK;
}

/* Can a line say that the variable belongs to the object? */
static bool can_be_member(const mr_trace *trace, mr_membership member)
{
    const mr_name *variable = &trace->variables.items[member.variable];
    const mr_name *object = &trace->objects.items[member.object];
    return !(classes_of(variable->text, variable->length) & IS_BLANK) &&
           !(byte_classes[(unsigned char)object->text[0]] & IS_BLANK);
}

mr_status mr_mrt_members_read(mr_trace *trace, mr_validity *validity, const mr_mrt_chunk *chunk,
                              const unsigned char *payload, mr_error *error)
{
    if (chunk->size_bytes != (uint64_t)chunk->count * sizeof(mr_membership) ||
        chunk->first != trace->members.count)
        return wrong(error, "variables of objects that are out of order");
    for (uint32_t i = 0; i < chunk->count; i++) {
        mr_membership member;
        memcpy(&member, payload + (size_t)i * sizeof member, sizeof member);
        if (member.variable >= trace->variables.count || member.object >= trace->objects.count ||
            !can_be_member(trace, member))
            return wrong(error, "a variable of an object that there is not");
        if (mr_trace_object(trace, member.variable) != MR_NONE)
            return wrong(error, "a variable that is put into an object twice");
        mr_status status =
            mr_validity_member(validity, member.variable, member.object, false, error);
        if (status)
            return status;
        if (!mr_members_put(trace, member.variable, member.object))
            return mr_error_memory(error, "reading the trace");
    }
    return MR_OK;
}

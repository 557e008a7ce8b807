#include "parse.h"

#include <string.h>

#define LINE_SHAPE "expected thread|op(operand)|location"

/* "reason 'quoted'remedy" */
static mr_status fail(mr_error *error, const char *reason, mr_slice quoted, const char *remedy)
{
    char quote[MR_QUOTE_SIZE];
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "%s '%s'%s", reason,
                        mr_slice_quote(quoted, quote), remedy);
}

static mr_slice slice_of(const char *start, const char *end)
{
    return (mr_slice){start, (uint32_t)(end - start)};
}

static bool same_word(mr_slice slice, const char *word)
{
    for (uint32_t i = 0; i < slice.length; i++) {
        char c = slice.text[i];
        if (!word[i] || (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
            return false;
    }
    return !word[slice.length];
}

/* What other formats and recorders call the operations. */
static const char *suggest_op(mr_slice word)
{
    static const struct {
        const char *word;
        mr_op op;
    } words[] = {
        {"read", MR_OP_READ},
        {"rd", MR_OP_READ},
        {"load", MR_OP_READ},
        {"write", MR_OP_WRITE},
        {"wr", MR_OP_WRITE},
        {"store", MR_OP_WRITE},
        {"acquire", MR_OP_ACQUIRE},
        {"lock", MR_OP_ACQUIRE},
        {"release", MR_OP_RELEASE},
        {"unlock", MR_OP_RELEASE},
        {"start", MR_OP_FORK},
        {"exit", MR_OP_END},
        {"signal", MR_OP_POST},
        {"notify", MR_OP_POST},
        {"rmw", MR_OP_ATOMIC_UPDATE},
        {"cas", MR_OP_ATOMIC_UPDATE},
        {"rdlock", MR_OP_SHARED_ACQUIRE},
        {"racquire", MR_OP_SHARED_ACQUIRE},
        {"rrelease", MR_OP_SHARED_RELEASE},
        {"malloc", MR_OP_ALLOC},
        {"new", MR_OP_ALLOC},
        {"delete", MR_OP_FREE},
    };
    for (int op = 0; op < MR_OP_COUNT; op++) {
        if (same_word(word, mr_op_name((mr_op)op)))
            return mr_op_name((mr_op)op);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (same_word(word, words[i].word))
            return mr_op_name(words[i].op);
    }
    return NULL;
}

static mr_status unknown_op(mr_slice word, mr_error *error)
{
    char quote[MR_QUOTE_SIZE];
    mr_slice_quote(word, quote);
    const char *suggestion = suggest_op(word);
    if (suggestion)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "unknown operation '%s' (did you mean '%s'?)", quote, suggestion);
    char list[256] = "";
    size_t used = 0;
    for (int op = 0; op < MR_OP_COUNT; op++) {
        const char *name = mr_op_name((mr_op)op);
        size_t length = strlen(name);
        if (used + length + 2 > sizeof list)
            break;
        list[used++] = ' ';
        memcpy(list + used, name, length + 1);
        used += length;
    }
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "unknown operation '%s'; there are%s", quote,
                        list);
}

typedef enum number_result { NUMBER_OK, NUMBER_NONE, NUMBER_TOO_LARGE } number_result;

/* A signed 64-bit decimal: '-' or nothing, then digits. */
static number_result parse_number(mr_slice text, int64_t *number)
{
    const char *at = text.text, *end = text.text + text.length;
    bool negative = at < end && *at == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative, value = 0;
    at += negative;
    if (at == end)
        return NUMBER_NONE;
    bool too_large = false;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9)
            return NUMBER_NONE;
        if (value > (limit - digit) / 10)
            too_large = true;
        else
            value = value * 10 + digit;
    }
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return too_large ? NUMBER_TOO_LARGE : NUMBER_OK;
}

bool mr_parse_number(mr_slice text, int64_t *number)
{
    return parse_number(text, number) == NUMBER_OK;
}

static mr_status parse_value(mr_slice text, int64_t *value, mr_error *error)
{
    switch (parse_number(text, value)) {
    case NUMBER_OK:
        return MR_OK;
    case NUMBER_TOO_LARGE:
        return fail(error, "the value", text, " does not fit in 64 bits; use a smaller number");
    case NUMBER_NONE:
        break;
    }
    if (text.length && memchr(text.text, '>', text.length))
        return fail(error, "the value", text, " is not a decimal number; only au takes v>v2, once");
    return fail(error, "the value", text,
                " after the last '=' is not a decimal number; when '=' belongs to the variable's "
                "name, rename the variable");
}

/* "v>v2" */
static mr_status parse_update(mr_slice text, mr_parsed *parsed, mr_error *error)
{
    const char *arrow = memchr(text.text, '>', text.length);
    if (!arrow)
        return fail(error, "the value", text,
                    " of au lacks '>'; expected x=v>v2 (reads v, writes v2)");
    mr_status status = parse_value(slice_of(text.text, arrow), &parsed->value, error);
    if (status)
        return status;
    return parse_value(slice_of(arrow + 1, text.text + text.length), &parsed->written_value, error);
}

/* "x", "x=v" or "x=v>v2"; `equals` is the last '=' or NULL. */
static mr_status parse_variable(mr_slice operand, const char *equals, mr_parsed *parsed,
                                mr_error *error)
{
    parsed->name = operand;
    parsed->has_value = equals != NULL;
    mr_status status = MR_OK;
    if (equals) {
        mr_slice value = slice_of(equals + 1, operand.text + operand.length);
        parsed->name = slice_of(operand.text, equals);
        status = mr_op_updates((uint8_t)parsed->op) ? parse_update(value, parsed, error)
                                                    : parse_value(value, &parsed->value, error);
    }
    if (!status && !parsed->name.length)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the variable's name is empty; expected %s(x) or %s(x=value)",
                            mr_op_name(parsed->op), mr_op_name(parsed->op));
    return status;
}

/* An unsigned number, decimal or 0x…. */
static bool parse_address(mr_slice text, uint64_t *number)
{
    const char *at = text.text, *end = text.text + text.length;
    bool hexadecimal = text.length > 2 && at[0] == '0' && at[1] == 'x';
    uint64_t base = hexadecimal ? 16 : 10;
    at += hexadecimal ? 2 : 0;
    *number = 0;
    for (const char *first = at; at < end; at++) {
        uint64_t digit = 16;
        if (*at >= '0' && *at <= '9')
            digit = (uint64_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            digit = (uint64_t)(*at - 'a') + 10;
        else if (*at >= 'A' && *at <= 'F')
            digit = (uint64_t)(*at - 'A') + 10;
        if (digit >= base || (at > first && *number > (UINT64_MAX - digit) / base))
            return false;
        *number = *number * base + digit;
    }
    return text.length > 0;
}

/* "address+bytes" */
static mr_status parse_extent(mr_slice text, mr_parsed *parsed, mr_error *error)
{
    const char *plus = text.length ? memchr(text.text, '+', text.length) : NULL;
    uint64_t address, bytes;
    if (!plus || !parse_address(slice_of(text.text, plus), &address) ||
        !parse_address(slice_of(plus + 1, text.text + text.length), &bytes))
        return fail(error, "where the object is,", text,
                    " is not address+bytes; expected two unsigned 64-bit numbers, decimal or "
                    "0x..., as in alloc(o=0x5000+16)");
    if (bytes && address + (bytes - 1) < address)
        return fail(error, "the object at", text, " goes past the end of memory");
    parsed->value = (int64_t)address;
    parsed->written_value = (int64_t)bytes;
    return MR_OK;
}

/* "o", for alloc also "o=address+bytes"; `equals` is the last '=' or NULL. */
static mr_status parse_object(mr_slice operand, const char *equals, mr_parsed *parsed,
                              mr_error *error)
{
    parsed->name = operand;
    parsed->has_value = equals != NULL && mr_op_starts_life((uint8_t)parsed->op);
    if (parsed->has_value) {
        parsed->name = slice_of(operand.text, equals);
        mr_status status =
            parse_extent(slice_of(equals + 1, operand.text + operand.length), parsed, error);
        if (status)
            return status;
    }
    if (parsed->name.length && memchr(parsed->name.text, '=', parsed->name.length))
        return fail(error, "'=' in the name of the object", parsed->name,
                    mr_op_starts_life((uint8_t)parsed->op) ? "; rename it"
                                                           : "; only alloc says where it is");
    if (!parsed->name.length)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the object's name is empty; expected %s(object)",
                            mr_op_name(parsed->op));
    return MR_OK;
}

/* "m:x1,x2,…" for mbegin, "m" for mend */
static mr_status parse_call(mr_slice operand, mr_parsed *parsed, mr_error *error)
{
    const char *end = operand.text + operand.length;
    const char *colon = operand.length ? memchr(operand.text, ':', operand.length) : NULL;
    parsed->name = operand;
    if (mr_op_calls((uint8_t)parsed->op)) {
        if (!colon)
            return fail(error, "mbegin without ':' in", operand,
                        "; expected m:x1,x2,... with what the call can reach (m: for nothing)");
        parsed->name = slice_of(operand.text, colon);
        parsed->reach = slice_of(colon + 1, end);
        mr_slice list = parsed->reach, name;
        bool hole = list.length && end[-1] == ',';
        while (!hole && mr_slice_next(&list, &name))
            hole = !name.length;
        if (hole)
            return fail(error, "empty name in the list", parsed->reach,
                        "; expected m:x1,x2,... with names separated by single commas");
    }
    if (!parsed->name.length)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the call's identifier is empty; expected %s",
                            mr_op_calls((uint8_t)parsed->op) ? "mbegin(m:x1,x2,...)" : "mend(m)");
    return MR_OK;
}

static mr_status parse_operand(mr_slice operand, const char *equals, mr_parsed *parsed,
                               mr_error *error)
{
    switch (mr_op_operand_kind(parsed->op)) {
    case MR_OPERAND_VARIABLE:
        if (parsed->op == MR_OP_DEREF && equals)
            return fail(error, "deref takes no value, found", operand,
                        "; when '=' belongs to the variable's name, rename the variable");
        return parse_variable(operand, equals, parsed, error);
    case MR_OPERAND_CALL:
        return parse_call(operand, parsed, error);
    case MR_OPERAND_OBJECT:
        return parse_object(operand, equals, parsed, error);
    case MR_OPERAND_NONE:
        if (operand.length && parsed->op == MR_OP_BRANCH)
            return fail(error, "branch takes no operand, found", operand, "; write branch()");
        if (operand.length && mr_op_fences((uint8_t)parsed->op))
            return fail(error, "fence takes no operand, found", operand,
                        "; write fence.acq(), for example");
        return MR_OK; /* what stands in begin(…) and end(…) is ignored */
    case MR_OPERAND_LOCK:
    case MR_OPERAND_THREAD:
        break;
    }
    parsed->name = operand;
    if (operand.length)
        return MR_OK;
    bool semaphore = mr_op_gives((uint8_t)parsed->op) || mr_op_takes((uint8_t)parsed->op);
    const char *what = semaphore ? "semaphore" : "lock";
    if (mr_op_operand_kind(parsed->op) == MR_OPERAND_THREAD)
        what = "thread";
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the %s's name is empty; expected %s(%s)",
                        what, mr_op_name(parsed->op), what);
}

/* Finds the ')' of the operand that begins at `at`; NULL with the error set when there is none. */
static const char *find_close(const char *at, const char *end, const char **equals, mr_error *error)
{
    const char *start = at;
    for (*equals = NULL; at < end && *at != ')'; at++) {
        if (*at == '=') {
            *equals = at;
        } else if (*at == '|') {
            break;
        } else if (*at == '(') {
            fail(error, "'(' within the operand", slice_of(start, end),
                 "; names in operands cannot contain '|', '(' or ')'");
            return NULL;
        }
    }
    if (at < end && *at == ')')
        return at;
    fail(error, "missing ')' after the operand", slice_of(start, at), "; " LINE_SHAPE);
    return NULL;
}

/* "ar" or "ar.acq". */
static mr_status parse_op(mr_slice word, mr_parsed *parsed, mr_error *error)
{
    const char *dot = word.length ? memchr(word.text, '.', word.length) : NULL;
    mr_slice op = dot ? slice_of(word.text, dot) : word;
    if (!mr_op_parse(op.text, op.length, &parsed->op))
        return unknown_op(word, error);
    bool fences = mr_op_fences((uint8_t)parsed->op);
    if (!dot && fences)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "a fence without a memory order; there are fence.acq, fence.rel, "
                            "fence.acqrel and fence.sc");
    if (!dot)
        return MR_OK;
    mr_slice suffix = slice_of(dot, word.text + word.length);
    if (!mr_memory_order_parse(suffix.text, suffix.length, &parsed->memory_order))
        return fail(error, "unknown memory order", suffix,
                    "; there are .rlx .acq .rel .acqrel .sc");
    if (!fences && !mr_op_is_atomic((uint8_t)parsed->op) && parsed->memory_order != MR_ORDER_TRY)
        return fail(error, "a memory order on an operation that has none,", word,
                    "; only ar, aw, au and fence have one");
    if (!mr_memory_order_fits(parsed->op, parsed->memory_order))
        return fail(error, "a memory order that the operation cannot have,", word,
                    "; ar takes .rlx .acq .sc, aw takes .rlx .rel .sc, fence any but .rlx");
    return MR_OK;
}

/* "op(operand)|location", up to the location. */
static mr_status parse_rest(const char *at, const char *end, mr_parsed *parsed, mr_error *error)
{
    const char *word = at;
    while (at < end && *at != '(' && *at != '|')
        at++;
    mr_slice op = slice_of(word, at);
    mr_status status = parse_op(op, parsed, error);
    if (status)
        return status;
    if (at == end || *at != '(')
        return fail(error, "missing '(' after the operation", op, "; " LINE_SHAPE);
    const char *equals;
    const char *close = find_close(++at, end, &equals, error);
    if (!close)
        return MR_ERR_TRACE;
    const char *after = close + 1;
    if (after == end)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "missing '|' after ')'; " LINE_SHAPE " (the location may be empty)");
    if (*after != '|')
        return fail(error, "text after ')':", slice_of(after, end), "; " LINE_SHAPE);
    parsed->location = slice_of(after + 1, end);
    return parse_operand(slice_of(at, close), equals, parsed, error);
}

mr_status mr_parse_event(mr_slice line, mr_parsed *parsed, mr_error *error)
{
    const char *at = line.text, *end = line.text + line.length;
    while (at < end && *at != '|')
        at++;
    *parsed = (mr_parsed){.thread = slice_of(line.text, at)};
    if (at == end)
        return fail(error, "missing '|' in", line, "; " LINE_SHAPE);
    if (!parsed->thread.length)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the thread's name is empty; " LINE_SHAPE);
    return parse_rest(at + 1, end, parsed, error);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static mr_slice skip_blanks(mr_slice text)
{
    while (text.length && is_blank(*text.text))
        text = (mr_slice){text.text + 1, text.length - 1};
    return text;
}

/* Takes the text before the first blank off. */
static mr_slice take_word(mr_slice *text)
{
    uint32_t length = 0;
    while (length < text->length && !is_blank(text->text[length]))
        length++;
    mr_slice word = {text->text, length};
    *text = skip_blanks((mr_slice){text->text + length, text->length - length});
    return word;
}

bool mr_parse_directive(mr_slice line, mr_directive *directive, mr_slice *name, mr_slice *text)
{
    static const char *const words[MR_DIRECTIVE_COUNT] = {"#@loc",  "#@var",    "#@thread",
                                                          "#@lock", "#@object", "#@type"};
    *text = line;
    mr_slice word = take_word(text);
    *name = take_word(text);
    if (!name->length || !text->length)
        return false;
    for (int i = 0; i < MR_DIRECTIVE_COUNT; i++) {
        if (strlen(words[i]) == word.length && !memcmp(words[i], word.text, word.length)) {
            *directive = (mr_directive)i;
            return true;
        }
    }
    return false;
}

static const char member_word[] = "#@in";

bool mr_parse_is_member(mr_slice line)
{
    mr_slice word = take_word(&line);
    return word.length == sizeof member_word - 1 && !memcmp(word.text, member_word, word.length);
}

mr_status mr_parse_member(mr_slice line, mr_slice *variable, mr_slice *object, mr_error *error)
{
    mr_slice rest = line;
    take_word(&rest);
    *variable = take_word(&rest);
    *object = rest;
    if (!variable->length || !object->length)
        return fail(error, "a line without variable and object,", line,
                    "; expected #@in VARIABLE OBJECT");
    for (uint32_t i = 0; i < variable->length + object->length; i++) {
        bool in_object = i >= variable->length;
        char c = in_object ? object->text[i - variable->length] : variable->text[i];
        if (c == '|' || c == '(' || c == ')' || (in_object && c == '='))
            return fail(error, "a name that no event can have,", line,
                        "; names cannot contain '|', '(' or ')', objects no '='");
    }
    return MR_OK;
}

#include "format.h"

#include <sys/types.h>
#include <wchar.h>

/* Where in a format the parser is. */
typedef struct parser {
    mr_format *format;
    mr_format_text text;
    size_t at;
    unsigned next;     /* argument */
    unsigned assigned; /* scanf: conversions */
    bool certain;      /* scanf: nothing stands since the last of them that may not match */
} parser;

/* A character, -1 for one that is not of ASCII. */
static int peek(const parser *p)
{
    long c = p->text.wide ? (long)((const wchar_t *)p->text.text)[p->at]
                          : (long)((const unsigned char *)p->text.text)[p->at];
    return c >= 0 && c < 128 ? (int)c : -1;
}

static bool accept(parser *p, char wanted)
{
    bool is = peek(p) == wanted;
    p->at += is;
    return is;
}

static bool is_one_of(int c, const char *set)
{
    while (*set != '\0' && *set != c) {
        set++;
    }
    return c > 0 && *set != '\0';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static size_t number(parser *p)
{
    size_t value = 0;
    while (is_digit(peek(p))) {
        value = value > SIZE_MAX / 16 ? SIZE_MAX / 16 : 10 * value + (size_t)(peek(p) - '0');
        p->at++;
    }
    return value;
}

/* "12$": the argument of that number; without it the next one. */
static unsigned position(parser *p)
{
    size_t before = p->at;
    size_t value = number(p);
    if (value > 0 && accept(p, '$')) {
        return value <= MR_FORMAT_MAX ? (unsigned)value - 1 : MR_FORMAT_MAX;
    }
    p->at = before;
    return p->next++;
}

/* False: there are too many. */
static bool set_type(parser *p, unsigned argument, mr_format_type type)
{
    mr_format *format = p->format;
    if (argument >= MR_FORMAT_MAX) {
        return false;
    }
    while (format->arguments <= argument) {
        format->types[format->arguments++] = MR_FORMAT_UNUSED;
    }
    format->types[argument] = type;
    return true;
}

static bool add_use(parser *p, const mr_format_use *use)
{
    if (p->format->uses == MR_FORMAT_MAX || !set_type(p, use->argument, MR_FORMAT_POINTER)) {
        return false;
    }
    p->format->use[p->format->uses++] = *use;
    return true;
}

/* Bytes of an integer by the letters before it: hh h l ll q j z t Z. `long_double`: L. */
static size_t length(parser *p, bool *long_double)
{
    size_t bytes = sizeof(int);
    *long_double = false;
    for (;; p->at++) {
        switch (peek(p)) {
        case 'h':
            bytes = bytes == sizeof(short) ? 1 : sizeof(short);
            break;
        case 'L':
            *long_double = true;
            bytes = sizeof(long long);
            break;
        case 'l':
        case 'q':
        case 'j':
        case 'z':
        case 't':
        case 'Z':
            bytes = sizeof(long);
            break;
        default:
            return bytes;
        }
    }
}

/* The precision of a %s: none, a number, or an argument. */
static bool precision(parser *p, mr_format_use *use)
{
    use->limit_from = -1;
    if (!accept(p, '.')) {
        return true;
    }
    use->has_limit = true;
    if (accept(p, '*')) {
        unsigned argument = position(p);
        use->limit_from = (int)argument;
        return set_type(p, argument, MR_FORMAT_INT);
    }
    use->limit = number(p);
    return true;
}

static bool printed_memory(parser *p, mr_format_use use, unsigned argument, mr_format_memory memory)
{
    use.argument = (uint8_t)argument;
    use.memory = (uint8_t)memory;
    return argument < MR_FORMAT_MAX && add_use(p, &use);
}

/* What is after a %. False: no more is known. */
static bool print_conversion(parser *p)
{
    mr_format_use use = {0};
    bool long_double;
    size_t start = p->at;
    bool positional = number(p) > 0 && accept(p, '$');
    unsigned argument = 0;
    p->at = start;
    if (positional) {
        argument = position(p);
    }
    while (is_one_of(peek(p), "-+ #0'I")) {
        p->at++;
    }
    if (accept(p, '*') && !set_type(p, position(p), MR_FORMAT_INT)) {
        return false;
    }
    number(p);
    if (!precision(p, &use)) {
        return false;
    }
    use.bytes = length(p, &long_double);
    int c = peek(p);
    p->at += c != 0;
    if (c == '%' || c == 'm') {
        return true;
    }
    if (!positional) {
        argument = p->next++;
    }
    if (c == 's' || c == 'S') {
        bool wide = c == 'S' || use.bytes == sizeof(long);
        return printed_memory(p, use, argument, wide ? MR_FORMAT_WIDE : MR_FORMAT_TEXT);
    }
    if (c == 'n') {
        return printed_memory(p, use, argument, MR_FORMAT_COUNT);
    }
    if (is_one_of(c, "diouxXc")) {
        bool is_long = use.bytes == sizeof(long) && c != 'c';
        return set_type(p, argument, is_long ? MR_FORMAT_LONG : MR_FORMAT_INT);
    }
    if (is_one_of(c, "eEfFgGaA")) {
        return set_type(p, argument, long_double ? MR_FORMAT_LONG_DOUBLE : MR_FORMAT_DOUBLE);
    }
    return (c == 'C' && set_type(p, argument, MR_FORMAT_INT)) ||
           (c == 'p' && set_type(p, argument, MR_FORMAT_POINTER));
}

void mr_format_of_print(mr_format *format, mr_format_text text)
{
    parser p = {.format = format, .text = text};
    format->arguments = 0;
    format->uses = 0;
    while (peek(&p) != 0) {
        if (accept(&p, '%')) {
            if (!print_conversion(&p)) {
                return;
            }
        } else {
            p.at++;
        }
    }
}

/* A set of characters, after its bracket. */
static void skip_set(parser *p)
{
    accept(p, '^');
    accept(p, ']');
    while (peek(p) != 0 && peek(p) != ']') {
        p->at++;
    }
    accept(p, ']');
}

/* Bytes of what a letter converts to, 0: no number. */
static size_t scanned_bytes(int c, size_t integer, bool long_double)
{
    if (is_one_of(c, "diouxX")) {
        return integer;
    }
    if (c == 'p') {
        return sizeof(void *);
    }
    if (is_one_of(c, "eEfFgGaA")) {
        return long_double               ? sizeof(long double)
               : integer == sizeof(long) ? sizeof(double)
                                         : sizeof(float);
    }
    return 0;
}

/* What %s, %c and %[ give: characters, at most `width` of %c. */
static void scanned_text(mr_format_use *use, int c, bool allocates, size_t width)
{
    bool wide = c == 'S' || c == 'C' || use->bytes == sizeof(long);
    use->bytes = wide ? sizeof(wchar_t) : 1;
    if (allocates) {
        use->memory = wide ? MR_FORMAT_WIDE_BLOCK : MR_FORMAT_BLOCK;
        use->limit = c == 'c' || c == 'C' ? (width != 0 ? width : 1) : 0;
        use->has_limit = use->limit != 0;
    } else if (c == 'c' || c == 'C') {
        use->memory = MR_FORMAT_BYTES;
        use->bytes *= width != 0 ? width : 1;
    } else {
        use->memory = wide ? MR_FORMAT_WIDE : MR_FORMAT_TEXT;
    }
}

static bool scan_conversion(parser *p, bool c99)
{
    mr_format_use use = {.limit_from = -1, .assured = p->certain};
    bool long_double;
    size_t start = p->at;
    bool positional = number(p) > 0 && accept(p, '$');
    unsigned argument = 0;
    p->at = start;
    if (positional) {
        argument = position(p);
    }
    while (is_one_of(peek(p), "'I")) {
        p->at++;
    }
    bool suppressed = accept(p, '*');
    size_t width = number(p);
    bool allocates = accept(p, 'm') || (!c99 && accept(p, 'a'));
    use.bytes = length(p, &long_double);
    int c = peek(p);
    p->at += c != 0;
    p->certain = c == 'n' && p->certain; /* until the next one that is assigned */
    if (c == '%') {
        return true;
    }
    if (c == '[') {
        skip_set(p);
    }
    if (suppressed) {
        return true;
    }
    if (!positional) {
        argument = p->next++;
    }
    if (argument >= MR_FORMAT_MAX) {
        return false;
    }
    use.argument = (uint8_t)argument;
    use.before = p->assigned;
    size_t bytes = scanned_bytes(c, use.bytes, long_double);
    if (c == 'n') {
        use.memory = MR_FORMAT_COUNT;
        return add_use(p, &use);
    }
    if (bytes == 0 && !is_one_of(c, "scSC[")) {
        return false;
    }
    if (bytes != 0) {
        use.memory = MR_FORMAT_BYTES;
        use.bytes = bytes;
    } else {
        scanned_text(&use, c, allocates, width);
    }
    p->assigned++;
    p->certain = true;
    return add_use(p, &use);
}

void mr_format_of_scan(mr_format *format, mr_format_text text, bool c99)
{
    parser p = {.format = format, .text = text, .certain = true};
    format->arguments = 0;
    format->uses = 0;
    while (peek(&p) != 0) {
        if (accept(&p, '%')) {
            if (!scan_conversion(&p, c99)) {
                return;
            }
        } else {
            p.certain = p.certain && is_one_of(peek(&p), " \t\n\v\f\r");
            p.at++;
        }
    }
}

void mr_format_take(mr_format *format, va_list arguments)
{
    for (unsigned i = 0; i < format->arguments; i++) {
        switch ((mr_format_type)format->types[i]) {
        case MR_FORMAT_UNUSED:
        case MR_FORMAT_INT:
            format->value[i].number = va_arg(arguments, int);
            break;
        case MR_FORMAT_LONG:
            format->value[i].number = va_arg(arguments, long);
            break;
        case MR_FORMAT_DOUBLE:
            (void)va_arg(arguments, double);
            break;
        case MR_FORMAT_LONG_DOUBLE:
            (void)va_arg(arguments, long double);
            break;
        case MR_FORMAT_POINTER:
            format->value[i].pointer = va_arg(arguments, void *);
            break;
        }
    }
}

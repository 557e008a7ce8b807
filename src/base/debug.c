#include "debug.h"

#include "slice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

static const struct {
    const char *name, *tells;
} topics[MR_DEBUG_COUNT] = {
#define MR_DEBUG_ROW(name, text, tells) {text, tells},
    MR_DEBUG_MAP(MR_DEBUG_ROW)
#undef MR_DEBUG_ROW
};

const char *mr_debug_topic_name(mr_debug_topic topic)
{
    return topics[topic].name;
}

const char *mr_debug_topic_tells(mr_debug_topic topic)
{
    return topics[topic].tells;
}

void mr_debug_write(const mr_debug *debug, mr_debug_topic topic, const char *format, ...)
{
    char line[LINE_BYTES];
    int head = snprintf(line, sizeof line, "debug %s: ", topics[topic].name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + head, sizeof line - (size_t)head, format, arguments);
    va_end(arguments);
    debug->write(debug->context, line);
}

/* The topic called `word`; MR_DEBUG_COUNT: there is none. */
static int find(mr_slice word)
{
    int topic = 0;
    while (topic < MR_DEBUG_COUNT && (strlen(topics[topic].name) != word.length ||
                                      memcmp(topics[topic].name, word.text, word.length) != 0))
        topic++;
    return topic;
}

static mr_status no_topic(mr_slice word, mr_error *error)
{
    char names[256] = "", quoted[MR_QUOTE_SIZE];
    size_t length = 0;
    for (int topic = 0; topic < MR_DEBUG_COUNT && length < sizeof names; topic++)
        length +=
            (size_t)snprintf(names + length, sizeof names - length, "%s, ", topics[topic].name);
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                        "--debug: '%s' is no topic; expected some of %sor all",
                        mr_slice_quote(word, quoted), names);
}

mr_status mr_debug_parse(const char *list, uint32_t *set, mr_error *error)
{
    mr_slice rest = {list, (uint32_t)strlen(list)}, word = rest;
    *set = 0;
    if (!rest.length)
        return no_topic(rest, error);
    while (mr_slice_next(&rest, &word)) {
        int topic = find(word);
        if (word.length == 3 && memcmp(word.text, "all", 3) == 0)
            *set = (1u << MR_DEBUG_COUNT) - 1;
        else if (topic == MR_DEBUG_COUNT)
            return no_topic(word, error);
        else
            *set |= 1u << topic;
    }
    return MR_OK;
}

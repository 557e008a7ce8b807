/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _POSIX_C_SOURCE 200809L /* strsignal */

#include "ending.h"

#include "base/memory.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *text;
} stops[] = {
#define MR_STOP_ROW(name, word, text) {word, text},
    MR_STOP_MAP(MR_STOP_ROW)
#undef MR_STOP_ROW
};

const char *mr_stop_word(mr_stop stop)
{
    return stops[stop].word;
}

static const struct {
    const char *word, *text;
} unseens[] = {
#define MR_UNSEEN_ROW(name, word, text) {word, text},
    MR_UNSEEN_MAP(MR_UNSEEN_ROW)
#undef MR_UNSEEN_ROW
};

const char *mr_unseen_word(mr_unseen unseen)
{
    return unseens[unseen].word;
}

void mr_ending_free(mr_ending *ending)
{
    free(ending->details);
    free(ending->suppressions);
    free(ending->misuses);
    *ending = (mr_ending){.details = NULL};
}

static bool copy_lines(char **to, const char *from)
{
    *to = from ? mr_strndup(from, strlen(from)) : NULL;
    return *to || !from;
}

bool mr_ending_copy(mr_ending *to, const mr_ending *from)
{
    char *details = NULL, *suppressions = NULL;
    if (!copy_lines(&details, from->details) || !copy_lines(&suppressions, from->suppressions)) {
        free(details);
        return false;
    }
    mr_ending_free(to);
    *to = *from;
    to->details = details;
    to->suppressions = suppressions;
    to->misuses = NULL;
    to->misuse_count = to->misuse_capacity = 0;
    for (size_t i = 0; i < from->misuse_count; i++)
        if (!mr_ending_add_misuse(to, &from->misuses[i]))
            return false;
    return true;
}

bool mr_ending_add_misuse(mr_ending *ending, const mr_misuse *misuse)
{
    void *misuses = ending->misuses;
    if (!mr_grow(&misuses, &ending->misuse_capacity, ending->misuse_count + 1,
                 sizeof *ending->misuses))
        return false;
    ending->misuses = misuses;
    ending->misuses[ending->misuse_count++] = *misuse;
    return true;
}

static bool add_line(char **lines, const char *text, size_t length)
{
    size_t before = *lines ? strlen(*lines) : 0;
    char *grown = mr_malloc(before + length + 2, 0);
    if (!grown)
        return false;
    if (before)
        memcpy(grown, *lines, before);
    for (size_t i = 0; i < length; i++) /* one line, whatever a name holds */
        grown[before + i] = (unsigned char)text[i] < ' ' ? '?' : text[i];
    memcpy(grown + before + length, "\n", 2);
    free(*lines);
    *lines = grown;
    return true;
}

bool mr_ending_add_detail(mr_ending *ending, const char *text, size_t length)
{
    return add_line(&ending->details, text, length);
}

bool mr_ending_add_suppression(mr_ending *ending, const char *text, size_t length)
{
    return add_line(&ending->suppressions, text, length);
}

bool mr_ending_is_known(const mr_ending *ending)
{
    return ending->program || ending->stop || ending->children || ending->unseen ||
           ending->details || ending->misuse_count || ending->suppressions;
}

bool mr_ending_is_bad(const mr_ending *ending)
{
    static const int harmless[] = {SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGPIPE};
    if (ending->stop == MR_STOP_DEADLOCK)
        return true;
    if (ending->program != MR_PROGRAM_SIGNALLED || ending->stop == MR_STOP_TIMEOUT)
        return false;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (ending->number == harmless[i])
            return false;
    return true;
}

/* ---- lines ---- */

/* The value after "KEY "; NULL: the line has another key. */
static const char *value_of(const char *line, size_t length, const char *key, size_t *value_length)
{
    size_t key_length = strlen(key);
    if (length <= key_length || strncmp(line, key, key_length) != 0 || line[key_length] != ' ')
        return NULL;
    *value_length = length - key_length - 1;
    return line + key_length + 1;
}

static bool number_of(const char *line, size_t length, const char *key, uint64_t most,
                      uint64_t *number)
{
    enum { DIGITS_MAX = 18 };
    size_t digits = 0;
    const char *value = value_of(line, length, key, &digits);
    if (!value || !digits || digits > DIGITS_MAX)
        return false;
    *number = 0;
    for (size_t i = 0; i < digits; i++) {
        if (value[i] < '0' || value[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(value[i] - '0');
    }
    return *number <= most;
}

static void take_stop(mr_ending *ending, const char *word, size_t length)
{
    for (int i = 1; i < MR_STOP_COUNT; i++)
        if (strlen(stops[i].word) == length && memcmp(stops[i].word, word, length) == 0)
            ending->stop = (mr_stop)i;
}

static void take_unseen(mr_ending *ending, const char *word, size_t length)
{
    for (int i = 0; i < MR_UNSEEN_COUNT; i++)
        if (strlen(unseens[i].word) == length && memcmp(unseens[i].word, word, length) == 0)
            ending->unseen |= UINT32_C(1) << i;
}

bool mr_ending_take(mr_ending *ending, const char *line, size_t length)
{
    enum { STATUS_MAX = 255, SIGNAL_MAX = 64 };
    uint64_t number = 0;
    size_t value_length = 0;
    const char *value = NULL;
    if (number_of(line, length, "exit", STATUS_MAX, &number)) {
        ending->program = MR_PROGRAM_EXITED;
        ending->number = (int)number;
    } else if (number_of(line, length, "signal", SIGNAL_MAX, &number)) {
        ending->program = MR_PROGRAM_SIGNALLED;
        ending->number = (int)number;
    } else if (number_of(line, length, "children", UINT32_MAX, &number)) {
        ending->children = number;
    } else if ((value = value_of(line, length, "stopped", &value_length)) != NULL) {
        take_stop(ending, value, value_length);
    } else if ((value = value_of(line, length, "unseen", &value_length)) != NULL) {
        take_unseen(ending, value, value_length);
    } else if ((value = value_of(line, length, "detail", &value_length)) != NULL) {
        return mr_ending_add_detail(ending, value, value_length);
    } else if ((value = value_of(line, length, "suppression", &value_length)) != NULL) {
        return mr_ending_add_suppression(ending, value, value_length);
    } else if ((value = value_of(line, length, "misuse", &value_length)) != NULL) {
        mr_misuse misuse;
        return !mr_misuse_parse(&misuse, value, value_length) ||
               mr_ending_add_misuse(ending, &misuse);
    }
    return true;
}

/* The bytes of the lines with the key and a blank before each. NULL: none. */
static size_t keyed_bytes(const char *lines, const char *key)
{
    size_t bytes = 0;
    for (const char *at = lines ? lines : ""; *at; at++)
        bytes += *at == '\n' ? strlen(key) + 2 : 1;
    return bytes;
}

static size_t write_keyed(const char *lines, const char *key, char *text, size_t text_bytes)
{
    size_t used = 0;
    for (const char *at = lines ? lines : ""; *at;) {
        size_t length = strcspn(at, "\n");
        used += (size_t)snprintf(text + used, text_bytes - used, "%s %.*s\n", key, (int)length, at);
        at += length + 1;
    }
    return used;
}

char *mr_ending_lines(const mr_ending *ending)
{
    static const char *const keys[] = {
        [MR_PROGRAM_EXITED] = "exit", [MR_PROGRAM_SIGNALLED] = "signal"};
    enum { FIXED_BYTES = 160 };
    size_t size = FIXED_BYTES + keyed_bytes(ending->details, "detail") +
                  keyed_bytes(ending->suppressions, "suppression") +
                  ending->misuse_count * (MR_MISUSE_LINE_BYTES + 1);
    char *lines = mr_malloc(size, 0);
    size_t used = 0;
    if (!lines)
        return NULL;
    lines[0] = '\0';
    if (ending->program)
        used += (size_t)snprintf(lines + used, size - used, "%s %d\n", keys[ending->program],
                                 ending->number);
    if (ending->stop)
        used +=
            (size_t)snprintf(lines + used, size - used, "stopped %s\n", stops[ending->stop].word);
    if (ending->children)
        used +=
            (size_t)snprintf(lines + used, size - used, "children %" PRIu64 "\n", ending->children);
    for (int i = 0; i < MR_UNSEEN_COUNT; i++)
        if (ending->unseen >> i & 1)
            used += (size_t)snprintf(lines + used, size - used, "unseen %s\n", unseens[i].word);
    used += write_keyed(ending->details, "detail", lines + used, size - used);
    used += write_keyed(ending->suppressions, "suppression", lines + used, size - used);
    for (size_t i = 0; i < ending->misuse_count; i++) {
        used += mr_misuse_line(&ending->misuses[i], lines + used);
        used += (size_t)snprintf(lines + used, size - used, "\n");
    }
    return lines;
}

/* ---- for people ---- */

static void signal_text(int number, char *text, size_t size_bytes)
{
    if (number)
        snprintf(text, size_bytes, "signal %d (%s)", number, strsignal(number));
    else
        snprintf(text, size_bytes, "a signal");
}

void mr_ending_sentence(const mr_ending *ending, char *text, size_t size_bytes)
{
    char signal[80];
    size_t used = 0;
    text[0] = '\0';
    signal_text(ending->number, signal, sizeof signal);
    if (ending->program == MR_PROGRAM_SIGNALLED)
        used = (size_t)snprintf(text, size_bytes, "the program was ended by %s", signal);
    else if (ending->program == MR_PROGRAM_EXITED && ending->number)
        used =
            (size_t)snprintf(text, size_bytes, "the program ended with status %d", ending->number);
    if (ending->stop && used < size_bytes)
        used += (size_t)snprintf(text + used, size_bytes - used, "%sthe recording ended at %s",
                                 used ? "; " : "", stops[ending->stop].text);
    if (ending->children && used < size_bytes)
        snprintf(text + used, size_bytes - used,
                 "%s%" PRIu64 " child process%s with threads %s not recorded", used ? "; " : "",
                 ending->children, ending->children == 1 ? "" : "es",
                 ending->children == 1 ? "was" : "were");
}

void mr_ending_unseen(const mr_ending *ending, char *text, size_t size_bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < MR_UNSEEN_COUNT; i++)
        if (ending->unseen >> i & 1 && used < size_bytes)
            used += (size_t)snprintf(text + used, size_bytes - used, "%s%s", used ? " and " : "",
                                     unseens[i].text);
}

const char *mr_ending_limit(const mr_ending *ending, char *text, size_t size_bytes)
{
    if (ending->stop) {
        snprintf(text, size_bytes, "%s", stops[ending->stop].text);
        return text;
    }
    if (ending->program != MR_PROGRAM_SIGNALLED)
        return NULL;
    signal_text(ending->number, text, size_bytes);
    return text;
}

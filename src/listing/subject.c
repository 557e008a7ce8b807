/* subject: the words about one finding. */
#include "listing.h"
#include "trace/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[MR_LISTED_COUNT] = {
#define WORD(id, word, noun, rule) [MR_LISTED_##id] = (word),
    MR_LISTED_MAP(WORD)
#undef WORD
};

static const char *const nouns[MR_LISTED_COUNT] = {
#define NOUN(id, word, noun, rule) [MR_LISTED_##id] = (noun),
    MR_LISTED_MAP(NOUN)
#undef NOUN
};

const char *mr_listed_word(mr_listed_kind kind)
{
    return words[kind];
}

const char *mr_listed_noun(mr_listed_kind kind)
{
    return nouns[kind];
}

const char *mr_listed_name(mr_listed_kind kind)
{
    if (mr_listed_happened(kind))
        return words[MR_LISTED_OBSERVED];
    return kind == MR_LISTED_MEMORY_ORDER ? words[MR_LISTED_RACE] : nouns[kind];
}

bool mr_listed_happened(mr_listed_kind kind)
{
    return kind == MR_LISTED_OBSERVED || kind == MR_LISTED_MISUSE;
}

enum { FUNCTION_BYTES = 60 };

/* Where the arguments of a template end that begin at `at`, with '<'. */
static uint32_t after_arguments(const char *text, uint32_t length, uint32_t at)
{
    int depth = 0;
    for (; at < length; at++) {
        depth += text[at] == '<';
        depth -= text[at] == '>' && text[at - 1] != '-';
        if (depth == 0)
            return at + 1;
    }
    return length;
}

/* After the name of an operator such as operator<< that begins at `at`; `at` when none does. */
static uint32_t after_operator(const char *text, uint32_t length, uint32_t at)
{
    static const char word[] = "operator";
    uint32_t bytes = sizeof word - 1;
    if (length - at < bytes || memcmp(text + at, word, bytes) != 0)
        return at;
    for (at += bytes; at < length && strchr("<>=-", text[at]); at++)
        ;
    return at;
}

char *mr_function_short(const char *text, uint32_t length)
{
    char *name = mr_strndup(text, length);
    if (!name || length <= FUNCTION_BYTES)
        return name;
    uint32_t used = 0;
    for (uint32_t at = 0; at < length;) {
        uint32_t next = after_operator(text, length, at);
        while (at < next)
            name[used++] = text[at++];
        if (at == length)
            break;
        uint32_t end = text[at] == '<' ? after_arguments(text, length, at) : at + 1;
        if (end - at > 5) {
            memcpy(name + used, "<...>", 5);
            used += 5;
            at = end;
        }
        while (at < end)
            name[used++] = text[at++];
    }
    name[used] = '\0';
    return name;
}

char *mr_event_function(const mr_trace *trace, uint32_t event)
{
    uint32_t stack = mr_trace_stack(trace, event);
    if (!stack)
        return mr_strndup("", 0);
    mr_frame frame = mr_stack_own_frame(trace, stack);
    return mr_function_short(frame.function, frame.function_length);
}

const char *mr_listed_place(const mr_listed *finding, const mr_trace *trace)
{
    uint32_t events[] = {finding->first, finding->second};
    for (int i = 0; i < 2; i++) {
        const char *text = events[i] == MR_NONE
                               ? ""
                               : mr_names_display(&trace->locations, trace->location[events[i]]);
        if (text[0] != '\0' && strcmp(text, "?") != 0)
            return mr_place_own(text);
    }
    return "";
}

const char *mr_listed_subject(const mr_listed *finding, const mr_trace *trace)
{
    uint32_t event = finding->first;
    if (finding->second != MR_NONE && mr_op_ends_life(trace->op[event]) &&
        mr_op_is_access(trace->op[finding->second]))
        event = finding->second;
    mr_op op = (mr_op)trace->op[event];
    const mr_names *names = mr_trace_operand_names(trace, op);
    return names && mr_op_operand_kind(op) != MR_OPERAND_CALL
               ? mr_names_display(names, trace->operand[event])
               : "";
}

/* Writes what stands for the code of an event: its function, or else its thread. */
static bool print_doer(FILE *stream, const mr_trace *trace, uint32_t event)
{
    char *function = mr_event_function(trace, event);
    if (function)
        fputs(function[0] != '\0' ? function
                                  : mr_names_display(&trace->threads, trace->thread[event]),
              stream);
    bool ok = function != NULL;
    free(function);
    return ok;
}

/* "deadlock of 2 threads on a and b between f and g" */
static bool print_waits(FILE *stream, const mr_trace *trace, const mr_witness *witness)
{
    bool ok = true;
    fprintf(stream, "deadlock of %u threads on ", (unsigned)witness->wait_count);
    for (uint32_t i = 0; i < witness->wait_count; i++)
        fprintf(stream, "%s%s", i > 0 ? " and " : "",
                mr_names_display(&trace->locks, trace->operand[witness->waits[i]]));
    for (uint32_t i = 0; i < witness->wait_count; i++) {
        fputs(i > 0 ? " and " : " between ", stream);
        ok = print_doer(stream, trace, witness->waits[i]) && ok;
    }
    return ok;
}

char *mr_listed_title(const mr_listed *finding, const mr_listing *all, const mr_trace *trace)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return NULL;
    const char *subject = mr_listed_subject(finding, trace);
    bool ok = true;
    switch (finding->kind) {
    case MR_LISTED_OBSERVED:
    case MR_LISTED_MISUSE:
        ok = print_doer(stream, trace, finding->first);
        fprintf(stream, " %s%s%s (observed)",
                mr_misuse_text(all->observed.items[finding->index].kind),
                subject[0] != '\0' ? ": " : "", subject);
        break;
    case MR_LISTED_RACE:
    case MR_LISTED_MEMORY_ORDER:
    case MR_LISTED_USE_AFTER_FREE:
        fprintf(stream, "%s on %s between ", nouns[finding->kind], subject);
        ok = print_doer(stream, trace, finding->first);
        fputs(" and ", stream);
        ok = print_doer(stream, trace, finding->second) && ok;
        break;
    case MR_LISTED_DEADLOCK:
        ok = print_waits(stream, trace, finding->witness);
        break;
    case MR_LISTED_NULL_POINTER:
    case MR_LISTED_DANGLING:
    case MR_LISTED_DOUBLE_FREE:
        fprintf(stream, "%s in %s, read by ", nouns[finding->kind], subject);
        ok = print_doer(stream, trace, finding->first);
        if (finding->second != MR_NONE) {
            fputs(", written by ", stream);
            ok = print_doer(stream, trace, finding->second) && ok;
        }
        break;
    case MR_LISTED_COUNT:
        break;
    }
    if (fclose(stream) == 0 && ok)
        return text;
    free(text);
    return NULL;
}

/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* popen, strsignal */

#include "outcome.h"

#include "behaviour.h"
#include "trace/observed.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *mr_run_kind_name(mr_run_kind kind)
{
    static const char *const names[MR_RUN_KINDS] = {
        "good",     "output",   "race",      "memory",    "exit",  "oracle",
        "livelock", "deadlock", "sanitizer", "assertion", "abort", "crash"};
    return names[kind];
}

bool mr_run_kind_fails(mr_run_kind kind)
{
    return kind >= MR_RUN_EXIT;
}

bool mr_run_kind_is_in(mr_run_kind kind, const char *list)
{
    const char *name = mr_run_kind_name(kind);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL) {
        size_t length = strcspn(list, ",");
        if (strlen(name) == length && memcmp(name, list, length) == 0)
            return true;
        if (length == strlen("failure") && memcmp(list, "failure", length) == 0 &&
            mr_run_kind_fails(kind))
            return true;
    }
    return false;
}

bool mr_run_kinds_are_good(const char *list)
{
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL) {
        char word[16] = "";
        bool good = false;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(list, ","), list);
        for (int kind = MR_RUN_OUTPUT; kind < MR_RUN_KINDS; kind++)
            good = good || mr_run_kind_is_in((mr_run_kind)kind, word);
        if (!good)
            return false;
    }
    return true;
}

/* The first line of what the program wrote that has one of the words; NULL: none. */
static const char *find_line(const char *text, const char *const *words, size_t *length)
{
    for (const char *line = text; line && *line;) {
        *length = strcspn(line, "\n");
        if (strncmp(line, "maxrace: ", strlen("maxrace: ")) != 0)
            for (size_t i = 0; words[i]; i++) {
                const char *at = strstr(line, words[i]);
                if (at && at < line + *length)
                    return line;
            }
        line += *length + (line[*length] != '\0');
    }
    return NULL;
}

/* Where the run ended: the place of its last event. */
static const char *last_place(const mr_ran *ran)
{
    const mr_trace *trace = ran->trace;
    if (!trace || !trace->event_count)
        return "an unknown place";
    return mr_names_display(&trace->locations, trace->location[trace->event_count - 1]);
}

static uint64_t hash_of(mr_run_kind kind, const char *text)
{
    return mr_hash_join(mr_hash_text(text), kind);
}

/* Digits and addresses differ from run to run. */
static void take_message(mr_run_outcome *outcome, const char *line, size_t length)
{
    char plain[sizeof outcome->text];
    size_t used = 0;
    snprintf(outcome->text, sizeof outcome->text, "%.*s", (int)length, line);
    for (size_t i = 0; outcome->text[i]; i++) {
        bool number =
            strncmp(&outcome->text[i], "0x", 2) == 0 || strncmp(&outcome->text[i], "==", 2) == 0;
        plain[used++] = outcome->text[i];
        if (number)
            while (outcome->text[i + 1] && strchr("x=0123456789abcdef", outcome->text[i + 1]))
                i++;
    }
    plain[used] = '\0';
    outcome->identity = hash_of(outcome->kind, plain);
}

static mr_run_outcome of_signal(const mr_ran *ran)
{
    static const char *const assertions[] = {"ssertion", NULL};
    mr_run_outcome outcome = {.kind = ran->end.signal == SIGABRT ? MR_RUN_ABORT : MR_RUN_CRASH};
    size_t length;
    const char *line = find_line(ran->end.errors, assertions, &length);
    if (line && outcome.kind == MR_RUN_ABORT) {
        outcome.kind = MR_RUN_ASSERTION;
        take_message(&outcome, line, length);
        return outcome;
    }
    snprintf(outcome.text, sizeof outcome.text, "signal %d (%s) after %.200s", ran->end.signal,
             strsignal(ran->end.signal), last_place(ran));
    outcome.identity = hash_of(outcome.kind, outcome.text);
    return outcome;
}

/* The lines of `details` that fit, those of threads that wait for the end of others last. */
static void describe_deadlock(mr_run_outcome *outcome, const char *details)
{
    static const char joins[] = " waits for the end of ";
    size_t used =
        (size_t)snprintf(outcome->text, sizeof outcome->text, "all threads wait for each other");
    const char *before = ": ";
    for (int with_joins = 0; with_joins < 2; with_joins++)
        for (const char *line = details; *line;) {
            size_t length = strcspn(line, "\n");
            const char *join = strstr(line, joins);
            bool is_join = join && join < line + length;
            if (is_join == (with_joins == 1) && used + length + 3 < sizeof outcome->text) {
                used += (size_t)snprintf(outcome->text + used, sizeof outcome->text - used,
                                         "%s%.*s", before, (int)length, line);
                before = "; ";
            }
            line += length + (line[length] != '\0');
        }
}

/* Who waits, whatever the order of the lines. */
static mr_run_outcome of_deadlock(const mr_ran *ran)
{
    mr_run_outcome outcome = {.kind = MR_RUN_DEADLOCK};
    const char *details = ran->trace ? ran->trace->ending.details : NULL;
    uint64_t sum = 0;
    describe_deadlock(&outcome, details ? details : "");
    for (const char *line = details; line && *line;) {
        char one[512];
        size_t length = strcspn(line, "\n");
        snprintf(one, sizeof one, "%.*s", (int)length, line);
        const char *at = strrchr(one, ' '); /* the place; threads may be others */
        sum += mr_hash_text(at ? at : one);
        line += length + (line[length] != '\0');
    }
    outcome.identity = mr_hash_join(sum, MR_RUN_DEADLOCK);
    return outcome;
}

static mr_run_outcome of_observed(const mr_trace *trace)
{
    mr_run_outcome outcome = {.kind = MR_RUN_GOOD};
    mr_observed_list list = {.count = 0};
    if (trace && mr_observed_find(&list, trace) && list.count) {
        const mr_observed *first = &list.items[0];
        outcome.kind = MR_RUN_MEMORY;
        snprintf(outcome.text, sizeof outcome.text, "%s at %.200s", mr_misuse_word(first->kind),
                 mr_names_display(&trace->locations, trace->location[first->event]));
        outcome.identity = hash_of(outcome.kind, outcome.text);
    }
    mr_observed_free(&list);
    return outcome;
}

mr_run_outcome mr_outcome_of(const mr_ran *ran, const mr_run_end *reference)
{
    static const char *const sanitizers[] = {"Sanitizer: ", "runtime error: ", NULL};
    const mr_run_end *end = &ran->end;
    mr_run_outcome outcome = {.kind = MR_RUN_GOOD};
    size_t length;
    const char *line = find_line(end->errors, sanitizers, &length);
    if (line) {
        outcome.kind = MR_RUN_SANITIZER;
        take_message(&outcome, line, length);
        return outcome;
    }
    if (end->deadlocked)
        return of_deadlock(ran);
    if (end->timed_out) {
        outcome.kind = MR_RUN_LIVELOCK;
        snprintf(outcome.text, sizeof outcome.text, "the program did not end in its time");
        outcome.identity = hash_of(outcome.kind, "");
        return outcome;
    }
    if (end->signal)
        return of_signal(ran);
    outcome = of_observed(ran->trace);
    if (outcome.kind != MR_RUN_GOOD || !reference)
        return outcome;
    if (reference->exit_status != end->exit_status) {
        outcome.kind = MR_RUN_EXIT;
        snprintf(outcome.text, sizeof outcome.text, "exit status %d, and %d in the first run",
                 end->exit_status, reference->exit_status);
        outcome.identity = hash_of(outcome.kind, outcome.text);
    } else if (!mr_run_end_writes_same(reference, end)) {
        outcome.kind = MR_RUN_OUTPUT;
        snprintf(outcome.text, sizeof outcome.text,
                 "the output is another one than that of the first run");
        outcome.identity = hash_of(outcome.kind, "");
    }
    return outcome;
}

mr_status mr_oracle_ask(const char *command, const mr_run_end *end, bool *wrong, mr_error *error)
{
    enum { CANNOT_RUN = 126, NOT_THERE = 127 }; /* what the shell says of the command */
    char line[4096];
    int length = snprintf(line, sizeof line, "HUNT_STATUS=%d; export HUNT_STATUS; %s",
                          end->exit_status, command);
    if (length < 0 || (size_t)length >= sizeof line)
        return mr_error_set(
            error, MR_ERR_IO, NULL, 0,
            "the command of the oracle is longer than 4000 bytes: put it into a script");
    /* The user gives the command. NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c) */
    FILE *pipe = popen(line, "w");
    if (!pipe)
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot run the oracle: %s",
                            strerror(errno));
    if (end->output)
        fputs(end->output, pipe); /* an oracle need not read all of it */
    int status = pclose(pipe), said = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (status == -1 || said == CANNOT_RUN || said == NOT_THERE)
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot run the oracle '%.200s'", command);
    *wrong = status != 0;
    return MR_OK;
}

mr_status mr_outcome_judge(const mr_ran *ran, const mr_run_end *reference, const char *oracle,
                           mr_run_outcome *outcome, mr_error *error)
{
    bool wrong = false;
    *outcome = mr_outcome_of(ran, reference);
    if (!oracle || outcome->kind >= MR_RUN_LIVELOCK)
        return MR_OK;
    mr_status status = mr_oracle_ask(oracle, &ran->end, &wrong, error);
    if (wrong)
        *outcome = (mr_run_outcome){
            .kind = MR_RUN_ORACLE, .text = "the oracle says that it is wrong", .identity = 9};
    else if (outcome->kind == MR_RUN_OUTPUT || outcome->kind == MR_RUN_EXIT)
        *outcome = (mr_run_outcome){.kind = MR_RUN_GOOD};
    return status;
}

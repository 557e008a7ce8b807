/*
 * saving: predictions that take and save outcomes. Every race of theirs is held against the
 * checker, and their report against that of a run without any files. What fails ends the test.
 *
 *   mr_saving_setup → mr_subject_open → (mr_saving_run → mr_saving_end | mr_saving_same)* →
 * mr_subject_close → mr_saving_teardown
 */
#ifndef MR_TESTS_SUPPORT_SAVING_H
#define MR_TESTS_SUPPORT_SAVING_H

#include "checkpoint/file.h"
#include "engine/identity.h"
#include "predicted.h"

/* The fixture of a test program: a folder for thousands of files, each brought to the disk: in
 * memory, where there is such a folder. Then the path of a file in it, in `path`. */
int mr_saving_setup(void **state);
int mr_saving_teardown(void **state);
const char *mr_saving_path(const char *name, char path[512]);

/* A trace with its settings, and what is reported without any files. */
typedef struct mr_subject {
    mr_trace *trace;
    mr_config *config;
    char *report;
    uint64_t units; /* of the first phase */
} mr_subject;

/* A trace of a shape of mr_large_shapes. */
void mr_subject_open(mr_subject *subject, uint32_t shape, uint32_t events, const char *window_size);
/* A trace from its text. */
void mr_subject_take(mr_subject *subject, const char *text, const char *window_size);
void mr_subject_close(mr_subject *subject);

/* One prediction. Zero-initialise, then set what the first lines say. */
typedef struct mr_saving {
    mr_checkpoint_request request; /* without its shard and note */
    mr_halt halt;
    uint32_t shard, shards;
    unsigned notes;   /* lines told about damage */
    mr_status status; /* of opening, else of predicting, else of closing */
    mr_error error;
    mr_stats stats;
    mr_run_figures run;
    size_t races; /* reported */
    char *report; /* owned; NULL: nothing was predicted */
} mr_saving;

void mr_saving_run(const mr_subject *subject, mr_saving *saving);
void mr_saving_end(mr_saving *saving);
/* Predicts, without an error and with the same report as without files. */
void mr_saving_same(const mr_subject *subject, mr_saving *saving);

#endif

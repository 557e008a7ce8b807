/*
 * replay_report: what came of replays, as text or JSON.
 *
 *   mr_replay_report_begin → mr_replay_report_add* → mr_replay_report_end
 */
#ifndef MR_CLI_REPLAY_REPORT_H
#define MR_CLI_REPLAY_REPORT_H

#include "replaying.h"
#include "symbols/symbols.h"

#include <jansson.h>

typedef struct mr_replay_report {
    FILE *stream;
    const mr_config *config;
    const mr_replaying *replaying;
    mr_symbols *symbols;
    json_t *json; /* the races; NULL: text */
    size_t race_count, finding_count;
    size_t replayed, reached;
    size_t effects[MR_EFFECT_UNKNOWN + 1];
} mr_replay_report;

mr_status mr_replay_report_begin(mr_replay_report *report, FILE *stream, const mr_config *config,
                                 const mr_replaying *replaying, size_t race_count,
                                 size_t finding_count, mr_error *error);
/* `number` is that of the race, or of the finding beside races, from 1 on. */
mr_status mr_replay_report_add(mr_replay_report *report, size_t number, const mr_replayed *replayed,
                               mr_error *error);
/* Also frees what the report holds. `stopped`: a signal has ended the replays before all were done. */
mr_status mr_replay_report_end(mr_replay_report *report, bool stopped, mr_error *error);

#endif

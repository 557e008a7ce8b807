/* together: what the ranks of a prediction agree on, and the times that they add up. */
#include "identity.h"
#include "predict.h"

#include <inttypes.h>
#include <string.h>

/* ---- the beginning ---- */

static void write_subject(const mr_identity *own, mr_bytes *bytes)
{
    mr_bytes_number(bytes, own->event_count);
    mr_bytes_number(bytes, own->trace);
    mr_bytes_number(bytes, own->settings_bytes);
    mr_bytes_raw(bytes, own->settings, own->settings_bytes);
}

/* mr_hello.compare */
static mr_status compare(void *context, const char *name, mr_bytes_reader *theirs, mr_error *error)
{
    const mr_identity *own = context;
    uint64_t events = mr_bytes_get(theirs), trace = mr_bytes_get(theirs);
    uint64_t length = mr_bytes_get(theirs);
    const uint8_t *settings = mr_bytes_get_raw(theirs, length);
    if (!settings)
        return MR_OK; /* theirs->damaged is set */
    if (length != own->settings_bytes || memcmp(settings, own->settings, length) != 0)
        return mr_error_set(error, MR_ERR_CONFIG, NULL, 0,
                            "%s has other settings than rank 0; give all ranks the same flags and "
                            "configuration file",
                            name);
    if (events != own->event_count || trace != own->trace)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "%s has read another trace than rank 0 (%" PRIu64 " and %" PRIu64
                            " events); all ranks must see the same file",
                            name, events, own->event_count);
    return MR_OK;
}

mr_status mr_predict_meet(mr_team *team, const mr_cluster *cluster, mr_halt *halt,
                          const mr_trace *trace, const mr_config *config, mr_status status,
                          mr_error *error)
{
    mr_identity own = {0};
    mr_bytes subject = {0};
    const mr_hello hello = {.jobs = mr_predict_jobs(config, cluster),
                            .has_part = status == MR_OK && trace->runs,
                            .subject = &subject,
                            .compare = compare,
                            .context = &own};
    if (status == MR_OK)
        status = mr_identity_of(&own, trace, config, error);
    if (status == MR_OK)
        write_subject(&own, &subject);
    status = mr_team_meet(team, cluster, halt, &hello, status, error);
    mr_bytes_free(&subject);
    mr_identity_free(&own);
    return status;
}

/* ---- the end ---- */

/* The times of a rank that add up. */
enum { TIMES = MR_STEP_COUNT + 6 };

static void times_of(mr_run_figures *run, double *times[TIMES])
{
    size_t count = 0;
    for (int step = 0; step < MR_STEP_COUNT; step++)
        times[count++] = &run->step_seconds[step];
    times[count++] = &run->order_seconds;
    times[count++] = &run->window_seconds;
    times[count++] = &run->decide_seconds;
    times[count++] = &run->solver_seconds;
    times[count++] = &run->far_seconds;
    times[count] = &run->witness_seconds;
}

static void write_times(void *context, mr_bytes *bytes)
{
    double *times[TIMES];
    times_of(context, times);
    for (size_t i = 0; i < TIMES; i++)
        mr_bytes_number(bytes, (uint64_t)(*times[i] * 1e6));
}

static void add_times(void *context, mr_bytes_reader *from)
{
    double *times[TIMES];
    times_of(context, times);
    for (size_t i = 0; i < TIMES; i++)
        *times[i] += (double)mr_bytes_get(from) * 1e-6;
}

bool mr_predict_part(mr_team *team, mr_status status, const mr_error *error, mr_run_figures *run)
{
    const mr_account account = {.context = run, .write = write_times, .add = add_times};
    return mr_team_part(team, status, error, &account);
}

#include "team.h"

#include "base/memory.h"
#include "checkpoint/saved_identity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* While nothing but a message can go on. */
enum { PAUSE_MS = 2 };

/* How long rank 0 waits at the end for ranks that are still deciding: a question is given up after
 * solver.timeout_ms, but not before its formula is built. */
enum { PART_SECONDS = 60 };

/* ---- messages ---- */

void mr_team_write(mr_bytes *bytes, mr_word word)
{
    mr_bytes_number(bytes, word);
}

mr_arrival mr_team_receive(mr_team *team, mr_message *message)
{
    const mr_cluster *cluster = team->cluster;
    size_t count = 0;
    mr_arrival arrival;
    do {
        *message = (mr_message){0};
        arrival = cluster->receive(cluster->context, &message->from, &message->bytes, &count);
        /* Who has said goodbye may go. */
    } while (arrival == MR_ARRIVAL_LOST && team->members[message->from].gone);
    if (arrival == MR_ARRIVAL_LOST)
        team->broken = team->members[message->from].gone = true;
    if (arrival != MR_ARRIVAL_MESSAGE)
        return arrival;
    message->in = (mr_bytes_reader){.next = message->bytes, .end = message->bytes + count};
    message->word = (mr_word)mr_bytes_get_u32(&message->in, MR_WORD_BYE);
    return arrival;
}

void mr_message_free(mr_message *message)
{
    free(message->bytes);
    message->bytes = NULL;
}

static void pause_a_little(void)
{
    const struct timespec nap = {0, PAUSE_MS * 1000000L};
    nanosleep(&nap, NULL);
}

static mr_arrival wait_for(mr_team *team, mr_message *message)
{
    for (;;) {
        mr_arrival arrival = mr_team_receive(team, message);
        if (arrival != MR_ARRIVAL_NONE)
            return arrival;
        pause_a_little();
    }
}

/* ---- errors ---- */

static const char *name_of(const mr_team *team, unsigned rank)
{
    return team->cluster->name(team->cluster->context, rank);
}

mr_status mr_team_garbled(const mr_team *team, unsigned rank, mr_error *error)
{
    return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0,
                        "%s sent what makes no sense here; are all ranks the same maxrace?",
                        name_of(team, rank));
}

mr_status mr_team_lost(const mr_team *team, unsigned rank, mr_error *error)
{
    return mr_error_set(error, MR_ERR_IO, NULL, 0, "%s has died or is out of reach; the run ends",
                        name_of(team, rank));
}

/* Hands a message over to who carries it. */
static mr_status hand_over(mr_team *team, unsigned to, const mr_bytes *bytes, mr_error *error)
{
    const mr_cluster *cluster = team->cluster;
    if (bytes->failed)
        return mr_error_memory(error, "writing to another rank");
    if (cluster->send(cluster->context, to, bytes->items, bytes->count))
        return MR_OK;
    team->broken = team->members[to].gone = true;
    return mr_team_lost(team, to, error);
}

mr_status mr_team_send(mr_team *team, unsigned to, mr_bytes *bytes, mr_error *error)
{
    mr_status status = hand_over(team, to, bytes, error);
    mr_bytes_free(bytes);
    return status;
}

mr_status mr_team_send_all(mr_team *team, mr_bytes *bytes, mr_error *error)
{
    mr_status status = MR_OK;
    for (unsigned rank = 1; status == MR_OK && rank < team->cluster->size; rank++)
        if (!team->members[rank].gone)
            status = hand_over(team, rank, bytes, error);
    mr_bytes_free(bytes);
    return status;
}

mr_status mr_team_left(const mr_team *team, unsigned rank, mr_error *error)
{
    return mr_error_set(error, MR_ERR_IO, NULL, 0, "%s was asked to end; the run ends",
                        name_of(team, rank));
}

static void write_text(mr_bytes *bytes, const char *text)
{
    size_t length = strlen(text);
    mr_bytes_number(bytes, length);
    mr_bytes_raw(bytes, text, length);
}

static void read_text(mr_bytes_reader *in, char *text, size_t size_bytes)
{
    uint64_t length = mr_bytes_get(in);
    const uint8_t *items = mr_bytes_get_raw(in, length);
    size_t kept = items && length < size_bytes ? (size_t)length : 0;
    if (kept)
        memcpy(text, items, kept);
    text[kept] = '\0';
}

static void write_error(mr_bytes *bytes, mr_status status, const mr_error *error)
{
    mr_bytes_number(bytes, status);
    if (status == MR_OK)
        return;
    mr_bytes_number(bytes, error->line);
    write_text(bytes, error->file);
    write_text(bytes, error->text);
}

static mr_status read_error(const mr_team *team, mr_message *message, mr_error *error)
{
    mr_error read = {0};
    mr_status status = (mr_status)mr_bytes_get_u32(&message->in, MR_ERR_INTERNAL);
    if (message->in.damaged)
        return mr_team_garbled(team, message->from, error);
    if (status == MR_OK)
        return MR_OK;
    read.line = mr_bytes_get(&message->in);
    read_text(&message->in, read.file, sizeof read.file);
    read_text(&message->in, read.text, sizeof read.text);
    return mr_error_set(error, status, read.file, read.line, "%s: %s", name_of(team, message->from),
                        read.text);
}

/* ---- the beginning ---- */

static mr_status send_hello(mr_team *team, const mr_hello *hello, mr_status status, mr_error *error)
{
    mr_bytes bytes = {0};
    mr_saved_identity own = {0};
    mr_error own_error;
    if (status == MR_OK)
        status = mr_saved_identity_of(&own, hello->trace, hello->config, error = &own_error);
    mr_team_write(&bytes, MR_WORD_HELLO);
    write_text(&bytes, MR_VERSION);
    write_error(&bytes, status, error);
    if (status == MR_OK) {
        mr_bytes_number(&bytes, hello->jobs);
        mr_bytes_number(&bytes, own.event_count);
        mr_bytes_number(&bytes, own.trace);
        mr_bytes_number(&bytes, own.settings_bytes);
        mr_bytes_raw(&bytes, own.settings, own.settings_bytes);
    }
    mr_saved_identity_free(&own);
    return mr_team_send(team, 0, &bytes, error);
}

/* Rank 0 compares what a rank reads with what it reads itself. */
static mr_status compare(const mr_team *team, mr_message *message, const mr_saved_identity *own,
                         mr_error *error)
{
    const char *name = name_of(team, message->from);
    uint64_t events = mr_bytes_get(&message->in), trace = mr_bytes_get(&message->in);
    uint64_t length = mr_bytes_get(&message->in);
    const uint8_t *settings = mr_bytes_get_raw(&message->in, length);
    if (!settings)
        return mr_team_garbled(team, message->from, error);
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

static mr_status hear_hello(const mr_team *team, mr_message *message, const mr_saved_identity *own,
                            mr_error *error)
{
    char version[64];
    read_text(&message->in, version, sizeof version);
    if (message->word != MR_WORD_HELLO || message->in.damaged)
        return mr_team_garbled(team, message->from, error);
    if (strcmp(version, MR_VERSION) != 0)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "%s is maxrace %s, but rank 0 is %s; use the same everywhere",
                            name_of(team, message->from), version, MR_VERSION);
    mr_status status = read_error(team, message, error);
    if (status != MR_OK)
        return status;
    team->members[message->from].jobs = mr_bytes_get_u32(&message->in, UINT32_MAX);
    /* When rank 0 has not read the trace, there is nothing to compare with, nor a need to. */
    return own->settings ? compare(team, message, own, error) : MR_OK;
}

/* The greetings of all. */
static mr_status hear_hellos(mr_team *team, const mr_saved_identity *own, mr_error *error)
{
    mr_status first = MR_OK;
    for (unsigned heard = 1; heard < team->cluster->size && !team->broken; heard++) {
        mr_message message;
        mr_error its_error;
        mr_status its = wait_for(team, &message) == MR_ARRIVAL_LOST
                            ? mr_team_lost(team, message.from, &its_error)
                            : hear_hello(team, &message, own, &its_error);
        mr_message_free(&message);
        if (first == MR_OK && its != MR_OK) {
            first = its;
            *error = its_error;
        }
    }
    return first;
}

static mr_status welcome(mr_team *team, const mr_hello *hello, mr_status status, mr_error *error)
{
    mr_bytes bytes = {0};
    mr_saved_identity own = {0};
    mr_error next_error;
    if (status == MR_OK)
        status = mr_saved_identity_of(&own, hello->trace, hello->config, error);
    mr_status heard = hear_hellos(team, &own, status == MR_OK ? error : &next_error);
    mr_saved_identity_free(&own);
    status = status == MR_OK ? heard : status;
    team->over = status != MR_OK;
    mr_team_write(&bytes, team->over ? MR_WORD_END : MR_WORD_WELCOME);
    mr_status sent = mr_team_send_all(team, &bytes, status == MR_OK ? error : &next_error);
    return status == MR_OK ? sent : status;
}

static mr_status be_welcomed(mr_team *team, mr_error *error)
{
    mr_message message;
    if (wait_for(team, &message) == MR_ARRIVAL_LOST)
        return mr_team_lost(team, 0, error);
    mr_word word = message.word;
    mr_message_free(&message);
    team->over = word == MR_WORD_END;
    return team->over || word == MR_WORD_WELCOME ? MR_OK : mr_team_garbled(team, 0, error);
}

mr_status mr_team_meet(mr_team *team, const mr_cluster *cluster, mr_halt *halt,
                       const mr_hello *hello, mr_status status, mr_error *error)
{
    *team = (mr_team){.cluster = cluster, .halt = halt};
    team->members = mr_calloc(cluster->size, sizeof *team->members);
    team->broken = !team->members;
    if (team->broken)
        return mr_error_memory(error, "meeting the other ranks");
    team->members[0].jobs = hello->jobs;
    if (cluster->rank == 0)
        return welcome(team, hello, status, error);
    mr_status sent = send_hello(team, hello, status, error);
    return sent == MR_OK ? be_welcomed(team, error) : sent;
}

/* ---- the end ---- */

/* The times of a rank that add up. */
enum { TIMES = MR_STEP_COUNT + 6 };

static void times_of(mr_run *run, double *times[TIMES])
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

static bool say_goodbye(mr_team *team, mr_status status, const mr_error *error, mr_run *run)
{
    mr_bytes bytes = {0};
    mr_error ignored; /* that it cannot be said is enough */
    double *times[TIMES];
    times_of(run, times);
    mr_team_write(&bytes, MR_WORD_BYE);
    write_error(&bytes, status, error);
    for (size_t i = 0; i < TIMES; i++)
        mr_bytes_number(&bytes, (uint64_t)(*times[i] * 1e6));
    team->broken |= mr_team_send(team, 0, &bytes, &ignored) != MR_OK;
    while (!team->broken && !team->over) {
        mr_message message;
        if (wait_for(team, &message) == MR_ARRIVAL_MESSAGE)
            team->over = message.word == MR_WORD_END;
        mr_message_free(&message);
    }
    return !team->broken;
}

mr_status mr_team_read_bye(mr_team *team, mr_message *message, mr_error *error)
{
    double *times[TIMES];
    times_of(&team->others, times);
    mr_status status = read_error(team, message, error);
    for (size_t i = 0; i < TIMES; i++)
        *times[i] += (double)mr_bytes_get(&message->in) * 1e-6;
    team->members[message->from].gone = true;
    return status;
}

static bool all_gone(const mr_team *team)
{
    for (unsigned rank = 1; rank < team->cluster->size; rank++)
        if (!team->members[rank].gone)
            return false;
    return true;
}

static void see_all_off(mr_team *team)
{
    time_t latest = time(NULL) + PART_SECONDS;
    while (!team->broken && !all_gone(team)) {
        mr_message message;
        mr_error ignored; /* the run is over, and what came of it is known */
        mr_arrival arrival = mr_team_receive(team, &message);
        if (arrival == MR_ARRIVAL_MESSAGE && message.word == MR_WORD_BYE)
            mr_team_read_bye(team, &message, &ignored);
        mr_message_free(&message);
        if (arrival != MR_ARRIVAL_NONE)
            continue;
        team->broken |= time(NULL) > latest;
        pause_a_little();
    }
}

static bool see_off(mr_team *team, mr_run *run)
{
    double *to[TIMES], *from[TIMES];
    /* Also those that have said goodbye wait for it. */
    for (unsigned rank = 1; rank < team->cluster->size; rank++) {
        mr_bytes bytes = {0};
        mr_error ignored; /* likewise */
        mr_team_write(&bytes, MR_WORD_END);
        team->broken |= mr_team_send(team, rank, &bytes, &ignored) != MR_OK;
    }
    team->over = true;
    see_all_off(team);
    times_of(run, to);
    times_of(&team->others, from);
    for (size_t i = 0; i < TIMES; i++)
        *to[i] += *from[i];
    return !team->broken;
}

bool mr_team_part(mr_team *team, mr_status status, const mr_error *error, mr_run *run)
{
    return team->cluster->rank > 0 ? say_goodbye(team, status, error, run) : see_off(team, run);
}

void mr_team_free(mr_team *team)
{
    free(team->members);
    team->members = NULL;
}

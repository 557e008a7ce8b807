#include "team.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long a rank sleeps between two looks for messages when it has nothing else to do. */
enum { PAUSE_MS = 2 };

/* How long rank 0 waits at the end for ranks that are still deciding. A rank looks for the halt
 * only between questions, and one question may take that long. */
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
        /* A rank may vanish after its BYE. */
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

/* Gives the cluster a copy of a message. */
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

mr_status mr_team_differs(const mr_team *team, unsigned rank, mr_error *error)
{
    return mr_error_set(error, MR_ERR_MEMORY, NULL, 0,
                        "%s has come further than rank 0, or less far, as they have not the same "
                        "memory left; the run ends",
                        rank == team->cluster->rank ? "it" : name_of(team, rank));
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
    mr_team_write(&bytes, MR_WORD_HELLO);
    write_text(&bytes, MR_VERSION);
    write_error(&bytes, status, error);
    if (status == MR_OK) {
        mr_bytes_number(&bytes, hello->jobs);
        mr_bytes_number(&bytes, hello->has_part);
        mr_bytes_raw(&bytes, hello->subject->items, hello->subject->count);
        bytes.failed |= hello->subject->failed;
    }
    return mr_team_send(team, 0, &bytes, error);
}

/* `compares`: rank 0 knows its own subject. */
static mr_status hear_hello(const mr_team *team, mr_message *message, const mr_hello *own,
                            bool compares, mr_error *error)
{
    char version[64];
    const char *name = name_of(team, message->from);
    read_text(&message->in, version, sizeof version);
    if (message->word != MR_WORD_HELLO || message->in.damaged)
        return mr_team_garbled(team, message->from, error);
    if (strcmp(version, MR_VERSION) != 0)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "%s is maxrace %s, but rank 0 is %s; use the same everywhere", name,
                            version, MR_VERSION);
    mr_status status = read_error(team, message, error);
    if (status != MR_OK)
        return status;
    team->members[message->from].jobs = mr_bytes_get_u32(&message->in, UINT32_MAX);
    team->members[message->from].has_part = mr_bytes_get_u32(&message->in, 1);
    if (compares)
        status = own->compare(own->context, name, &message->in, error);
    return message->in.damaged ? mr_team_garbled(team, message->from, error) : status;
}

/* Hears all other ranks; the first error counts. */
static mr_status hear_hellos(mr_team *team, const mr_hello *own, bool compares, mr_error *error)
{
    mr_status first = MR_OK;
    for (unsigned heard = 1; heard < team->cluster->size && !team->broken; heard++) {
        mr_message message;
        mr_error its_error;
        mr_status its = wait_for(team, &message) == MR_ARRIVAL_LOST
                            ? mr_team_lost(team, message.from, &its_error)
                            : hear_hello(team, &message, own, compares, &its_error);
        mr_message_free(&message);
        if (first == MR_OK && its != MR_OK) {
            first = its;
            *error = its_error;
        }
    }
    return first;
}

static mr_status welcome(mr_team *team, const mr_hello *own, mr_status status, mr_error *error)
{
    mr_bytes bytes = {0};
    mr_error next_error;
    mr_status heard =
        hear_hellos(team, own, status == MR_OK, status == MR_OK ? error : &next_error);
    status = status == MR_OK ? heard : status;
    team->over = status != MR_OK;
    team->welcomed = !team->over;
    mr_team_write(&bytes, team->over ? MR_WORD_END : MR_WORD_WELCOME);
    mr_status sent = mr_team_send_all(team, &bytes, status == MR_OK ? error : &next_error);
    return status == MR_OK ? sent : status;
}

static mr_status be_welcomed(mr_team *team, mr_error *error)
{
    mr_message message;
    if (wait_for(team, &message) == MR_ARRIVAL_LOST)
        return mr_team_lost(team, message.from, error);
    mr_word word = message.word;
    mr_message_free(&message);
    team->over = word == MR_WORD_END;
    team->welcomed = word == MR_WORD_WELCOME;
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
    bool waits = status != MR_OK || !hello->has_part;
    return sent == MR_OK && waits ? be_welcomed(team, error) : sent;
}

/* ---- the end ---- */

static bool say_goodbye(mr_team *team, mr_status status, const mr_error *error,
                        const mr_account *account)
{
    mr_bytes bytes = {0};
    mr_error ignored;                   /* rank 0 cannot be told; team->broken says so */
    if (!team->welcomed && !team->over) /* rank 0 hears a BYE when it has welcomed all ranks */
        team->broken |= be_welcomed(team, &ignored) != MR_OK;
    if (team->broken || (team->over && !team->welcomed))
        return !team->broken;
    mr_team_write(&bytes, MR_WORD_BYE);
    write_error(&bytes, status, error);
    account->write(account->context, &bytes);
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
    mr_member *member = &team->members[message->from];
    mr_status status = read_error(team, message, error);
    mr_bytes_free(&member->account);
    mr_bytes_raw(&member->account, message->in.next, (size_t)(message->in.end - message->in.next));
    member->gone = true;
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
        mr_error ignored; /* the run is over, and its result is known */
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

static bool see_off(mr_team *team, const mr_account *account)
{
    /* Ranks wait for END after their BYE. */
    for (unsigned rank = 1; rank < team->cluster->size; rank++) {
        mr_bytes bytes = {0};
        mr_error ignored; /* the run is over, and its result is known */
        mr_team_write(&bytes, MR_WORD_END);
        team->broken |= mr_team_send(team, rank, &bytes, &ignored) != MR_OK;
    }
    team->over = true;
    see_all_off(team);
    for (unsigned rank = 1; rank < team->cluster->size; rank++) {
        const mr_bytes *told = &team->members[rank].account;
        mr_bytes_reader reader = {.next = told->items, .end = told->items + told->count};
        if (told->count)
            account->add(account->context, &reader);
    }
    return !team->broken;
}

bool mr_team_part(mr_team *team, mr_status status, const mr_error *error, const mr_account *account)
{
    return team->cluster->rank > 0 ? say_goodbye(team, status, error, account)
                                   : see_off(team, account);
}

bool mr_team_has_lost(const mr_team *team, unsigned rank)
{
    return team->broken && team->members && team->members[rank].gone;
}

void mr_team_free(mr_team *team)
{
    for (unsigned rank = 0; team->members && rank < team->cluster->size; rank++)
        mr_bytes_free(&team->members[rank].account);
    free(team->members);
    team->members = NULL;
}

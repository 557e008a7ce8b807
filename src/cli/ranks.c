#include "ranks.h"

#include "runtime_place.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "maxrace-mpi.so"

typedef const char *start_function(mr_cluster *cluster, const char *version);

/* The data of the signal handler. */
static struct {
    mr_cluster *cluster;
    mr_halt *halt;
    volatile sig_atomic_t told; /* the handler has printed why the run ends */
    volatile sig_atomic_t dead; /* the handler has found a dead rank */
} watched;

/* ---- a rank that dies ---- */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* standard error is gone: there is no way to report it */
}

/* The first dead rank, or the number of ranks. */
static unsigned first_dead(const mr_cluster *cluster)
{
    unsigned rank = 0;
    while (rank < cluster->size && !cluster->is_dead(cluster->context, rank))
        rank++;
    return rank;
}

/* Is this the first rank that is not known to be dead? That rank prints messages. */
static bool speaks(const mr_cluster *cluster)
{
    for (unsigned rank = 0; rank < cluster->rank; rank++)
        if (!cluster->is_dead(cluster->context, rank))
            return false;
    return true;
}

/* mpirun sends SIGKILL soon after SIGTERM, so the line is printed here. SIGINT comes from the user,
 * who needs no line. */
static void on_signal(int number)
{
    const mr_cluster *cluster = watched.cluster;
    mr_halt_ask(watched.halt, MR_HALT_SIGNAL);
    if (number == SIGINT || watched.told)
        return;
    unsigned dead = first_dead(cluster);
    watched.dead = dead < cluster->size;
    if (!speaks(cluster))
        return;
    watched.told = 1;
    say("maxrace: ");
    if (dead < cluster->size) {
        say(cluster->name(cluster->context, dead));
        say(" has died; the run ends\n");
    } else {
        say("the run ends: a rank on another host has died, or somebody sent SIGTERM\n");
    }
}

static void handle_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* ---- the beginning ---- */

bool mr_ranks_can(void)
{
    char path[MR_RUNTIME_PATH_BYTES];
    return mr_place_find(LIBRARY, path);
}

/* RTLD_GLOBAL: Open MPI loads plug-ins that need its symbols. */
static mr_status load(mr_cluster *cluster, mr_error *error)
{
    char path[MR_RUNTIME_PATH_BYTES];
    start_function *start = NULL;
    if (!mr_place_find(LIBRARY, path))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "this maxrace was built without MPI; install libopenmpi-dev and "
                            "openmpi-bin, and build it again");
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = library ? dlsym(library, "mr_mpi_start") : NULL;
    if (!symbol)
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot load MPI: %.600s", dlerror());
    memcpy(&start, &symbol, sizeof start);
    const char *wrong = start(cluster, MR_VERSION);
    return wrong ? mr_error_set(error, MR_ERR_IO, NULL, 0, "%s", wrong) : MR_OK;
}

mr_status mr_ranks_start(mr_ranks *ranks, const mr_cli *cli, bool mpi, mr_error *error)
{
    *ranks = (mr_ranks){.leads = true};
    if (!mpi)
        return MR_OK;
    if (strcmp(cli->operands[0], "-") == 0)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--mpi needs a file that all ranks can read, not standard input");
    mr_status status = load(&ranks->cluster, error);
    if (status != MR_OK)
        return status;
    ranks->active = true;
    ranks->leads = ranks->cluster.rank == 0;
    watched.cluster = &ranks->cluster;
    watched.halt = &ranks->halt;
    handle_signals(on_signal);
    return MR_OK;
}

mr_status mr_ranks_meet(mr_ranks *ranks, const mr_trace *trace, const mr_config *config,
                        mr_status status, bool *over, mr_error *error)
{
    *over = status != MR_OK;
    if (!ranks->active)
        return status;
    status =
        mr_predict_meet(&ranks->team, &ranks->cluster, &ranks->halt, trace, config, status, error);
    *over = status != MR_OK || ranks->team.over;
    return status;
}

/* ---- the end ---- */

void mr_ranks_part(mr_ranks *ranks, mr_status status, const mr_error *error, mr_run_figures *run)
{
    if (ranks->active)
        mr_predict_part(&ranks->team, status, error, run);
}

/* Only one rank prints its error: rank 0, or rank 1 when rank 0 is lost. A rank that has found another one dead says nothing, as rank 0 does. */
static bool complains(const mr_ranks *ranks, mr_status status)
{
    bool is_first = ranks->leads || (ranks->cluster.rank == 1 && mr_team_has_lost(&ranks->team, 0));
    return status != MR_OK && is_first && !watched.told;
}

mr_status mr_ranks_end(mr_ranks *ranks, mr_status status, int *exit_status, const mr_error *error)
{
    if (!ranks->active)
        return status;
    bool clean = !ranks->team.broken && !watched.dead;
    bool tells = complains(ranks, status);
    mr_team_free(&ranks->team);
    /* mpirun may send signals to the other ranks when the first one ends. Their work is done. */
    handle_signals(SIG_IGN);
    if (tells && !watched.told)
        mr_cli_complain(error);
    if (status != MR_OK)
        *exit_status = mr_status_exit(status);
    /* Rank 0 decides the exit status of mpirun. */
    if (!ranks->leads && clean)
        *exit_status = 0;
    fflush(NULL);
    ranks->cluster.end(ranks->cluster.context, clean);
    return MR_OK;
}

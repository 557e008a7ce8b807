#include "result.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *mr_confirmed_name(mr_confirmed confirmed)
{
    static const char *const names[] = {"not asked", "not tried", "yes", "diverged"};
    return names[confirmed];
}

void mr_result_free(mr_result *result)
{
    for (size_t i = 0; i < result->race_count; i++)
        mr_witness_free(&result->races[i].witness);
    for (size_t i = 0; i < result->finding_count; i++)
        mr_witness_free(&result->findings[i].witness);
    free(result->races);
    free(result->findings);
    free(result->finding_unknowns);
    free(result->cycle_notes);
    free(result->unknowns);
    free(result->run.shares);
    *result = (mr_result){0};
}

/* The first share that is not before that of the worker. */
static size_t place_of(const mr_run_figures *run, uint32_t rank, uint32_t worker)
{
    size_t low = 0, high = run->share_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const mr_share *share = &run->shares[middle];
        if (share->rank < rank || (share->rank == rank && share->worker < worker))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool mr_run_figures_count_unit(mr_run_figures *run, uint32_t rank, uint32_t worker, double seconds)
{
    size_t at = place_of(run, rank, worker);
    bool known =
        at < run->share_count && run->shares[at].rank == rank && run->shares[at].worker == worker;
    if (!known) {
        void *shares = run->shares;
        if (!mr_grow(&shares, &run->share_capacity, run->share_count + 1, sizeof *run->shares))
            return false;
        run->shares = shares;
        memmove(run->shares + at + 1, run->shares + at,
                (run->share_count - at) * sizeof *run->shares);
        run->shares[at] = (mr_share){.rank = rank, .worker = worker};
        run->share_count++;
    }
    run->shares[at].units++;
    run->shares[at].seconds += seconds;
    return true;
}

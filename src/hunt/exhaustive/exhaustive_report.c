#include "exhaustive_report.h"

#include <inttypes.h>

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static bool has_failure(const mr_explore *self)
{
    return self->failed_runs || self->deadlocked_runs || self->deadlocks || self->search.endless ||
           self->timed_out_runs || self->other_status_runs || self->use_count;
}

int mr_explore_exit_status(const mr_explore *self)
{
    return self->search.race_count || has_failure(self);
}

/* "read of counter at bank.c:9:13 by thread 1" */
static void print_access(const mr_pmodel *model, mr_symbols *symbols, uint32_t node,
                         uint32_t thread, FILE *file)
{
    const mr_pmodel_op *op = &model->nodes[node].op;
    const mr_code *code = symbols && op->code ? mr_symbols_code(symbols, op->code - 1) : NULL;
    char name[200];
    uint64_t address = op->address;
    if (!mr_pmodel_is_access(op->kind))
        address = model->objects[op->object].address;
    fputs(mr_pmodel_kind_name((mr_pmodel_kind)op->kind), file);
    if (symbols &&
        mr_symbols_data(symbols, address, op->bytes ? op->bytes : 1, name, sizeof name, NULL))
        fprintf(file, " of %s", name);
    else
        fprintf(file, " of 0x%" PRIx64, address);
    if (code && code->frame_count)
        fprintf(file, " in %s at %s", code->frames[0].function, code->frames[0].place);
    else
        fprintf(file, " at 0x%" PRIx64, op->code);
    fprintf(file, " by thread %" PRIu32, thread);
}

void mr_explore_print_race(const mr_pmodel *model, mr_symbols *symbols, const mr_seek_race *race,
                           FILE *file)
{
    print_access(model, symbols, race->first_node, race->first, file);
    fputs("; ", file);
    print_access(model, symbols, race->second_node, race->second, file);
}

void mr_explore_print_use(const mr_pmodel *model, mr_symbols *symbols, const mr_seek_use *use,
                          FILE *file)
{
    print_access(model, symbols, use->first_node, use->first, file);
    fputs(", after ", file);
    print_access(model, symbols, use->second_node, use->second, file);
}

static void print_uses(const mr_explore *self, mr_symbols *symbols, FILE *file)
{
    for (size_t i = 0; i < self->use_count; i++) {
        fputs("  use of freed memory, in a run: ", file);
        mr_explore_print_use(&self->model, symbols, &self->uses[i], file);
        fputs("\n", file);
    }
}

static void print_races(const mr_explore *self, mr_symbols *symbols, FILE *file)
{
    for (size_t i = 0; i < self->search.race_count; i++) {
        const mr_seek_race *race = &self->search.races[i];
        fprintf(file, "  race %zu%s: ", i + 1,
                i < self->shown_count && self->shown[i] ? ", both stood there in a run" : "");
        mr_explore_print_race(&self->model, symbols, race, file);
        fputs("\n", file);
    }
}

static void print_failures(const mr_explore *self, FILE *file)
{
    if (self->failed_runs)
        fprintf(file, "  failure: %" PRIu64 " run%s failed, the first with status %d\n",
                self->failed_runs, plural(self->failed_runs), self->failure_status);
    if (self->other_status_runs)
        fprintf(file,
                "  exit status: %d or %d, by the order of the threads; the second in %" PRIu64
                " run%s\n",
                self->first_status, self->other_status, self->other_status_runs,
                plural(self->other_status_runs));
    if (self->deadlocks)
        fprintf(file, "  deadlock: %" PRIu64 " of the behaviours\n", self->deadlocks);
    if (self->search.endless)
        fprintf(file,
                "  livelock: threads can wait for each other in loops for ever, from %" PRIu64
                " state%s on\n",
                self->search.endless, plural(self->search.endless));
    if (self->timed_out_runs)
        fprintf(file, "  time: %" PRIu64 " run%s did not end in time\n", self->timed_out_runs,
                plural(self->timed_out_runs));
}

static void print_outcome(const mr_explore *self, FILE *file)
{
    size_t races = self->search.race_count;
    if (!races && !has_failure(self)) {
        fputs("no race, no failure", file);
        return;
    }
    if (races)
        fprintf(file, "%zu race%s, ", races, plural(races));
    else
        fputs("no race, ", file);
    fputs(!has_failure(self)                             ? "no failure"
          : self->failed_runs || self->other_status_runs ? "a failure"
          : self->use_count                              ? "a use of freed memory"
          : self->deadlocks || self->deadlocked_runs     ? "a deadlock"
                                                         : "a livelock",
          file);
}

void mr_explore_print(const mr_explore *self, mr_symbols *symbols, FILE *file)
{
    uint64_t behaviours = mr_explore_behaviours(self);
    if (self->verdict == MR_EXPLORE_ALL) {
        fprintf(file, "all %" PRIu64 " behaviours of this input explored: ", behaviours);
    } else {
        if (!behaviours && self->runs)
            fputs("the last search was cut off before it had found a behaviour", file);
        else
            fprintf(file, "%" PRIu64 " behaviours found", behaviours);
        fprintf(file, ", perhaps not all of this input: %s", self->reason);
        if (self->search.question_count || self->search.untried)
            fprintf(file, "; left are %zu question%s and %" PRIu64 " step%s",
                    self->search.question_count, plural(self->search.question_count),
                    self->search.untried, plural(self->search.untried));
        fputs(". So far: ", file);
    }
    print_outcome(self, file);
    fprintf(file,
            "\n  %" PRIu64 " run%s, %" PRIu64 " of the behaviours in a run of their own, %" PRIu64
            " state%s, %" PRIu64 " search%s\n",
            self->runs, plural(self->runs), self->confirmed, self->search.states,
            plural(self->search.states), self->searches, self->searches == 1 ? "" : "es");
    print_races(self, symbols, file);
    print_uses(self, symbols, file);
    print_failures(self, file);
}

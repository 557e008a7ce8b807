/* commands: the table of subcommands, their help, and the small ones. */
#include "cli.h"
#include "config/suggest.h"
#include "ranks.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

const mr_command mr_commands[] = {
    {.name = "predict",
     .subject = MR_SUBJECT_PREDICT,
     .operands = "TRACE",
     .operands_min = 1,
     .operands_max = 1,
     .keys = " * !halt_on_finding !relations !relation !examples !mark !confirm !witness.check "
             "!record.local !record.exclude !record.strip_prefix ",
     .takes_config = true,
     .summary = "find every race that the trace proves possible, each with its witness",
     .switch_name = "mpi",
     .switch_help = "this is a rank of an MPI run: mpirun -q -n RANKS maxrace predict --mpi TRACE",
     .details =
         "TRACE is a file in STD format, plain, gzip or zstd, or an .mrt file; - is standard\n"
         "input.\n"
         "The first SIGINT or SIGTERM, or time_limit, ends the run with what is known; the\n"
         "report says what is missing. With --checkpoint the run can be gone on with.\n"
         "With --mpi every rank reads TRACE, and rank 0 reports (docs/cluster.md).\n"
         "Exit status: 0 no race, 1 races, 2 usage or configuration, 3 bad trace, 4 out of\n"
         "resources or internal, 5 not complete (ended before its time, or no memory for\n"
         "far races), with races or without, 6 no race, but the recorded program crashed\n"
         "or ended in a deadlock, 7 with --fail-on unknown: no race, but unknown candidates.\n"
         "The report names the unknown candidates.\n",
     .own = {{"shard", "K/N", "of a job array: decide the Kth of N parts into the checkpoint"}},
     .debugs = true,
     .run = mr_cli_predict},
    {.name = "merge",
     .subject = MR_SUBJECT_PREDICT,
     .operands = "TRACE FILE…",
     .operands_min = 2,
     .operands_max = SIZE_MAX,
     .keys = " format output jobs checkpoint resume time_limit quiet witness.dir"
             " brief color source_dir suppressions baseline fail_on"
             " report.run report.schedule report.shown report.pictures ",
     .takes_config = true,
     .switch_name = "decide-missing",
     .switch_help = "decide what is in none of the files, instead of failing",
     .summary = "the report of a job array: of what predict --shard has saved",
     .details = "The FILEs are the checkpoints of all shards of TRACE. They say what the settings\n"
                "were. The report is the same as that of one run of predict. What is left to do,\n"
                "far races above all, is done here, and can be saved by a checkpoint of its own.\n"
                "Exit status: as predict.\n",
     .debugs = true,
     .run = mr_cli_merge},
    {.name = "report",
     .subject = MR_SUBJECT_PREDICT,
     .operands = "RESULTS",
     .operands_min = 1,
     .operands_max = 1,
     .keys = " format output quiet brief color source_dir suppressions baseline fail_on"
             " report.schedule report.shown report.pictures memory.limit_mb memory.spill_dir ",
     .takes_config = true,
     .own = {{"trace", "FILE", "the trace of the report, when it is no longer where it was"}},
     .summary = "write a report in JSON again, in another format: maxrace report r.json -o r.html",
     .details =
         "RESULTS is a report of predict, merge or run in JSON. Its trace is read, and every\n"
         "witness is checked again. Without --format the end of the output's name chooses: .html,\n"
         ".sarif, .xml (junit), .dot, .json, .txt.\n"
         "Exit status: as predict; 3 also for a report of another trace.\n",
     .run = mr_cli_report},
    {.name = "order",
     .subject = MR_SUBJECT_ORDER,
     .operands = "TRACE",
     .operands_min = 1,
     .operands_max = 1,
     .keys =
         " model opaque repair format output jobs quiet relation examples mark confirm window.size"
         " solver.strategy solver.steps solver.saturate_steps solver.rlimit"
         " solver.timeout_ms solver.memory_mb solver.max_clauses"
         " memory.limit_mb memory.spill_dir time_limit"
         " witness.dir witness.check witness.minimise brief color report.run ",
     .takes_config = true,
     .summary = "the races of one whole-trace order, with what is proven of each",
     .details =
         "hb, fhb, shb, wcp and hybrid are computed while the file is read; cp, syncp and c17 hold "
         "the\n"
         "trace in memory, and so does whatever needs witnesses, as soon as there is a race.\n"
         "Standard input is read once: the trace is then kept from the start, unless\n"
         "--no-mark (hb, wcp) or --no-witness-check (fhb, shb) make that needless.\n"
         "model, window.size and solver.* are for --confirm.\n"
         "Exit status: 0 no race reported, 1 races, candidates or errors that happened in the\n"
         "recorded execution, 2 usage or configuration, 3 bad trace (what stands before the\n"
         "damage is reported) or one without events, 4 out of resources or internal, 5 not\n"
         "complete (ended by a signal, time_limit or memory.limit_mb; the report says after how\n"
         "many events), 6 no race, but the program crashed.\n",
     .run = mr_cli_order},
    {.name = "compare",
     .subject = MR_SUBJECT_COMPARE,
     .operands = "TRACE…",
     .operands_min = 1,
     .operands_max = SIZE_MAX,
     .keys = " * !halt_on_finding !find !sees !relation !examples !mark !confirm !model "
             "!candidates.report !witness.dir "
             "!witness.check"
             " !brief !color !source_dir !suppressions !baseline !fail_on !report.schedule "
             "!report.shown !report.pictures"
             " !checkpoint !resume !record.local !record.exclude !record.strip_prefix ",
     .takes_config = true,
     .summary = "what each relation and each model finds on the same traces",
     .details =
         "A table for each trace: racy events, locations and variables, static races, what only\n"
         "one finds, what is left unknown, what models find beside races, time; then the static\n"
         "races that only one finds.\n"
         "Checks on the way that the relations contain each other as they must.\n"
         "Exit status: 0 nobody reports anything, 1 somebody does, 2 usage or configuration,\n"
         "3 bad trace or one without events, 4 out of resources or internal, a broken\n"
         "containment included, 5 not complete (ended by a signal, time_limit or\n"
         "memory.limit_mb), 6 no race, but a program crashed.\n",
     .run = mr_cli_compare},
    {.name = "check",
     .operands = "TRACE WITNESS",
     .operands_min = 2,
     .operands_max = 2,
     .keys = " model opaque repair quiet memory.limit_mb memory.spill_dir ",
     .switch_name = "schedule",
     .switch_help = "also print the witness as a schedule",
     .summary = "is this witness right?",
     .details =
         "WITNESS is a file written by predict --witness-dir, or by hand. --model wins over the\n"
         "model that the file names.\n"
         "Exit status: 0 accepted, 1 rejected, 2 usage, 3 bad trace or witness file, 4 out of\n"
         "resources or internal.\n",
     .run = mr_cli_check},
    {.name = "info",
     .operands = "TRACE",
     .operands_min = 1,
     .operands_max = 1,
     .keys = " repair quiet memory.limit_mb memory.spill_dir ",
     .summary = "what is in the trace: events, threads, locks, variables, operations …",
     .details = "",
     .run = mr_cli_info},
    {.name = "explain",
     .operands = "TRACE [PLACE [PLACE]]",
     .operands_min = 1,
     .operands_max = 3,
     .keys = " model opaque repair output quiet jobs profile window.size window.overlap "
             "window.far_size window.far_race_work window.far_work "
             "candidates.crowded candidates.defer candidates.max_unanswered "
             "candidates.max_window_steps "
             "solver.strategy solver.steps "
             "solver.saturate_steps solver.rlimit solver.timeout_ms solver.memory_mb "
             "solver.max_clauses memory.limit_mb memory.spill_dir ",
     .takes_config = true,
     .own = {{"pair", "A B", "two events, by their numbers, instead of places"}},
     .summary = "why accesses at two places race or do not: what keeps them apart",
     .details =
         "PLACE is a pattern of places (bank.c:21, queue.c:*) or functions (log_*), as reports "
         "name\n"
         "them. With one PLACE, its pairs with any place are explained. The verdict is that of\n"
         "predict with the same flags; of pairs that do not race it says what orders them, which\n"
         "lock both hold, what has to come before, and without which lock or reads they would.\n"
         "Exit status: 0 done, 2 usage or configuration, 3 bad trace, 4 input, output or "
         "resources.\n",
     .run = mr_cli_explain},
    {.name = "dump",
     .operands = "TRACE",
     .operands_min = 1,
     .operands_max = 1,
     .keys =
         " model opaque repair output quiet window.size window.overlap solver.strategy solver.steps"
         " solver.saturate_steps solver.rlimit solver.timeout_ms solver.memory_mb"
         " solver.max_clauses memory.limit_mb memory.spill_dir ",
     .takes_config = true,
     .own = {{"pair", "A B", "two conflicting events, by their numbers"}},
     .summary = "what the decision about one pair rests on: window, cone, steps, formula",
     .details =
         "For those who look for a mistake of maxrace. The dump is a file in SMT-LIB; all but the\n"
         "formula stands in comments:  maxrace dump TRACE --pair 3 10 | z3 -in\n"
         "A solver answers sat where the pair is a race within its window, unsat where it is "
         "none.\n"
         "Exit status: 0 done, 2 usage or configuration, 3 bad trace, 4 input, output or "
         "resources.\n",
     .run = mr_cli_dump},
    {.name = "convert",
     .operands = "IN OUT",
     .operands_min = 2,
     .operands_max = 2,
     .keys = " repair quiet memory.limit_mb memory.spill_dir ",
     .summary = "write a trace in another format: binary (.mrt), text, packed text",
     .details =
         "IN is any trace; - is standard input. The name of OUT says the format: .mrt is binary,\n"
         ".gz and .zst are text packed by gzip or zstd, all else is text; - is text to standard\n"
         "output. OUT appears when it is complete; a file of that name is replaced.\n"
         "Exit status: 0 done, 2 usage, 3 bad trace, 4 input, output or resources.\n",
     .run = mr_cli_convert},
    {.name = "exclude",
     .operands = "IN OUT",
     .operands_min = 2,
     .operands_max = 2,
     .keys = " repair quiet memory.limit_mb memory.spill_dir ",
     .switch_name = "whole-runs",
     .switch_help = "one call for each run, and nothing else changed: may invent races",
     .own = {{"locations", "FILE", "take out the locations that FILE names, one a line"},
             {"pattern", "GLOB", "take out the locations whose name or #@loc text matches"},
             {"random", "N", "take out N locations chosen at random"},
             {"seed", "S", "for --random: another seed chooses others (1)"}},
     .summary = "take the events of some code out of a trace; calls stand in their place",
     .details =
         "One of --locations, --pattern, --random says which code. Each run of its events in a\n"
         "thread becomes mbegin/mend with what the run touched, cut where another thread comes\n"
         "between. The other ends of critical sections and semaphore units go with it, and\n"
         "writes that it reads while others could come before them. Variables that it writes\n"
         "lose their values elsewhere. Every race of OUT in rf or value is then one of IN.\n"
         "IN and OUT are as for convert. One line on standard error says how much went.\n"
         "Exit status: 0 done, 2 usage, 3 bad trace, 4 input, output or resources.\n",
     .run = mr_cli_exclude},
    {.name = "cc",
     .operands = "[ARGUMENTS]",
     .operands_max = SIZE_MAX,
     .keys = "",
     .raw = true,
     .summary = "compile and link a C program so that it can be recorded",
     .details =
         "Calls gcc with ARGUMENTS and with what recording needs; MAXRACE_CC names another\n"
         "compiler (clang), and so does 'maxrace cc -- COMPILER ARGUMENTS'. For make, configure\n"
         "and CMake: CC='maxrace cc'. Without 'maxrace record' such a program runs as usual.\n"
         "With --hunt-inputs the program also tells what it compares, which a search for inputs\n"
         "needs.\n",
     .run = mr_cli_cc},
    {.name = "c++",
     .operands = "[ARGUMENTS]",
     .operands_max = SIZE_MAX,
     .keys = "",
     .raw = true,
     .summary = "the same for C++",
     .details = "Calls g++; MAXRACE_CXX names another compiler (clang++). See 'maxrace help cc'.\n",
     .run = mr_cli_cxx},
    {.name = "record",
     .operands = "[--] PROGRAM [ARGUMENTS]",
     .operands_max = SIZE_MAX,
     .keys = " output quiet record.local record.exclude record.strip_prefix ",
     .takes_config = true,
     .runs_program = true,
     .switch_name = "follow-forks",
     .switch_help = "record children of the program, too, as PROGRAM.1.mrt …; waits for them",
     .own =
         {{"schedule", "random|pct|os",
           "who runs when: at random (default), by random priorities, as the system likes"},
          {"seed", "N", "another seed chooses other schedules (1)"},
          {"max-events", "N",
           "stop recording, not the program, N records after its first other thread was made; "
           "0: no limit (0)"},
          {"max-log", "SIZE",
           "stop recording, not the program, when the log has this size; 0: no limit (4G)"},
          {"timeout", "SECONDS", "kill the program after so long; 0: never (0)"},
          {"on-deadlock", "stop|wait",
           "when nobody has been able to run for 2 s: end the program (default), or wait on"},
          {"record-inputs", "yes|no",
           "keep what the program gets from outside (files, peers, time) in the trace, for a "
           "replay (yes)"},
          {"max-inputs", "SIZE", "keep at most so much of that; 0: no limit (1G)"},
          {"convert", "LOG",
           "run no program: write the trace of a log that an earlier record left"},
          {"replay", "SCHEDULE",
           "let the threads run by a schedule of 'replay --script'; without PROGRAM, its command"}},
     .summary = "run a program that 'maxrace cc' has built, and write its trace",
     .details =
         "The trace goes to --output, PROGRAM.mrt when that is not given, and is written however\n"
         "the program ends. The same program, input, schedule and seed give the same trace.\n"
         "A signal while the trace is written ends record; it says where the log stays, and\n"
         "--convert writes the trace later, also after kill -9.\n"
         "Exit status: that of the program, 128 + N when signal N ended it; when there is no\n"
         "trace, 2 usage, 3 nothing was recorded, 4 input, output or resources.\n",
     .debugs = true,
     .run = mr_cli_record},
    {.name = "run",
     .subject = MR_SUBJECT_RUNS,
     .operands = "[--] PROGRAM [ARGUMENTS]",
     .operands_min = 1,
     .operands_max = SIZE_MAX,
     .keys = " * !sees !relations !relation !examples !mark !confirm !witness.check !witness.dir "
             "!repair "
             "!checkpoint !resume !time_limit ",
     .takes_config = true,
     .runs_program = true,
     .switch_name = "quick",
     .switch_help = "look at the recorded order only (relation shb), without a prediction",
     .own = {{"schedule", "random|pct|os", "as for record"},
             {"seed", "N", "of the first run (1)"},
             {"max-events", "N", "as for record"},
             {"max-log", "SIZE", "as for record"},
             {"timeout", "SECONDS", "as for record, for each run"},
             {"on-deadlock", "stop|wait", "as for record"},
             {"record-inputs", "yes|no", "as for record"},
             {"max-inputs", "SIZE", "as for record"},
             {"runs", "N", "record so often, each time with the next seed; races are united (1)"},
             {"traces", "DIR", "keep the traces as DIR/seed-N.mrt"},
             {"confirm", "", "replay every finding, in both orders; the worst effects come first"},
             {"follow-forks", "",
              "record children, too: each has a report, DIR/seed-N.1.mrt … a trace"},
             {"sandbox", "", "of --confirm: files that the replays write stay as they are"}},
     .summary = "record a program and predict from its trace, in one step",
     .details =
         "With --runs the report of a run has the races that no earlier one had, by the pair of\n"
         "places. With --quick the report is that of order --relation shb: races of the recorded\n"
         "order, each with its witness, and none that only another order of the events shows.\n"
         "The program's output goes to standard error when the report goes to standard\n"
         "output.\n"
         "Exit status: that of predict over all runs: 0 no race, 1 races, 2 usage or\n"
         "configuration, 3 nothing was recorded, 4 out of resources or internal, 6 no race, but\n"
         "the program crashed or ended in a deadlock.\n",
     .debugs = true,
     .run = mr_cli_run},
    {.name = "hunt",
     .subject = MR_SUBJECT_HUNT,
     .operands = "[--] PROGRAM [ARGUMENTS]",
     .operands_max = SIZE_MAX,
     .keys = " format output model find opaque jobs quiet time_limit window.size window.far_size "
             "window.far_race_work window.far_work candidates.far solver.steps solver.rlimit "
             "solver.timeout_ms solver.memory_mb solver.saturate_steps memory.limit_mb ",
     .takes_config = true,
     .runs_program = true,
     .own = {{"dir", "DIR",
              "the folder of the hunt, which is made (PROGRAM.hunt; exhaustive: nothing is saved)"},
             {"resume", "DIR", "go on with a hunt of the same program; it may be running"},
             {"report", "DIR", "run nothing: say what the hunt in DIR has found"},
             {"runs", "N", "end after so many runs in all; 0: no limit (1000)"},
             {"seed", "N", "another seed makes other choices (1)"},
             {"timeout", "MS", "a run that takes longer is a livelock and is killed (10000)"},
             {"oracle", "COMMAND",
              "a command of the shell that gets the output of a run; status 0: it is right"},
             {"until", "failure|end|KINDS",
              "end at the first failure, or at the first of some kinds (crash,race); or go on "
              "(end)"},
             {"minimise", "yes|no", "look for schedules of failures with fewer switches (yes)"},
             {"inputs", "DIR", "search inputs, from the files of DIR on"},
             {"generate", "COMMAND",
              "search inputs, from those that the command writes (16 times, MAXRACE_SEED=N)"},
             {"args-file", "FILE",
              "search inputs that are arguments, one a line, from those in FILE on"},
             {"input-search", "all|solve|mutate|none", "how new inputs are made (all)"},
             {"sandbox", "", "each run begins with the same files; what it writes is dropped"},
             {"exhaustive", "", "explore all behaviours of the program, until none is left"},
             {"states", "N", "exhaustive: at most N states in a search; 0: no limit (50000000)"},
             {"states-mb", "MB",
              "exhaustive: a search takes at most so much memory; 0: no limit (3072)"},
             {"without", "swap|near|frontier|states",
              "leave such runs out, to see what they are good for"}},
     .summary = "run a program again and again by schedules that its traces suggest, for failures",
     .details =
         "PROGRAM is built by 'maxrace cc'. Each run is recorded; from its trace come the races,\n"
         "other findings and reads that can see another value, and from these the next runs.\n"
         "A failure (crash, assertion, deadlock, livelock, another exit status, a message of a\n"
         "sanitizer, the oracle) and each race that a run has confirmed are saved as folders in\n"
         "DIR/findings; 'maxrace replay FOLDER' repeats them. A hunt can be ended at any time;\n"
         "--resume goes on with it. --time-limit and --runs bound it.\n"
         "With --inputs, --generate or --args-file inputs are searched, too: the program gets "
         "each\n"
         "as a file in the place of @@ among ARGUMENTS, as arguments, or on its standard input.\n"
         "Build it with 'maxrace cc --hunt-inputs'.\n"
         "With --sandbox what the program writes is dropped, so that no run finds what another "
         "one\n"
         "left; it needs what replay --sandbox needs.\n"
         "--exhaustive explores all behaviours of a program that ends, and says when none is "
         "left.\n"
         "Exit status: 0 nothing was found, or only other outputs, 1 races or failures, 2 usage\n"
         "or configuration, 3 the program was not built for it or the folder is damaged, 4 the\n"
         "oracle cannot be run, out of resources or internal. That nothing was found says nothing\n"
         "of what was not run.\n",
     .debugs = true,
     .run = mr_cli_hunt},
    {.name = "replay",
     .operands = "TRACE|REPORT|FOLDER",
     .operands_min = 1,
     .operands_max = 1,
     .keys = " * !halt_on_finding !relations !relation !examples !mark !confirm !witness.check "
             "!witness.dir !repair "
             "!checkpoint !resume !time_limit !brief !color !source_dir !suppressions !baseline "
             "!fail_on !report.run !report.schedule !report.shown !report.pictures "
             "!record.local !record.exclude !record.strip_prefix ",
     .takes_config = true,
     .own = {{"race", "N", "replay race N of predict's report only (all)"},
             {"finding", "N", "replay this finding beside races only, by its number in the report"},
             {"stop-at", "EVENT",
              "of --race N or --finding N: go only up to this event of its witness"},
             {"timeout", "SECONDS", "kill a program that runs longer (60)"},
             {"script", "FILE",
              "of --race N or --finding N: write a shell script that replays without the trace"},
             {"gdb", "",
              "of --race N or --finding N: stop in gdb, with all threads before their accesses"},
             {"sandbox", "", "files stay as they are: what the program writes lands elsewhere"},
             {"keep-sandbox", "DIR", "--sandbox, and what the program writes stays in DIR"}},
     .summary = "run the recorded program by a witness, and see what it does",
     .details =
         "TRACE is an .mrt file of 'maxrace record'. The program is run again, by the order of\n"
         "the witness, until both threads stand before their accesses; then it goes on, once\n"
         "with each access first. The report says what came of it: a crash, a deadlock, another\n"
         "output, another final state. Where the program does something else than in the trace,\n"
         "the report says what was expected and what was seen. format is text or json.\n"
         "REPORT is a JSON report of 'maxrace predict': its trace, with its settings.\n"
         "FOLDER is a finding that a hunt has saved: it is repeated once, and no flags but\n"
         "--timeout and --sandbox count. The oracle of the hunt is asked again.\n"
         "With --sandbox each run begins with the same files, and what it writes, creates, "
         "renames\n"
         "or removes is told and thrown away. It needs overlayfs and namespaces; where they are\n"
         "missing, nothing is run. Processes, sockets and devices are the real ones.\n"
         "SIGINT or SIGTERM ends the program and the replays, and the report has what is whole.\n"
         "Exit status: 0 no goal was reached, 1 one was (FOLDER: it was repeated), 2 usage or\n"
         "configuration, 3 bad trace, or one that lacks what a replay needs, 4 out of resources\n"
         "(no sandbox included) or internal, 5 a signal has ended it.\n",
     .debugs = true,
     .run = mr_cli_replay},
    {.name = "config",
     .operands = "",
     .keys = " * ",
     .takes_config = true,
     .switch_name = "markdown",
     .switch_help = "print the description of all keys instead (docs/configuration.md)",
     .summary = "print the values in force as a configuration file",
     .details = "",
     .run = mr_cli_config},
    {.name = "help",
     .operands = "[COMMAND]",
     .operands_max = 1,
     .keys = "",
     .switch_name = "all",
     .switch_help = "every flag of the command, not only those of every day",
     .own = {{"as", "man|bash|zsh|fish", "as a manual page; or the completion of a shell"}},
     .summary = "print help",
     .details = "",
     .run = mr_cli_help_command},
    {.name = "version",
     .operands = "",
     .keys = "",
     .summary = "print the version, and whether MPI can be used",
     .details = "",
     .run = mr_cli_version},
};

const size_t mr_command_count = sizeof mr_commands / sizeof mr_commands[0];

const mr_command *mr_command_find(const char *name)
{
    for (size_t i = 0; i < mr_command_count; i++)
        if (strcmp(mr_commands[i].name, name) == 0)
            return &mr_commands[i];
    return NULL;
}

const mr_command *mr_command_suggest(const char *name)
{
    const mr_command *best = NULL;
    size_t best_distance = mr_suggest_limit(name) + 1;
    for (size_t i = 0; i < mr_command_count; i++) {
        size_t distance = mr_edit_distance(name, mr_commands[i].name);
        if (distance >= best_distance)
            continue;
        best_distance = distance;
        best = &mr_commands[i];
    }
    return best;
}

bool mr_command_has(const mr_command *command, size_t option)
{
    char word[64], but[64];
    snprintf(word, sizeof word, " %s ", mr_options[option].key);
    snprintf(but, sizeof but, " !%s ", mr_options[option].key);
    bool all = strstr(command->keys, " * ") != NULL;
    return all ? strstr(command->keys, but) == NULL : strstr(command->keys, word) != NULL;
}

mr_status mr_cli_version(mr_cli *cli, int *exit_status, mr_error *error)
{
    (void)cli;
    (void)error;
    *exit_status = 0;
    puts("maxrace " MR_VERSION);
    puts(mr_ranks_can() ? "with MPI (predict --mpi)" : "without MPI");
    return MR_OK;
}

mr_status mr_cli_config(mr_cli *cli, int *exit_status, mr_error *error)
{
    (void)error;
    *exit_status = 0;
    if (cli->switch_on)
        mr_config_print_markdown(stdout);
    else
        mr_config_print_yaml(stdout, cli->config);
    return MR_OK;
}

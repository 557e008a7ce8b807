/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _POSIX_C_SOURCE 200809L /* fileno, fseeko, ftruncate */

#include "convert.h"

#include "runtime/inputs_format.h"

#include "early.h"
#include "event_pass.h"
#include "scan.h"
#include "twins.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void summarise(const mr_log *log, const mr_event_pass *pass, mr_record_summary *summary)
{
    const mr_emitter *emitter = &pass->emitter;
    const mr_trace *trace = emitter->trace;
    *summary = pass->summary;
    summary->state = log->header.state;
    summary->log_error = log->header.error;
    summary->children = log->header.children;
    summary->child_threads = log->header.child_threads;
    summary->events = trace->event_count;
    summary->accesses = pass->scan->accesses;
    summary->left_out = pass->scan->accesses - pass->kept_accesses;
    summary->threads = trace->threads.count;
    summary->variables = trace->variables.count;
    summary->locks = trace->locks.count;
    summary->hand_overs = log->header.hand_overs;
    summary->taken = log->header.taken;
    summary->dropped = emitter->dropped_count;
    if (summary->strange_reads)
        snprintf(summary->strange_variable, sizeof summary->strange_variable, "%.120s",
                 mr_names_display(&trace->variables, pass->strange));
    if (emitter->dropped_count)
        snprintf(summary->first_dropped, sizeof summary->first_dropped, "%.250s",
                 emitter->first_dropped.text);
}

/* What log and recorder know of the program's end. A program that was run by the one that the
 * recorder waited for (a shell) may have crashed though that one did not. A program that libc or the kernel
 * ends without the runtime (quick_exit) leaves its log open, too, and has not crashed. */
static void end_program(const mr_log_header *header, const mr_record_end *end, mr_ending *ending)
{
    bool is_own = end->is_known && end->process && (uint32_t)end->process == header->process;
    bool left_open = header->state == MR_LOG_RUNNING && !is_own;
    if (end->is_known && end->signal) {
        ending->program = MR_PROGRAM_SIGNALLED;
        ending->number = end->signal;
    } else if (left_open) {
        ending->program = MR_PROGRAM_SIGNALLED;
    } else if (end->is_known || header->state == MR_LOG_EXITED) {
        ending->program = MR_PROGRAM_EXITED;
        ending->number = (end->is_known ? end->exit_status : header->exit_status) & 0xFF;
    }
}

static void end_trace(const mr_log *log, const mr_record_end *end, mr_ending *ending)
{
    static const mr_stop stops[] = {
        [MR_LOG_EXECED] = MR_STOP_EXEC,       [MR_LOG_LIMIT] = MR_STOP_MAX_EVENTS,
        [MR_LOG_FULL] = MR_STOP_DISK_FULL,    [MR_LOG_LONG] = MR_STOP_MAX_LOG,
        [MR_LOG_DEADLOCK] = MR_STOP_DEADLOCK, [MR_LOG_CLONED] = MR_STOP_CLONE,
    };
    static const mr_unseen unseens[] = {
        [MR_LOG_UNSEEN_OPENMP] = MR_UNSEEN_OPENMP,
        [MR_LOG_UNSEEN_IO_URING] = MR_UNSEEN_IO_URING,
        [MR_LOG_UNSEEN_ASSEMBLY] = MR_UNSEEN_ASSEMBLY,
        [MR_LOG_UNSEEN_TBB] = MR_UNSEEN_TBB,
        [MR_LOG_UNSEEN_GLIB] = MR_UNSEEN_GLIB,
        [MR_LOG_UNSEEN_QT] = MR_UNSEEN_QT,
    };
    uint32_t state = log->header.state;
    end_program(&log->header, end, ending);
    ending->stop = state < sizeof stops / sizeof *stops ? stops[state] : MR_STOP_NONE;
    ending->children = log->header.children;
    for (uint32_t i = 0; i < sizeof unseens / sizeof *unseens; i++)
        if (log->header.unseen >> i & 1)
            ending->unseen |= UINT32_C(1) << unseens[i];
    if (end->timed_out && !ending->stop)
        ending->stop = MR_STOP_TIMEOUT;
}

static void tell(const mr_debug *debug, const mr_trace *trace, const mr_record_summary *summary)
{
    if (!mr_debug_on(debug, MR_DEBUG_RECORDER))
        return;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        MR_DEBUG(debug, RECORDER, "thread=%" PRIu32 " name=%s", t,
                 mr_names_display(&trace->threads, t));
    MR_DEBUG(debug, RECORDER,
             "state=%" PRIu32 " events=%" PRIu64 " accesses=%" PRIu64 " left_out=%" PRIu64
             " variables=%" PRIu32 " locks=%" PRIu32 " hand_overs=%" PRIu64
             " strange_reads=%" PRIu64 " dropped=%" PRIu64 " damaged=%d",
             summary->state, summary->events, summary->accesses, summary->left_out,
             summary->variables, summary->locks, summary->hand_overs, summary->strange_reads,
             summary->dropped, summary->damaged);
}

/* The inputs, when the file is there and is one; how much of it counts its header says. A file that is
 * shorter was cut off, and none of it is used. Returns their mr_inputs_state. */
static uint32_t take_inputs(const char *path, mr_event_pass *pass)
{
    mr_inputs_header header;
    FILE *file = path ? fopen(path, "rb") : NULL;
    uint32_t state = MR_INPUTS_COMPLETE;
    if (!file)
        return state;
    if (fread(&header, sizeof header, 1, file) == 1 &&
        memcmp(header.magic, MR_INPUTS_MAGIC, sizeof header.magic) == 0 && header.version != 0 &&
        header.version <= MR_INPUTS_VERSION) {
        bool whole = fseek(file, 0, SEEK_END) == 0 && (uint64_t)ftell(file) >= header.end;
        pass->inputs = whole ? path : NULL;
        pass->inputs_bytes = whole ? header.end : 0;
        state = whole ? header.state : MR_INPUTS_FULL;
    }
    fclose(file);
    return state;
}

/* Writes the events that the scan says are kept. */
static mr_status write_events(const mr_log *log, mr_scan *scan, const char *name, FILE *file,
                              const mr_record_options *options, mr_record_summary *summary,
                              mr_error *error)
{
    mr_event_pass pass;
    mr_status status =
        mr_event_pass_init(&pass, log, scan, file, name, options->symbol_folder, error);
    if (!status) {
        pass.contexts.strip = options->strip_prefix;
        pass.run = options->run;
        uint32_t inputs_state = take_inputs(options->inputs, &pass);
        end_trace(log, &options->end, &pass.emitter.trace->ending);
        status = mr_event_pass_run(&pass, options->progress, error);
        if (!status) {
            summarise(log, &pass, summary);
            summary->inputs_state = inputs_state;
            summary->left_ordered = mr_scan_leaves_ordered(scan);
            tell(options->debug, pass.emitter.trace, summary);
        }
    }
    mr_event_pass_free(&pass);
    return status;
}

/* All passes, the first one from where the scan is. Frees the scan. */
static mr_status convert(const mr_log *log, mr_scan *scan, const char *name, FILE *file,
                         const mr_record_options *options, mr_record_summary *summary,
                         mr_error *error)
{
    mr_status status = mr_scan_finish(scan, log, options->progress, error);
    if (!status && !mr_scan_leaves_ordered(scan))
        status = mr_twins_leave_out(scan, log, options->progress, error);
    if (!status)
        status = write_events(log, scan, name, file, options, summary, error);
    mr_scan_free(scan);
    return status;
}

/* Makes the trace again, as usual. It has dropped events, so it may lack edges that ordered.h has used. */
static mr_status convert_again(const mr_log *log, mr_scan *scan, const char *name, FILE *file,
                               const mr_record_options *options, mr_record_summary *summary,
                               mr_error *error)
{
    *summary = (mr_record_summary){0};
    if (fflush(file) != 0 || fseeko(file, 0, SEEK_SET) != 0 || ftruncate(fileno(file), 0) != 0)
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write the trace again: %s",
                            strerror(errno));
    mr_scan_init(scan, false, options->part_units);
    mr_scan_begin(scan, log);
    return convert(log, scan, name, file, options, summary, error);
}

mr_status mr_record_convert(const char *log_path, const char *name, FILE *file,
                            const mr_record_options *options, mr_record_summary *summary,
                            mr_error *error)
{
    mr_log log;
    mr_scan own, *scan = options->early ? mr_early_end(options->early) : NULL;
    *summary = (mr_record_summary){0};
    mr_status status = mr_log_open(&log, log_path, error);
    if (status)
        return status;
    if (!scan) {
        scan = &own;
        mr_scan_init(scan, options->keep_local, options->part_units);
        if (options->leave_ordered)
            mr_scan_leave_ordered(scan);
        mr_scan_begin(scan, &log);
    }
    status = convert(&log, scan, name, file, options, summary, error);
    if (!status && summary->left_ordered && summary->dropped)
        status = convert_again(&log, &own, name, file, options, summary, error);
    mr_log_close(&log);
    return status;
}

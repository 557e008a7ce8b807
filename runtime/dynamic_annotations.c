/*
 * Annotate*: what programs tell detectors of races (dynamic_annotations.h of several projects). Orders
 * are those of maxrace/annotate.h; locks are in annotated_lock.c, what is to be ignored in ignore.c.
 */
#include "maxrace/annotate.h"

#include "scheduler.h"
#include "writer.h"

/* X(name, parameters, statement): all begin with the place of the annotation. */
#define DEFINE_ANNOTATION(name, parameters, statement)                                             \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        (void)file;                                                                                \
        (void)line;                                                                                \
        statement;                                                                                 \
    }

static void log_at(mr_log_kind kind, const volatile void *object, uint64_t number, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_write_object(kind, 0, (const void *)object, code, 0, number);
        mr_leave(thread);
    }
}

static void name_thread(const char *name)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (name != NULL) {
            mr_write_text(MR_LOG_THREAD_NAME, thread->id, name);
        }
        mr_leave(thread);
    }
}

/* Two parameters that say where, and an object. */
#define DEFINE_ON_OBJECT(name, statement)                                                          \
    DEFINE_ANNOTATION(name, (const char *file, int line, const volatile void *object), statement)

DEFINE_ON_OBJECT(AnnotateHappensBefore, log_at(MR_LOG_BEFORE, object, 0, MR_CALLER))
DEFINE_ON_OBJECT(AnnotateHappensAfter, log_at(MR_LOG_AFTER, object, 0, MR_CALLER))
DEFINE_ON_OBJECT(WTFAnnotateHappensBefore, log_at(MR_LOG_BEFORE, object, 0, MR_CALLER))
DEFINE_ON_OBJECT(WTFAnnotateHappensAfter, log_at(MR_LOG_AFTER, object, 0, MR_CALLER))

/* Condition variables: who signals comes before who returns from the wait. */
DEFINE_ON_OBJECT(AnnotateCondVarSignal, log_at(MR_LOG_BEFORE, object, 0, MR_CALLER))
DEFINE_ON_OBJECT(AnnotateCondVarSignalAll, log_at(MR_LOG_BEFORE, object, 0, MR_CALLER))
DEFINE_ANNOTATION(AnnotateCondVarWait,
                  (const char *file, int line, const volatile void *object,
                   const volatile void *lock),
                  (void)lock;
                  log_at(MR_LOG_AFTER, object, 0, MR_CALLER))

/* Queues: who puts comes before who gets. */
DEFINE_ON_OBJECT(AnnotatePCQCreate, (void)object)
DEFINE_ON_OBJECT(AnnotatePCQDestroy, (void)object)
DEFINE_ON_OBJECT(AnnotatePCQPut, log_at(MR_LOG_BEFORE, object, 0, MR_CALLER))
DEFINE_ON_OBJECT(AnnotatePCQGet, log_at(MR_LOG_AFTER, object, 0, MR_CALLER))

/* Memory whose races are meant. */
DEFINE_ANNOTATION(AnnotateBenignRaceSized,
                  (const char *file, int line, const volatile void *object, size_t bytes,
                   const char *why),
                  (void)why;
                  log_at(MR_LOG_BENIGN, object, bytes, MR_CALLER))
DEFINE_ANNOTATION(WTFAnnotateBenignRaceSized,
                  (const char *file, int line, const volatile void *object, size_t bytes,
                   const char *why),
                  (void)why;
                  log_at(MR_LOG_BENIGN, object, bytes, MR_CALLER))
DEFINE_ANNOTATION(AnnotateBenignRace,
                  (const char *file, int line, const volatile void *object, const char *why),
                  (void)why;
                  log_at(MR_LOG_BENIGN, object, 1, MR_CALLER))
DEFINE_ANNOTATION(AnnotateExpectRace,
                  (const char *file, int line, const volatile void *object, const char *why),
                  (void)why;
                  log_at(MR_LOG_BENIGN, object, 1, MR_CALLER))

DEFINE_ANNOTATION(AnnotateThreadName, (const char *file, int line, const char *name),
                  name_thread(name))

/*
 * What these say, the recording knows already (new memory is a new life, publication is seen in the
 * values read), or there is no such state here.
 */
DEFINE_ON_OBJECT(AnnotateMutexIsUsedAsCondVar, (void)object)
DEFINE_ON_OBJECT(AnnotateMutexIsNotPHB, (void)object)
DEFINE_ON_OBJECT(AnnotateTraceMemory, (void)object)
DEFINE_ON_OBJECT(AnnotateNoOp, (void)object)
#define DEFINE_ON_RANGE(name)                                                                      \
    DEFINE_ANNOTATION(name,                                                                        \
                      (const char *file, int line, const volatile void *object, size_t bytes),     \
                      (void)object;                                                                \
                      (void)bytes)
DEFINE_ON_RANGE(AnnotateNewMemory)
DEFINE_ON_RANGE(AnnotatePublishMemoryRange)
DEFINE_ON_RANGE(AnnotateUnpublishMemoryRange)
DEFINE_ON_RANGE(AnnotateMemoryIsInitialized)
DEFINE_ON_RANGE(AnnotateMemoryIsUninitialized)
DEFINE_ANNOTATION(AnnotateEnableRaceDetection, (const char *file, int line, int enable),
                  (void)enable)
DEFINE_ANNOTATION(AnnotateFlushState, (const char *file, int line), (void)0)
DEFINE_ANNOTATION(AnnotateFlushExpectedRaces, (const char *file, int line), (void)0)

/* No: the program runs at its usual speed. */
MR_EXPORT int RunningOnValgrind(void);
int RunningOnValgrind(void)
{
    return 0;
}

MR_EXPORT double ValgrindSlowdown(void);
double ValgrindSlowdown(void)
{
    return 10.0; /* what programs multiply their limits by */
}

/* "pure_happens_before": do locks order sections? Not here, where sections may change places. */
MR_EXPORT const char *ThreadSanitizerQuery(const char *query);
const char *ThreadSanitizerQuery(const char *query)
{
    (void)query;
    return "0";
}

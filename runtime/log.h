/*
 * log: the file that the runtime library writes while a program runs. Its reader is src/record.
 *
 * The file is a header of MR_LOG_HEADER_BYTES, a window, and then records, without gaps, in the
 * order in which things happened: threads run one at a time, so this is the order of the execution.
 * A record is one or more little-endian 64-bit words; the first is the head:
 *
 *     bits  0..1   0
 *     bits  2..7   kind (mr_log_kind)
 *     bits  8..15  detail: access flags, or a role
 *     bits 16..63  payload: an address, or what the kind says
 *
 * mr_log_words(record) is the number of words of such a record. It begins at a multiple of 8 bytes.
 * Most accesses are shorter and begin at a multiple of 4, see log_short.h.
 *
 * Where it ends. When the recording has ended, the header's `end` is the offset after the last
 * record. While it is 0, the records end where mr_log_live says. `state` says how the recording
 * ended; MR_LOG_RUNNING in a file whose process is gone means killed or crashed.
 *
 * The last records are in a window: bytes of the file between the header and the first record that
 * are mapped and shared, as the header is, so what was written is in the file however the program
 * ended (kill, crash, _exit). A full window is written to the end of the file, where its records
 * belong; then `window_start` is where it ends there. So offsets [header_bytes, window_start) of
 * the file are records, and what comes up to the end is in the window, from its begin. What the
 * file has beyond window_start means nothing.
 *
 * Whose record it is. MR_LOG_SWITCH names the thread of all records up to the next MR_LOG_SWITCH.
 * Threads are numbered from 0 (main) in the order of their creation. There is one before the first
 * record that belongs to a thread.
 *
 * Addresses are 48-bit virtual addresses. Code addresses are return addresses: subtract 1 before
 * looking up a line. MR_LOG_MODULE says what is mapped where.
 *
 * Calls. MR_LOG_ENTER is the entry of a function: where it was called, which one it is, and where
 * its frame lies on the stack, see log_short.h. MR_LOG_LEAVE is the exit of one or several.
 *
 * Values. An access of 1, 2, 4 or 8 bytes carries its value, read as a signed little-endian integer
 * and extended to 64 bits. When it fits into 16 bits, MR_LOG_SMALL is set and it is in the upper 16
 * bits of the second word; else it is the third word. A write is logged before the store, and its
 * value filled in before the thread does anything else but one read, and before any other thread
 * runs. Most accesses are shorter, see log_short.h; mr_log_expand gives what is said here.
 * MR_LOG_NO_VALUE: the value never came (the store crashed, the process was killed just then, or it
 * is a range of more than 128 KiB that compiled code copies); a reader sets it itself in the write
 * that mr_log_live names. Larger accesses are ranges, with their bytes.
 *
 * What synchronises is logged as the operations of docs/trace-format.md, already by its recipes:
 * acquire, release, post, wait, fork, join, each after it succeeded (release, post, fork: before it
 * takes effect). A try or a wait with a limit that failed is USED (mr_log_used), and so is a question for the units of a semaphore. What a semaphore or lock stands for is
 * (address, role, number); two records are of the same lock or semaphore when all three are equal
 * and no MR_LOG_RETIRED of the address lies between. Condition variables and barriers have numbers
 * that are not used again; of these RETIRED ends nothing, because a thread may still leave a wait.
 *
 * A reader takes the byte at the address of a lock, semaphore, barrier or condition variable as a
 * variable that stands for the object: RETIRED writes it, and each record of a use reads it, before
 * what the record says takes effect (barriers: after, too).
 *
 * The number of a lock or a sleep has MR_LOG_SIZED of the object's bytes when it is not of pthread's size (GLib). A lock of a bit of
 * a word has role OWN, and the number of the bit and 1.
 *
 * - mutex, spin lock: acquire, release with role MUTEX; of a recursive one each level (only the
 *   outermost pair counts)
 * - rwlock: acquire, release, shared acquire, shared release with role RWLOCK
 * - semaphore: post, wait with role SEMAPHORE. sem_init and sem_open with value n: post of n units,
 *   in several records when n is large, at most 2^20 units in all. More waits than posts: another
 *   process posts
 * - condition variable: each sleep has a number k, not used again. Waiter: post(ASLEEP, k), release
 *   of the mutex, …, wait(WAKE, k), acquire of the mutex. Who wakes it: wait(ASLEEP, k),
 *   post(WAKE, k). Timeout: wait(ASLEEP, k) instead of wait(WAKE, k). A signal that finds nobody:
 *   nothing
 * - barrier: each use has a number k. All but the last: post(BARRIER_IN, k), …,
 *   wait(BARRIER_OUT, k). The last of N: wait(BARRIER_IN, k) of N-1 units, post(BARRIER_OUT, k) of
 *   N-1 units; with N = 1 nothing
 * - exit of a thread: end; who joins: join. A join that gives up: after(ENDED)
 * - write to a descriptor: before(CHANNEL, DATA); read, and a wait that finds a pipe or eventfd ready:
 *   after. A write that is not APART (mr_log_writing) comes after all that are. Closing a pipe or a
 *   socket between threads: before(CHANNEL, CLOSED); who reads its end, and a write that finds nobody
 *   to read: after. Each write: after, too (NOT_YET)
 * - eventfd: as a channel, and write: before(READY); a read that leaves nothing: before(READY, NOT_READY);
 *   a wait that finds it ready: after(READY). What a wait was asked for, too, and did not find ready:
 *   after(CHANNEL, DATA; NOT_YET)
 * - a call for a lock of a file, and closing a file after the first of them: after and before(CHANNEL, DATA)
 * - read from a pipe, an eventfd, a socket or a message queue: before(CHANNEL, TAKEN), too
 * - bytes of a stream that only wake one thread (channel_units.h): write: post(UNITS), too; read: wait(UNITS) of as many units as
 *   bytes, and after, which is after(NOTHING) when it asked for one byte; a wait that finds the channel ready: wait(UNITS)
 *   instead of after. after(NOTHING) stands for a post or wait of no unit: other bytes, or the thread has the unit already
 * - epoll_ctl: before(WATCH, data) of the data that it asks for, and of the data that stood for the same
 *   descriptor before, if it was other data. A wait that gives the data: after(WATCH, data)
 * - installing a handler, arming a timer that sends a signal, sending it: before(SIGNAL); handler, and
 *   a wait that takes the signal: after. A wait that takes none, for each that it was asked for, and a question
 *   what is pending: after(NOT_YET)
 * - closing a descriptor: before(NUMBER); whatever gives one out: after. Nobody is given a
 *   number that is in use
 * - pthread_cancel: before(CANCEL); the thread acts on it, or its wait ends by it: after. A
 *   cancellation point that is passed with cancellation enabled: after, too (NOT_CANCELLED)
 *
 * Once and static guards are atomic variables, as they are in the libraries: who initialises logs
 * an atomic update of the pthread_once_t (guard byte) at the begin and an atomic write at the end,
 * who comes later an atomic read of that.
 *
 * The variables of a program are memory. MR_LOG_GIVEN and MR_LOG_TAKEN say that memory begins or
 * ends a life: before and after, the same address is another variable. The record of a reallocation
 * is TAKEN, then GIVEN. Of a heap block GIVEN has the bytes asked for, TAKEN those that could be
 * used, which may be some more. A block that is freed stays out of use for a while (TAKEN_KEPT), so
 * that an access to it after that is known as such.
 *
 * The same program, input, schedule and seed give the same records byte for byte when the addresses
 * are the same: the process must run without address randomisation (personality(ADDR_NO_RANDOMIZE))
 * and with environment and arguments of the same length. The header differs in `process` and
 * `started_ns`.
 */
#ifndef MR_RUNTIME_LOG_H
#define MR_RUNTIME_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define MR_LOG_MAGIC        "maxrlog\n" /* 8 bytes, no NUL */
#define MR_LOG_VERSION      11u
#define MR_LOG_HEADER_BYTES 4096u
#define MR_LOG_KIND_BITS    8
#define MR_LOG_LIVE_AT      1024u /* offset of the mr_log_live in the header */

/*
 * How the program is told what to do: environment variables, read when the library is loaded. A
 * program that runs with more rights than its user (setuid, setgid) does not read them.
 *
 * - MAXRACE_LOG: path of the log. Without it nothing is recorded and threads run as usual. Nothing
 *   may be at the path: the first instrumented process makes the file and records, so a shell or
 *   make in between does no harm. A program that comes later is as a child of the first: with
 *   MAXRACE_FOLLOW_FORKS it has a log of its own, without it counts itself when it has threads. A
 *   file that stays empty says that there was no room for a log
 * - MAXRACE_SCHEDULE: random (default), pct, os
 * - MAXRACE_SEED: decimal, default 1
 * - MAXRACE_MAX_EVENTS: recording ends so many records after the program made its first other thread; 0 (default): no limit
 * - MAXRACE_MAX_LOG: recording ends when the log has so many bytes; 0 (default): no limit
 * - MAXRACE_ON_DEADLOCK: wait: a program in which nobody can run is left to itself; soon: it is ended
 *   after 50 ms, because no other process has to do with it; stop
 *   (default): it is ended, with status MR_LOG_DEADLOCK_STATUS
 * - MAXRACE_FOLLOW_FORKS: 1: the child of a fork has a log of its own. Its path is that of the
 *   parent's log, a dot, and the number of the fork in the parent: 1, 2, …
 * - MAXRACE_PCT_DEPTH: change points of pct, default 3
 * - MAXRACE_REPLAY: the path of a schedule that threads run by (schedule.h); MAXRACE_REPLAY_RESULT:
 *   where it is told what came of it; nothing may be there. A program that cannot follow the schedule
 *   is ended, with status MR_LOG_DIVERGED_STATUS
 * - MAXRACE_EXPLORE: 1 or 2: the log also has what explore.h says
 * - MAXRACE_SWITCH_EVENTS: mean number of accesses between two random hand-overs; 0 (default): 16
 *   at first, later more
 */
#define MR_LOG_ENV_FILE          "MAXRACE_LOG"
#define MR_LOG_ENV_SCHEDULE      "MAXRACE_SCHEDULE"
#define MR_LOG_ENV_SEED          "MAXRACE_SEED"
#define MR_LOG_ENV_MAX_EVENTS    "MAXRACE_MAX_EVENTS"
#define MR_LOG_ENV_MAX_LOG       "MAXRACE_MAX_LOG"
#define MR_LOG_ENV_ON_DEADLOCK   "MAXRACE_ON_DEADLOCK"
#define MR_LOG_ENV_FOLLOW_FORKS  "MAXRACE_FOLLOW_FORKS"
#define MR_LOG_ENV_PCT_DEPTH     "MAXRACE_PCT_DEPTH"
#define MR_LOG_ENV_SWITCH_EVENTS "MAXRACE_SWITCH_EVENTS"
#define MR_LOG_ENV_EXPLORE       "MAXRACE_EXPLORE"

#define MR_LOG_ENV_REPLAY        "MAXRACE_REPLAY"
#define MR_LOG_ENV_REPLAY_RESULT "MAXRACE_REPLAY_RESULT"

#define MR_LOG_DEADLOCK_STATUS 6
#define MR_LOG_DIVERGED_STATUS 9
#define MR_LOG_STARVED_STATUS  11

typedef enum mr_log_schedule {
    MR_LOG_SCHEDULE_RANDOM,
    MR_LOG_SCHEDULE_PCT,
    MR_LOG_SCHEDULE_OS,
} mr_log_schedule;

typedef enum mr_log_state {
    MR_LOG_RUNNING,  /* still running, or ended by a signal or a crash */
    MR_LOG_EXITED,   /* exit, _exit, return from main */
    MR_LOG_EXECED,   /* replaced itself by another program */
    MR_LOG_LIMIT,    /* MAXRACE_MAX_EVENTS reached; the program went on */
    MR_LOG_FULL,     /* no space on the device, or another error of the file; the program went on */
    MR_LOG_LONG,     /* MAXRACE_MAX_LOG reached; the program went on */
    MR_LOG_DEADLOCK, /* nobody could run for two seconds; the program was ended */
    MR_LOG_STARVED, /* inputs were fed, and it waited for one that is not among them; it was ended */
    MR_LOG_CLONED,  /* clone made a thread behind libc's back; the program went on */
} mr_log_state;

/* The first MR_LOG_HEADER_BYTES of the file; the rest of them is zero. */
typedef struct mr_log_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* where the records begin */
    uint64_t end;          /* offset after the last record; 0: see mr_log_live */
    uint32_t state;        /* mr_log_state */
    uint32_t schedule;     /* mr_log_schedule */
    uint64_t seed;
    uint64_t started_ns; /* CLOCK_REALTIME */
    uint32_t process;
    uint32_t threads;    /* how many were created so far, with main */
    uint64_t hand_overs; /* how often another thread was given the right to run */
    uint64_t taken;      /* how often the watchdog took it from a blocked thread; 0: the run is
                            reproducible */
    int32_t error;       /* errno for MR_LOG_FULL */
    int32_t exit_status; /* for MR_LOG_EXITED */
    uint64_t window_at;  /* where the window is in the file; 0: there is none */
    uint64_t window_bytes;
    uint64_t window_start;  /* offset of the first record in it */
    uint32_t forks;         /* children so far, with other programs that have a log of their own */
    uint32_t children;      /* those that created threads and have no log; they count themselves */
    uint32_t child_threads; /* the threads that those created */
    uint32_t last_child;    /* process of the last one without a log */
    uint32_t unseen;        /* bits: what mr_log_unseen stands for was used */
} mr_log_header;

/* What synchronises threads and is not recorded. */
enum mr_log_unseen {
    MR_LOG_UNSEEN_OPENMP,
    MR_LOG_UNSEEN_IO_URING,
    MR_LOG_UNSEEN_ASSEMBLY,
    MR_LOG_UNSEEN_TBB,
    MR_LOG_UNSEEN_GLIB,
    MR_LOG_UNSEEN_QT,
    MR_LOG_UNSEEN_COUNT
};

typedef enum mr_log_waiting {
    MR_LOG_WAITING_NONE,
    MR_LOG_WAITING_WRITE, /* the last record is a write whose value is not known */
    MR_LOG_WAITING_BOTH,  /* such a write, and a read after it */
    MR_LOG_WAITING_RANGE, /* range writes, which say so themselves, and maybe a read after them */
} mr_log_waiting;

/*
 * Where the writer is, at MR_LOG_LIVE_AT of the header: the writer keeps it there alone, so that an
 * access has nothing to store but its record and the cursor. Addresses are of its memory.
 */
typedef struct mr_log_live {
    uint32_t *cursor;       /* after the last record */
    uint64_t *window;       /* the window's begin */
    void *open;             /* WAITING_WRITE, BOTH: where in its record that value is to be */
    mr_log_waiting waiting; /* what is not known yet */
} mr_log_live;

/*
 * X(enumerator, words): words of the record, 0 when it depends on the record.
 *
 * "object" below is the common form of three words:
 *     word 0  kind, role, address of the object
 *     word 1  bits 0..46 code address, bit 47 MR_LOG_FOREIGN, bits 48..63 count
 *     word 2  number
 * The count is the units of POST and WAIT, 1 to 65535.
 */
#define MR_LOG_KIND_MAP(X)                                                                         \
    X(NONE, 0)           /* never written */                                                       \
    X(READ, 0)           /* access: 2 words with MR_LOG_SMALL, else 3 */                           \
    X(WRITE, 0)          /* access */                                                              \
    X(ATOMIC_READ, 0)    /* access */                                                              \
    X(ATOMIC_WRITE, 0)   /* access */                                                              \
    X(ATOMIC_UPDATE, 4)  /* access; word 2 the old value, word 3 the new one */                    \
    X(RANGE_READ, 0)     /* word 0 as an access, word 1 code, word 2 bytes, then the bytes */      \
    X(RANGE_WRITE, 0)    /* the same */                                                            \
    X(SWITCH, 1)         /* payload: thread */                                                     \
    X(ENTER, 1)          /* a function was entered, see log_short.h */                             \
    X(LEAVE, 1)          /* payload: how many functions were left (more than 1 by longjmp) */      \
    X(ACQUIRE, 3)        /* object; count: MR_LOG_TRIED, MR_LOG_OWNER_DIED */                      \
    X(RELEASE, 3)        /* object; count: MR_LOG_BY_END or 0 */                                   \
    X(SHARED_ACQUIRE, 3) /* the same */                                                            \
    X(SHARED_RELEASE, 3) /* object */                                                              \
    X(POST, 3)           /* object */                                                              \
    X(WAIT, 3)           /* object */                                                              \
    X(RETIRED, 3)        /* object, of any role; count: mr_log_retired */                          \
    X(FORK, 3)           /* object; address: start routine, number: the new thread */              \
    X(JOIN, 3)           /* object; number: the thread */                                          \
    X(BEGIN, 3)          /* object; address: start routine (0: main), number: the creator */       \
    X(END, 3)            /* object */                                                              \
    X(GIVEN, 3)          /* object; role: mr_log_memory, number: bytes */                          \
    X(TAKEN, 3)          /* object; role: mr_log_memory, number: bytes, count: mr_log_taken */     \
    X(CALL_BEGIN, 3)   /* object; number: the call,                                              \
                            count: CALL_REACH records that follow (0: it can reach anything) */ \
    X(CALL_REACH, 3)   /* object; address: what a call reaches, number: bytes */                   \
    X(CALL_END, 3)     /* object; number: the call */                                              \
    X(BEFORE, 3)       /* object: comes before every later AFTER of the same address and role */   \
    X(AFTER, 3)        /* object; both by annotations (role NONE), descriptors, signals */         \
    X(FENCE, 3)        /* object; role: memory order, as MR_LOG_ORDER_SHIFT has it */              \
    X(SIGNAL_BEGIN, 3) /* object; address: handler, number: the signal; events of the thread */    \
    X(SIGNAL_END, 3)   /* object; number: the signal */                                            \
    X(EXEC, 3)         /* object: the last record of a program that replaced itself */             \
    X(EXIT, 3)         /* object; number: the exit status */                                       \
    X(MODULE, 0)       /* text: a program or library is mapped, see mr_log_module */               \
    X(UNLOAD, 3)       /* object; address: the bias of the module */                               \
    X(THREAD_NAME, 0)  /* text: head, the thread's number, the name (NUL padded to words) */       \
    X(CALL_NAME, 0)    /* text: head, the call's number, the name; before its CALL_BEGIN */        \
    X(FAR_SAME, 0)     /* an access, see log_short.h */                                            \
    X(FAR, 0)          /* the same */                                                              \
    X(FAR_WIDE, 0)     /* the same */                                                              \
    X(PADDING, 0)      /* 4 bytes, so that what follows begins at a multiple of 8 */               \
    X(ENTRY, 3)        /* for later ENTER, see log_short.h */                                      \
    X(BLOCKED, 3)      /* object; the thread waits for it, up to its next record; role NONE:     \
                            for the thread `number`, or without an address for something else */ \
    X(BENIGN, 3)       /* object; number: bytes from the address whose races are meant */          \
    X(USED, 3)         /* object; it was used, and nothing else came of it; count: mr_log_used */  \
    X(FORGOTTEN, 3)    /* object; memory that was taken and kept can be given again */             \
    X(NOTE, 3)         /* object; number: a thread, count: mr_log_note */                          \
    X(STATE, 3) /* object: before an access, only where behaviours are explored; number:         \
                            the fingerprint of the thread's local state; role MR_LOG_STATE_WORD: one of     \
                            its words, count: which (explore.h) */ \
    X(CHOICE, 3)      /* object; only where behaviours are explored; count: mr_log_choice */       \
    X(SUPPRESSION, 0) /* text: head, 0, a line of __tsan_default_suppressions (NUL padded) */      \
    X(ALIAS,                                                                                       \
      4) /* address, code, bytes, address of the first mapping of the same bytes; 0: it is      \
                            memory of its own from here on (shared_maps.h) */

typedef enum mr_log_kind {
#define MR_LOG_KIND_ENUM(name, words) MR_LOG_##name,
    MR_LOG_KIND_MAP(MR_LOG_KIND_ENUM)
#undef MR_LOG_KIND_ENUM
        MR_LOG_KIND_COUNT
} mr_log_kind;

enum { MR_LOG_STATE_WORD = 1, MR_EXPLORE_WORDS = 96 };

/* The detail of an access: bits 0..1 log2 of the bytes (not of ranges), then flags, bits 4..6
 * memory order. */
#define MR_LOG_SMALL    (1u << 2) /* the value is in the upper 16 bits of word 1 */
#define MR_LOG_NO_VALUE (1u << 3) /* of a write or range write: the value is not known */
#define MR_LOG_ORDER_SHIFT                                                                         \
    4 /* atomics: 0 relaxed, 1 consume, 2 acquire, 3 release, 4 acq_rel, 5 seq_cst */
/* Of READ and RANGE_READ: the program asked that it be ignored. It races with nothing. */
#define MR_LOG_IGNORED (1u << 4)
/* The access is volatile. Of an atomic access: inline assembly does it (src/record/assembly.h). */
#define MR_LOG_VOLATILE (1u << 7)

typedef enum mr_log_role {
    MR_LOG_ROLE_NONE,
    MR_LOG_ROLE_MUTEX,
    MR_LOG_ROLE_SPIN,
    MR_LOG_ROLE_RWLOCK,
    MR_LOG_ROLE_SEMAPHORE,
    MR_LOG_ROLE_ASLEEP,
    MR_LOG_ROLE_WAKE,
    MR_LOG_ROLE_BARRIER_IN,
    MR_LOG_ROLE_BARRIER_OUT,
    MR_LOG_ROLE_CHANNEL,    /* of BEFORE, AFTER: what a descriptor leads to, as pipes; no address */
    MR_LOG_ROLE_SIGNAL,     /* of BEFORE, AFTER: sent, handled; the signal's number; no address */
    MR_LOG_ROLE_DESCRIPTOR, /* of USED, RETIRED: a file descriptor (INITIALISED: dup2 replaced it); its
                               address is MR_LOG_DESCRIPTORS_AT + number * MR_LOG_DESCRIPTOR_BYTES */
    MR_LOG_ROLE_OWN, /* a lock of the program's own, or the owners of an exception: the memory at its
                        address is not that of an object of pthread */
    MR_LOG_ROLE_NUMBER, /* of BEFORE, AFTER: a descriptor's number is given back, is given out; no
                           address */
    MR_LOG_ROLE_WRONG,  /* of USED: a lock of the program's own, used against its rules; count:
                          mr_log_wrong */
    MR_LOG_ROLE_CANCEL, /* of BEFORE, AFTER: a thread is cancelled, acts on it; the thread's number,
                           no address */
    MR_LOG_ROLE_WATCH, /* of BEFORE, AFTER: epoll_ctl, and a wait that gives what it asked for; the set's
                           number, no address; number: mr_log_watched */
    MR_LOG_ROLE_READY, /* of BEFORE, AFTER: an eventfd gets ready, or not ready (count: MR_LOG_NOT_READY), is
                           found ready; its number, no address */
    MR_LOG_ROLE_UNITS, /* of POST, WAIT: a byte that only wakes is written to a channel, read; no address. Also of
                          USED (ASKED), RETIRED: a semaphore of System V */
    MR_LOG_ROLE_ENDED, /* of AFTER: a join that did not wait for ever found that the thread has not ended (count:
                          MR_LOG_NOT_ENDED); the thread's number, no address. END stands for the BEFORE */
    MR_LOG_ROLE_TASK, /* of BEFORE, AFTER: a task of OpenMP is made, is taken by a thread */
    MR_LOG_ROLE_TASK_END, /* of BEFORE, AFTER: a task of OpenMP has ended, and what depends on it goes on */
} mr_log_role;

/* What decides how a thread goes on, and what other records do not say (explore.h). */
typedef enum mr_log_choice {
    MR_LOG_CHOICE_FAILED = 1, /* a try failed, or a time limit was over; role: of what */
    MR_LOG_CHOICE_TRY,        /* the WAIT that follows is one that would not have waited for ever */
    MR_LOG_CHOICE_SIGNAL,     /* one sleeper is woken, if there is one; the records follow */
    MR_LOG_CHOICE_BROADCAST,  /* all are */
    MR_LOG_CHOICE_TIMED,      /* the sleep that follows has a limit */
    MR_LOG_CHOICE_ARRIVES,    /* at a barrier, not as the last; number: how many it is for */
    MR_LOG_CHOICE_LAST,       /* … as the last */
    MR_LOG_CHOICE_ONCE,       /* the atomic access that follows waited for who initialises */
    MR_LOG_CHOICE_INPUT, /* the program got something from outside; number: mr_input_kind, address: what
                            is asked, such as a descriptor */
    MR_LOG_CHOICE_UNFED, /* … that cannot be given again; number: what mr_inputs_unfed says */
    MR_LOG_CHOICE_OPENMP, /* a team of OpenMP begins: its waits and who gets its tasks have no choices */
} mr_log_choice;

/* What people may want to know of a thread; no rule of the trace is broken. */
typedef enum mr_log_note {
    MR_LOG_NOTE_LEFT, /* at the end of the program it has ended, and was not joined nor detached */
    MR_LOG_NOTE_IGNORES, /* it ended, or the program in it, while it asked not to be recorded */
} mr_log_note;

/* The runtime does not know the lives of memory: a reader believes it only as far as the lock of
 * this life is held. */
typedef enum mr_log_wrong {
    MR_LOG_WRONG_ACQUIRE, /* it is held in a way that excludes that */
    MR_LOG_WRONG_RELEASE, /* by a thread that does not hold it */
    MR_LOG_WRONG_MODE,    /* of the release: as shared, but held exclusively, or the other way */
    MR_LOG_WRONG_DESTROY, /* while it is held */
} mr_log_wrong;

/* Of the number of a lock, or of a sleep on a condition variable. */
#define MR_LOG_SIZED(bytes)    ((uint64_t)(bytes) << 48)
#define MR_LOG_SIZE_OF(number) ((number) >> 48)
#define MR_LOG_UNSIZED(number) ((number)&0xffffffffffffu)

/* Descriptors from 0 on that are logged, each with an address where no program has memory. */
#define MR_LOG_DESCRIPTORS      1024
#define MR_LOG_DESCRIPTORS_AT   0xf00000000000u
#define MR_LOG_DESCRIPTOR_BYTES 64

/* The number of BEFORE and AFTER with role CHANNEL. */
typedef enum mr_log_channel {
    MR_LOG_CHANNEL_DATA,
    MR_LOG_CHANNEL_CLOSED,
    MR_LOG_CHANNEL_TAKEN, /* of BEFORE: a read from an eventfd, a pipe or a socket; count: mr_log_taking */
    MR_LOG_CHANNEL_WRITERS, /* in no record: what a reader calls DATA(APART) of thread 0, 1, … */
} mr_log_channel;

/* The count of BEFORE(CHANNEL, DATA). Those APART are in no order with each other: what is read is the same, whichever was
 * first. */
typedef enum mr_log_writing {
    MR_LOG_WRITING_IN_ORDER,
    MR_LOG_WRITING_APART,
} mr_log_writing;

/* The reads from a channel keep their order, but not when all of them are LIKE: then each of them asked for
 * one byte and got the same one. */
typedef enum mr_log_taking {
    MR_LOG_TAKING_LIKE, /* it asked for one byte, and got the one that each read before it got */
    MR_LOG_TAKING_UNLIKE,
} mr_log_taking;

/* The channel of an eventfd is its number and this. */
#define MR_LOG_COUNTERS_AT 0x10000u
/* Reads of sockets are TAKEN from these. */
#define MR_LOG_SOCKETS_AT 0x20000u
/* The units of a semaphore and the channel of a queue of System V are from here on. */
#define MR_LOG_SYSV_AT 0x40000u
/* The channel of a timer descriptor is its number and this. */
#define MR_LOG_TIMERS_AT 0x30000u
/* The channels of calls of listen and of connect (outside.h). */
#define MR_LOG_CALLS_AT 0x3fffeu

/* The count of BEFORE(READY): nothing is left to read. */
enum { MR_LOG_NOT_READY = 1 };

/* The number of BEFORE and AFTER with role WATCH: the data of epoll_ctl, in 56 bits. */
static inline uint64_t mr_log_watched(uint64_t data)
{
    return (data ^ data >> 56) & UINT64_C(0xffffffffffffff);
}

/* The count of AFTER(CHANNEL), AFTER(SIGNAL): as every AFTER it comes after each BEFORE that is there. It also comes
 * before each later one, and that holds when none is there yet (NOT_YET). NOTHING: it comes after none, and has no event. */
enum { MR_LOG_NOT_YET = 1, MR_LOG_NOTHING = 2 };

/* The count of AFTER(CANCEL): a cancellation point that the thread passed, because nobody had
 * cancelled it. */
enum { MR_LOG_NOT_CANCELLED = 1 };

/* The count of AFTER(ENDED). */
enum { MR_LOG_NOT_ENDED = 1 };

/* A text has less than so many bytes; the runtime cuts off what is beyond. */
#define MR_LOG_TEXT_BYTES 480

/* Bits of the count of an acquire: by a thread that would not have waited for ever (a try, or a time limit); the owner of a
 * robust mutex had died. */
enum { MR_LOG_TRIED = 1, MR_LOG_OWNER_DIED = 2 };
/* The count of a release by the end of the thread. */
enum { MR_LOG_BY_END = 1 };

/* The count of USED of a lock or semaphore. */
typedef enum mr_log_used {
    MR_LOG_USED_PLAIN,
    MR_LOG_USED_REFUSED, /* it is none: it was destroyed, or never initialised */
    MR_LOG_USED_BUSY, /* a try, or a wait with a limit, failed: the lock is held, the semaphore has no unit */
    MR_LOG_USED_BUSY_SHARED, /* … of a shared lock: it is held exclusively */
    MR_LOG_USED_ASKED,       /* the program got the number of units of the semaphore */
    MR_LOG_USED_CONSISTENT,  /* a robust mutex whose owner had died is as any other again */
    MR_LOG_USED_LOST,        /* … was released before that, and cannot be taken any more */
    MR_LOG_USED_NOT_HELD,    /* a release failed: the thread does not hold the mutex */
} mr_log_used;

/* Beside the code address of an object's record: the code is in a library that is not recorded. What
 * synchronises that library's threads is not known. So a reader takes no use of an object by it as an access,
 * except of a descriptor. */
#define MR_LOG_FOREIGN (UINT64_C(1) << 47)

typedef enum mr_log_retired {
    MR_LOG_RETIRED_KNOWN, /* it is another one from here on, but nobody wrote it: sem_open, open */
    MR_LOG_RETIRED_INITIALISED,
    MR_LOG_RETIRED_DESTROYED,
    MR_LOG_RETIRED_REFUSED, /* not destroyed, because it is in use; it stays what it is */
} mr_log_retired;

typedef enum mr_log_memory {
    MR_LOG_MEMORY_HEAP,
    MR_LOG_MEMORY_MAP,   /* mmap */
    MR_LOG_MEMORY_STACK, /* of the thread that logs it, before its BEGIN; with its thread-local
                            variables, but for those of main and of libraries loaded later */
} mr_log_memory;

typedef enum mr_log_taken {
    MR_LOG_TAKEN_GONE,   /* it can be given again at once */
    MR_LOG_TAKEN_KEPT,   /* nobody gets it before its FORGOTTEN: an access until then is wrong */
    MR_LOG_TAKEN_AGAIN,  /* it was taken already, and is kept */
    MR_LOG_TAKEN_UNSEEN, /* as GONE, and that is not to conflict with anything (ignore.h) */
} mr_log_taken;

/* The count of GIVEN. */
typedef enum mr_log_given {
    MR_LOG_GIVEN_PLAIN,
    MR_LOG_GIVEN_COUNTED, /* its owners are counted in code that is not recorded, so what comes before
                             its TAKEN is not known: as TAKEN_UNSEEN */
} mr_log_given;

/* MR_LOG_MODULE, all words; the path follows, NUL-terminated, padded to whole words. */
typedef struct mr_log_module {
    uint64_t head; /* payload: words of the record */
    uint64_t bias; /* address in memory minus address in the file's symbol table */
    uint64_t start, end;
    uint64_t build_id_bytes; /* 0: none */
    uint8_t build_id[32];
} mr_log_module;

_Static_assert(MR_LOG_KIND_COUNT <= 64, "a kind has six bits");

static inline unsigned mr_log_kind_of(uint64_t head)
{
    return (unsigned)(head >> 2 & 0x3f);
}

static inline unsigned mr_log_detail(uint64_t head)
{
    return (unsigned)(head >> 8 & 0xff);
}

static inline uint64_t mr_log_payload(uint64_t head)
{
    return head >> 16;
}

static inline uint64_t mr_log_head(unsigned kind, unsigned detail, uint64_t payload)
{
    return kind << 2 | (uint64_t)detail << 8 | payload << 16;
}

static inline uint64_t mr_log_code(uint64_t word)
{
    return word & (MR_LOG_FOREIGN - 1);
}

static inline bool mr_log_is_foreign(uint64_t word)
{
    return (word & MR_LOG_FOREIGN) != 0;
}

static inline unsigned mr_log_count(uint64_t word)
{
    return (unsigned)(word >> 48);
}

/*
 * Is a record of this kind an operation of its thread, when operations are counted (replay)? Those
 * are not that depend on what other threads did before, or that only describe. Of GIVEN and TAKEN
 * those are not whose code is in the C library, GLib or the loader (mr_log_allocates), because these allocate
 * when a thread is the first to ask for something.
 */
static inline bool mr_log_counts(unsigned kind)
{
    const uint64_t others = (uint64_t)1 << MR_LOG_NONE | (uint64_t)1 << MR_LOG_SWITCH |
                            (uint64_t)1 << MR_LOG_ENTER | (uint64_t)1 << MR_LOG_LEAVE |
                            (uint64_t)1 << MR_LOG_EXEC | (uint64_t)1 << MR_LOG_EXIT |
                            (uint64_t)1 << MR_LOG_MODULE | (uint64_t)1 << MR_LOG_UNLOAD |
                            (uint64_t)1 << MR_LOG_THREAD_NAME | (uint64_t)1 << MR_LOG_CALL_NAME |
                            (uint64_t)1 << MR_LOG_PADDING | (uint64_t)1 << MR_LOG_ENTRY |
                            (uint64_t)1 << MR_LOG_BLOCKED | (uint64_t)1 << MR_LOG_FORGOTTEN |
                            (uint64_t)1 << MR_LOG_SIGNAL_BEGIN | (uint64_t)1 << MR_LOG_SIGNAL_END |
                            (uint64_t)1 << MR_LOG_NOTE | (uint64_t)1 << MR_LOG_STATE |
                            (uint64_t)1 << MR_LOG_SUPPRESSION | (uint64_t)1 << MR_LOG_ALIAS;
    return kind < MR_LOG_KIND_COUNT && (others >> kind & 1) == 0;
}

/* Does the path end in a file whose name begins like this? */
static inline bool mr_log_is_file(const char *path, const char *begin)
{
    const char *name = path;
    for (; *path != '\0'; path++) {
        name = *path == '/' ? path + 1 : name;
    }
    while (*begin != '\0' && *name == *begin) {
        name++;
        begin++;
    }
    return *begin == '\0';
}

/* Is this the path of a library that allocates for itself when a thread is the first to ask for something: the C library, GLib, or the
 * loader? */
static inline bool mr_log_allocates(const char *path)
{
    return mr_log_is_file(path, "libc.so.") || mr_log_is_file(path, "libglib-2.0.so.") ||
           mr_log_is_file(path, "ld-linux");
}

/* The BEFORE(ENDED) of the thread's END. */
static inline void mr_log_ended(const uint64_t *end, uint32_t thread, uint64_t before[3])
{
    before[0] = mr_log_head(MR_LOG_BEFORE, MR_LOG_ROLE_ENDED, thread);
    before[1] = end[1];
    before[2] = 0;
}

/* An AFTER that comes after none. */
static inline bool mr_log_is_nothing(const uint64_t *record)
{
    return mr_log_kind_of(record[0]) == MR_LOG_AFTER &&
           mr_log_detail(record[0]) == MR_LOG_ROLE_CHANNEL &&
           mr_log_count(record[1]) == MR_LOG_NOTHING;
}

static inline bool mr_log_is_access(unsigned kind)
{
    return kind >= MR_LOG_READ && kind <= MR_LOG_ATOMIC_UPDATE;
}

static inline bool mr_log_is_range(unsigned kind)
{
    return kind == MR_LOG_RANGE_READ || kind == MR_LOG_RANGE_WRITE;
}

/* Is it the head of a read that the program asked to ignore? */
static inline bool mr_log_is_ignored(uint64_t head)
{
    unsigned kind = mr_log_kind_of(head);
    return (kind == MR_LOG_READ || kind == MR_LOG_RANGE_READ) &&
           (mr_log_detail(head) & MR_LOG_IGNORED) != 0;
}

/* Bytes of an access that is not a range. */
static inline unsigned mr_log_bytes(uint64_t head)
{
    return 1u << (head >> 8 & 3);
}

/* The value of a READ, WRITE, ATOMIC_READ or ATOMIC_WRITE. */
static inline int64_t mr_log_value(const uint64_t *record)
{
    return (record[0] & MR_LOG_SMALL << 8) != 0 ? (int64_t)record[1] >> 48 : (int64_t)record[2];
}

/*
 * The number of words of the record that begins at `record`, of which `available` can be read; 0
 * when there is no such kind of that form, or when that many words do not tell.
 */
static inline uint64_t mr_log_words(const uint64_t *record, uint64_t available)
{
    static const uint8_t words[MR_LOG_KIND_COUNT] = {
#define MR_LOG_KIND_WORDS(name, count) [MR_LOG_##name] = (count),
        MR_LOG_KIND_MAP(MR_LOG_KIND_WORDS)
#undef MR_LOG_KIND_WORDS
    };
    if (available == 0 || mr_log_kind_of(record[0]) >= MR_LOG_KIND_COUNT) {
        return 0;
    }
    unsigned kind = mr_log_kind_of(record[0]);
    if (words[kind] != 0) {
        return words[kind];
    }
    if (mr_log_is_access(kind)) {
        return (record[0] & MR_LOG_SMALL << 8) != 0 ? 2 : 3;
    }
    if (mr_log_is_range(kind)) {
        return available < 3 || record[2] > UINT32_MAX ? 0 : 3 + (record[2] + 7) / 8;
    }
    bool is_text = kind == MR_LOG_MODULE || kind == MR_LOG_THREAD_NAME ||
                   kind == MR_LOG_CALL_NAME || kind == MR_LOG_SUPPRESSION;
    return is_text ? mr_log_payload(record[0]) : 0;
}

#endif

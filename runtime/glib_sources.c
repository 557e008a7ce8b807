/*
 * Main loops of GLib, where the library is not recorded: who sets the function of a source, or attaches the source, comes before the
 * function is called, and a call of the function before the data is destroyed. Who ends a loop, or lets go of a context, comes before who goes
 * on after that.
 *
 * GLib asks for the function of a source each time, just before it calls it. So it gets functions of ours that tell it the program's.
 * What adds sources inside the library is made here of what it consists of.
 */
#include "glib.h"
#include "writer.h"

#include <stdlib.h>

typedef int (*source_function)(void *data);
typedef void (*destroy_function)(void *data);

/* As GSourceCallbackFuncs. */
typedef struct callback_functions {
    void (*take)(void *callback);
    void (*drop)(void *callback);
    void (*get)(void *callback, void *source, source_function *function, void **data);
} callback_functions;

typedef struct callback {
    int owners;
    source_function function;
    void (*once)(void *data); /* what call_once calls */
    void *data;
    destroy_function destroy;
    const void *called; /* its calls come before the end */
} callback;

static void take(void *object)
{
    callback *self = object;
    __atomic_add_fetch(&self->owners, 1, __ATOMIC_RELAXED);
}

/* Also after each call of the function. */
static void drop(void *object)
{
    callback *self = object;
    mr_glib_order(MR_LOG_BEFORE, self->called, MR_CALLER);
    if (__atomic_sub_fetch(&self->owners, 1, __ATOMIC_ACQ_REL) != 0) {
        return;
    }
    if (self->destroy != NULL) {
        mr_glib_order(MR_LOG_AFTER, self->called, MR_CALLER);
        self->destroy(self->data);
    }
    mr_thread *thread = mr_enter();
    free(self);
    if (thread != NULL) {
        mr_leave(thread);
    }
}

static int call_once(void *object)
{
    const callback *self = object;
    self->once(self->data);
    return 0;
}

/* GLib is an owner while it calls the function. Else it looks for a source with these data. */
static void get(void *object, void *source, source_function *function, void **data)
{
    callback *self = object;
    bool is_called = __atomic_load_n(&self->owners, __ATOMIC_RELAXED) > 1;
    mr_glib_order(MR_LOG_AFTER, source, MR_CALLER);
    *function = self->function;
    *data = self->once != NULL && is_called ? self : self->data;
}

static const callback_functions ours = {take, drop, get};

static callback *make(mr_thread *thread, const void *source, source_function function, void *data,
                      destroy_function destroy, uintptr_t code)
{
    callback *self = thread != NULL ? malloc(sizeof *self) : NULL;
    if (self != NULL) {
        *self = (callback){1, function, NULL, data, destroy, mr_glib_token()};
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, source, code, 0, 0);
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    return self;
}

MR_EXPORT void g_source_set_callback_indirect(void *source, void *object,
                                              const callback_functions *functions);
void g_source_set_callback_indirect(void *source, void *object, const callback_functions *functions)
{
    MR_GLIB_ORDER(g_source_set_callback_indirect, MR_LOG_BEFORE, source, MR_CALLER);
    MR_REAL(g_source_set_callback_indirect)(source, object, functions);
}

MR_EXPORT void g_source_set_callback(void *source, source_function function, void *data,
                                     destroy_function destroy);

static void set_callback(void *source, source_function function, void *data,
                         destroy_function destroy, uintptr_t code)
{
    callback *self =
        make(MR_GLIB_ENTER(g_source_set_callback), source, function, data, destroy, code);
    if (self != NULL) {
        MR_REAL(g_source_set_callback_indirect)(source, self, &ours);
    } else {
        MR_REAL(g_source_set_callback)(source, function, data, destroy);
    }
}

void g_source_set_callback(void *source, source_function function, void *data,
                           destroy_function destroy)
{
    set_callback(source, function, data, destroy, MR_CALLER);
}

MR_EXPORT unsigned g_source_attach(void *source, void *context);
static unsigned attach(void *source, void *context, uintptr_t code)
{
    MR_GLIB_ORDER(g_source_attach, MR_LOG_BEFORE, source, code);
    return MR_REAL(g_source_attach)(source, context);
}

unsigned g_source_attach(void *source, void *context)
{
    return attach(source, context, MR_CALLER);
}

/* ---- what adds sources ---- */

MR_EXPORT void g_source_unref(void *source);
MR_EXPORT void g_source_set_priority(void *source, int priority);
MR_EXPORT void *g_idle_source_new(void);
MR_EXPORT void *g_timeout_source_new(unsigned interval);
MR_EXPORT void *g_timeout_source_new_seconds(unsigned interval);

enum { PRIORITY_DEFAULT = 0, PRIORITY_IDLE = 200 };

/* These take the source over. */
static unsigned attach_new(void *source, int priority, uintptr_t code)
{
    MR_REAL(g_source_set_priority)(source, priority);
    unsigned number = attach(source, NULL, code);
    MR_REAL(g_source_unref)(source);
    return number;
}

static unsigned add(void *source, int priority, source_function function, void *data,
                    destroy_function destroy, uintptr_t code)
{
    set_callback(source, function, data, destroy, code);
    return attach_new(source, priority, code);
}

/* 0: it cannot be done here. */
static unsigned add_once(void *source, int priority, void (*function)(void *data), void *data,
                         uintptr_t code)
{
    callback *self =
        make(MR_GLIB_ENTER(g_source_set_callback), source, call_once, data, NULL, code);
    if (self == NULL) {
        MR_REAL(g_source_unref)(source);
        return 0;
    }
    self->once = function;
    MR_REAL(g_source_set_callback_indirect)(source, self, &ours);
    return attach_new(source, priority, code);
}

#define DEFINE_ADD(name, parameters, arguments, source, priority, destroy)                         \
    MR_EXPORT unsigned name parameters;                                                            \
    unsigned name parameters                                                                       \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(name);                                                   \
        if (thread == NULL || function == NULL) {                                                  \
            if (thread != NULL) {                                                                  \
                mr_leave(thread);                                                                  \
            }                                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_yield(thread);                                                                          \
        mr_leave(thread);                                                                          \
        return add(source, priority, function, data, destroy, MR_CALLER);                          \
    }
DEFINE_ADD(g_idle_add, (source_function function, void *data), (function, data),
           MR_REAL(g_idle_source_new)(), PRIORITY_IDLE, NULL)
DEFINE_ADD(g_idle_add_full,
           (int priority, source_function function, void *data, destroy_function destroy),
           (priority, function, data, destroy), MR_REAL(g_idle_source_new)(), priority, destroy)
DEFINE_ADD(g_timeout_add, (unsigned interval, source_function function, void *data),
           (interval, function, data), MR_REAL(g_timeout_source_new)(interval), PRIORITY_DEFAULT,
           NULL)
DEFINE_ADD(g_timeout_add_full,
           (int priority, unsigned interval, source_function function, void *data,
            destroy_function destroy),
           (priority, interval, function, data, destroy), MR_REAL(g_timeout_source_new)(interval),
           priority, destroy)
DEFINE_ADD(g_timeout_add_seconds, (unsigned interval, source_function function, void *data),
           (interval, function, data), MR_REAL(g_timeout_source_new_seconds)(interval),
           PRIORITY_DEFAULT, NULL)
DEFINE_ADD(g_timeout_add_seconds_full,
           (int priority, unsigned interval, source_function function, void *data,
            destroy_function destroy),
           (priority, interval, function, data, destroy),
           MR_REAL(g_timeout_source_new_seconds)(interval), priority, destroy)
#undef DEFINE_ADD

#define DEFINE_ADD_ONCE(name, parameters, arguments, source, priority)                             \
    MR_EXPORT unsigned name parameters;                                                            \
    unsigned name parameters                                                                       \
    {                                                                                              \
        mr_thread *thread = function != NULL ? MR_GLIB_ENTER(name) : NULL;                         \
        unsigned number = 0;                                                                       \
        if (thread != NULL) {                                                                      \
            mr_yield(thread);                                                                      \
            mr_leave(thread);                                                                      \
            number = add_once(source, priority, function, data, MR_CALLER);                        \
        }                                                                                          \
        return number != 0 ? number : MR_REAL(name) arguments;                                     \
    }
DEFINE_ADD_ONCE(g_idle_add_once, (void (*function)(void *data), void *data), (function, data),
                MR_REAL(g_idle_source_new)(), PRIORITY_IDLE)
DEFINE_ADD_ONCE(g_timeout_add_once, (unsigned interval, void (*function)(void *data), void *data),
                (interval, function, data), MR_REAL(g_timeout_source_new)(interval),
                PRIORITY_DEFAULT)
DEFINE_ADD_ONCE(g_timeout_add_seconds_once,
                (unsigned interval, void (*function)(void *data), void *data),
                (interval, function, data), MR_REAL(g_timeout_source_new_seconds)(interval),
                PRIORITY_DEFAULT)
#undef DEFINE_ADD_ONCE

/* ---- contexts and loops ---- */

MR_EXPORT int g_main_context_is_owner(void *context);
MR_EXPORT int g_main_context_acquire(void *context);
MR_EXPORT void g_main_context_release(void *context);
MR_EXPORT void *g_main_context_default(void);
MR_EXPORT void *g_main_context_get_thread_default(void);

int g_main_context_acquire(void *context)
{
    int acquired = MR_REAL(g_main_context_acquire)(context);
    if (acquired) {
        MR_GLIB_ORDER(g_main_context_acquire, MR_LOG_AFTER,
                      context != NULL ? context : MR_REAL(g_main_context_default)(), MR_CALLER);
    }
    return acquired;
}

void g_main_context_release(void *context)
{
    MR_GLIB_ORDER(g_main_context_release, MR_LOG_BEFORE,
                  context != NULL ? context : MR_REAL(g_main_context_default)(), MR_CALLER);
    MR_REAL(g_main_context_release)(context);
}

/* Calls the function until it has had enough. */
static void call_here(source_function function, void *data, destroy_function destroy)
{
    while (function(data)) {
    }
    if (destroy != NULL) {
        destroy(data);
    }
}

static bool is_own_default(void *context)
{
    void *own = MR_REAL(g_main_context_get_thread_default)();
    return context == (own != NULL ? own : MR_REAL(g_main_context_default)());
}

static void invoke(void *context, int priority, source_function function, void *data,
                   destroy_function destroy, uintptr_t code)
{
    context = context != NULL ? context : MR_REAL(g_main_context_default)();
    if (MR_REAL(g_main_context_is_owner)(context)) {
        call_here(function, data, destroy);
    } else if (is_own_default(context) && g_main_context_acquire(context)) {
        call_here(function, data, destroy);
        g_main_context_release(context);
    } else {
        void *source = MR_REAL(g_idle_source_new)();
        MR_REAL(g_source_set_priority)(source, priority);
        set_callback(source, function, data, destroy, code);
        attach(source, context, code);
        MR_REAL(g_source_unref)(source);
    }
}

MR_EXPORT void g_main_context_invoke_full(void *context, int priority, source_function function,
                                          void *data, destroy_function destroy);
void g_main_context_invoke_full(void *context, int priority, source_function function, void *data,
                                destroy_function destroy)
{
    mr_thread *thread = function != NULL ? MR_GLIB_ENTER(g_main_context_invoke_full) : NULL;
    if (thread == NULL) {
        MR_REAL(g_main_context_invoke_full)(context, priority, function, data, destroy);
        return;
    }
    mr_leave(thread);
    invoke(context, priority, function, data, destroy, MR_CALLER);
}

MR_EXPORT void g_main_context_invoke(void *context, source_function function, void *data);
void g_main_context_invoke(void *context, source_function function, void *data)
{
    mr_thread *thread = function != NULL ? MR_GLIB_ENTER(g_main_context_invoke) : NULL;
    if (thread == NULL) {
        MR_REAL(g_main_context_invoke)(context, function, data);
        return;
    }
    mr_leave(thread);
    invoke(context, PRIORITY_DEFAULT, function, data, NULL, MR_CALLER);
}

MR_EXPORT void g_main_loop_quit(void *loop);
void g_main_loop_quit(void *loop)
{
    MR_GLIB_ORDER(g_main_loop_quit, MR_LOG_BEFORE, loop, MR_CALLER);
    MR_REAL(g_main_loop_quit)(loop);
}

MR_EXPORT void g_main_loop_run(void *loop);
void g_main_loop_run(void *loop)
{
    MR_REAL(g_main_loop_run)(loop);
    MR_GLIB_ORDER(g_main_loop_run, MR_LOG_AFTER, loop, MR_CALLER);
}

MR_EXPORT int g_main_loop_is_running(void *loop);
int g_main_loop_is_running(void *loop)
{
    int runs = MR_REAL(g_main_loop_is_running)(loop);
    MR_GLIB_ORDER(g_main_loop_is_running, MR_LOG_AFTER, loop, MR_CALLER);
    return runs;
}

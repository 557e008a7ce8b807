/*
 * What GLib, where it is not recorded, counts the owners of: who lets go comes before who lets go later, and so before the one who destroys
 * it. What is set at an object comes before who asks for it. The blocks that it allocates are those of the caller.
 */
#include "glib.h"
#include "writer.h"

#define UNREFERENCES(X)                                                                            \
    X(g_object_unref)                                                                              \
    X(g_bytes_unref)                                                                               \
    X(g_ptr_array_unref)                                                                           \
    X(g_hash_table_unref)                                                                          \
    X(g_variant_unref)                                                                             \
    X(g_main_loop_unref)                                                                           \
    X(g_main_context_unref)                                                                        \
    X(g_source_unref)                                                                              \
    X(g_async_queue_unref)                                                                         \
    X(g_closure_unref)                                                                             \
    X(g_atomic_rc_box_release)                                                                     \
    X(g_array_unref)                                                                               \
    X(g_byte_array_unref)                                                                          \
    X(g_tree_unref)                                                                                \
    X(g_key_file_unref)

#define DEFINE_UNREFERENCE(name)                                                                   \
    MR_EXPORT void name(void *object);                                                             \
    void name(void *object)                                                                        \
    {                                                                                              \
        MR_GLIB_ORDER(name, MR_LOG_BEFORE, object, MR_CALLER);                                     \
        MR_REAL(name)(object);                                                                     \
    }
UNREFERENCES(DEFINE_UNREFERENCE)
#undef DEFINE_UNREFERENCE

MR_EXPORT void g_atomic_rc_box_release_full(void *object, void (*clear)(void *object));
void g_atomic_rc_box_release_full(void *object, void (*clear)(void *object))
{
    MR_GLIB_ORDER(g_atomic_rc_box_release_full, MR_LOG_BEFORE, object, MR_CALLER);
    MR_REAL(g_atomic_rc_box_release_full)(object, clear);
}

MR_EXPORT int g_atomic_ref_count_dec(int *count);
int g_atomic_ref_count_dec(int *count)
{
    MR_GLIB_ORDER(g_atomic_ref_count_dec, MR_LOG_BEFORE, count, MR_CALLER);
    return MR_REAL(g_atomic_ref_count_dec)(count);
}

/* Data that hangs at an object, a weak reference, a cancellation: who sets it comes before who asks for it. `place` tells it apart from the
 * owners of the object. */
static const void *place_of(const void *object)
{
    return (const char *)object + 1;
}

#define DEFINE_SET(name, parameters, arguments, object)                                            \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        MR_GLIB_ORDER(name, MR_LOG_BEFORE, place_of(object), MR_CALLER);                           \
        MR_REAL(name) arguments;                                                                   \
    }
typedef void (*destroy_function)(void *data);
DEFINE_SET(g_object_set_data, (void *object, const char *key, void *data), (object, key, data),
           object)
DEFINE_SET(g_object_set_data_full,
           (void *object, const char *key, void *data, destroy_function destroy),
           (object, key, data, destroy), object)
DEFINE_SET(g_object_set_qdata, (void *object, unsigned key, void *data), (object, key, data),
           object)
DEFINE_SET(g_object_set_qdata_full,
           (void *object, unsigned key, void *data, destroy_function destroy),
           (object, key, data, destroy), object)
DEFINE_SET(g_weak_ref_init, (void *reference, void *object), (reference, object), reference)
DEFINE_SET(g_weak_ref_set, (void *reference, void *object), (reference, object), reference)
DEFINE_SET(g_cancellable_cancel, (void *cancellable), (cancellable), cancellable)
DEFINE_SET(g_cancellable_reset, (void *cancellable), (cancellable), cancellable)
#undef DEFINE_SET

#define DEFINE_GET(name, type, parameters, arguments, object)                                      \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        type found = MR_REAL(name) arguments;                                                      \
        MR_GLIB_ORDER(name, MR_LOG_AFTER, place_of(object), MR_CALLER);                            \
        return found;                                                                              \
    }
DEFINE_GET(g_object_get_data, void *, (void *object, const char *key), (object, key), object)
DEFINE_GET(g_object_get_qdata, void *, (void *object, unsigned key), (object, key), object)
DEFINE_GET(g_object_steal_data, void *, (void *object, const char *key), (object, key), object)
DEFINE_GET(g_object_steal_qdata, void *, (void *object, unsigned key), (object, key), object)
DEFINE_GET(g_weak_ref_get, void *, (void *reference), (reference), reference)
DEFINE_GET(g_cancellable_is_cancelled, int, (void *cancellable), (cancellable), cancellable)
#undef DEFINE_GET

/* Threads are those of the library, which the runtime sees as others; but the caller's are the places. */
static void lend_place(uintptr_t code)
{
    if (mr_self != NULL) {
        mr_self->creates_at = code;
    }
}

MR_EXPORT void *g_thread_new(const char *name, void *(*start)(void *), void *data);
void *g_thread_new(const char *name, void *(*start)(void *), void *data)
{
    lend_place(MR_CALLER);
    void *thread = MR_REAL(g_thread_new)(name, start, data);
    lend_place(0);
    return thread;
}

MR_EXPORT void *g_thread_try_new(const char *name, void *(*start)(void *), void *data, void *error);
void *g_thread_try_new(const char *name, void *(*start)(void *), void *data, void *error)
{
    lend_place(MR_CALLER);
    void *thread = MR_REAL(g_thread_try_new)(name, start, data, error);
    lend_place(0);
    return thread;
}

MR_EXPORT void *g_thread_join(void *thread);
void *g_thread_join(void *thread)
{
    mr_glib_lend_caller(MR_CALLER);
    void *result = MR_REAL(g_thread_join)(thread);
    mr_glib_take_back_caller(MR_CALLER);
    return result;
}

#define DEFINE_ALLOCATION(name, parameters, arguments)                                             \
    MR_EXPORT void *name parameters;                                                               \
    void *name parameters                                                                          \
    {                                                                                              \
        mr_glib_lend_caller(MR_CALLER);                                                            \
        void *made = MR_REAL(name) arguments;                                                      \
        mr_glib_take_back_caller(MR_CALLER);                                                       \
        return made;                                                                               \
    }
DEFINE_ALLOCATION(g_malloc, (size_t bytes), (bytes))
DEFINE_ALLOCATION(g_malloc0, (size_t bytes), (bytes))
DEFINE_ALLOCATION(g_malloc_n, (size_t count, size_t bytes), (count, bytes))
DEFINE_ALLOCATION(g_malloc0_n, (size_t count, size_t bytes), (count, bytes))
DEFINE_ALLOCATION(g_try_malloc, (size_t bytes), (bytes))
DEFINE_ALLOCATION(g_try_malloc0, (size_t bytes), (bytes))
DEFINE_ALLOCATION(g_realloc, (void *block, size_t bytes), (block, bytes))
DEFINE_ALLOCATION(g_realloc_n, (void *block, size_t count, size_t bytes), (block, count, bytes))
DEFINE_ALLOCATION(g_slice_alloc, (size_t bytes), (bytes))
DEFINE_ALLOCATION(g_slice_alloc0, (size_t bytes), (bytes))
DEFINE_ALLOCATION(g_strdup, (const char *text), (text))
DEFINE_ALLOCATION(g_strndup, (const char *text, size_t bytes), (text, bytes))
DEFINE_ALLOCATION(g_memdup2, (const void *from, size_t bytes), (from, bytes))
#undef DEFINE_ALLOCATION

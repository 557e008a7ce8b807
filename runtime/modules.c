#include "modules.h"

#include "assembly.h"
#include "sys.h"
#include "unseen.h"
#include "writer.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

enum { MODULES_MAX = 512 };

static struct {
    uint64_t bias[MODULES_MAX];
    bool seen[MODULES_MAX];
    uint32_t count;
    uint32_t unseen; /* bit u: one synchronises threads by mr_log_unseen u, which is not recorded */
    bool has_glib;   /* one that is not recorded */
    bool calls_in_glib; /* recorded code calls what the runtime does not know of it */
    bool has_qt, calls_in_qt;
    bool calls_in_openmp; /* recorded code calls what the runtime does not do of libomp */
    bool ask_for_room;    /* recorded code calls malloc_usable_size */
    char self[4096];      /* the program's path */
} modules;

/* Is the module known? It is from now on. */
static bool known(uint64_t bias)
{
    for (uint32_t i = 0; i < modules.count; i++) {
        if (modules.bias[i] == bias) {
            modules.seen[i] = true;
            return true;
        }
    }
    if (modules.count == MODULES_MAX) {
        return true;
    }
    modules.bias[modules.count] = bias;
    modules.seen[modules.count++] = true;
    return false;
}

/* The build-id is a note of name "GNU" and type 3. */
static void find_build_id(const uint8_t *at, size_t bytes, mr_log_module *module)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        size_t name = (note->n_namesz + 3) & ~(size_t)3;
        size_t length = sizeof *note + name + ((note->n_descsz + 3) & ~(size_t)3);
        if (length > bytes) {
            return;
        }
        const uint8_t *text = at + sizeof *note;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && text[0] == 'G' &&
            note->n_descsz <= sizeof module->build_id) {
            module->build_id_bytes = note->n_descsz;
            for (size_t i = 0; i < note->n_descsz; i++) {
                module->build_id[i] = text[name + i];
            }
            return;
        }
        at += length;
        bytes -= length;
    }
}

static int log_module(struct dl_phdr_info *info, size_t size, void *context)
{
    mr_log_module module = {.bias = info->dlpi_addr, .start = UINT64_MAX};
    (void)size;
    (void)context;
    if (known(info->dlpi_addr)) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            module.start = start < module.start ? start : module.start;
            module.end =
                start + header->p_memsz > module.end ? start + header->p_memsz : module.end;
        } else if (header->p_type == PT_NOTE) {
            find_build_id((const uint8_t *)start, header->p_memsz, &module);
        }
    }
    const char *path = info->dlpi_name != NULL ? info->dlpi_name : "";
    if (path[0] == '\0') {
        path = modules.self;
    }
    mr_write_module(&module, path);
    return 0;
}

void mr_modules_log(void)
{
    if (modules.self[0] == '\0') {
        mr_sys(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)modules.self,
               sizeof modules.self - 1, 0, 0);
    }
    for (uint32_t i = 0; i < modules.count; i++) {
        modules.seen[i] = false;
    }
    dl_iterate_phdr(log_module, NULL);
    for (uint32_t i = 0; i < modules.count;) {
        if (modules.seen[i]) {
            i++;
            continue;
        }
        mr_write_object(MR_LOG_UNLOAD, 0, (void *)modules.bias[i], 0, 0, 0);
        modules.count--;
        modules.bias[i] = modules.bias[modules.count];
        modules.seen[i] = modules.seen[modules.count];
    }
}

void mr_modules_forget(void)
{
    modules.count = 0;
}

/* Address ranges of code; only added to, the count last. */
typedef struct code_ranges {
    struct {
        uintptr_t start, end;
    } of[MODULES_MAX];
    uint32_t count;
} code_ranges;

static struct {
    code_ranges ranges;
    unsigned long long loaded; /* modules that were loaded so far when it was looked for them */
} instrumented;

/* Libraries whose threads are synchronised by nothing but what is recorded: those of C and C++, and the runtime. */
static code_ranges known_well, qt;

/* The index of the range that has the code, and 1; 0: none has. */
static uint32_t range_of(const code_ranges *ranges, uintptr_t code)
{
    uint32_t count = __atomic_load_n(&ranges->count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (code - ranges->of[i].start < ranges->of[i].end - ranges->of[i].start) {
            return i + 1;
        }
    }
    return 0;
}

static void add_range(code_ranges *ranges, uintptr_t start, uintptr_t end)
{
    if (ranges->count < MODULES_MAX && range_of(ranges, start) == 0) {
        ranges->of[ranges->count].start = start;
        ranges->of[ranges->count].end = end;
        __atomic_store_n(&ranges->count, ranges->count + 1, __ATOMIC_RELEASE);
    }
}

bool mr_is_instrumented(uintptr_t code)
{
    return range_of(&instrumented.ranges, code) != 0;
}

bool mr_modules_leave_openmp(void)
{
    return modules.calls_in_openmp;
}

bool mr_modules_ask_for_room(void)
{
    return modules.ask_for_room;
}

bool mr_is_foreign(uintptr_t code)
{
    return code != 0 && !mr_is_instrumented(code) && range_of(&known_well, code) == 0;
}

bool mr_is_qt(uintptr_t code)
{
    return range_of(&qt, code) != 0;
}

uint64_t mr_code_place(uintptr_t code)
{
    uint32_t range = range_of(&instrumented.ranges, code);
    return range == 0 ? 0
                      : (uint64_t)range << 48 | (code - instrumented.ranges.of[range - 1].start);
}

enum { CONSTANTS_MAX = 8 };

/* Memory of the program that nobody can write. */
static struct {
    struct {
        uintptr_t start, end;
    } of[CONSTANTS_MAX];
    uint32_t count;
} constants;

/* What tells about the symbols that a module needs; each as an address. */
typedef struct needs {
    const ElfW(Sym) * symbols;
    const char *texts;
    const ElfW(Rela) *
        of[2]; /* for functions that are looked up when they are called, and others */
    size_t bytes[2];
} needs;

/* The loader has made addresses of the entries; in a module that it did not load they are not. */
static uintptr_t address_of(const struct dl_phdr_info *info, uintptr_t value)
{
    return value < info->dlpi_addr ? info->dlpi_addr + value : value;
}

static needs needs_of(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
    needs found = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            found.symbols = (const ElfW(Sym) *)address_of(info, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            found.texts = (const char *)address_of(info, entry->d_un.d_ptr);
            break;
        case DT_JMPREL:
            found.of[0] = (const ElfW(Rela) *)address_of(info, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            found.bytes[0] = entry->d_un.d_val;
            break;
        case DT_RELA:
            found.of[1] = (const ElfW(Rela) *)address_of(info, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            found.bytes[1] = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    return found;
}

typedef bool (*is_wanted)(const char *name);

/* Does the module call a function of another one that is wanted? */
static bool calls(const struct dl_phdr_info *info, const ElfW(Dyn) * entry, is_wanted is_one)
{
    needs found = needs_of(info, entry);
    for (int k = 0; k < 2 && found.symbols != NULL && found.texts != NULL; k++) {
        size_t count = found.of[k] != NULL ? found.bytes[k] / sizeof *found.of[k] : 0;
        for (size_t i = 0; i < count; i++) {
            size_t symbol = ELF64_R_SYM(found.of[k][i].r_info);
            if (symbol != 0 && is_one(found.texts + found.symbols[symbol].st_name)) {
                return true;
            }
        }
    }
    return false;
}

/* Every instrumented object calls it. */
static bool is_of_instrumented(const char *name)
{
    return mr_begins_with(name, "__tsan_init");
}

static bool is_of_assembly(const char *name)
{
    return mr_begins_with(name, "maxrace_annotate_atomic_begin");
}

static bool is_of_room(const char *name)
{
    return mr_begins_with(name, "malloc_usable_size");
}

/* Functions by which GLib synchronises threads inside its library, or hands data to them, and that the runtime does not know
 * (glib.h). */
static bool is_unseen_of_glib(const char *name)
{
    static const char *const begins[] = {
        "static_",         "pointer_bit_lock_", "pointer_bit_unlock_", "atomic_int_",
        "atomic_pointer_", "datalist_id_",      "dataset_id_",         "signal_emit",
        "object_dup_",     "object_replace_",   "main_context_wait"};
    for (size_t i = 0; mr_begins_with(name, "g_") && i < sizeof begins / sizeof *begins; i++) {
        if (mr_begins_with(name + 2, begins[i])) {
            return true;
        }
    }
    return false;
}

/* The same of Qt (qt.h): events, signals of the library, and loops of QtConcurrent. */
static bool is_unseen_of_qt(const char *name)
{
    static const char *const begins[] = {
        "_ZN11QMetaObject8activate",
        "_ZN11QMetaObject12invokeMethod",
        "_ZN11QMetaObject16invokeMethodImpl",
        "_ZN16QCoreApplication9postEvent",
        "_ZN7QObject11deleteLater",
        "_ZN7QObject11connectImpl",
        "_ZN7QObject7connectE",
        "_ZNK7QObject7connectE",
        "_ZN6QTimer14singleShot",
        "_ZN12QtConcurrent16ThreadEngineBase",
    };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (mr_begins_with(name, begins[i])) {
            return true;
        }
    }
    return false;
}

/* Functions of LLVM's library of OpenMP that the runtime does not do (kmpc.h): allocators, threadprivate without
 * variables of the thread, those of other compilers, and the library in place of that of gcc. */
static bool is_unseen_of_openmp(const char *name)
{
    static const char *const begins[] = {"__kmpc_threadprivate",
                                         "__kmpc_alloc",
                                         "__kmpc_aligned_alloc",
                                         "__kmpc_calloc",
                                         "__kmpc_realloc",
                                         "__kmpc_init_",
                                         "__kmpc_set_",
                                         "__kmpc_test_",
                                         "__kmpc_atomic_",
                                         "__kmpc_bound_",
                                         "__kmpc_global_num_threads",
                                         "__kmpc_in_parallel",
                                         "__kmpc_barrier_master",
                                         "__kmpc_dist_dispatch_",
                                         "__kmpc_team_static_",
                                         "__kmpc_fork_call_if",
                                         "__kmpc_proxy_task_",
                                         "__kmpc_invoke_task_func",
                                         "__kmpc_omp_task_parts",
                                         "__kmpc_omp_taskwait_deps",
                                         "__kmpc_push_num_threads_",
                                         "__kmpc_task_reduction_init",
                                         "__kmpc_task_reduction_modifier_init",
                                         "GOMP_",
                                         "kmp_malloc",
                                         "kmp_calloc",
                                         "kmp_realloc",
                                         "kmp_aligned_malloc",
                                         "omp_alloc",
                                         "omp_aligned_",
                                         "omp_calloc",
                                         "omp_realloc",
                                         "omp_init_allocator"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (mr_begins_with(name, begins[i])) {
            return true;
        }
    }
    return false;
}

/* Of the program itself: other modules may be unloaded, and something else be there. */
static void add_constants(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum && constants.count < CONSTANTS_MAX; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) == 0) {
            constants.of[constants.count].start = info->dlpi_addr + header->p_vaddr;
            constants.of[constants.count].end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
            constants.count++;
        }
    }
}

bool mr_is_constant(const void *address)
{
    for (uint32_t i = 0; i < constants.count; i++) {
        if ((uintptr_t)address - constants.of[i].start <
            constants.of[i].end - constants.of[i].start) {
            return true;
        }
    }
    return false;
}

/* The code of an instrumented module. */
static void add_code(const struct dl_phdr_info *info, bool is_annotated)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0 &&
            !mr_is_instrumented(start) && instrumented.ranges.count < MODULES_MAX) {
            uint32_t assembly = UINT32_C(1) << MR_LOG_UNSEEN_ASSEMBLY;
            if (!is_annotated && (modules.unseen & assembly) == 0 &&
                (header->p_flags & PF_R) != 0 &&
                mr_has_assembly((const uint8_t *)start, header->p_memsz)) {
                modules.unseen |= assembly;
            }
            add_range(&instrumented.ranges, start, start + header->p_memsz);
        }
    }
}

/* Libraries that are not recorded, and whose threads wait for each other by atomic accesses only. */
static void add_unseen(const char *path)
{
    static const struct {
        const char *begin;
        enum mr_log_unseen unseen;
    } libraries[] = {
        {"liburcu", MR_LOG_UNSEEN_ASSEMBLY},
        {"libtbb.so.2", MR_LOG_UNSEEN_TBB}, /* tbb.c knows the later ones */
    };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (mr_is_called(path, libraries[i].begin)) {
            modules.unseen |= UINT32_C(1) << libraries[i].unseen;
        }
    }
    modules.has_glib = modules.has_glib || mr_is_called(path, "libglib-2.0.so.");
}

static bool is_qt(const char *path)
{
    return mr_is_called(path, "libQt5Core.so.") || mr_is_called(path, "libQt6Core.so.");
}

static bool is_known_well(const char *path)
{
    static const char *const begins[] = {"libc.so.", "libstdc++.so.", "libc++.so.", "libc++abi.so.",
                                         "libmaxrace_rt.so"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (mr_is_called(path, begins[i])) {
            return true;
        }
    }
    return false;
}

static void add_ranges(code_ranges *to, const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0) {
            add_range(to, start, start + header->p_memsz);
        }
    }
}

static void add_known_well(const struct dl_phdr_info *info)
{
    if (info->dlpi_name != NULL && is_known_well(info->dlpi_name)) {
        add_ranges(&known_well, info);
    }
}

/* Ends at once when nothing was loaded since the last time. */
static int find_instrumented(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    if (info->dlpi_adds == instrumented.loaded) {
        return 1;
    }
    *(unsigned long long *)loaded = info->dlpi_adds;
    if (constants.count == 0 && (info->dlpi_name == NULL || info->dlpi_name[0] == '\0')) {
        add_constants(info);
    }
    add_known_well(info);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const ElfW(Dyn) *dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr);
        /* Return addresses do not tell: constructors jump there. */
        if (header->p_type == PT_DYNAMIC && calls(info, dynamic, is_of_instrumented)) {
            add_code(info, calls(info, dynamic, is_of_assembly));
            modules.ask_for_room = modules.ask_for_room || calls(info, dynamic, is_of_room);
            modules.calls_in_glib =
                modules.calls_in_glib || calls(info, dynamic, is_unseen_of_glib);
            modules.calls_in_openmp =
                modules.calls_in_openmp || calls(info, dynamic, is_unseen_of_openmp);
            modules.calls_in_qt = modules.calls_in_qt || calls(info, dynamic, is_unseen_of_qt);
        } else if (header->p_type == PT_DYNAMIC && info->dlpi_name != NULL) {
            add_unseen(info->dlpi_name);
            if (is_qt(info->dlpi_name)) {
                modules.has_qt = true;
                add_ranges(&qt, info);
            }
        }
    }
    return 0;
}

static int looks_for_call(struct dl_phdr_info *info, size_t size, void *is_one)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_DYNAMIC &&
            calls(info, (const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr),
                  *(const is_wanted *)is_one)) {
            return 1;
        }
    }
    return 0;
}

bool mr_modules_call(is_wanted is_one)
{
    return dl_iterate_phdr(looks_for_call, &is_one) != 0;
}

void mr_modules_find_instrumented(void)
{
    unsigned long long loaded = instrumented.loaded;
    dl_iterate_phdr(find_instrumented, &loaded);
    instrumented.loaded = loaded;
    mr_modules_tell();
}

void mr_modules_tell(void)
{
    if (modules.has_glib && modules.calls_in_glib) {
        modules.unseen |= UINT32_C(1) << MR_LOG_UNSEEN_GLIB;
    }
    if (modules.has_qt && modules.calls_in_qt) {
        modules.unseen |= UINT32_C(1) << MR_LOG_UNSEEN_QT;
    }
    for (int i = 0; i < MR_LOG_UNSEEN_COUNT; i++) {
        if ((modules.unseen >> i & 1) != 0) {
            mr_unseen_module((enum mr_log_unseen)i);
        }
    }
}

/*
 * cc, c++: calls the compiler so that the program can be recorded: with the calls of
 * -fsanitize=thread, and with our runtime library in the place of the compiler's.
 *
 * gcc takes libtsan_preinit.o, libtsan and the assembler from wherever -B and -L say first; there stand an empty
 * object, a linker script that names our library, and a program that looks at the assembly first (runtime/assembler/, Makefile: cc/).
 * So one call of gcc compiles and links as always, for programs and shared libraries. clang has a flag to leave its library
 * out, and ours is named.
 */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/arena.h"
#include "base/memory.h"
#include "cli.h"
#include "runtime_place.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct arguments {
    const char **items; /* owned; ends with NULL */
    mr_arena texts;     /* of items that are made here */
    size_t count, capacity;
    bool failed;
} arguments;

static void add(arguments *self, const char *argument)
{
    void *items = self->items;
    if (!mr_grow(&items, &self->capacity, self->count + 2, sizeof *self->items)) {
        self->failed = true;
        return;
    }
    self->items = items;
    self->items[self->count++] = argument;
    self->items[self->count] = NULL;
}

static void free_arguments(arguments *self)
{
    free(self->items);
    mr_arena_free(&self->texts);
}

/* Options of gcc and clang whose value is the next argument. */
static bool takes_next(const char *option)
{
    static const char *const options[] = {
        "-o",
        "-x",
        "-I",
        "-L",
        "-l",
        "-D",
        "-U",
        "-A",
        "-B",
        "-T",
        "-u",
        "-z",
        "-e",
        "-h",
        "-MF",
        "-MT",
        "-MQ",
        "-include",
        "-imacros",
        "-idirafter",
        "-iprefix",
        "-iwithprefix",
        "-isystem",
        "-iquote",
        "-isysroot",
        "-imultilib",
        "-Xlinker",
        "-Xassembler",
        "-Xclang",
        "-mllvm",
        "-arch",
        "-target",
        "-aux-info",
        "--param",
        "-param",
        "-wrapper",
        "-dumpbase",
        "-dumpdir",
        "-soname",
        "-rpath",
        "-framework",
        "-specs",
        "-iwithprefixbefore",
        "-Xpreprocessor",
        "-dumpbase-ext",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

/* Properties of a command line for the compiler. */
typedef struct task {
    bool inputs; /* there are files to work on */
    bool links;
    bool compiles; /* … of which some are not objects and libraries */
    bool shares;   /* … a library */
    bool compares; /* the program is to tell what it compares */
    bool checks;   /* it has checks of undefined behaviour, too */
    bool foreign;  /* it is for another processor than ours */
    bool openmp;   /* it has directives of OpenMP */
} task;

/* Does the list of -fsanitize= have a sanitizer that does not go with recording? */
static bool has_other_sanitizer(const char *list)
{
    static const char *const others[] = {"address", "hwaddress", "kernel-address", "leak",
                                         "memory"};
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (strcspn(at, ",") == strlen(others[i]) &&
                strncmp(at, others[i], strlen(others[i])) == 0)
                return true;
    return false;
}

/* A flag that does not go with recording; NULL: none. A command with -fno-sanitize= may take a sanitizer away again, so
 * the compiler judges its sanitizers. */
static const char *cannot_go(char *const *given, size_t count, bool links)
{
    static const char begin[] = "-fsanitize=", undo[] = "-fno-sanitize=";
    const char *found = NULL;
    bool undone = false;
    for (size_t i = 0; i < count; i++) {
        if (links && (strcmp(given[i], "-static") == 0 || strcmp(given[i], "-static-pie") == 0))
            return given[i];
        undone = undone || strncmp(given[i], undo, strlen(undo)) == 0;
        if (!found && strncmp(given[i], begin, strlen(begin)) == 0 &&
            has_other_sanitizer(given[i] + strlen(begin)))
            found = given[i];
    }
    return undone ? NULL : found;
}

/* Our own flag; the compiler does not get it. */
static const char hunt_inputs[] = "--hunt-inputs";

/* Does "-fsanitize=LIST" name something beside threads? Others than checks of undefined behaviour do not go with these. */
static bool adds_checks(const char *option)
{
    static const char begin[] = "-fsanitize=";
    return strncmp(option, begin, strlen(begin)) == 0 &&
           strcmp(option + strlen(begin), "thread") != 0;
}

static bool is_object(const char *file)
{
    static const char *const ends[] = {".o", ".lo", ".a", ".so", ".s", ".S"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return dot && strstr(file, ".so.");
}

/* The processor of our assembler (runtime/assembler/). */
static bool is_other_target(const char *target)
{
    static const char own[] = "x86_64-";
    return strncmp(target, own, sizeof own - 1) != 0;
}

/* Does the option choose another processor? `next` is the argument behind it. */
static bool chooses_other(const char *option, const char *next)
{
    static const char target[] = "--target=";
    if (strncmp(option, target, sizeof target - 1) == 0)
        return is_other_target(option + sizeof target - 1);
    return strcmp(option, "-m32") == 0 || strcmp(option, "-mx32") == 0 ||
           (strcmp(option, "-target") == 0 && next && is_other_target(next));
}

static task task_of(char *const *given, size_t count)
{
    static const char *const stops[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"};
    task found = {.links = true};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(given[i], hunt_inputs) == 0) {
            found.compares = true;
            continue;
        }
        if (given[i][0] != '-' || given[i][1] == '\0') {
            found.inputs = true;
            found.compiles = found.compiles || !is_object(given[i]);
            continue;
        }
        found.checks = found.checks || adds_checks(given[i]);
        found.foreign =
            found.foreign || chooses_other(given[i], i + 1 < count ? given[i + 1] : NULL);
        found.openmp = found.openmp || strncmp(given[i], "-fopenmp", strlen("-fopenmp")) == 0;
        found.shares = found.shares || strcmp(given[i], "-shared") == 0;
        for (size_t j = 0; j < sizeof stops / sizeof *stops; j++)
            if (strcmp(given[i], stops[j]) == 0)
                found.links = false;
        if (takes_next(given[i]))
            i++;
    }
    return found;
}

/* The name of a program without its folder. */
static const char *name_of(const char *program)
{
    const char *slash = strrchr(program, '/');
    return slash ? slash + 1 : program;
}

/* Does the program run the compiler that its first argument names? */
static bool is_launcher(const char *program)
{
    static const char *const launchers[] = {"ccache", "sccache", "distcc", "icecc", "buildcache"};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strcmp(name_of(program), launchers[i]) == 0)
            return true;
    return false;
}

/* The launcher in "ccache gcc"; then `*compiler` is what follows. NULL: there is none. */
static const char *take_launcher(const char **compiler, char words[PATH_MAX])
{
    size_t first = strcspn(*compiler, " "), rest = first + strspn(*compiler + first, " ");
    if (!(*compiler)[rest] || strlen(*compiler) >= PATH_MAX)
        return NULL;
    memcpy(words, *compiler, strlen(*compiler) + 1);
    words[first] = '\0';
    if (!is_launcher(words))
        return NULL;
    *compiler = words + rest;
    return words;
}

/* clang takes the processor from its name, too: aarch64-linux-gnu-clang. */
static bool is_named_for_other(const char *compiler)
{
    const char *name = name_of(compiler), *at = strstr(name, "-clang");
    return at && at > name && is_other_target(name);
}

/* Is the compiler clang? The compiler is only run when its name does not say it. */
static bool is_clang(const char *compiler)
{
    char command[PATH_MAX + 64], line[256];
    const char *name = name_of(compiler);
    if (strstr(name, "clang"))
        return true;
    if (strstr(name, "gcc") || strstr(name, "g++") || strchr(compiler, '\''))
        return false;
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null", compiler);
    FILE *pipe = popen(command, "r");
    bool found = false;
    while (pipe && fgets(line, sizeof line, pipe))
        found = found || strstr(line, "clang") != NULL;
    if (pipe)
        pclose(pipe);
    return found;
}

static void add_joined(arguments *self, const char *before, const char *after)
{
    size_t size = strlen(before) + strlen(after) + 1;
    char *text = mr_arena_alloc(&self->texts, size, 1);
    if (!text) {
        self->failed = true;
        return;
    }
    snprintf(text, size, "%s%s", before, after);
    add(self, text);
}

/* gcc replaces calls of these functions by its own code, which the runtime library would not see.
 * The flags keep the calls. */
static void add_calls(arguments *self)
{
    static const char *const functions[] = {
        "memcpy",  "memmove", "mempcpy", "memset",  "bzero",    "bcopy",   "memcmp",
        "bcmp",    "memchr",  "strcpy",  "strncpy", "stpcpy",   "stpncpy", "strcat",
        "strncat", "strlen",  "strnlen", "strcmp",  "strncmp",  "strchr",  "strrchr",
        "strstr",  "strdup",  "strndup", "sprintf", "snprintf",
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        add_joined(self, "-fno-builtin-", functions[i]);
}

/* Adds the flags for compiling a file. */
static void add_compiling(arguments *self, bool clang, const task *asked,
                          const mr_runtime_place *place)
{
    /* clang has comparisons only together with another kind of coverage. */
    if (asked->compares)
        add(self, clang ? "-fsanitize-coverage=func,trace-pc-guard,trace-cmp"
                        : "-fsanitize-coverage=trace-cmp");
    if (clang) {
        /* Without this flag, clang does not report a read that is followed by a write. */
        add(self, "-mllvm");
        add(self, "-tsan-instrument-read-before-write=1");
        add(self, "-mllvm");
        add(self, "-tsan-distinguish-volatile=1");
        /* clang asks whether others may know the address of a member of a local structure, and not that of the structure. So that it
         * leaves out no access of what others know, it takes every address to be known. */
        add(self, "-mllvm");
        add(self, "-capture-tracking-max-uses-to-explore=0");
        if (!asked->foreign)
            add(self, "-fno-integrated-as");
    } else {
        add(self, "--param=tsan-distinguish-volatile=1");
        add(self, "-fno-tree-dse"); /* a write that nobody reads, as to freed memory, is a write */
        add(self, "-Wno-tsan");     /* no warnings about fences: the runtime library handles them */
        if (asked->openmp) /* a flush is a call that it takes to change no static variable */
            add(self, "-fno-ipa-reference");
        add_calls(self);
    }
    add_joined(self, "-B", place->stand_in);
    add(self, "-isystem"); /* runtime/cxx/ */
    add_joined(self, place->stand_in, "cxx");
    if (place->include[0]) {
        add(self, "-idirafter");
        add(self, place->include);
    }
}

/* clang's own library for checks of undefined behaviour, which is left out with the one for threads. */
static void add_checks(arguments *self, const char *compiler, const char *name)
{
    char command[2 * PATH_MAX], path[PATH_MAX] = "";
    snprintf(command, sizeof command,
             "lib=libclang_rt.%s; for file in \"$lib-$(uname -m).a\" $lib.a; do '%s' "
             "--print-file-name=\"$file\"; done 2>/dev/null",
             name, compiler);
    FILE *pipe = strchr(compiler, '\'') ? NULL : popen(command, "r");
    bool found = false;
    while (pipe && !found && fgets(path, sizeof path, pipe)) {
        path[strcspn(path, "\n")] = '\0';
        found = path[0] == '/';
    }
    if (pipe)
        pclose(pipe);
    if (!found)
        return; /* the linker says what is missing */
    add(self, "-Wl,--whole-archive");
    add_joined(self, path, "");
    add(self, "-Wl,--no-whole-archive");
}

static void add_linking(arguments *self, bool clang, const mr_runtime_place *place)
{
    if (clang) {
        add(self, "-fno-sanitize-link-runtime");
        add(self, "-Wl,--push-state,--no-as-needed");
        add_joined(self, place->stand_in, "libmaxrace_rt.so");
        add(self, "-Wl,--pop-state");
    } else {
        add_joined(self, "-L", place->stand_in);
    }
    add_joined(self, "-L", place->folder);
    add_joined(self, "-Wl,-rpath,", place->folder);
}

static mr_status execute(arguments *self, mr_error *error)
{
    if (self->failed)
        return mr_error_memory(error, "calling the compiler");
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(self->items[0], (char *const *)self->items);
    return mr_error_set(error, MR_ERR_IO, NULL, 0,
                        "cannot run the compiler %s: %s; MAXRACE_CC or MAXRACE_CXX name another",
                        self->items[0], strerror(errno));
}

static mr_status compile(mr_cli *cli, const char *variable, const char *fallback, mr_error *error)
{
    char *const *given = (char *const *)cli->operands;
    size_t count = cli->operand_count;
    const char *compiler = getenv(variable);
    char words[PATH_MAX];
    mr_runtime_place place;
    arguments self = {.items = NULL};
    mr_arena_init(&self.texts);
    compiler = compiler && *compiler ? compiler : fallback;
    const char *launcher = take_launcher(&compiler, words);
    if (count == 1 && strcmp(given[0], "--") == 0)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "'--' needs a compiler after it");
    if (count > 1 && strcmp(given[0], "--") == 0) {
        compiler = given[1];
        given += 2;
        count -= 2;
        if (is_launcher(compiler) && count && given[0][0] != '-') {
            launcher = compiler;
            compiler = *given++;
            count--;
        }
    }
    mr_status status = mr_runtime_find(&place, error);
    if (status)
        return status;
    task asked = task_of(given, count);
    const char *bad = asked.inputs ? cannot_go(given, count, asked.links) : NULL;
    if (bad)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "%s does not go with recording; build without it", bad);
    bool clang = is_clang(compiler);
    asked.foreign = asked.foreign || (clang && is_named_for_other(compiler));
    if (launcher)
        add(&self, launcher);
    add(&self, compiler);
    if (asked.inputs) {
        add(&self, "-fsanitize=thread");
        if (!asked.links || !clang)
            add_compiling(&self, clang, &asked, &place);
        if (asked.links)
            add_linking(&self, clang, &place);
        if (asked.links && clang && asked.checks && !asked.shares) {
            add_checks(&self, compiler, "ubsan_standalone");
            if (strcmp(variable, "MAXRACE_CXX") == 0)
                add_checks(&self, compiler, "ubsan_standalone_cxx");
        }
        if (asked.links && clang) {
            add(&self, "-Qunused-arguments");
            add_compiling(&self, clang, &asked, &place);
        }
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(given[i], hunt_inputs) != 0)
            add(&self, given[i]);
    /* gcc makes plain moves of the checked copies of _FORTIFY_SOURCE, without a call that could be recorded. Of all
     * options for macros this form comes last. The macro is 0, as headers define one that is missing (gnulib). */
    if (asked.compiles && !clang) {
        add(&self, "-Wp,-U_FORTIFY_SOURCE");
        add(&self, "-Wp,-D_FORTIFY_SOURCE=0");
    }
    status = execute(&self, error);
    free_arguments(&self);
    return status;
}

mr_status mr_cli_cc(mr_cli *cli, int *exit_status, mr_error *error)
{
    *exit_status = 0;
    return compile(cli, "MAXRACE_CC", "gcc", error);
}

mr_status mr_cli_cxx(mr_cli *cli, int *exit_status, mr_error *error)
{
    *exit_status = 0;
    return compile(cli, "MAXRACE_CXX", "g++", error);
}

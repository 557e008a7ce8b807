#include "rewrite.h"

#include "../assembly_calls.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { OPERANDS_MAX = 3, NESTED_STATES = 8 };

typedef struct piece {
    const char *start;
    size_t length;
} piece;

typedef struct statement {
    piece name;
    piece operands[OPERANDS_MAX];
    size_t count;
} statement;

typedef struct rewriter {
    FILE *out;
    bool inside;                /* of inline assembly */
    bool instrumented;          /* the function is */
    bool locked;                /* a lock prefix stood alone: it belongs to the next instruction */
    bool unwinds;               /* the unwind information counts from the stack pointer … */
    bool states[NESTED_STATES]; /* … and did so when it was put aside */
    size_t depth;
    size_t changed;
} rewriter;

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static piece trim(piece text)
{
    while (text.length > 0 && is_blank(text.start[0])) {
        text.start++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.start[text.length - 1])) {
        text.length--;
    }
    return text;
}

static bool is(piece text, const char *other)
{
    return text.length == strlen(other) && strncasecmp(text.start, other, text.length) == 0;
}

static bool begins(piece text, const char *other)
{
    return text.length >= strlen(other) && strncasecmp(text.start, other, strlen(other)) == 0;
}

static bool has(piece text, const char *other)
{
    size_t length = strlen(other);
    for (size_t i = 0; i + length <= text.length; i++) {
        if (strncasecmp(text.start + i, other, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Cuts off the first word. */
static piece take_word(piece *text)
{
    piece word = {text->start, 0};
    while (word.length < text->length && !is_blank(text->start[word.length])) {
        word.length++;
    }
    *text = trim((piece){text->start + word.length, text->length - word.length});
    return word;
}

static bool is_label_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '$';
}

/* The bytes of labels at the beginning, with the blanks around them. */
static size_t labels_of(piece text)
{
    size_t after = 0;
    for (;;) {
        size_t at = after;
        while (at < text.length && is_blank(text.start[at])) {
            at++;
        }
        size_t name = at;
        while (at < text.length && is_label_byte(text.start[at])) {
            at++;
        }
        if (at == name || at == text.length || text.start[at] != ':') {
            return after;
        }
        after = at + 1;
    }
}

static bool split(piece text, statement *self)
{
    self->name = take_word(&text);
    self->count = 0;
    while (text.length > 0) {
        size_t length = 0, depth = 0;
        while (length < text.length && (depth > 0 || text.start[length] != ',')) {
            depth += text.start[length] == '(';
            depth -= depth > 0 && text.start[length] == ')';
            length++;
        }
        if (self->count == OPERANDS_MAX) {
            return false;
        }
        self->operands[self->count++] = trim((piece){text.start, length});
        size_t used = length + (length < text.length);
        text = (piece){text.start + used, text.length - used};
    }
    return true;
}

/* Registers for integers: number in machine code, and log2 of the bytes. -1: it is none. */
static int register_of(piece text, int *log2)
{
    static const char *const names[4][16] = {
        {"%al", "%cl", "%dl", "%bl", "%spl", "%bpl", "%sil", "%dil", "%r8b", "%r9b", "%r10b",
         "%r11b", "%r12b", "%r13b", "%r14b", "%r15b"},
        {"%ax", "%cx", "%dx", "%bx", "%sp", "%bp", "%si", "%di", "%r8w", "%r9w", "%r10w", "%r11w",
         "%r12w", "%r13w", "%r14w", "%r15w"},
        {"%eax", "%ecx", "%edx", "%ebx", "%esp", "%ebp", "%esi", "%edi", "%r8d", "%r9d", "%r10d",
         "%r11d", "%r12d", "%r13d", "%r14d", "%r15d"},
        {"%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi", "%r8", "%r9", "%r10",
         "%r11", "%r12", "%r13", "%r14", "%r15"},
    };
    for (int size = 0; size < 4; size++) {
        for (int number = 0; number < 16; number++) {
            if (is(text, names[size][number])) {
                *log2 = size;
                return number;
            }
        }
    }
    static const char *const high[] = {"%ah", "%ch", "%dh", "%bh"};
    for (int number = 0; number < 4; number++) {
        if (is(text, high[number])) {
            *log2 = 0;
            return number;
        }
    }
    return -1;
}

/* Is it memory whose address "lea" gives? Not where a segment comes in. */
static bool is_memory(piece text)
{
    return text.length > 0 && text.start[0] != '%' && text.start[0] != '$' &&
           text.start[0] != '*' && !has(text, "%xmm") && !has(text, "%ymm") && !has(text, "%fs") &&
           !has(text, "%gs");
}

/* Is it that instruction? Then *log2 is that of the bytes by the letter at its end, or stays. */
static bool is_instruction(piece name, const char *base, int *log2)
{
    static const char letters[] = "bwlq";
    if (is(name, base)) {
        return true;
    }
    size_t length = strlen(base);
    if (name.length != length + 1 || !begins(name, base)) {
        return false;
    }
    const char *letter = strchr(letters, name.start[length] | 0x20);
    if (letter == NULL) {
        return false;
    }
    *log2 = (int)(letter - letters);
    return true;
}

/* What an instruction does to memory. */
typedef struct access {
    piece memory;
    int log2, kind, bit; /* bit: number of the register that says how far the word is, -1: none */
} access;

static bool find_locked(const statement *self, access *found)
{
    static const char *const plain[] = {"add", "sub", "and", "or",  "xor",
                                        "inc", "dec", "neg", "not", "xadd"};
    static const char *const bits[] = {"bts", "btr", "btc"};
    piece last = self->operands[self->count - 1];
    int log2 = -1, ignored;
    found->kind = MR_ASSEMBLY_UPDATE;
    found->memory = last;
    if (is(self->name, "cmpxchg16b") || is(self->name, "cmpxchg8b")) {
        found->log2 = is(self->name, "cmpxchg8b") ? 3 : 4;
        found->kind = MR_ASSEMBLY_COMPARE;
        return true;
    }
    if (self->count > 1) {
        register_of(self->operands[0], &log2);
    }
    if (is_instruction(self->name, "cmpxchg", &log2)) {
        found->log2 = log2;
        found->kind = MR_ASSEMBLY_COMPARE;
        return log2 >= 0;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (is_instruction(self->name, plain[i], &log2)) {
            found->log2 = log2;
            return log2 >= 0;
        }
    }
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        if (self->count == 2 && is_instruction(self->name, bits[i], &log2)) {
            found->log2 = log2;
            found->bit = register_of(self->operands[0], &ignored);
            return log2 > 0;
        }
    }
    return false;
}

/* A move or exchange: of its two operands one is memory. */
static bool find_other(const statement *self, access *found)
{
    bool exchanges = begins(self->name, "xchg");
    if (self->count != 2 || !(exchanges || begins(self->name, "mov"))) {
        return false;
    }
    bool first = is_memory(self->operands[0]), second = is_memory(self->operands[1]);
    int log2 = -1;
    if (first == second) {
        return false;
    }
    found->memory = self->operands[second];
    int number = register_of(self->operands[!second], &log2);
    if (number < 0 && (exchanges || self->operands[!second].start[0] != '$')) {
        return false;
    }
    if (!is_instruction(self->name, exchanges ? "xchg" : "mov", &log2)) {
        return false;
    }
    found->log2 = log2;
    found->kind = exchanges ? MR_ASSEMBLY_UPDATE : second ? MR_ASSEMBLY_WRITE : MR_ASSEMBLY_READ;
    return log2 >= 0;
}

static bool is_fence(const statement *self, bool locked)
{
    int ignored;
    if (!locked) {
        return is(self->name, "mfence");
    }
    return self->count == 2 && has(self->operands[1], "%rsp") &&
           (is(self->operands[0], "$0") || is(self->operands[0], "$0x0")) &&
           (is_instruction(self->name, "add", &ignored) ||
            is_instruction(self->name, "or", &ignored));
}

/* Does it read the counter of ticks? */
static bool is_clock(piece name)
{
    return is(name, "rdtsc") || is(name, "rdtscp");
}

/* Moves the stack pointer and says so to who unwinds. What is put in ends with semicolons: lines stay the assembler's. */
static void move_stack(const rewriter *self, int bytes)
{
    fprintf(self->out, "\tleaq %d(%%rsp), %%rsp;", -bytes);
    if (self->unwinds) {
        fprintf(self->out, "\t.cfi_adjust_cfa_offset %d;", bytes);
    }
}

static void push(const rewriter *self, const char *what)
{
    fprintf(self->out, "\tpushq %s;", what);
    if (self->unwinds) {
        fprintf(self->out, "\t.cfi_adjust_cfa_offset 8;");
    }
}

static void call(const rewriter *self, const char *function)
{
    fprintf(self->out, "\tcall *%s@GOTPCREL(%%rip);", function);
}

/* The red zone, which functions use without a word. */
enum { RED_ZONE = 128 };

static void put_call(rewriter *self, const char *function)
{
    move_stack(self, RED_ZONE);
    call(self, function);
    move_stack(self, -RED_ZONE);
    self->changed++;
}

static void put_before(rewriter *self, const access *found)
{
    char what[16];
    snprintf(what, sizeof what, "$%d",
             found->log2 | found->kind << MR_ASSEMBLY_KIND_SHIFT |
                 (found->bit + 1) << MR_ASSEMBLY_BIT_SHIFT);
    move_stack(self, RED_ZONE);
    push(self, "%rax");
    fprintf(self->out, "\tleaq %s%.*s, %%rax;", has(found->memory, "%rsp") ? "136+" : "",
            (int)found->memory.length, found->memory.start);
    push(self, "%rax");
    push(self, what);
    call(self, MR_ASSEMBLY_BEGIN_NAME);
    move_stack(self, -16);
    fprintf(self->out, "\tpopq %%rax;");
    if (self->unwinds) {
        fprintf(self->out, "\t.cfi_adjust_cfa_offset -8;");
    }
    move_stack(self, -RED_ZONE);
}

/* One instruction, without its labels. Its lock prefix may have come before. */
static void put_instruction(rewriter *self, piece text)
{
    statement parts = {.count = 0};
    piece rest = trim(text), word = rest;
    if (rest.length == 0) {
        return;
    }
    if (!self->locked && is(take_word(&word), "lock")) {
        self->locked = true;
        rest = word;
        if (rest.length == 0) {
            return;
        }
    }
    bool locked = self->locked;
    self->locked = false;
    access found = {.bit = -1};
    bool known = split(rest, &parts) &&
                 (parts.count > 0 || is(parts.name, "mfence") || is_clock(parts.name));
    bool fences = known && is_fence(&parts, locked);
    bool accesses = known && !fences && parts.count > 0 &&
                    ((locked && find_locked(&parts, &found)) || find_other(&parts, &found)) &&
                    is_memory(found.memory);
    if (fences) {
        put_call(self, MR_ASSEMBLY_FENCE_NAME);
    } else if (accesses) {
        put_before(self, &found);
    }
    fprintf(self->out, "\t%s%.*s;", locked ? "lock " : "", (int)rest.length, rest.start);
    if (accesses) {
        put_call(self, MR_ASSEMBLY_END_NAME);
    } else if (known && is_clock(parts.name)) {
        put_call(self, MR_ASSEMBLY_CLOCK_NAME);
    }
}

/* A line of inline assembly: statements between semicolons, and a comment at the end. A line with strings or with comments of C
 * stays as it is. */
static void put_line(rewriter *self, piece line)
{
    const char *comment = memchr(line.start, '#', line.length);
    if (has(line, "\"") || has(line, "/*") || has(line, "*/")) {
        fprintf(self->out, "%s%.*s\n", self->locked ? "\tlock; " : "", (int)line.length,
                line.start);
        self->locked = false;
        return;
    }
    piece rest = {line.start, comment != NULL ? (size_t)(comment - line.start) : line.length};
    while (rest.length > 0) {
        const char *end = memchr(rest.start, ';', rest.length);
        piece one = {rest.start, end != NULL ? (size_t)(end - rest.start) : rest.length};
        size_t used = one.length + (end != NULL);
        rest = (piece){rest.start + used, rest.length - used};
        size_t labels = labels_of(one);
        if (labels > 0) {
            fprintf(self->out, "%.*s;", (int)labels, one.start);
        }
        put_instruction(self, (piece){one.start + labels, one.length - labels});
    }
    int left = comment != NULL ? (int)(line.length - (size_t)(comment - line.start)) : 0;
    fprintf(self->out, "%.*s\n", left, line.start + line.length - left);
}

/* Does the unwind information count from the stack pointer now? */
static void note_unwinding(rewriter *self, piece line)
{
    if (!begins(line, ".cfi_")) {
        return;
    }
    piece rest = line, name = take_word(&rest);
    bool stack = begins(rest, "7") || begins(rest, "%rsp") || begins(rest, "rsp");
    if (is(name, ".cfi_startproc")) {
        self->unwinds = true;
        self->depth = 0;
    } else if (is(name, ".cfi_endproc")) {
        self->unwinds = false;
    } else if (is(name, ".cfi_def_cfa") || is(name, ".cfi_def_cfa_register")) {
        self->unwinds = stack;
    } else if (is(name, ".cfi_escape")) {
        self->unwinds = false;
    } else if (is(name, ".cfi_remember_state") && self->depth < NESTED_STATES) {
        self->states[self->depth++] = self->unwinds;
    } else if (is(name, ".cfi_restore_state") && self->depth > 0) {
        self->unwinds = self->states[--self->depth];
    }
}

/* Does the line count bytes from where it is, as "jmp .+10" does? */
static bool counts_bytes(piece line)
{
    for (size_t i = 1; i + 2 < line.length; i++) {
        const char *at = line.start + i;
        if (is_blank(at[-1]) && at[0] == '.' && (at[1] == '+' || at[1] == '-') && at[2] >= '0' &&
            at[2] <= '9') {
            return true;
        }
    }
    return false;
}

/* An instruction of the compiler's own, for an atomic update that it has put no call before. */
static bool is_locked(piece line)
{
    piece rest = line, name = take_word(&rest);
    return is(name, "lock") && rest.length > 0;
}

/* Of another one the compiler's plain atomic reads and writes are not seen, so that its updates alone would say nothing. */
static bool is_instrumented(const char *text, size_t length)
{
    const char *end = memmem(text, length, ".cfi_endproc", strlen(".cfi_endproc"));
    return end != NULL && memmem(text, (size_t)(end - text), "__tsan_", strlen("__tsan_")) != NULL;
}

size_t mr_rewrite(const char *text, size_t length, FILE *out)
{
    rewriter self = {.out = out};
    for (const char *end = text + length; text < end;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        piece line = {text, stop != NULL ? (size_t)(stop - text) : (size_t)(end - text)};
        piece bare = trim(line);
        text = stop != NULL ? stop + 1 : end;
        note_unwinding(&self, bare);
        if (begins(bare, ".cfi_startproc")) {
            self.instrumented = is_instrumented(text, (size_t)(end - text));
        }
        if (begins(bare, "#APP")) {
            self.inside = true;
        } else if (begins(bare, "#NO_APP")) {
            self.inside = false;
            if (self.locked) {
                fprintf(out, "\tlock\n");
                self.locked = false;
            }
        } else if (self.inside && counts_bytes(line)) {
            return 0;
        } else if (self.inside ? bare.length == 0 || bare.start[0] != '#'
                               : begins(bare, "rdtsc") || (self.instrumented && is_locked(bare))) {
            put_line(&self, line);
            continue;
        }
        fprintf(out, "%.*s\n", (int)line.length, line.start);
    }
    return self.changed;
}

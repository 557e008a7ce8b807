/* No race: inline assembly in the forms that programs write, between threads. What the recorder puts around changes no
 * register, no flag and no memory of the function. */
#include <pthread.h>
#include <stdint.h>

enum { ROUNDS = 2, THREADS = 2 };

typedef struct pair {
    uint64_t low, high;
} __attribute__((aligned(16))) pair;

static uint64_t words[2];
static uint32_t total;
static uint16_t half;
static uint8_t byte;
static pair both;
static int wrong;

static void check(int right)
{
    if (!right) {
        __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    }
}

/* A leaf, as it has no calls for the recording: its variables lie below the stack pointer. */
__attribute__((noinline, no_sanitize("thread"))) static uint64_t leaf(uint64_t value)
{
    uint64_t own = value, added = 5;
    __asm__ volatile("lock xaddq %0, %1" : "+r"(added), "+m"(own) : : "memory", "cc");
    return own * 2 + added;
}

/* The accumulator is both part of the address and an operand of its own. */
static uint64_t through_accumulator(uint64_t *at)
{
    uint64_t result = (uint64_t)at;
    __asm__ volatile("lock; addq $1, (%0)\n\tmovq (%0), %0" : "+a"(result) : : "memory", "cc");
    return result;
}

static int flags_stay(uint32_t *word)
{
    unsigned char carry;
    __asm__ volatile("stc\n\tlock orl $0, %1\n\tmovl %1, %%ecx; setc %0"
                     : "=q"(carry), "+m"(*word)
                     :
                     : "ecx", "memory", "cc");
    return carry == 0; /* "or" clears it, and nothing sets it again */
}

static double vectors_stay(double left, double right, uint32_t *word)
{
    double sum;
    __asm__ volatile("movsd %2, %%xmm7\n\tlock incl %1 # a comment; of it\n\taddsd %3, "
                     "%%xmm7\n\tmovsd %%xmm7, %0"
                     : "=m"(sum), "+m"(*word)
                     : "m"(left), "m"(right)
                     : "xmm7", "memory", "cc");
    return sum;
}

/* The address counts from the stack pointer. */
static void from_the_stack_pointer(uint64_t *at)
{
    __asm__ volatile("movq %0, %%rcx\n\tsubq %%rsp, %%rcx; lock; incq (%%rsp,%%rcx)"
                     :
                     : "r"(at)
                     : "rcx", "memory", "cc");
}

static void on_the_stack(void)
{
    uint64_t got = 0;
    __asm__ volatile("subq $160, %%rsp\n\tmovq $3, (%%rsp); lock; negq (%%rsp)\n\tmovq (%%rsp), "
                     "%0\n\taddq $160, %%rsp"
                     : "+r"(got)
                     :
                     : "memory", "cc");
    check(got == (uint64_t)-3);
}

static int compare_pair(pair *at, pair *expected, pair value)
{
    unsigned char done;
    __asm__ volatile("lock cmpxchg16b %0\n\tsete %1"
                     : "+m"(*at), "=q"(done), "+a"(expected->low), "+d"(expected->high)
                     : "b"(value.low), "c"(value.high)
                     : "memory", "cc");
    return done;
}

static void add_to_pair(void)
{
    pair expected = {0, 0};
    while (!compare_pair(&both, &expected, (pair){expected.low + 1, expected.high + 2})) {
    }
}

/* The bit is in the second word. */
static void far_bit(void)
{
    __asm__ volatile("lock btsq %1, %0" : "+m"(words[0]) : "r"((uint64_t)70) : "memory", "cc");
}

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t one = 1;
        uint16_t old_half = 1;
        uint8_t old_byte = 7;
        __asm__ volatile("1: lock\n\txaddl %0, %1" : "+r"(one), "+m"(total) : : "memory", "cc");
        __asm__ volatile("lock; xaddw %w0, %1" : "+r"(old_half), "+m"(half) : : "memory", "cc");
        __asm__ volatile("xchgb %0, %1" : "+q"(old_byte), "+m"(byte) : : "memory");
        __asm__ volatile("mfence" : : : "memory");
        check(old_byte == 0 || old_byte == 7);
        check(leaf((uint64_t)i) == (uint64_t)(i + 5) * 2 + (uint64_t)i);
        check(through_accumulator(&words[0]) >= 1);
        check(flags_stay(&total));
        check(vectors_stay(1.5, 2.25, &total) == 3.75);
        on_the_stack();
        from_the_stack_pointer(&words[0]);
        add_to_pair();
        far_bit();
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    words[1] = 1;
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    check(total == 2 * THREADS * ROUNDS && half == THREADS * ROUNDS && byte == 7);
    check(words[0] == 2 * THREADS * ROUNDS && words[1] == (1 | 1 << 6));
    check(both.low == THREADS * ROUNDS && both.high == 2 * THREADS * ROUNDS);
    return wrong;
}

#include "mini_random.h"

static const char *const head =
    "#include <pthread.h>\n#include <semaphore.h>\n#include <stdlib.h>\n#include "
    "<time.h>\n#include <unistd.h>\n"
    "static volatile int v0, v1, v2, v3;\n"
    "static pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER, "
    "m2 = PTHREAD_MUTEX_INITIALIZER;\n"
    "static pthread_rwlock_t l0 = PTHREAD_RWLOCK_INITIALIZER, l1 = PTHREAD_RWLOCK_INITIALIZER;\n"
    "static sem_t s0, s1;\n"
    "static pthread_cond_t c0 = PTHREAD_COND_INITIALIZER, c1 = PTHREAD_COND_INITIALIZER;\n"
    "static pthread_barrier_t b0, b1;\n"
    "static pthread_t t1, t2, t3, t4;\n"
    "static const struct timespec past = {1, 0};\n";

/* Of locks, semaphores, condition variables and barriers. Locks 0 and 1 are read-write locks. */
static void write_call(FILE *file, const mini_line *line)
{
    int a = line->a, b = line->b;
    switch ((int)line->op) {
    case MINI_LOCK:
        fprintf(file, b == 2 ? "pthread_mutex_lock(&m2);\n" : "pthread_rwlock_wrlock(&l%d);\n", b);
        break;
    case MINI_UNLOCK:
        fprintf(file, b == 2 ? "pthread_mutex_unlock(&m2);\n" : "pthread_rwlock_unlock(&l%d);\n",
                b);
        break;
    case MINI_TRYLOCK:
        fprintf(file, "r%d = pthread_rwlock_trywrlock(&l%d) == 0;\n", a, b);
        break;
    case MINI_RDLOCK:
        fprintf(file, "pthread_rwlock_rdlock(&l%d);\n", b);
        break;
    case MINI_RDUNLOCK:
        fprintf(file, "pthread_rwlock_unlock(&l%d);\n", b);
        break;
    case MINI_POST:
        fprintf(file, "sem_post(&s%d);\n", b);
        break;
    case MINI_WAIT:
        fprintf(file, "sem_wait(&s%d);\n", b);
        break;
    case MINI_TRYWAIT:
        fprintf(file, "r%d = sem_trywait(&s%d) == 0;\n", a, b);
        break;
    case MINI_SLEEP:
        fprintf(file, "pthread_cond_wait(&c%d, &m2);\n", b);
        break;
    case MINI_TIMED_SLEEP:
        fprintf(file, "r%d = pthread_cond_timedwait(&c%d, &m2, &past) == 0;\n", a, b);
        break;
    case MINI_SIGNAL:
        fprintf(file, "pthread_cond_signal(&c%d);\n", b);
        break;
    case MINI_BROADCAST:
        fprintf(file, "pthread_cond_broadcast(&c%d);\n", b);
        break;
    case MINI_BARRIER:
        fprintf(file, "r%d = pthread_barrier_wait(&b%d) != 0;\n", a, b);
        break;
    default:
        break;
    }
}

static void write_line(FILE *file, unsigned number, unsigned at, const mini_line *line)
{
    int a = line->a, b = line->b, c = line->c;
    const char *atomic = "__ATOMIC_SEQ_CST";
    fprintf(file, "L%u: ", at);
    switch ((int)line->op) {
    case MINI_LOAD:
        fprintf(file, "r%d = v%d;\n", a, b);
        break;
    case MINI_STORE:
        fprintf(file, "v%d = %d;\n", b, a);
        break;
    case MINI_STORE_REG:
        fprintf(file, "v%d = r%d;\n", b, a);
        break;
    case MINI_ALOAD:
        fprintf(file, "r%d = __atomic_load_n(&v%d, %s);\n", a, b, atomic);
        break;
    case MINI_ASTORE:
        fprintf(file, "__atomic_store_n(&v%d, %d, %s);\n", b, a, atomic);
        break;
    case MINI_FETCH_ADD:
        fprintf(file, "r%d = __atomic_fetch_add(&v%d, %d, %s);\n", a, b, c, atomic);
        break;
    case MINI_EXCHANGE:
        fprintf(file, "r%d = __atomic_exchange_n(&v%d, %d, %s);\n", a, b, c, atomic);
        break;
    case MINI_CAS:
        fprintf(file, "r%d = cas(&v%d, %d);\n", a, b, c);
        break;
    case MINI_FORK:
        fprintf(file, "pthread_create(&t%d, 0, p%u_%d, 0);\n", b, number, b);
        break;
    case MINI_JOIN:
        fprintf(file, "pthread_join(t%d, 0);\n", b);
        break;
    case MINI_EXIT:
        fprintf(file, "exit(0);\n");
        break;
    case MINI_MOVE:
        fprintf(file, "r%d = %d;\n", a, c);
        break;
    case MINI_ADD:
        fprintf(file, "r%d = (r%d + %d) %% 8;\n", a, a, c);
        break;
    case MINI_IF_NE:
        fprintf(file, "if (r%d != %d) goto L%d;\n", a, c, b);
        break;
    default:
        write_call(file, line);
        break;
    }
}

static void write_thread(FILE *file, const mini_program *program, unsigned number, unsigned thread)
{
    fprintf(file, "static void *p%u_%u(void *argument)\n{\nvolatile int r0 = 0, r1 = 0;\n", number,
            thread);
    for (unsigned i = 0; i < program->count[thread]; i++)
        write_line(file, number, i, &program->lines[thread][i]);
    fprintf(file, "L%u: (void)r0; (void)r1; ", program->count[thread]);
    fprintf(file, thread == 0 ? "pthread_exit(argument);\n}\n" : "return argument;\n}\n");
}

void mini_write_c(const mini_program *programs, unsigned count, FILE *file)
{
    fputs(head, file);
    fputs(
        "static int cas(volatile int *at, int value)\n{\nint wanted = 0;\n"
        "__atomic_compare_exchange_n(at, &wanted, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\n"
        "return wanted;\n}\n",
        file);
    for (unsigned i = 0; i < count; i++)
        for (unsigned t = programs[i].threads; t-- > 0;)
            write_thread(file, &programs[i], i, t);
    fputs("int main(int argc, char **argv)\n{\nsem_init(&s0, 0, 0);\nsem_init(&s1, 0, 0);\n"
          "pthread_barrier_init(&b0, 0, 2);\npthread_barrier_init(&b1, 0, 2);\n"
          "switch (argc > 1 ? atoi(argv[1]) : 0) {\n",
          file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "case %u: p%u_0(0); break;\n", i, i);
    fputs("}\nreturn 0;\n}\n", file);
}

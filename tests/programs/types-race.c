/*
 * Variables of many types that two threads write. Predicted from every order.
 *
 * Type: machine enum32 IDLE=0 BUSY=7 BROKEN=-3
 * Type: where pointer
 * Type: ratio double
 * Type: size float
 * Type: debt int32
 * Type: mask uint32
 * Type: is_open bool
 * Type: letter char
 * Type: few int8
 * Type: port uint16
 * Type: ticks uint64
 * Type: thing.number int32
 * Type: thing.part.done bool
 * Type: thing.part.weights[1] double
 * Type: main.level int32
 *
 * The bit field and the union have none.
 *
 * Values: machine=BUSY(7) machine=BROKEN(-3) where=null ratio=-0.25 size=0.1 debt=-42 mask=4294967295
 * Values: is_open=false is_open=true letter='\n'(10) letter='z'(122) few=-5 port=65535 thing.part.done=true
 * Values: thing.part.weights[1]=1e+100 main.level=-9
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum { IDLE, BUSY = 7, BROKEN = -3 } state;

static volatile state machine = IDLE;
static const volatile int *where;
static double ratio;
static float size;
static int debt;
static unsigned mask;
static bool is_open;
static char letter;
static int8_t few;
static uint16_t port;
static _Atomic(uint64_t) ticks;
static struct {
    int number;
    struct {
        bool done;
        double weights[3];
    } part;
    unsigned bits : 3;
    union {
        int number;
        float real;
    } either;
} thing;

static void *work(void *level)
{
    machine = BROKEN;
    where = &debt;
    ratio = -0.25;
    size = 0.1f;
    debt = -42;
    mask = UINT32_MAX;
    is_open = true;
    letter = 'z';
    few = -5;
    port = UINT16_MAX;
    ticks += 3;
    thing.number = 9;
    thing.part.done = true;
    thing.part.weights[1] = 1e100;
    thing.bits = 5;
    thing.either.real = 1;
    *(int *)level = -9;
    return NULL;
}

int main(void)
{
    int level = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, work, &level);
    machine = BUSY;
    where = NULL;
    ratio = 2;
    size = 3;
    debt = 1;
    mask = 1;
    is_open = false;
    letter = '\n';
    few = 4;
    port = 1;
    ticks += 1;
    thing.number = 2;
    thing.part.done = false;
    thing.part.weights[1] = 5;
    thing.bits = 1;
    thing.either.number = 4;
    level = 4;
    pthread_join(thread, NULL);
    return 0;
}

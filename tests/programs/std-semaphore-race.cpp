/* Race on x: the semaphore lets two in. Predicted from the orders in which one comes in before
 * the other goes out; there are many sections, and they are long, so that this is likely. */
#include <semaphore>
#include <thread>

static std::counting_semaphore<4> door(2);
static int x;

static void work()
{
    for (int round = 0; round < 10; round++) {
        door.acquire();
        for (int step = 0; step < 10; step++)
            x++;
        door.release();
    }
}

int main()
{
    std::thread first(work), second(work);
    first.join();
    second.join();
    return x <= 200 ? 0 : 1;
}

/* Race on x: the semaphore lets two in. Predicted from the
 * orders in which the second comes in before the first goes out. */
#include <semaphore>
#include <thread>

static std::counting_semaphore<4> door(2);
static int x;

static void work()
{
    door.acquire();
    x++;
    door.release();
}

int main()
{
    std::thread first(work), second(work);
    first.join();
    second.join();
    return x <= 2 ? 0 : 1;
}

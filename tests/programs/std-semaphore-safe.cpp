/* No race: it lets one in. */
#include <semaphore>
#include <thread>

static std::counting_semaphore<4> door(1);
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

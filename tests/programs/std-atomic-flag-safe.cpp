/* No race: written before. */
#include <atomic>
#include <thread>

static std::atomic_flag busy = ATOMIC_FLAG_INIT;
static int x;

static void work()
{
    while (busy.test_and_set(std::memory_order_acquire)) {
        std::this_thread::yield();
    }
    x++;
    busy.clear(std::memory_order_release);
}

int main()
{
    std::thread first(work), second(work);
    first.join();
    second.join();
    return x <= 2 ? 0 : 1;
}

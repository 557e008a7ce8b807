/* No race: written when it was got. */
#include <mutex>
#include <thread>

static std::timed_mutex lock;
static int x;

int main()
{
    std::thread first([] {
        std::lock_guard<std::timed_mutex> guard(lock);
        x++;
        x++;
    });
    std::thread second([] {
        bool got = lock.try_lock();
        if (got) {
            x++;
            lock.unlock();
        }
    });
    first.join();
    second.join();
    return x <= 3 ? 0 : 1;
}

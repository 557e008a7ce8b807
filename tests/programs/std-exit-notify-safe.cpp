/* A condition variable that is told at the end of the thread, after its thread-local objects are gone. */
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static bool ready;
static int value;

struct last {
    ~last() { value++; }
};

int main()
{
    std::thread other([&] {
        static thread_local last here;
        (void)&here;
        std::unique_lock lock(mutex);
        value = 1;
        ready = true;
        std::notify_all_at_thread_exit(changed, std::move(lock));
    });
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [] { return ready; });
        value++;
    }
    other.join();
    return value == 3 ? 0 : 1;
}

/* Race on value: a thread-local object is gone after the condition was told. Predicted from every order. */
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
        ready = true;
        changed.notify_all();
    });
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [] { return ready; });
    }
    value++;
    other.join();
    return value > 2;
}

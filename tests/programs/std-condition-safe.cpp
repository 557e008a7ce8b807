/* No race: written before. */
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static bool ready;
static int result;

int main()
{
    std::thread worker([] {
        result = 42;
        {
            std::lock_guard<std::mutex> guard(lock);
            ready = true;
        }
        changed.notify_one();
    });
    int seen;
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [] { return ready; });
    }
    seen = result;
    worker.join();
    return seen == 42 || seen == 0 ? 0 : 1;
}

/* Race on result: written after the other thread was told. Predicted from every order. */
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
        {
            std::lock_guard<std::mutex> guard(lock);
            ready = true;
        }
        changed.notify_one();
        result = 42;
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

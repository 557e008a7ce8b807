/* Race on `done`. A thread looks at a list without its lock while another one, which holds the lock,
 * is about to link a node there. The witness goes through the middle of that call, and a replay has
 * to follow: when the call is over too early, the thread that looks waits for the lock, and nobody
 * may release it. The look is a race, too. */
#include <atomic>
#include <list>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::list<int> spare;
static std::atomic<int> inside;
static int done;
static int seen;

static void give()
{
    std::list<int> mine{1};
    {
        std::lock_guard<std::mutex> held(lock);
        inside++;
        for (int i = 0; i < 4; i++)
            std::this_thread::yield();
        spare.splice(spare.end(), mine);
    }
    done++;
}

int main()
{
    std::thread one(give), other(give);
    while (inside == 0)
        std::this_thread::yield();
    if (!spare.empty()) {
        std::lock_guard<std::mutex> held(lock);
        seen++;
    }
    done++;
    one.join();
    other.join();
    return 0;
}

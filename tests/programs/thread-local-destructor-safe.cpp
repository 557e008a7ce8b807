/* Destructors of thread-local objects run before the thread is joined; what they write under a mutex is shared. */
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static int total, last;

struct counter {
    std::vector<int> parts;
    ~counter()
    {
        std::lock_guard lock(mutex);
        for (int part : parts)
            total += part;
        last = (int)parts.size();
    }
};

static thread_local counter mine;

static void work(int which)
{
    mine.parts.push_back(which);
    mine.parts.push_back(which);
}

int main()
{
    std::thread first(work, 1), second(work, 2);
    first.join();
    second.join();
    last = 0;
    return total == 6 ? 0 : 1;
}

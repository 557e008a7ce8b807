/* No race: before it. */
#include <mutex>
#include <thread>

static std::recursive_mutex lock;
static int depth;

static void enter(int levels)
{
    std::unique_lock<std::recursive_mutex> guard(lock);
    if (levels > 0) {
        enter(levels - 1);
    }
    depth++;
}

int main()
{
    std::thread first(enter, 2), second(enter, 2);
    first.join();
    second.join();
    return depth <= 6 ? 0 : 1;
}

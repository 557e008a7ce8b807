/* No race: after the task. */
#include <future>

static int count;

int main()
{
    std::future<int> task = std::async(std::launch::async, [] { return ++count; });
    int result = task.get();
    count++;
    return result + count <= 4 ? 0 : 1;
}

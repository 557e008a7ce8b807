/* Race on count: changed by main while the task runs. Predicted from every order. */
#include <future>

static int count;

int main()
{
    std::future<int> task = std::async(std::launch::async, [] { return ++count; });
    count++;
    int result = task.get();
    return result + count <= 4 ? 0 : 1;
}

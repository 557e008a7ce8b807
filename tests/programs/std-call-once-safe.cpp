/* No race: counted atomically. */
#include <atomic>
#include <mutex>
#include <thread>

static std::once_flag begun;
static int table;
static std::atomic<int> uses;

static void use(int *result)
{
    std::call_once(begun, [] { table = 7; });
    uses++;
    *result = table;
}

int main()
{
    int results[2];
    std::thread first(use, &results[0]), second(use, &results[1]);
    first.join();
    second.join();
    return results[0] == results[1] ? 0 : 1;
}

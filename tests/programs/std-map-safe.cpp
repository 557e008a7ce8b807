/* Maps that are used under a lock: libstdc++ links the nodes. A node that is found is freed by the
 * other thread, in every order. The trees stay trees, whatever is put in and taken out. */
#include <map>
#include <mutex>
#include <set>
#include <thread>

static std::mutex lock;
static std::map<int, int> numbers;

static int find(int key)
{
    std::lock_guard<std::mutex> hold(lock);
    auto found = numbers.find(key);
    return found == numbers.end() ? -1 : found->second;
}

static void forget(int key)
{
    std::lock_guard<std::mutex> hold(lock);
    numbers.erase(key);
}

/* Red and black as it should be, and the same elements as in `expected`, forwards and backwards. */
typedef std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>> tree;
static bool is_right(const tree &of, const bool *expected, int count)
{
    int at = 0, seen = 0, back = 0;
    for (int element : of) {
        while (at < count && !expected[at])
            at++;
        if (at == count || element != at++)
            return false;
        seen++;
    }
    for (auto i = of.end(); i != of.begin(); --i)
        back++;
    while (at < count && !expected[at])
        at++;
    return at == count && seen == (int)of.size() && back == seen && of.__rb_verify();
}

static bool changes(unsigned random)
{
    enum { COUNT = 24 };
    bool expected[COUNT] = {};
    tree of;
    for (int i = 0; i < 150; i++) {
        random = random * 1103515245 + 12345;
        int element = (int)(random >> 16) % COUNT;
        if ((random >> 8 & 3) != 0 && i < 100)
            of._M_insert_unique(element);
        else
            of.erase(element);
        expected[element] = (random >> 8 & 3) != 0 && i < 100;
        if (!is_right(of, expected, COUNT))
            return false;
    }
    return true;
}

int main()
{
    for (int i = 0; i < 5; i++)
        numbers[i] = i;
    int seen = 0, also = 0;
    std::thread one([&] { seen = find(3); });
    std::thread two([] { forget(3); });
    std::thread three([&] { also = find(3); });
    one.join();
    two.join();
    three.join();
    return (seen == 3 || seen == -1) && (also == 3 || also == -1) && numbers.size() == 4 && changes(1) && changes(2) ? 0 : 1;
}

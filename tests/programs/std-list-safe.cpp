/* Lists that are used under a lock: libstdc++ links the nodes. A node that is read is freed by the
 * other thread, in every order. What moves nodes moves the right ones. */
#include <list>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::list<int> numbers;

static int sum()
{
    std::lock_guard<std::mutex> hold(lock);
    int all = 0;
    for (int number : numbers)
        all += number;
    return all;
}

static void forget()
{
    std::lock_guard<std::mutex> hold(lock);
    numbers.pop_front();
}

/* The same forwards, and backwards. */
static bool is(const std::list<int> &of, const std::list<int> &expected)
{
    auto other = expected.end();
    for (auto i = of.end(); i != of.begin();)
        if (other == expected.begin() || *--i != *--other)
            return false;
    return of == expected && other == expected.begin();
}

static bool moves()
{
    std::list<int> a{1, 2, 3, 4}, b, c{7};
    a.swap(b);
    bool right = is(a, {}) && is(b, {1, 2, 3, 4});
    a.swap(b);
    b.swap(a);
    right = right && is(a, {}) && is(b, {1, 2, 3, 4});
    b.swap(c);
    right = right && is(b, {7}) && is(c, {1, 2, 3, 4});
    a.swap(a);
    c.reverse();
    a.reverse();
    right = right && is(a, {}) && is(c, {4, 3, 2, 1});
    c.splice(c.begin(), b);
    a.splice(a.end(), c, std::next(c.begin()), std::prev(c.end()));
    right = right && is(b, {}) && is(a, {4, 3, 2}) && is(c, {7, 1});
    c.splice(c.begin(), c, std::next(c.begin()), c.end());
    a.sort();
    a.merge(c);
    return right && is(a, {1, 2, 3, 4, 7}) && is(c, {});
}

int main()
{
    for (int i = 0; i < 5; i++)
        numbers.push_back(i + 1);
    int seen = 0;
    std::thread one([&] { seen = sum(); });
    std::thread two([] { forget(); });
    one.join();
    two.join();
    return (seen == 15 || seen == 14) && numbers.size() == 4 && moves() ? 0 : 1;
}

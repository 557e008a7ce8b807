/* The last of several owners, in any thread, destroys; others ask whether it is alive. */
#include <memory>
#include <thread>

static int destroyed[2];

struct object {
    int value = 1, which;
    explicit object(int number) : which(number) {}
    ~object() { destroyed[which] += value; }
};

int main()
{
    auto owner = std::make_shared<object>(0);
    std::weak_ptr<object> weak(owner);
    std::shared_ptr<object> split(new object(1));
    std::thread first([owner, weak] {
        if (auto held = weak.lock())
            (void)held->value;
    });
    std::thread second([weak, split]() mutable {
        auto held = weak.lock();
        split.reset();
        if (held)
            (void)held->value;
    });
    owner.reset();
    split.reset();
    first.join();
    second.join();
    return destroyed[0] == 1 && destroyed[1] == 1 ? 0 : 1;
}

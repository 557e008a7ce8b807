/* No race: the counts of shared_ptr are relaxed when they go up, and acquire and release when they go down. */
#include <memory>
#include <thread>

static void use(std::shared_ptr<int> pointer)
{
    std::shared_ptr<int> another = pointer;
    another.reset();
}

int main()
{
    std::shared_ptr<int> pointer = std::make_shared<int>(7);
    std::weak_ptr<int> weak = pointer;
    std::thread first(use, pointer), second([weak] {
        if (std::shared_ptr<int> locked = weak.lock())
            static_cast<void>(*locked);
    });
    pointer.reset();
    first.join();
    second.join();
    return 0;
}

/* No race: published when it is complete. */
#include <atomic>
#include <thread>

struct text {
    std::size_t length = 0;
};

static std::atomic<text *> published;

int main()
{
    struct text text;
    std::size_t seen = 0;
    std::thread writer([&] {
        text.length++;
        published.store(&text, std::memory_order_release);
    });
    std::thread reader([&] {
        if (struct text *found = published.load(std::memory_order_acquire)) {
            seen = found->length;
        }
    });
    writer.join();
    reader.join();
    return seen <= text.length ? 0 : 1;
}

/* One exception, thrown again by two threads; its last owner destroys it. */
#include <exception>
#include <stdexcept>
#include <thread>

struct problem : std::runtime_error {
    using std::runtime_error::runtime_error;
    int code = 3;
    ~problem() override { code = 0; }
};

static int codes[2];

static void look(std::exception_ptr held, int which)
{
    try {
        std::rethrow_exception(held);
    } catch (const problem &found) {
        codes[which] = found.code + (int)sizeof(found.what()[0]);
    }
}

int main()
{
    std::exception_ptr held;
    try {
        throw problem("a text that is longer than any small buffer would be");
    } catch (...) {
        held = std::current_exception();
    }
    std::thread first(look, held, 0), second(look, std::move(held), 1);
    first.join();
    second.join();
    return codes[0] == 4 && codes[1] == 4 ? 0 : 1;
}

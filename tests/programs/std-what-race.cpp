/* Race on an exception itself, not on its text: read while another thread destroys it. */
#include <stdexcept>
#include <thread>

struct problem : std::runtime_error {
    using std::runtime_error::runtime_error;
    int code = 3;
    ~problem() override { code = 0; }
};

int main()
{
    static char memory[sizeof(problem)] __attribute__((aligned(16)));
    auto *shared = new (memory) problem("a text that is longer than any small buffer would be");
    std::thread other([shared] { shared->~problem(); });
    int seen = shared->code;
    other.join();
    return seen > 3;
}

/* Race on a member of an exception that two threads have caught. Predicted from every order. */
#include <exception>
#include <thread>

struct problem {
    int code = 3;
};

static void look(std::exception_ptr held)
{
    try {
        std::rethrow_exception(held);
    } catch (problem &found) {
        found.code++;
    }
}

int main()
{
    std::exception_ptr held = std::make_exception_ptr(problem());
    std::thread first(look, held), second(look, held);
    first.join();
    second.join();
    return 0;
}

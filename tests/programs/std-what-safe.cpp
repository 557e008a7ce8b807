/* Copies of an exception share its text; each thread reads its own copy and destroys it. */
#include <stdexcept>
#include <thread>

static int seen[2];

static void look(const std::runtime_error *mine, int which)
{
    const char *text = mine->what();
    seen[which] = text[0] + text[20];
    delete mine;
}

int main()
{
    auto *first_copy = new std::runtime_error("a text that is longer than any small buffer would be");
    auto *second_copy = new std::runtime_error(*first_copy);
    std::thread first(look, first_copy, 0), second(look, second_copy, 1);
    first.join();
    second.join();
    return seen[0] == seen[1] ? 0 : 1;
}

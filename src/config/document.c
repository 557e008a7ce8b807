/* document: the texts that are made from the table: the YAML file, docs/configuration.md, the lines
 * of
 * --help. */
#include "config.h"
#include "store.h"

#include <inttypes.h>
#include <string.h>

void mr_config_flag(size_t option, char *buffer, size_t size_bytes)
{
    snprintf(buffer, size_bytes, "--%s", mr_options[option].key);
    for (char *c = buffer + (size_bytes > 2 ? 2 : 0); *c != '\0'; c++)
        if (*c == '.' || *c == '_')
            *c = '-';
}

/* The default as it would stand in the file. */
static void print_default(FILE *stream, const mr_option *option)
{
    switch (option->type) {
    case MR_OPTION_BOOL:
        fputs(option->default_number != 0 ? "true" : "false", stream);
        break;
    case MR_OPTION_INT:
        fprintf(stream, "%" PRId64, option->default_number);
        break;
    case MR_OPTION_CHOICE:
        fputs(option->default_text, stream);
        break;
    case MR_OPTION_LIST:
    case MR_OPTION_TEXT:
        fprintf(stream, "\"%s\"", option->default_text);
        break;
    }
}

/* The allowed values: "0 to 60000 ms", "rf|value" … */
static void print_allowed(FILE *stream, const mr_option *option)
{
    switch (option->type) {
    case MR_OPTION_BOOL:
    case MR_OPTION_CHOICE:
        fputs(option->choices, stream);
        break;
    case MR_OPTION_INT:
        fprintf(stream, "%" PRId64 " to %" PRId64 " %s", option->low, option->high, option->unit);
        break;
    case MR_OPTION_LIST:
        fprintf(stream, "a list of %s", option->choices);
        break;
    case MR_OPTION_TEXT:
        fputs("text", stream);
        break;
    }
}

/* A text as a double-quoted YAML scalar. */
static void print_quoted(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(stream, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(stream, "\\x%02x", byte);
        else
            fputc(byte, stream);
    }
    fputc('"', stream);
}

/* Is the section of this option (the part before its dot) another one than that of the row before?
 */
static bool section_begins(size_t option, size_t *length)
{
    const char *key = mr_options[option].key;
    *length = strcspn(key, ".");
    if (key[*length] == '\0') {
        *length = 0;
        return false;
    }
    return option == 0 || strncmp(mr_options[option - 1].key, key, *length + 1) != 0;
}

static void print_yaml_row(FILE *stream, const mr_config *config, size_t i)
{
    const mr_option *option = &mr_options[i];
    char buffer[32];
    size_t section;
    fputc('\n', stream);
    if (section_begins(i, &section))
        fprintf(stream, "%.*s:\n", (int)section, option->key);
    const char *indent = section > 0 ? "  " : "";
    fprintf(stream, "%s# %s\n%s# ", indent, option->help, indent);
    print_allowed(stream, option);
    fputs("; default ", stream);
    print_default(stream, option);
    fprintf(stream, "\n%s%s: ", indent, option->key + (section > 0 ? section + 1 : 0));
    const char *value = mr_config_value_text(config, i, buffer);
    if (option->type == MR_OPTION_TEXT || option->type == MR_OPTION_LIST)
        print_quoted(stream, value);
    else
        fputs(value, stream);
    fputc('\n', stream);
}

void mr_config_print_yaml(FILE *stream, const mr_config *config)
{
    fputs(
        "# Configuration of maxrace: every key, what it means, what is allowed, and its default.\n"
        "# Use: maxrace predict -c FILE TRACE. Keys that a file leaves out keep their defaults; "
        "each\n"
        "# key is also a flag (window.size is --window-size), and flags win over the file.\n",
        stream);
    for (size_t i = 0; i < mr_option_count; i++)
        print_yaml_row(stream, config, i);
}

static void print_markdown_text(FILE *stream)
{
    fputs(
        "# Configuration\n"
        "\n"
        "<!-- Written by `maxrace config --markdown` from src/config/options.def. Do not edit. "
        "-->\n"
        "\n"
        "Every setting is a key of a YAML file (`-c FILE`, `--config FILE`) and a flag. Flags "
        "win over\n"
        "the file, wherever they stand; what neither sets has its default. `config.yaml` at the "
        "top of\n"
        "the repository holds every key with its default, and `maxrace config` prints the values "
        "in\n"
        "force as such a file.\n"
        "\n"
        "- A key `solver.timeout_ms` is the mapping `solver: { timeout_ms: 2000 }` or, in one "
        "piece,\n"
        "  `solver.timeout_ms: 2000`; its flag is `--solver-timeout-ms 2000` or\n"
        "  `--solver-timeout-ms=2000`.\n"
        "- A boolean flag is `--repair`, `--repair=true`, `--repair=false` or `--no-repair`.\n"
        "- Unknown and duplicate keys, wrong types, values out of range, anchors, aliases and "
        "tags are\n"
        "  errors with file and line (exit status 2); then nothing is run.\n"
        "- `window.overlap` must be less than `window.size`, unless `window.size` is 0.\n"
        "\n"
        "A `profile` sets several keys at once. A key that the same file sets, or a flag, wins; a "
        "profile given\n"
        "as a flag wins over the keys of a file. It changes how much effort a question gets; what "
        "that does not\n"
        "cover is unknown, and no verdict changes.\n"
        "\n",
        stream);
    mr_config_print_profiles(stream);
    fputs("\n"
          "| key | flag | allowed | default | meaning |\n"
          "|---|---|---|---|---|\n",
          stream);
}

static void print_cell(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

/* Allowed values for a table cell: words as code, with '|' escaped. */
static void print_allowed_cell(FILE *stream, const mr_option *option)
{
    if (option->choices[0] == '\0') {
        print_allowed(stream, option);
        return;
    }
    if (option->type == MR_OPTION_LIST)
        fputs("a list of ", stream);
    for (const char *word = option->choices;;) {
        int length = (int)strcspn(word, "|");
        fprintf(stream, "`%.*s`", length, word);
        if (word[length] == '\0')
            return;
        fputs(", ", stream);
        word += length + 1;
    }
}

void mr_config_print_markdown(FILE *stream)
{
    print_markdown_text(stream);
    for (size_t i = 0; i < mr_option_count; i++) {
        const mr_option *option = &mr_options[i];
        char flag[64];
        mr_config_flag(i, flag, sizeof flag);
        fprintf(stream, "| `%s` | `%s`", option->key, flag);
        if (option->short_flag[0] != '\0')
            fprintf(stream, ", `-%s`", option->short_flag);
        fputs(" | ", stream);
        print_allowed_cell(stream, option);
        fputs(" | `", stream);
        print_default(stream, option);
        fputs("` | ", stream);
        print_cell(stream, option->help);
        fputs(" |\n", stream);
    }
}

const char *mr_config_value_name(size_t i)
{
    const mr_option *option = &mr_options[i];
    switch (option->type) {
    case MR_OPTION_BOOL:
        return "";
    case MR_OPTION_INT:
        return "N";
    case MR_OPTION_CHOICE:
        return option->choices;
    case MR_OPTION_LIST:
        return "NAMES";
    case MR_OPTION_TEXT:
        break;
    }
    return option->unit;
}

void mr_config_print_flag(FILE *stream, size_t i)
{
    const mr_option *option = &mr_options[i];
    char flag[64], left[128];
    mr_config_flag(i, flag, sizeof flag);
    const char *negation = option->type == MR_OPTION_BOOL ? "[no-]" : "";
    const char *name = mr_config_value_name(i);
    const char *short_flag = option->short_flag;
    const char *comma = short_flag[0] != '\0' ? ", " : "";
    snprintf(left, sizeof left, "%s%s%s--%s%s%s%s", comma[0] != '\0' ? "-" : "", short_flag, comma,
             negation, flag + 2, name[0] != '\0' ? " " : "", name);
    fprintf(stream, "  %s\n      %s\n      (", left, option->help);
    if (option->type == MR_OPTION_LIST)
        fprintf(stream, "of %s; ", option->choices);
    if (option->type == MR_OPTION_INT)
        fprintf(stream, "%" PRId64 " to %" PRId64 " %s; ", option->low, option->high, option->unit);
    fputs("default ", stream);
    print_default(stream, option);
    fputs(")\n", stream);
}

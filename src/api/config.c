#include "config/config.h"
#include "api.h"

mr_config *mr_config_create(void)
{
    return mr_config_new();
}

void mr_config_destroy(mr_config *config)
{
    mr_config_free(config);
}

bool mr_config_assign(mr_config *config, const char *key, const char *value, mr_failure *failure)
{
    mr_error error = {0};
    return mr_failure_set(failure, mr_config_set(config, key, value, NULL, 0, &error), &error);
}

bool mr_config_read_file(mr_config *config, const char *path, mr_failure *failure)
{
    mr_error error = {0};
    return mr_failure_set(failure, mr_config_load(config, path, &error), &error);
}

size_t mr_config_get(const mr_config *config, const char *key, char *buffer, size_t size_bytes)
{
    char number[32];
    int option = mr_config_find(key);
    if (option < 0)
        return SIZE_MAX;
    return (size_t)snprintf(buffer, size_bytes, "%s",
                            mr_config_value_text(config, (size_t)option, number));
}

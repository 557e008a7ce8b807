#include "plots.h"

#include "html_embed.h"

static json_t *numbers(const double *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, json_real(values[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static mr_json plot_object(const mr_plot *plot)
{
    mr_json self = mr_json_new();
    json_t *curves = json_array();
    mr_json_put_text(&self, "title", plot->title);
    mr_json_put_text(&self, "x", plot->x_name);
    mr_json_put_text(&self, "y", plot->y_name);
    mr_json_put(&self, "logarithmic", json_boolean(plot->logarithmic));
    mr_json_put(&self, "steps", json_boolean(plot->steps));
    for (size_t i = 0; i < plot->count; i++) {
        const mr_curve *curve = &plot->curves[i];
        mr_json one = mr_json_new();
        mr_json_put_text(&one, "name", curve->name);
        mr_json_put(&one, "x", numbers(curve->x, curve->count));
        mr_json_put(&one, "y", numbers(curve->y, curve->count));
        mr_json_append(&self, curves, one);
    }
    mr_json_put(&self, "curves", curves);
    return self;
}

mr_status mr_plots_write(FILE *stream, const mr_plot_page *page, mr_error *error)
{
    mr_json self = mr_json_new();
    json_t *lines = json_array(), *plots = json_array();
    mr_json_put_text(&self, "title", page->title);
    for (size_t i = 0; i < page->line_count && self.ok; i++)
        self.ok = json_array_append_new(lines, json_string(page->lines[i])) == 0;
    for (size_t i = 0; i < page->plot_count && self.ok; i++)
        mr_json_append(&self, plots, plot_object(&page->plots[i]));
    mr_json_put(&self, "lines", lines);
    mr_json_put(&self, "plots", plots);
    mr_page_begin(stream);
    mr_status status = mr_page_json(stream, self, error);
    mr_page_end(stream);
    if (!status && ferror(stream))
        status = mr_report_write_failed(NULL, error);
    return status;
}

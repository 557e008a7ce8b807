/*
 * plots: curves as an HTML page like that of html_report.h: {"plots":…} stands in it, and its script
 * draws it. Below each plot the page has the numbers as a table.
 */
#ifndef MR_REPORT_PLOTS_H
#define MR_REPORT_PLOTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Points in the order of x. */
typedef struct mr_curve {
    const char *name;
    const double *x, *y;
    size_t count;
} mr_curve;

typedef struct mr_plot {
    const char *title, *x_name, *y_name; /* "window size (events)" */
    bool logarithmic;                    /* the axis of x; all x are positive */
    bool steps; /* y stays what it is up to the next point; else points are joined by lines */
    const mr_curve *curves;
    size_t count;
} mr_plot;

typedef struct mr_plot_page {
    const char *title;
    const char *const *lines; /* of text before the plots */
    size_t line_count;
    const mr_plot *plots;
    size_t plot_count;
} mr_plot_page;

/* MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_plots_write(FILE *stream, const mr_plot_page *page, mr_error *error);

#endif

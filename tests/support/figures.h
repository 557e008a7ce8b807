/*
 * figures: the example traces of the papers and what their text says about them, as one table.
 *
 * A row is a pair of accesses in tests/figures/<file>.std, named by their locations, which are the
 * line (or event) numbers of the figure. Each file's comment names the figure and sums up the text.
 */
#ifndef MR_TESTS_SUPPORT_FIGURES_H
#define MR_TESTS_SUPPORT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

/* The columns of a row; `derived` says which of them follow from the definitions, not from the
 * text. SyncP and hybrid always do: these papers are older, or do not speak of it. */
enum {
    MR_FIGURE_HB = 1,
    MR_FIGURE_WCP = 2,
    MR_FIGURE_SHB = 4,
    MR_FIGURE_RF = 8,
    MR_FIGURE_CP = 16,
    MR_FIGURE_FHB = 32,
    MR_FIGURE_ALL = 63,
};

typedef struct mr_figure {
    const char *file;           /* "wcp-1a": tests/figures/wcp-1a.std */
    const char *first, *second; /* locations of the two accesses, in trace order */
    bool hb_ordered, cp_ordered, wcp_ordered;
    bool fhb_race, shb_race, syncp_race;
    bool hybrid;      /* reported by hybrid: no common lock, no message */
    bool rf_race;     /* predictable race: some reordering that keeps reads-from shows it */
    unsigned derived; /* MR_FIGURE_… */
} mr_figure;

extern const mr_figure mr_figures[];
extern const size_t mr_figure_count;

#endif

#include "figures.h"

enum { HB = MR_FIGURE_HB, WCP = MR_FIGURE_WCP, SHB = MR_FIGURE_SHB, RF = MR_FIGURE_RF };

/* Pairs that HB orders are no SHB races, and pairs that HB does not order are not ordered by WCP;
 * such cells are derived even where the text says the other one. */
/* clang-format off */
const mr_figure mr_figures[] = {
    /* file         first second  HB     WCP    SHB    rf     derived */
    {"wcp-1a",      "3",  "6",    true,  true,  false, false, WCP | SHB},
    {"wcp-1b",      "1",  "8",    true,  false, false, true,  SHB},
    {"wcp-2a",      "1",  "7",    true,  true,  false, false, HB | SHB},
    {"wcp-2a",      "3",  "6",    true,  true,  false, false, HB | SHB},
    {"wcp-2b",      "1",  "6",    true,  false, false, true,  HB | SHB},
    {"wcp-2b",      "3",  "7",    true,  true,  false, false, HB | SHB | RF},
    {"wcp-3",       "3",  "12",   true,  false, false, true,  SHB},
    {"wcp-4",       "4",  "15",   true,  false, false, true,  SHB},
    {"wcp-5",       "4",  "14",   true,  false, false, false, SHB},
    {"shb-1",       "2",  "3",    false, false, true,  true,  WCP},
    {"shb-1",       "1",  "4",    false, false, false, false, WCP},
    {"shb-2",       "2",  "3",    false, false, true,  true,  WCP},
    {"shb-2",       "1",  "4",    false, false, true,  true,  WCP},
    {"shb-2-read",  "2",  "3",    false, false, true,  true,  WCP},
    {"shb-2-read",  "1",  "4",    false, false, true,  true,  WCP},
    {"shb-3",       "2",  "5",    true,  true,  false, false, WCP | SHB | RF},
    {"shb-3",       "2",  "7",    false, false, true,  true,  WCP},
    {"shb-3",       "5",  "7",    false, false, true,  true,  WCP},
    {"shb-3",       "2",  "9",    false, false, false, true,  WCP | RF},
    {"shb-3",       "5",  "9",    false, false, false, false, WCP},
    {"shb-3",       "2",  "10",   false, false, false, true,  WCP | RF},
    {"shb-3",       "5",  "10",   false, false, false, false, WCP},
    {"shb-3",       "2",  "12",   false, false, false, true,  WCP | RF},
    {"shb-3",       "5",  "12",   false, false, false, false, WCP},
    {"shb-3",       "7",  "9",    true,  true,  false, false, WCP | SHB | RF},
    {"shb-3",       "10", "12",   true,  true,  false, false, WCP | SHB | RF},
    {"shb-4",       "2",  "3",    false, false, true,  true,  WCP},
    {"shb-4",       "2",  "5",    false, false, false, false, WCP},
    {"shb-4",       "5",  "6",    false, false, true,  true,  WCP | SHB | RF},
    {"shb-4",       "4",  "11",   false, false, false, false, WCP},
    {"shb-4",       "9",  "10",   false, false, true,  true,  WCP | SHB | RF},
    {"shb-4",       "9",  "12",   false, false, false, false, WCP},
    {"shb-4",       "12", "13",   false, false, true,  true,  WCP | SHB | RF},
    {"shb-5a",      "1",  "2",    false, false, true,  true,  HB | WCP | SHB | RF},
    {"shb-5a",      "1",  "3",    false, false, false, false, WCP},
    {"shb-5b",      "1",  "2",    false, false, true,  true,  WCP},
    {"shb-5b",      "1",  "3",    false, false, true,  true,  WCP},
    {"raptor-1a",   "1",  "8",    true,  false, false, true,  SHB},
    {"raptor-1b",   "1",  "8",    true,  true,  false, false, WCP | SHB | RF},
};
/* clang-format on */

const size_t mr_figure_count = sizeof mr_figures / sizeof mr_figures[0];

#include "figures.h"

enum {
    HB = MR_FIGURE_HB,
    WCP = MR_FIGURE_WCP,
    SHB = MR_FIGURE_SHB,
    RF = MR_FIGURE_RF,
    CP = MR_FIGURE_CP,
    FHB = MR_FIGURE_FHB,
    ALL = MR_FIGURE_ALL,
};

/* Pairs that HB orders are no SHB races, and pairs that HB does not order are not ordered by WCP;
 * such cells are derived even where the text says the other one. */
/* clang-format off */
const mr_figure mr_figures[] = {
    /*                            ordered by           race of
     file         first  second  HB     CP     WCP    FHB    SHB    SyncP  hybrid rf     derived */
    {"wcp-1a",     "3",   "6",    true,  true,  true,  false, false, false, false, false, WCP | SHB | CP | FHB},
    {"wcp-1b",     "1",   "8",    true,  false, false, false, false, true,  true,  true,  SHB | FHB},
    {"wcp-2a",     "1",   "7",    true,  true,  true,  false, false, false, true,  false, HB | SHB | FHB},
    {"wcp-2a",     "3",   "6",    true,  true,  true,  false, false, false, false, false, HB | SHB | CP | FHB},
    {"wcp-2b",     "1",   "6",    true,  true,  false, false, false, true,  true,  true,  HB | SHB | FHB},
    {"wcp-2b",     "3",   "7",    true,  true,  true,  false, false, false, false, false, HB | SHB | RF | CP | FHB},
    {"wcp-3",      "3",   "12",   true,  true,  false, false, false, true,  true,  true,  SHB | FHB},
    {"wcp-4",      "4",   "15",   true,  true,  false, false, false, false, true,  true,  SHB | FHB},
    {"wcp-5",      "4",   "14",   true,  true,  false, false, false, false, true,  false, SHB | FHB},
    {"shb-1",      "2",   "3",    false, false, false, true,  true,  true,  true,  true,  WCP | CP},
    {"shb-1",      "1",   "4",    false, false, false, false, false, false, true,  false, WCP | CP},
    {"shb-2",      "2",   "3",    false, false, false, true,  true,  true,  true,  true,  WCP | CP},
    {"shb-2",      "1",   "4",    false, false, false, false, true,  true,  true,  true,  WCP | CP},
    {"shb-2-read", "2",   "3",    false, false, false, true,  true,  true,  true,  true,  WCP | CP},
    {"shb-2-read", "1",   "4",    false, false, false, false, true,  true,  true,  true,  WCP | CP},
    {"shb-3",      "2",   "5",    true,  true,  true,  false, false, false, false, false, WCP | SHB | RF | CP | FHB},
    {"shb-3",      "2",   "7",    false, false, false, true,  true,  true,  true,  true,  WCP | CP | FHB},
    {"shb-3",      "5",   "7",    false, false, false, true,  true,  true,  true,  true,  WCP | CP | FHB},
    {"shb-3",      "2",   "9",    false, false, false, false, false, false, true,  true,  WCP | RF | CP | FHB},
    {"shb-3",      "5",   "9",    false, false, false, false, false, false, true,  false, WCP | CP | FHB},
    {"shb-3",      "2",   "10",   false, false, false, false, false, false, true,  true,  WCP | RF | CP | FHB},
    {"shb-3",      "5",   "10",   false, false, false, false, false, false, true,  false, WCP | CP | FHB},
    {"shb-3",      "2",   "12",   false, false, false, false, false, false, true,  true,  WCP | RF | CP | FHB},
    {"shb-3",      "5",   "12",   false, false, false, false, false, false, true,  false, WCP | CP | FHB},
    {"shb-3",      "7",   "9",    true,  true,  true,  false, false, false, false, false, WCP | SHB | RF | CP | FHB},
    {"shb-3",      "10",  "12",   true,  true,  true,  false, false, false, false, false, WCP | SHB | RF | CP | FHB},
    {"shb-4",      "2",   "3",    false, false, false, true,  true,  true,  true,  true,  WCP | CP | FHB},
    {"shb-4",      "2",   "5",    false, false, false, false, false, false, true,  false, WCP | CP | FHB},
    {"shb-4",      "5",   "6",    false, false, false, true,  true,  true,  true,  true,  WCP | SHB | RF | CP | FHB},
    {"shb-4",      "4",   "11",   false, false, false, false, false, false, true,  false, WCP | CP | FHB},
    {"shb-4",      "9",   "10",   false, false, false, true,  true,  true,  true,  true,  WCP | SHB | RF | CP | FHB},
    {"shb-4",      "9",   "12",   false, false, false, false, false, false, true,  false, WCP | CP | FHB},
    {"shb-4",      "12",  "13",   false, false, false, true,  true,  true,  true,  true,  WCP | SHB | RF | CP | FHB},
    {"shb-5a",     "1",   "2",    false, false, false, true,  true,  true,  true,  true,  HB | WCP | SHB | RF | CP | FHB},
    {"shb-5a",     "1",   "3",    false, false, false, false, false, false, true,  false, WCP | CP | FHB},
    {"shb-5b",     "1",   "2",    false, false, false, true,  true,  true,  true,  true,  WCP | CP},
    {"shb-5b",     "1",   "3",    false, false, false, false, true,  true,  true,  true,  WCP | CP},
    {"raptor-1a",  "1",   "8",    true,  false, false, false, false, true,  true,  true,  SHB | FHB},
    {"raptor-1b",  "1",   "8",    true,  true,  true,  false, false, false, true,  false, WCP | SHB | RF | FHB},
    {"raptor-2",   "5",   "12",   true,  true,  false, false, false, false, true,  true,  ALL & ~(HB | CP)},
    {"own-1",      "4",   "12",   true,  false, false, false, false, true,  true,  true,  ALL},
    {"own-2",      "2",   "6",    true,  false, false, false, false, false, true,  true,  ALL},
    {"own-3",      "1",   "6",    true,  true,  false, false, false, true,  true,  true,  ALL},
    {"own-3",      "1",   "9",    true,  true,  true,  false, false, false, true,  false, ALL},
};
/* clang-format on */

const size_t mr_figure_count = sizeof mr_figures / sizeof mr_figures[0];

/*
 * page: the text of the HTML report, from page.html, page.css and page.js in the folder html. The Makefile makes
 * build/…/html_page.c from them, so that the program needs no file beside it.
 */
#ifndef MR_REPORT_HTML_PAGE_H
#define MR_REPORT_HTML_PAGE_H

/* page.html has the lines @STYLE@, @DATA@ and @SCRIPT@, where the others belong. */
extern const char mr_page_html[], mr_page_style[], mr_page_script[];

#endif

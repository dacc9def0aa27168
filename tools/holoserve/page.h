/* The page that a browser gets, page/page.html, and what it may do. */
#ifndef HOLOSERVE_PAGE_H
#define HOLOSERVE_PAGE_H

extern const unsigned char holoserve_page[], holoserve_page_end[];
/* The Content-Security-Policy, with a hash for each script and style of the page. */
extern const char holoserve_page_policy[];

#endif

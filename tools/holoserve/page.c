#include "page.h"

#include "page_policy.h"	/* made by page/policy from the page */

__asm__(".section .rodata\n"
	".hidden holoserve_page, holoserve_page_end\n"
	".globl holoserve_page, holoserve_page_end\n"
	"holoserve_page:\n"
	".incbin \"tools/holoserve/page/page.html\"\n"
	"holoserve_page_end:\n"
	".byte 0\n"
	".previous\n");

const char holoserve_page_policy[] = PAGE_POLICY;

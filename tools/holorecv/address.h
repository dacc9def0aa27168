/* Where a stream is: ws://HOST[:PORT][/PATH], or http:// as holoserve prints it, or HOST[:PORT]. */
#ifndef ADDRESS_H
#define ADDRESS_H

struct address {
	char host[256];		/* without the brackets of IPv6 */
	char port[6];
	char path[256];		/* "/live" where the text has none */
	char shown[270];	/* host and port as they stand in Host: and in messages */
};

/* 0, or -1 after fail_usage(). */
int address_parse(const char *text, struct address *);

#endif

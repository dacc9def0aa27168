# messages of WebSockets are for tools that ask for wslay; without the library they are left out, as those are
ifeq ($(findstring /,$(shell $(CC) -print-file-name=libwslay.so)),)
COMMON_LEFT_OUT += common/live/websocket.c
endif

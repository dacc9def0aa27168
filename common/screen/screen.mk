# the X server's outputs are for tools that ask for xcb; without the libraries they are left out, as those are
ifeq ($(shell $(PKG_CONFIG) --exists xcb xcb-randr xcb-present && echo y),)
COMMON_LEFT_OUT += common/screen/x11.c
endif

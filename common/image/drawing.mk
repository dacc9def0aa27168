# what draws is for tools that ask for cairo; without the library it is left out, as they are
ifeq ($(shell $(PKG_CONFIG) --exists cairo && echo y),)
COMMON_LEFT_OUT += common/image/drawing.c
else
$(BUILD)/common/image/annotate.o: CPPFLAGS += -DWITH_CAIRO
$(BUILD)/common/image/drawing.o: CPPFLAGS += $(shell $(PKG_CONFIG) --cflags cairo) -D'LIBCAIRO="$(call soname,cairo)"'
endif

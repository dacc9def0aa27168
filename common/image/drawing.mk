# what draws is for tools that ask for cairo; without the library it is left out, as they are
DRAWING := common/image/drawing.c common/image/libcairo.c
ifeq ($(shell $(PKG_CONFIG) --exists cairo && echo y),)
COMMON_LEFT_OUT += $(DRAWING)
else
$(DRAWING:%.c=$(BUILD)/%.o): CPPFLAGS += $(shell $(PKG_CONFIG) --cflags cairo)
$(BUILD)/common/image/libcairo.o: CPPFLAGS += -D'LIBCAIRO="$(call soname,cairo)"'
endif

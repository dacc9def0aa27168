# GenICam cameras are for tools that ask for Aravis; without it they are left out, as those are
ifeq ($(shell $(PKG_CONFIG) --exists aravis-0.8 && echo y),)
COMMON_LEFT_OUT += common/camera/aravis.c
else
$(BUILD)/common/camera/aravis.o: CPPFLAGS += $(shell $(PKG_CONFIG) --cflags aravis-0.8)
endif

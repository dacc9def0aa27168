LOADED_tiff := libtiff-4
DEBIAN_tiff := libtiff-dev
$(BUILD)/common/codec/tiff/tiff.o: CPPFLAGS += -D'LIBTIFF="$(call soname,tiff)"'
# it writes files by itself, to have them read
$(BUILD)/tests/test_image_codecs: LDLIBS += $(shell $(PKG_CONFIG) --libs libtiff-4)

# the splat alone, for tests/unit/test_splat.c
SPLAT := $(foreach name,splat splat_footprint splat_grid splat_sets splat_strip splat_view,\
	$(BUILD)/tools/mergexyz/$(name).$(firstword $(LEVELS)).o)
$(BUILD)/tests/test_splat: $(SPLAT)
$(BUILD)/tests/test_splat: LDFLAGS += $(SPLAT)

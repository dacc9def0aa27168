# its search alone, for tests/unit/test_dither3.c
DITHER3_SEARCH := $(BUILD)/tools/dither3/search.$(firstword $(LEVELS)).o
$(BUILD)/tests/test_dither3: $(DITHER3_SEARCH)
$(BUILD)/tests/test_dither3: LDFLAGS += $(DITHER3_SEARCH)

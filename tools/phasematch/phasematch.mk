# its search alone, for tests/unit/test_row_index.c
ROW_INDEX := $(BUILD)/tools/phasematch/row_index.$(firstword $(LEVELS)).o
$(BUILD)/tests/test_row_index: $(ROW_INDEX)
$(BUILD)/tests/test_row_index: LDFLAGS += $(ROW_INDEX)

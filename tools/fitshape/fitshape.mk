# its fits alone, for tests/unit/test_fitshape.c
FITSHAPE_FITS := $(foreach name,cloud fit shape start,$(BUILD)/tools/fitshape/$(name).$(firstword $(LEVELS)).o)
$(BUILD)/tests/test_fitshape: $(FITSHAPE_FITS)
$(BUILD)/tests/test_fitshape: LDFLAGS += $(FITSHAPE_FITS)

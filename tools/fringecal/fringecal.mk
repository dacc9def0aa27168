# mrcal links CHOLMOD, parts of which are under the GPL: fringecal is a program of its own (README)
LOADED_fringecal := cairo
LIBRARIES_fringecal := mrcal dogleg cholmod
DEBIAN_fringecal := libmrcal-dev libdogleg-dev libcairo2-dev
CHAIN_fringecal := no
# its solver alone, for tests/unit/test_fringecal.c
SOLVER := $(foreach name,calib_problem centres closed_form covariance noise placing placing_view \
	residuals result solve start weights,\
	$(BUILD)/tools/fringecal/$(name).$(firstword $(LEVELS)).o)
$(BUILD)/tests/test_fringecal: $(SOLVER)
$(BUILD)/tests/test_fringecal: LDLIBS += $(SOLVER) $(LIBRARY) $(LIBRARIES_fringecal:%=-l%)

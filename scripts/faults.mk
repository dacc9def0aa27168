# Every call that can fail is made to fail, one at a time (tests/faults).
FAULTS_SHIM := $(BUILD)/tests/faults.so

$(FAULTS_SHIM): tests/faults/shim.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -fno-builtin -fPIC -ftls-model=initial-exec -shared -std=gnu11 -Wall -Wextra -o $@ $< -ldl

stages: $(FAULTS_SHIM)

.PHONY: faults
faults: all $(FAULTS_SHIM)  ## fail every call of every pipeline once, and the like
	tests/faults/run --all --share $(SHARE)
	+$(MAKE) SAN=address,undefined all
	tests/faults/run --all --leaks --share $(SHARE)

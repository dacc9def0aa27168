# The fuzzers (clang): all of common/ built with sanitizers into a folder of its own.
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: fuzz fuzzers
fuzz:  ## build the fuzzers (clang)
	$(MAKE) CC=clang GPU=0 SAN=fuzzer-no-link,address,undefined BUILD=build-fuzz fuzzers

fuzzers: $(FUZZERS)

$(BUILD)/tests/fuzz_%: tests/fuzz/fuzz_%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer,address,undefined -MMD -MP -o $@ $< $(LIBRARY) $(LDLIBS)

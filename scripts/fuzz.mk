# The fuzzers (clang): all of common/ built with sanitizers into a folder of its own.
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
# seconds for all of them together
T ?= 600

.PHONY: fuzz fuzz-libraries fuzzers
fuzz:  ## run every fuzzer, T=600 seconds in all (clang)
	scripts/fuzz $(T)

fuzz-libraries:  ## run the fuzzers of images over libraries whose own code they see into, T=600 seconds in all (clang)
	scripts/fuzz --libraries $(T)

fuzzers: $(FUZZERS)

$(BUILD)/tests/fuzz_%: tests/fuzz/fuzz_%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer,address,undefined -MMD -MP -o $@ $< $(LIBRARY) $(LDLIBS) -lwslay

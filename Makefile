# fringepipe: finds everything by wildcard. `make help` lists the targets.
SHELL := bash
.SHELLFLAGS := -o pipefail -ec
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

VERSION := 0.1
PREFIX ?= /usr/local
CC := gcc
comma := ,
# SAN=address,undefined or SAN=thread builds into its own folder
SAN ?=
BUILD := build$(if $(SAN),-$(firstword $(subst $(comma), ,$(SAN))))
BIN := bin$(if $(SAN),-$(firstword $(subst $(comma), ,$(SAN))))

PACKAGES := libpng libtiff-4 libjpeg cairo zlib
CPPFLAGS += -Icommon -D_GNU_SOURCE= $(shell pkg-config --cflags $(PACKAGES))
LDLIBS += $(shell pkg-config --libs $(PACKAGES)) -lm
CFLAGS ?= -g
override CFLAGS += -std=c11 -Wall -Wextra -Wno-missing-field-initializers -O3 -fopenmp \
	-fno-math-errno -fno-trapping-math -fno-thread-jumps -ffp-contract=off \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
LDFLAGS += -fopenmp $(if $(SAN),-fsanitize=$(SAN))

calls = $(foreach name,$1,X($(name)))
LEVELS := $(if $(filter x86_64,$(shell uname -m)),v2 v3 v4,plain)
march = $(if $(filter plain,$1),,-march=x86-64-$1)

TOOLS := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard tools/*/*.c)))))
CODECS := $(sort $(basename $(notdir $(wildcard common/codec/*.c))))
COMMON := $(filter-out common/main.c,$(wildcard common/*.c)) $(wildcard common/codec/*.c)
COMMON_OBJECTS := $(COMMON:%.c=$(BUILD)/%.o)
LIBRARY := $(BUILD)/libfringepipe.a
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))

# what reads foreign bytes, for the fuzzers
FUZZED := $(wildcard common/codec/*.c) $(patsubst %,common/%.c,calib codec codec_table fail frame \
	keyline mesh meshfile meshobj meshply meshstl meta named numbers pinhole raster samples source stream \
	target)

.PHONY: all
all: $(TOOLS:%=$(BIN)/%) $(BIN)/fringepipe  ## build every tool into bin/

.PHONY: check
check: all unit  ## run all tests
	tests/run

.PHONY: unit
unit: $(UNIT)  ## build the unit tests

.PHONY: fuzz
fuzz: $(FUZZ)  ## build the fuzzers (clang)

.PHONY: samples
samples: all  ## reprocess the sample captures
	$(MAKE) -C samples BIN=$(CURDIR)/$(BIN)

.PHONY: install
install: all  ## install tools and man pages under PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(addprefix $(DESTDIR)$(PREFIX)/share/man/man,1 5 7)
	install $(TOOLS:%=$(BIN)/%) $(BIN)/fringepipe $(DESTDIR)$(PREFIX)/bin
	for page in man/*.[157]; do \
		install -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}; \
	done

.PHONY: clean
clean:  ## remove what was built
	rm -rf build build-* bin bin-* out

.PHONY: help
help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 12

# Lists that change what is linked: a stamp is rewritten only when its content differs.
define stamp
$(BUILD)/$1.list: FORCE
	@mkdir -p $$(@D)
	@echo '$2' | cmp -s - $$@ || echo '$2' > $$@
endef
.PHONY: FORCE
$(eval $(call stamp,tools,$(TOOLS)))
$(eval $(call stamp,codecs,$(CODECS)))
$(eval $(call stamp,flags,$(CC) $(CPPFLAGS) $(CFLAGS)))

$(BUILD)/common/codec_table.o: CPPFLAGS += -D'CODECS=$(call calls,$(CODECS))'
$(BUILD)/common/codec_table.o: $(BUILD)/codecs.list
$(BUILD)/common/stage.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

$(BUILD)/common/%.o: common/%.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(LIBRARY): $(COMMON_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

define at_level
$(BUILD)/tools/%.$1.o: $(BUILD)/flags.list
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $(call march,$1) -DSTAGE_LEVEL=_$1 -MMD -MP -c -o $$@ \
		tools/$$*/$$*.c
endef
$(foreach level,$(LEVELS),$(eval $(call at_level,$(level))))
$(foreach tool,$(TOOLS),$(foreach level,$(LEVELS),\
	$(eval $(BUILD)/tools/$(tool).$(level).o: tools/$(tool)/$(tool).c)))

$(BUILD)/main/%.o: common/main.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -D'TOOLS=X($*)' -MMD -MP -c -o $@ $<

$(BUILD)/fringepipe.o: common/main.c $(BUILD)/tools.list $(BUILD)/flags.list
	$(CC) $(CPPFLAGS) $(CFLAGS) -DCHAIN -D'TOOLS=$(call calls,$(TOOLS))' -MMD -MP -c -o $@ $<

$(TOOLS:%=$(BIN)/%): $(BIN)/%: $(BUILD)/main/%.o \
		$(foreach level,$(LEVELS),$(BUILD)/tools/%.$(level).o) $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BIN)/fringepipe: $(BUILD)/fringepipe.o \
		$(foreach tool,$(TOOLS),$(foreach level,$(LEVELS),\
		$(BUILD)/tools/$(tool).$(level).o)) $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/%: tests/unit/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(LIBRARY) $(LDLIBS) -lcmocka

$(BUILD)/tests/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZED)
	@mkdir -p $(@D)
	clang -g -O1 -std=c11 -fsanitize=fuzzer,address,undefined -Wno-unknown-attributes \
		-D'CODECS=$(call calls,$(CODECS))' $(CPPFLAGS) -o $@ $< \
		$(FUZZED) $(LDLIBS)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

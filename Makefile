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
	--param=vect-max-peeling-for-alignment=0 $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
LDFLAGS += -fopenmp $(if $(SAN),-fsanitize=$(SAN))

# GPU=0 builds tools that run on the processor only; so does a machine without glslc or volk
GPU ?= $(if $(and $(shell command -v glslc),$(wildcard /usr/include/volk.h)),1,0)
ifeq ($(GPU),0)
CPPFLAGS += -DNO_GPU
endif

calls = $(foreach name,$1,X($(name)))
LEVELS := $(if $(filter x86_64,$(shell uname -m)),v2 v3 v4,plain)
march = $(if $(filter plain,$1),,-march=x86-64-$1)

TOOLS := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard tools/*/*.c)))))
CODECS := $(sort $(basename $(notdir $(wildcard common/codec/*.c))))
COMMON := $(filter-out common/main.c,$(wildcard common/*.c)) $(wildcard common/codec/*.c)
COMMON += $(if $(filter 0,$(GPU)),common/gpu/none.c,$(addprefix common/gpu/,vulkan.c memory.c job.c))
SHADERS := $(if $(filter 1,$(GPU)),$(wildcard tools/*/*.comp))
SHADER_OBJECTS := $(patsubst %.comp,$(BUILD)/shaders/%.o,$(notdir $(SHADERS)))
COMMON_OBJECTS := $(COMMON:%.c=$(BUILD)/%.o) $(SHADER_OBJECTS)
LIBRARY := $(BUILD)/libfringepipe.a
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))

# what reads foreign bytes, for the fuzzers
FUZZED := $(wildcard common/codec/*.c) $(patsubst %,common/%.c,calib codec codec_table fail frame \
	handover jpegsum keyline mesh meshfile meshobj meshply meshstl meta named numbers pinhole raster samples source stream \
	target)

.PHONY: all check unit fuzz samples install clean help FORCE
all: $(TOOLS:%=$(BIN)/%) $(BIN)/fringepipe  ## build every tool into bin/
	@[ $(GPU) = 1 ] || echo "without GPU: shaders need glslc and volk.h (packages glslc, libvulkan-volk-dev)"

check: all unit  ## run all tests
	tests/run

unit: $(UNIT)  ## build the unit tests

fuzz: $(FUZZ)  ## build the fuzzers (clang)

samples: all  ## reprocess the sample captures
	$(MAKE) -C samples BIN=$(CURDIR)/$(BIN)

install: all  ## install tools and man pages under PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(addprefix $(DESTDIR)$(PREFIX)/share/man/man,1 5 7)
	install $(TOOLS:%=$(BIN)/%) $(BIN)/fringepipe $(DESTDIR)$(PREFIX)/bin
	for page in man/*.[157]; do \
		install -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}; \
	done

clean:  ## remove what was built
	rm -rf build build-* bin bin-* out

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 12

# Lists that change what is linked: a stamp is rewritten only when its content differs.
define stamp
$(BUILD)/$1.list: FORCE
	@mkdir -p $$(@D)
	@echo '$2' | cmp -s - $$@ || echo '$2' > $$@
endef
$(eval $(call stamp,tools,$(TOOLS)))
$(eval $(call stamp,codecs,$(CODECS)))
$(eval $(call stamp,shaders,$(notdir $(SHADERS))))
$(eval $(call stamp,flags,$(CC) $(CPPFLAGS) $(CFLAGS)))

$(BUILD)/common/codec_table.o: CPPFLAGS += -D'CODECS=$(call calls,$(CODECS))'
$(BUILD)/common/codec_table.o: $(BUILD)/codecs.list
$(BUILD)/common/stage.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

$(BUILD)/common/%.o: common/%.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# a shader knows px.h, gpu.glsl and its tool's own headers; the object links it in
vpath %.comp $(sort $(dir $(SHADERS)))
$(BUILD)/shaders/%.spv: %.comp
	@mkdir -p $(@D)
	glslc -O $(GLSLFLAGS) --target-env=vulkan1.2 -Icommon -Icommon/gpu -I$(dir $<) -MD -MF $@.d -o $@ $<

$(BUILD)/shaders/%.o: $(BUILD)/shaders/%.spv common/gpu/shader.c $(BUILD)/flags.list
	$(CC) $(CPPFLAGS) $(CFLAGS) -DSHADER_NAME=$* -DSHADER_FILE='"$<"' -c -o $@ common/gpu/shader.c

$(LIBRARY): $(COMMON_OBJECTS) $(BUILD)/shaders.list
	rm -f $@
	$(AR) rcs $@ $(COMMON_OBJECTS)

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

# fringepipe: finds everything by wildcard. `make help` lists the targets.
SHELL := bash
.SHELLFLAGS := -o pipefail -ec
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

VERSION := 0.1
PREFIX ?= /usr/local
CC := gcc
OBJCOPY ?= objcopy
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
# instruction levels are those of the machine that the compiler builds for
LEVELS := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),v2 v3 v4,plain)
march = $(if $(filter plain,$1),,-march=x86-64-$1)

# what lies in the rooms is built: a tool, a codec (a file or a folder), a shader, a test
TOOLS := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard tools/*/*.c)))))
CODECS := $(sort $(notdir $(basename $(wildcard common/codec/*.c)) $(patsubst %/,%,$(dir $(wildcard common/codec/*/*.c)))))
GPU_FILES := $(if $(filter 0,$(GPU)),common/gpu/none.c,$(filter-out common/gpu/none.c common/gpu/shader.c,$(wildcard common/gpu/*.c)))
COMMON := $(filter-out common/run/main.c common/gpu/%,$(wildcard common/*/*.c common/codec/*/*.c)) $(GPU_FILES)
SHADERS := $(if $(filter 1,$(GPU)),$(wildcard tools/*/*.comp))
SHADER_OBJECTS := $(patsubst %.comp,$(BUILD)/shaders/%.o,$(notdir $(SHADERS)))
COMMON_OBJECTS := $(COMMON:%.c=$(BUILD)/%.o) $(SHADER_OBJECTS)
LIBRARY := $(BUILD)/libfringepipe.a
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
tool_objects = $(foreach level,$(LEVELS),$(BUILD)/tools/$1.$(level).o)

.PHONY: all check unit samples install clean help FORCE
all: $(TOOLS:%=$(BIN)/%) $(BIN)/fringepipe  ## build every tool into bin/
	@[ $(GPU) = 1 ] || echo "without GPU: shaders need glslc and volk.h (packages glslc, libvulkan-volk-dev)"

check: all unit  ## run all tests
	tests/run

unit: $(UNIT)  ## build the unit tests

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
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 12

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

$(BUILD)/common/io/codec_table.o: CPPFLAGS += -D'CODECS=$(call calls,$(CODECS))'
$(BUILD)/common/io/codec_table.o: $(BUILD)/codecs.list
$(BUILD)/common/run/stage.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

$(BUILD)/common/%.o: common/%.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# a shader knows the rooms of common/ and its tool's own headers; the object links it in
vpath %.comp $(sort $(dir $(SHADERS)))
$(BUILD)/shaders/%.spv: %.comp
	@mkdir -p $(@D)
	glslc -O $(GLSLFLAGS) --target-env=vulkan1.2 -Icommon -I$(dir $<) -MD -MF $@.d -o $@ $<

$(BUILD)/shaders/%.o: $(BUILD)/shaders/%.spv common/gpu/shader.c $(BUILD)/flags.list
	$(CC) $(CPPFLAGS) $(CFLAGS) -DSHADER_NAME=$* -DSHADER_FILE='"$<"' -c -o $@ common/gpu/shader.c

$(LIBRARY): $(COMMON_OBJECTS) $(BUILD)/shaders.list
	rm -f $@
	$(AR) rcs $@ $(COMMON_OBJECTS)

# all .c files of a tool at one level become one object, of which only the stage can be seen
define at_level
$(BUILD)/tools/%.$1.o: tools/%.c $(BUILD)/flags.list
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $(call march,$1) -DSTAGE_LEVEL=_$1 -MMD -MP -c -o $$@ $$<
endef
$(foreach level,$(LEVELS),$(eval $(call at_level,$(level))))
define tool_at_level
$(BUILD)/tools/$1.$2.o: $(patsubst %.c,$(BUILD)/%.$2.o,$(wildcard tools/$1/*.c)) $(BUILD)/flags.list
	$$(CC) -r -nostdlib -o $$@ $$(filter %.o,$$^)
	$(OBJCOPY) --keep-global-symbol=stage_$1_$2 $$@
endef
$(foreach level,$(LEVELS),$(foreach tool,$(TOOLS),$(eval $(call tool_at_level,$(tool),$(level)))))

$(BUILD)/main/%.o: common/run/main.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -D'TOOLS=X($*)' -MMD -MP -c -o $@ $<

$(BUILD)/fringepipe.o: common/run/main.c $(BUILD)/tools.list $(BUILD)/flags.list
	$(CC) $(CPPFLAGS) $(CFLAGS) -DCHAIN -D'TOOLS=$(call calls,$(TOOLS))' -MMD -MP -c -o $@ $<

define link_tool
$(BIN)/$1: $(BUILD)/main/$1.o $(call tool_objects,$1) $(LIBRARY)
	@mkdir -p $$(@D)
	$$(CC) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach tool,$(TOOLS),$(eval $(call link_tool,$(tool))))

$(BIN)/fringepipe: $(BUILD)/fringepipe.o $(foreach tool,$(TOOLS),$(call tool_objects,$(tool))) $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/%: tests/unit/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(LIBRARY) $(LDLIBS) -lcmocka

include $(wildcard scripts/*.mk)
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

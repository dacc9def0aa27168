# fringepipe: finds everything by wildcard. `make help` lists the targets.
.DEFAULT_GOAL := all
SHELL := bash
.SHELLFLAGS := -o pipefail -ec
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

VERSION := 0.1
COMMIT := $(shell [ "$$(git rev-parse --show-toplevel 2>/dev/null)" = "$(CURDIR)" ] && git describe --always --dirty --abbrev=10)
PREFIX ?= /usr/local
CC := gcc
# that of the compiler's target
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
PKG_CONFIG ?= pkg-config
comma := ,
# SAN=address,undefined or SAN=thread: sanitizers
SAN ?=
# GPU=0 builds tools that run on the processor only; so does a machine without glslc or volk
GPU ?= $(if $(and $(shell command -v glslc),$(wildcard /usr/include/volk.h)),1,0)
# Flags on make's command line have folders of their own: build-address, build-cpu, build-clang, build-SUM.
given = $(filter command,$(origin $1))
$(foreach name,CPPFLAGS LDFLAGS,$(if $(call given,$(name)),$(error $(name) goes before make, into its environment: $(name)=... make)))
FLAGS_GIVEN := $(strip $(foreach name,CFLAGS LDLIBS LEVELS GLSLFLAGS,$(if $(call given,$(name)),$(name)=$($(name)))))
VARIANT := $(subst $() ,,$(patsubst %,-%,$(firstword $(subst $(comma), ,$(SAN))) $(if $(call given,GPU),$(patsubst 0,cpu,$(GPU:1=))) \
	$(filter-out ccache gcc,$(notdir $(CC))) $(if $(FLAGS_GIVEN),$(firstword $(shell cksum <<<'$(FLAGS_GIVEN)')))))
BUILD := build$(VARIANT)
BIN := bin$(VARIANT)
GPU := $(GPU)
PROGRAMS := $(BUILD)/programs-$(notdir $(BIN))
VERSION_OBJECT := $(PROGRAMS)/version.o
# folders of tools: `make stages` adds those of the tests
TOOL_ROOTS := tools

# instruction levels are those of the machine that the compiler builds for
LEVELS := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),v2 v3 v4,plain)
march = $(if $(filter plain,$1),,-march=x86-64-$1)

PACKAGES := libpng libdeflate libjpeg zlib
# := once, so that += asks pkg-config once, not for every object
CPPFLAGS := $(strip $(CPPFLAGS) -Icommon -D_GNU_SOURCE= $(shell $(PKG_CONFIG) --cflags $(PACKAGES)) $(if $(word 2,$(LEVELS)),,-DCPU_ONE_LEVEL=_$(LEVELS)))
LDLIBS := $(strip $(LDLIBS) $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -lm -ldl)
CFLAGS ?= -g1
# loops are written for gcc's vectoriser; & of conditions is meant where it stands; a parameter without a name is not used
COMPILER_FLAGS := $(if $(findstring clang,$(shell $(CC) --version)),-Wno-pass-failed -Wno-bitwise-instead-of-logical -Wno-psabi \
	-Wno-c2x-extensions,\
	-fno-thread-jumps --param=vect-max-peeling-for-alignment=0)
# tools read files of strangers; a sanitizer checks more than _FORTIFY_SOURCE, and they exclude each other
HARDENED := -fPIE -fstack-protector-strong $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDENED_LINK := -pie -Wl,-z,relro,-z,now,-z,noexecstack
override CFLAGS += -std=c11 -Wall -Wextra -Werror=implicit-function-declaration -Wno-missing-field-initializers \
	$(if $(SAN),-O1,-O2) -fopenmp \
	-fno-math-errno -fno-trapping-math -ffp-contract=off $(COMPILER_FLAGS) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) $(HARDENED)
LDFLAGS += -fopenmp $(if $(SAN),-fsanitize=$(SAN)) $(HARDENED_LINK)

ifeq ($(GPU),0)
CPPFLAGS += -DNO_GPU
endif

calls = $(foreach name,$1,X($(name)))
# NAME.mk of a tool or codec names libraries of its own: PACKAGES_NAME for pkg-config, LOADED_NAME for base/process.h,
# LIBRARIES_NAME for -l, their DEBIAN_NAME packages (it is left out where they are absent); PROGRAM_NAME := own: not in fringepipe.
include $(wildcard $(addsuffix /*/*.mk,$(TOOL_ROOTS)) common/*/*.mk common/codec/*/*.mk)
absent = $(strip $(foreach package,$(PACKAGES_$1) $(LOADED_$1),$(if $(shell $(PKG_CONFIG) --exists $(package) && echo y),,$(package)))\
	$(foreach library,$(LIBRARIES_$1),$(if $(findstring /,$(shell $(CC) -print-file-name=lib$(library).so)),,lib$(library))))
cflags = $(if $(PACKAGES_$1)$(LOADED_$1),$(shell $(PKG_CONFIG) --cflags $(PACKAGES_$1) $(LOADED_$1)))
libs = $(if $(PACKAGES_$1),$(shell $(PKG_CONFIG) --libs $(PACKAGES_$1))) $(LIBRARIES_$1:%=-l%)
names = $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard $1)))))
ALL_TOOLS := $(call names,$(addsuffix /*/*.c,$(TOOL_ROOTS)))
# io has the stream's and text tables'
ALL_CODECS := $(sort csv nrrd vnl xyz $(notdir $(basename $(wildcard common/codec/*.c))) $(call names,common/codec/*/*.c))
LEFT_OUT := $(strip $(foreach name,$(ALL_TOOLS) $(ALL_CODECS),$(if $(call absent,$(name)),$(name))))
TOOLS := $(filter-out $(LEFT_OUT),$(ALL_TOOLS))
CODECS := $(filter-out $(LEFT_OUT),$(ALL_CODECS))
OWN_PROGRAMS := $(foreach tool,$(TOOLS),$(if $(filter own,$(PROGRAM_$(tool))),$(tool)))
STAGES := $(filter-out $(OWN_PROGRAMS),$(TOOLS))

# what lies in the rooms is built
codec_files = $(wildcard common/codec/$1.c common/codec/$1/*.c)
GPU_FILES := $(if $(filter 0,$(GPU)),common/gpu/none.c,$(filter-out common/gpu/none.c common/gpu/shader.c,$(wildcard common/gpu/*.c)))
COMMON := $(filter-out common/run/main.c common/gpu/% common/codec/% $(COMMON_LEFT_OUT),$(wildcard common/*/*.c)) $(GPU_FILES) \
	$(foreach codec,$(CODECS),$(call codec_files,$(codec)))
COMMON_SHADERS := $(if $(filter 1,$(GPU)),$(wildcard common/*/*.comp))
COMMON_OBJECTS := $(COMMON:%.c=$(BUILD)/%.o) $(patsubst %.comp,$(BUILD)/shaders/%.o,$(notdir $(COMMON_SHADERS)))
LIBRARY := $(BUILD)/libfringepipe.a
# test_NAME.c, test_NAME_SUBJECT.c: a unit test of the files of the tool NAME
unit_tool = $(firstword $(filter $(ALL_TOOLS),$(subst _, ,$1)))
UNIT := $(foreach test,$(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c)),\
	$(if $(filter $(call unit_tool,$(test)),$(LEFT_OUT)),,$(BUILD)/tests/$(test)))
tool_files = $(wildcard $(addsuffix /$1/*.$2,$(TOOL_ROOTS)))
SHADERS := $(COMMON_SHADERS) $(if $(filter 1,$(GPU)),$(wildcard $(addsuffix /*/*.comp,$(TOOL_ROOTS))))
twice = $(strip $(foreach name,$(sort $(notdir $(SHADERS))),$(if $(word 2,$(filter %/$(name),$(SHADERS))),$(name))))
$(if $(twice),$(error two shaders have the same name: $(foreach name,$(twice),$(filter %/$(name),$(SHADERS)))))
tool_shaders = $(if $(filter 1,$(GPU)),$(patsubst %.comp,$(BUILD)/shaders/%.o,$(notdir $(call tool_files,$1,comp))))
tool_objects = $(BUILD)/stages/$1.o $(call tool_shaders,$1)

.PHONY: all check unit samples install install-debug clean help FORCE
all: $(TOOLS:%=$(BIN)/%) $(BIN)/fringepipe  ## build every tool into bin/
	$(say_missing)

check: all unit stages  ## run all tests
	tests/run

unit: $(UNIT)  ## build the unit tests

samples: all  ## reprocess the sample captures
	$(MAKE) -C samples BIN=$(CURDIR)/$(BIN)

install: STRIP ?= -s
install: install-debug  ## install tools, man pages and completions of bash and zsh under PREFIX

install-debug: all  ## the same, with symbols
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/fringepipe share/man/man1 share/man/man5 share/man/man7)
	install $(STRIP) $(BIN)/fringepipe $(OWN_PROGRAMS:%=$(BIN)/%) $(DESTDIR)$(PREFIX)/bin
	install scripts/fringebatch $(DESTDIR)$(PREFIX)/bin
	for tool in $(STAGES); do ln -sf fringepipe $(DESTDIR)$(PREFIX)/bin/$$tool; done
	install -m 644 samples/recipe.mk $(DESTDIR)$(PREFIX)/share/fringepipe
	for page in $(filter-out $(LEFT_OUT:%=man/%.1),$(wildcard man/*.[157])); do \
		install -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}; \
	done
	$(MAKE) --no-print-directory install-completion

clean:  ## remove what was built
	rm -rf build build-* bin bin-* out

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 16
	@echo "tools that all builds:" $(TOOLS) fringepipe | fold -s -w 100

# Lists that change what is linked: a stamp is rewritten only when its content differs.
define stamp
$2: FORCE
	@mkdir -p $$(@D)
	@echo '$3' | cmp -s - $$@ || echo '$3' > $$@
endef
$(eval $(call stamp,,$(PROGRAMS)/stages.list,$(STAGES)))
$(eval $(call stamp,,$(BUILD)/codecs.list,$(CODECS)))
$(eval $(call stamp,,$(BUILD)/common.list,$(COMMON)))
$(eval $(call stamp,,$(BUILD)/version.list,$(VERSION) $(COMMIT)))
$(eval $(call stamp,,$(BUILD)/flags.list,$(CC) $(CPPFLAGS) $(CFLAGS)))
$(eval $(call stamp,,$(BUILD)/shaders/flags.list,$(GLSLFLAGS)))
$(eval $(call stamp,,$(PROGRAMS)/flags.list,$(CC) $(LDFLAGS) $(LDLIBS)))

$(BUILD)/common/io/codec.o: CPPFLAGS += -D'CODECS=$(call calls,$(CODECS))'
$(BUILD)/common/io/codec.o: $(BUILD)/codecs.list
# Order-only where it is linked: a new commit alone does not relink.
$(VERSION_OBJECT): $(BUILD)/version.list $(BUILD)/flags.list
	@mkdir -p $(@D)
	echo 'const char program_version[] = "$(VERSION)$(if $(COMMIT), (commit $(COMMIT)))";' | $(CC) $(CFLAGS) -c -o $@ -x c -

# loops over pixels, and all of common, which has them in many of its files
HOT := $(if $(SAN),,-O3)
$(BUILD)/common/%.o: common/%.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(HOT) -MMD -MP -c -o $@ $<

$(LIBRARY): $(COMMON_OBJECTS) $(BUILD)/common.list
	rm -f $@
	$(AR) rcs $@ $(COMMON_OBJECTS)

$(PROGRAMS)/%.o: common/run/main.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -D'TOOLS=X($*)' -MMD -MP -c -o $@ $<

$(PROGRAMS)/fringepipe.o: common/run/main.c $(PROGRAMS)/stages.list $(BUILD)/flags.list
	$(CC) $(CPPFLAGS) $(CFLAGS) -DCHAIN -D'TOOLS=$(call calls,$(STAGES))' -MMD -MP -c -o $@ $<

$(BIN)/fringepipe: LDLIBS += $(foreach tool,$(STAGES),$(call libs,$(tool)))
$(BIN)/fringepipe: $(foreach tool,$(STAGES),$(call tool_objects,$(tool)))
$(OWN_PROGRAMS:%=$(BIN)/%) $(BIN)/fringepipe: $(BIN)/%: $(PROGRAMS)/%.o $(LIBRARY) $(PROGRAMS)/flags.list | $(VERSION_OBJECT)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(VERSION_OBJECT) $(LIBRARY) $(LDLIBS)

# the names of the one program
$(STAGES:%=$(BIN)/%): $(BIN)/fringepipe
	ln -sf fringepipe $@

$(BUILD)/tests/%: tests/unit/%.c $(LIBRARY) | $(VERSION_OBJECT)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(filter-out $(LIBRARY),$(filter %.a,$^)) $(VERSION_OBJECT) $(LIBRARY) $(LDLIBS) -lcmocka

include $(wildcard scripts/*.mk)
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

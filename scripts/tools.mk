# the name of -lNAME for base/process.h
soname = $(shell readelf -d $$($(CC) -print-file-name=lib$1.so) | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')

# Hot loops, NAME_rows.c, are compiled for each instruction level (base/cpu_level.h), the other files of a tool once.
define at_level
$(BUILD)/%.$1.o: %.c $(BUILD)/flags.list
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $$(HOT) $(call march,$1) -DSTAGE_LEVEL=_$1 -MMD -MP -c -o $$@ $$<
endef
$(BUILD)/%.o: %.c $(BUILD)/flags.list
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(foreach level,$(LEVELS),$(eval $(call at_level,$(level))))

# all objects of a tool become one, of which only the stage can be seen
at_levels = $(foreach level,$(LEVELS),$(patsubst %.c,$(BUILD)/%.$(level).o,$1))
objects_of = $(patsubst %.c,$(BUILD)/%.o,$(filter-out %_rows.c,$(call tool_files,$1,c))) $(call at_levels,$(filter %_rows.c,$(call tool_files,$1,c)))
define tool_object
$(BUILD)/stages/$1.o: $(call objects_of,$1) $(BUILD)/flags.list $(BUILD)/stages/$1.list
	@mkdir -p $$(@D)
	$$(CC) -r -nostdlib -o $$@ $$(filter %.o,$$^)
	$$(OBJCOPY) --keep-global-symbol=stage_$1 $$@
endef
define tool_rules
$(call objects_of,$1): CPPFLAGS += $(call cflags,$1)
$(if $(filter $1,$(OWN_PROGRAMS)),$(BIN)/$1: LDLIBS += $(call libs,$1))
$(if $(filter $1,$(OWN_PROGRAMS)),$(BIN)/$1: $(call tool_objects,$1))
endef
$(foreach tool,$(TOOLS),$(eval $(call tool_rules,$(tool)))\
	$(eval $(call stamp,,$(BUILD)/stages/$(tool).list,$(call tool_files,$(tool),c))))
$(foreach tool,$(TOOLS),$(eval $(call tool_object,$(tool))))
$(foreach codec,$(CODECS),$(if $(PACKAGES_$(codec))$(LOADED_$(codec)),$(eval \
	$(patsubst %.c,$(BUILD)/%.o,$(call codec_files,$(codec))): CPPFLAGS += $(call cflags,$(codec)))))
LDLIBS += $(foreach codec,$(CODECS),$(call libs,$(codec)))

# a unit test takes from its tool's archive what it needs
define tool_archive
$(BUILD)/tests/$1.a: $(call objects_of,$1) $(BUILD)/stages/$1.list
	@mkdir -p $$(@D)
	rm -f $$@
	$$(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach tool,$(sort $(foreach test,$(UNIT),$(call unit_tool,$(notdir $(test))))),$(eval $(call tool_archive,$(tool)))\
	$(foreach test,$(filter $(BUILD)/tests/test_$(tool) $(BUILD)/tests/test_$(tool)_%,$(UNIT)),\
	$(eval $(test): $(BUILD)/tests/$(tool).a)$(eval $(test): LDLIBS += $(call libs,$(tool)))))

# a shader knows the rooms of common/ and its tool's own headers; the object links it in
vpath %.comp $(sort $(dir $(SHADERS)))
$(BUILD)/shaders/%.spv: %.comp $(BUILD)/shaders/flags.list
	@mkdir -p $(@D)
	glslc -std=450 -O $(GLSLFLAGS) --target-env=vulkan1.2 -Icommon -I$(dir $<) -MD -MF $@.d -o $@ $<
	sed -n 's/^[^:]*: //; s/ /:\n/g; s/$$/:/p' $@.d >>$@.d	# a file that is gone needs no rule, as with gcc's -MP

$(BUILD)/shaders/%.o: $(BUILD)/shaders/%.spv common/gpu/shader.c $(BUILD)/flags.list
	$(CC) $(CPPFLAGS) $(CFLAGS) -DSHADER_NAME=$* -DSHADER_FILE='"$<"' -c -o $@ common/gpu/shader.c

.PHONY: stages
stages: all unit  ## build the tools and the tests' own stages into build/bin-stages/
	$(MAKE) TOOL_ROOTS="tools tests/stages" BIN=$(BUILD)/bin-stages all

# what a build does without
define say_missing
@[ $(GPU) = 1 ] || echo "without GPU: shaders need glslc and volk.h (packages glslc, libvulkan-volk-dev)"
@[ -z "$(filter x86_64-%,$(shell $(CC) -dumpmachine))" ] || \
	$(CC) -fsyntax-only -include isa-l/igzip_lib.h -x c /dev/null 2>/dev/null || \
	echo "without ISA-L: PNG files of noise take 1.7 times as long to read (package libisal-dev)"
@$(foreach name,$(LEFT_OUT),echo "left out: $(name) needs $(call absent,$(name)) (package $(DEBIAN_$(name)))";)
endef

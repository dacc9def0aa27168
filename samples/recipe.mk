# An archive of captures, reprocessed: captures/NAME/* become out/NAME/depth.tif, for every folder NAME that there is,
# in parallel, and each again only when its images, the recipe, files that it names or the tools have changed. Copy this
# file; what is yours stands between the rulers.
#
#   make -f recipe.mk -j4 -k                 everything, on this machine
#   make -s -f recipe.mk stale               the names of the sets that would be made again; makes nothing
#   fringebatch recipe.mk                    the same over a cluster, see fringebatch(1)
#
# CAPTURES, OUT and RESULT name other folders and another result: make -f recipe.mk OUT=results RESULT=points.ply
# What a set's tools print is in out/NAME/log. When a set fails, as with --strict where a tool warns, there is no
# out/NAME/depth.tif: the last good one becomes depth.old.tif, and one that was written although the set failed becomes
# depth.failed.tif. Names that make cannot carry are errors: those of folders and images that contain a blank, a control
# character, $ : | * ? [ ] or a backslash, and images whose name ends in a parenthesis.
SHELL := bash
.SHELLFLAGS := -o pipefail -c
.DELETE_ON_ERROR:
.ONESHELL:
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules --no-print-directory

CAPTURES ?= captures
OUT ?= out
RESULT ?= depth.tif

# ---- yours: $(images) are a set's images, $(set) is its name, $(result) the result ---------------
# Several commands stand in several lines between `define recipe` and `endef`; the first that fails ends the set.

recipe = fringepipe phasewrap -p 60,66 --as vector $(images) , gauss , unwrap2f , median , \
	phase2depth --ref ideal -o $(result)

# --------------------------------------------------------------------------------------------------

# Words of the shell, each between quotes: names are strangers'.
quoted = $(foreach word,$1,'$(subst ','\'',$(word))')
set = $(patsubst $(OUT)/%/$(RESULT),%,$@)
images = $(call quoted,$(filter-out $(CAPTURES)/$(set)/. FORCE $(OUT)/recipe,$^))
# as -o wants it, where a percent sign begins a number
result = $(subst %,%%,$(call quoted,$@))
out = $(call quoted,$(@D))
# where a result of the last run, or of a set that failed, is put: depth.old.tif
aside = $(call quoted,$(basename $@).$1$(suffix $@))

places := $(CAPTURES) $(OUT) $(RESULT)
ifneq ($(words $(places))$(findstring %,$(places)),3)
$(error CAPTURES, OUT and RESULT must be a name each, without blanks and %: '$(CAPTURES)' '$(OUT)' '$(RESULT)')
endif

# SETS=FILE: only those that the file names, a line each; else all.
ifdef SETS
names := $(file <$(SETS))
else
# make treats x(1) as a member of an archive
close := )
bad := $(shell cd $(call quoted,$(CAPTURES)) 2>/dev/null && LC_ALL=C find . -mindepth 1 -maxdepth 2 \
	\( -name '*[]$$:|\\*?[[:space:][:cntrl:]]*' -o -path './*/*$(close)' \) -printf '%P' -quit 2>/dev/null | tr -c '[:print:]' '?')
ifneq ($(bad),)
$(error $(CAPTURES)/$(bad): make cannot carry this name: it contains a blank, a control character, $$ : | * ? [ ] or a \
	backslash, or is an image's and ends in $(close))
endif
names := $(patsubst $(CAPTURES)/%/.,%,$(wildcard $(CAPTURES)/*/.))
endif
results := $(addprefix $(OUT)/,$(addsuffix /$(RESULT),$(names)))
ifeq ($(names),)
$(error $(or $(SETS),$(CAPTURES)): has no sets; this is $(CURDIR))
endif
ifneq ($(filter recipe captures,$(names)),)
$(error $(CAPTURES)/$(firstword $(filter recipe captures,$(names))): rename this set: in $(OUT) this is the name of a file)
endif

# What fringebatch asks.
ifeq ($(MAKECMDGOALS),where)
where: ; $(info $(OUT))$(info $(CAPTURES))$(info $(RESULT))$(info $(words $(names)))
else
results := $(subst ;,\;,$(results))

.PHONY: all stale
all stale: $(results)

# What is no file by itself is kept in one that is written again only where it differs: the recipe's text, as it stands
# and with its variables, the sums of the files that it names, and the tools' version. A task of fringebatch takes it as
# it is, since its own machine's clock may be another; by the goal `same` it asks once whether it would write the same.
ifndef RECIPE_IS_WRITTEN
version := $(shell fringepipe --version)
ifeq ($(version),)
$(error fringepipe does not run: is it on PATH?)
endif
# words of the recipe that are names of files: what shells and options put around them is taken off
define marks
= , ; ' " ` < > ( ) { } | &
endef
text := $(value recipe) \# $(recipe)
named := $(text)
$(foreach mark,$(marks),$(eval named := $$(subst $$(mark), ,$$(named))))
named := $(sort $(wildcard $(filter-out -%,$(named))))
text += \# $(version)$(if $(named), $(shell find -L $(call quoted,$(named)) -maxdepth 0 -type f -exec cksum {} +))
# whatever the umask
write = $(file >$1,$2)$(shell chmod o-w $(call quoted,$1))
# Nothing is written where another user may have put links.
foreign := $(shell umask o-w; mkdir -p $(call quoted,$(OUT)); LC_ALL=C find $(call quoted,$(OUT) $(OUT)/. $(OUT)/recipe \
	$(OUT)/captures) -maxdepth 0 \( ! -uid $$EUID ! -uid 0 -printf '%p: belongs to another user, %u:' -o \
	! -type l -perm -o+w -printf '%p: everyone may write into it: chmod -R o-w it, or' -o \
	-type l ! -path $(call quoted,$(OUT)) -printf '%p: is a link: remove it, or' \) -quit 2>/dev/null)
ifneq ($(foreign),)
$(error $(foreign) take another OUT)
endif
# Folders of captures that have had their results in $(OUT): of two sets of one name, times alone would choose.
captures := $(patsubst %/,%,$(CAPTURES))
ifeq ($(realpath $(captures)),$(realpath $(OUT)))
$(error $(OUT): is the folder of the captures: take another OUT)
endif
known := $(sort $(if $(wildcard $(OUT)/captures),$(file <$(OUT)/captures)))
others := $(foreach other,$(known),$(if $(filter-out $(realpath $(captures)),$(realpath $(other))),$(other)))
made := $(foreach name,$(if $(others),$(names)),$(if $(wildcard $(OUT)/$(name)/$(RESULT)),$(name)))
twice := $(firstword $(foreach other,$(others),$(patsubst %/.,%,$(wildcard $(patsubst %,$(other)/%/.,$(made))))))
ifneq ($(twice),)
$(error $(twice) and $(captures)/$(notdir $(twice)) have one result, $(OUT)/$(notdir $(twice))/$(RESULT): take another \
	OUT, or remove the one of them and $(OUT)/captures)
endif
ifeq ($(filter $(captures),$(known)),)
$(call write,$(OUT)/captures,$(strip $(known) $(captures)))
endif
ifneq ($(file <$(OUT)/recipe),$(text))
ifeq ($(MAKECMDGOALS),same)
$(error the recipe, its variables or a file that it names are here not what $(OUT)/recipe says)
endif
$(call write,$(OUT)/recipe,$(text))
endif
.PHONY: same
same: ;
endif

# A set that fails leaves out/NAME/failed: its exit status, the last line of what was printed, and the state of its
# images. A sum (of --by content) is of the bytes from before the tools read them. Many sets at a time, as -j asks for,
# keep all processors busy with a thread each. Nothing is written through a link: old files are removed or renamed first,
# and new ones opened with `set -C`.
sum = { cksum -- /dev/null "$$@" || :; cksum <$(call quoted,$(OUT)/recipe); } 2>/dev/null
state = { stat -L -c '%n %s %.Y' -- /dev/null "$$@" 2>/dev/null | sed 1d; cksum <$(call quoted,$(OUT)/recipe); }
work = $(if $(images),$(recipe),echo $(call quoted,$(CAPTURES)/$(set): holds no images); false)
define run
$(if $(filter -j%,$(MAKEFLAGS)),export OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1})
[ ! -L $(out) ] || { echo $(out)": is a link, and nothing is written through it" >&2; exit 1; }
[ -d $(out) ] || mkdir -p $(out) || exit
set -C -- $(images)
rm -f -- $(out)/{log,failed,sum.new} $(call aside,failed)
[ ! -e $(call quoted,$@) ] && [ ! -L $(call quoted,$@) ] || mv -fT -- $(call quoted,$@) $(call aside,old) || exit
said=$$({ set -e
for file; do
	[ -f "$$file" ] || [ -d "$$file" ] || [ ! -e "$$file" ] || { echo "$$file: is neither a file nor a folder"; exit 1; }
done
$(if $(sums),$(sum) >$(out)/sum.new)
set +C
$(work)
} </dev/null 2>&1 | tail -c 60000)
status=$$?
if [ "$$said" ]; then said=$$(tail -n 100 <<<"$$said"); printf '%s\n' "$$said" >$(out)/log; fi
if [ $$status -eq 0 ] && [ ! -e $(call quoted,$@) ]; then
	status=1 said="the recipe has ended without an error and without a new $(RESULT)"
fi
if [ $$status -eq 0 ]; then
	rm -f -- $(call aside,old)
	$(if $(sums),mv $(out)/sum.new $(out)/sum)
	[ -z "$$said" ] || printf '%s\n' "$$said"
else
	[ ! -e $(call quoted,$@) ] || mv -fT -- $(call quoted,$@) $(call aside,failed)
	printf '%s\n' "$${said:=ended without a message}" >&2
	said=$${said%$$'\n'*: --strict: *}	# the warning itself
	{ echo $$status; printf '%s\n' "$${said##*$$'\n'}"; $(state); } >$(out)/failed
	exit 1
fi
endef

# The folder itself is there for images that come or go. An image or folder that has gone meanwhile, or a link to what
# is not there, makes its set stale, whose tools then say so.
.PHONY: FORCE
needs = $(or $(wildcard $(CAPTURES)/$(set)/.),FORCE) $(wildcard $(CAPTURES)/$(set)/*) $(OUT)/recipe
$(subst %,\%,$(results)): $$(needs)
	$(if $(filter stale,$(MAKECMDGOALS)),$(info $(set)),@$(run))
$(OUT)/recipe: ;
$(CAPTURES)/%: ;
endif

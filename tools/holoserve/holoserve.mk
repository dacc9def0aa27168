LIBRARIES_holoserve := wslay
DEBIAN_holoserve := libwslay-dev
# the page and its policy become part of the tool
HOLOSERVE_POLICY := $(BUILD)/tools/holoserve/page_policy.h
HOLOSERVE_PAGE := tools/holoserve/page/page.html
$(LEVELS:%=$(BUILD)/tools/holoserve/page.%.o): CPPFLAGS += -I$(BUILD)/tools/holoserve
$(LEVELS:%=$(BUILD)/tools/holoserve/page.%.o): $(HOLOSERVE_PAGE) $(HOLOSERVE_POLICY)
$(HOLOSERVE_POLICY): $(HOLOSERVE_PAGE) tools/holoserve/page/policy
	@mkdir -p $(@D)
	tools/holoserve/page/policy $< >$@

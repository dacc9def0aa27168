LIBRARIES_holoserve := wslay
DEBIAN_holoserve := libwslay-dev
# the page and its policy become part of the server
HOLOSERVE_POLICY := $(BUILD)/tools/holoserve/page_policy.h
HOLOSERVE_PAGE := tools/holoserve/page/page.html
$(BUILD)/tools/holoserve/server.o: CPPFLAGS += -I$(BUILD)/tools/holoserve
$(BUILD)/tools/holoserve/server.o: $(HOLOSERVE_PAGE) $(HOLOSERVE_POLICY)
$(HOLOSERVE_POLICY): $(HOLOSERVE_PAGE) tools/holoserve/page/policy
	@mkdir -p $(@D)
	tools/holoserve/page/policy $< >$@

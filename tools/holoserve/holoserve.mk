LIBRARIES_holoserve := wslay
DEBIAN_holoserve := libwslay-dev
# the page, with what it shares with other pages, and its policy become part of the server
HOLOSERVE_BUILT := $(BUILD)/tools/holoserve
$(HOLOSERVE_BUILT)/server.o: CPPFLAGS += -I$(HOLOSERVE_BUILT)
$(HOLOSERVE_BUILT)/server.o: $(HOLOSERVE_BUILT)/holoserve_page.html $(HOLOSERVE_BUILT)/page_policy.h
$(HOLOSERVE_BUILT)/holoserve_page.html: tools/holoserve/page/page.html common/live/embed $(wildcard common/live/*.html common/live/*.css common/live/*.js)
	@mkdir -p $(@D)
	common/live/embed $< >$@
$(HOLOSERVE_BUILT)/page_policy.h: $(HOLOSERVE_BUILT)/holoserve_page.html tools/holoserve/page/policy
	tools/holoserve/page/policy $< >$@

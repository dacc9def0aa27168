# The manual as HTML, with a viewer of depth videos that works without a server.
HTML ?= out/html

.PHONY: html
html: all  ## write the manual as HTML into out/html, or the folder HTML
	PATH="$(abspath $(BIN)):$$PATH" scripts/html/generate man $(HTML)
	@echo "$(HTML)/index.html"

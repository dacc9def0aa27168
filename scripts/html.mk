# The manual as HTML, with a viewer of depth videos that works without a server.
HTML ?= out/html

.PHONY: html html-mandoc
html-mandoc:
	@command -v mandoc >/dev/null || { echo "html: mandoc is missing (package mandoc)" >&2; exit 1; }
html: html-mandoc all  ## write the manual as HTML, with a 3-D viewer of depth videos, into out/html or the folder HTML
	PATH="$(abspath $(BIN)):$$PATH" scripts/html/generate man "$(HTML)"
	@echo "$(HTML)/index.html"

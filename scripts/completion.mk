# Completions of bash and zsh, made from what the tools themselves say; part of `make install`.
BASH_COMPLETIONS := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS := $(DESTDIR)$(PREFIX)/share/zsh/site-functions

.PHONY: install-completion
install-completion:
	install -d $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS)
	scripts/completion/generate bash $(BIN) $(TOOLS) >$(BASH_COMPLETIONS)/fringepipe
	for tool in $(TOOLS); do ln -sf fringepipe $(BASH_COMPLETIONS)/$$tool; done
	scripts/completion/generate zsh $(BIN) $(TOOLS) >$(ZSH_COMPLETIONS)/_fringepipe

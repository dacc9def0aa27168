# The tables of man pages that scripts/bench makes, and the tables of the papers.
NIGHTLY += tables

.PHONY: tables
tables: stages  ## are the tables of man pages what is measured; the papers' tables (out/papers.txt)
	mkdir -p out
	scripts/bench --quick papers >out/papers.txt
	scripts/bench --check accuracy holo

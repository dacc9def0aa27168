# What a release hands out, in out/: a tarball and Debian packages. VERSION at the top of Makefile names all of it.
NIGHTLY += packages

.PHONY: dist deb packages
# Names are sorted, times are the commit's, owners are 0: the same commit gives the same bytes.
dist: TARBALL := out/fringepipe-$(VERSION).tar.xz
dist:  ## write out/fringepipe-VERSION.tar.xz of the last commit
	@[ -e .git ] || { echo "make dist needs the git tree" >&2; exit 1; }
	@git diff --quiet HEAD || { echo "make dist: commit first, the tarball is of the last commit" >&2; exit 1; }
	mkdir -p out
	git -c tar.umask=0022 archive --prefix=fringepipe-$(VERSION)/ HEAD | xz --threads=1 >$(TARBALL).part
	mv $(TARBALL).part $(TARBALL)

deb:  ## build Debian packages in out/ (debhelper)
	scripts/deb $(VERSION) out

packages:  ## build the packages twice, compare them, lintian; install, upgrade and purge them on a bare Debian 12
	tests/nightly/packages

load helpers

# The EXAMPLES of every man page and the tutorial of fringepipe.7 are run as they stand, in order, in one
# folder per page. `.Dl command` is one command; a line that ends in \e goes on in the next.

commands() {		# page
	awk '/^\.Sh/ { on = ($2 == "EXAMPLES" || $2 == "TUTORIAL") }
		/^\.Ss/ { on = 0 }
		on && /^\.Dl / { print substr($0, 5) }' "$1" |
		sed -e 's/\\e$/\\/' -e 's/\\&//g' -e 's/\\(aq/'"'"'/g' -e 's/\\-/-/g' -e 's/\\e/\\/g'
}

run_page() {
	local page=$1
	mkdir -p "$work/$(basename "$page")"
	cd "$work/$(basename "$page")" || return 1
	cp "$top"/samples/block.yml .
	commands "$page" >script
	bash -e -o pipefail script >said 2>&1 || { echo "$page:"; cat script said; return 1; }
}

@test "examples: every man page's run as they stand" {
	failed=0
	for page in "$top"/man/*.[157]; do
		(run_page "$page") || failed=1
	done
	[ "$failed" -eq 0 ]
}

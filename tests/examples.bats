load helpers

# bash runs the EXAMPLES of every man page and the tutorial of fringepipe.7 unchanged, in order, in one
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
	[[ $page == *.5 || -s script ]] || { echo "$page has no examples"; return 1; }
	bash -e -o pipefail script >messages 2>&1 || { echo "$page:"; cat script messages; return 1; }
}

@test "examples: every man page's run as they stand" {
	failed=0
	for page in "$top"/man/*.[157]; do
		(run_page "$page") || failed=1
	done
	[ "$failed" -eq 0 ]
}

# The worked examples on captures of others are literal blocks, each one command or several lines of them,
# that name the files of one folder.
blocks() {		# page, title of the subsection
	awk -v title="$2" '/^\.Ss/ { on = ($0 == ".Ss " title) }
		/^\.Ed/ { inside = 0 }
		on && inside { print }
		/^\.Bd/ { inside = 1 }' "$1" |
		sed -e 's/\\e$/\\/' -e 's/\\&//g' -e 's/\\(aq/'"'"'/g' -e 's/\\-/-/g' -e 's/\\e/\\/g'
}

run_blocks() {		# title, files that must come out ...
	local title=$1
	shift
	blocks "$top"/man/fringepipe.7 "$title" >script
	bash -e -o pipefail script >messages 2>&1 || { cat script messages; return 1; }
	[ ! -s messages ] || { cat messages; return 1; }
	for file in "$@"; do
		[ -s "$file" ] || { echo "no $file"; return 1; }
	done
}

@test "examples: the worked real captures of fringepipe.7 run as they stand" {
	need_data slmaster_eye_12step_gray
	ln -s "$data"/slmaster_eye_12step_gray/*.png "$data"/dtu_angel_2freq_rectified/left/f4*.png \
		"$data"/weiyang_box_3freq_35_36_37/f3*.png "$data"/hagen_lens_4step/lens_crop_*.jpg .
	ln -s "$data"/slmaster_eye_12step_gray/caliInfo_original_full_frame.yml caliInfo.yml
	run_blocks "Real captures" eye.ply absolute.tif wrapped.png
}

@test "examples: the mesh as a picture of fringepipe.7 runs as it stands" {
	need_data meshes
	ln -s "$data"/meshes/stanford-bunny.obj bunny.obj
	run_blocks "Shape as a picture" bunny.png bunny.ply
}

load helpers

# What becomes of files: names, links, what a kill leaves, what reaches the disk.

# names_of NAME ...: a stream of small frames with these values of the key `name`, - for none; each has its
# number as its only sample.
names_of() {
	py 'write_frames("names.nrrd", [Frame(np.full((1, 1, 1), i, "u1"), ["image"],
		{} if name == "-" else {"name": name}) for i, name in enumerate(sys.argv[1:])])' "$@"
}

# samples: the samples of the files of d, each with its name.
samples() {
	local file
	for file in d/*.png; do
		framecat "$file" | tail -c 1 | od -An -tu1 | tr -d ' \n'
		echo " ${file#d/}"
	done | sort -n | tr '\n' ' '
}

@test "files: frames in a folder: no frame takes another one's name" {
	while read -r names want; do
		rm -rf d
		# shellcheck disable=SC2086
		names_of ${names//,/ }
		framecat names.nrrd -o d/
		[ "$(samples)" = "$want " ] || { echo "$names: $(samples)wanted $want"; false; }
	done <<-'end'
	a,a-0002,a 0 a.png 1 a-0002.png 2 a-0003.png
	a,a,a,a-0001 0 a.png 1 a-0001.png 2 a-0002.png 3 a-0001-0003.png
	0001,- 0 0001.png 1 0001-0001.png
	-,-,0001,0001 0 0000.png 1 0001.png 2 0001-0002.png 3 0001-0003.png
	x.png,x,sub/x,x-0001 0 x.png 1 x-0001.png 2 x-0002.png 3 x-0001-0003.png
	0003,-,-,- 0 0003.png 1 0001.png 2 0002.png 3 0003-0003.png
	end
}

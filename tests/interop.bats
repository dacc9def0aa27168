load helpers

# The snippets of fringepipe-interop(7) run as they are printed, on the files of its EXAMPLES, and give the tools' numbers.

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	cp "$top/samples/block.yml" "$top/samples/frame.py" .
	snippet EXAMPLES >script
	bash -e script
}

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	cp -r "$BATS_FILE_TMPDIR/." .
}

snippet() {		# section
	mandoc -T utf8 -O width=78 "$top/man/fringepipe-interop.7" | col -bx |
		awk -v section="$1" '/^[^ ]/ { on = $0 == section } on && /^           / { print substr($0, 12) }'
}

need_module() {		# module, name
	/usr/bin/python3 -c "import $1" 2>/dev/null || skip "no $2: it is not here"
}

@test "interop: frame.py copies every kind of frame, and refuses a stream that failed or was cut" {
	mkdir python
	ln -s "$(command -v "$python")" python/python3
	for file in set.nrrd xyz.nrrd depth.nrrd; do
		PATH=$PWD/python:$PATH python3 frame.py <$file >copy.nrrd
		framecmp copy.nrrd $file
		diff <(frameinfo copy.nrrd) <(frameinfo $file)
	done
	framecat set.nrrd xyz.nrrd | "$python" frame.py | framecmp - <(framecat set.nrrd xyz.nrrd)
	for cut in 1000 300000; do
		run "$python" frame.py < <(head -c $cut xyz.nrrd)
		[ "$status" -eq 1 ]
	done
	run "$python" frame.py < <(framecat missing.nrrd 2>/dev/null)
	[ "$status" -eq 1 ]
	[[ $output == *"FAILED: the writer of this stream failed"* ]]
	snippet "PYTHON ON A PIPE" >both
	grep -v '^cat' both >level.py
	grep '^cat' both >line
	PATH=$PWD/python:$PATH bash -e -o pipefail line
	py 'from frame import *
level, depth = (read(open(f, "rb")) for f in (sys.argv[1], "depth.nrrd"))
k = depth[1]["channels"].split().index("depth")
expect(level[0][k] == depth[0][k] - np.nanmean(depth[0][k]))' <(framecat level.tif)
}

@test "interop: a depth video in Python gives the numbers of depthdec to the bit" {
	snippet "DEPTH VIDEO IN PYTHON" >video.py
	"$python" video.py
	depthdec depth.mp4 -o back.nrrd
	py 'a, b = np.load("video.npy")[0], read_frame("back.nrrd")["depth"]
expect(a.dtype == "f4", a.dtype)
expect((a == b) | np.isnan(a) & np.isnan(b), np.nanmax(np.abs(a - b)))'
}

@test "interop: numpy.load of a frame of one channel" {
	py 'expect(np.load("depth.npy") == read_frame("depth.nrrd")["depth"])'
}

@test "interop: pynrrd" {
	need_module nrrd pynrrd
	snippet PYNRRD >script.py
	(cat script.py; echo 'from frames import *; expect(depth == read_frame("depth.nrrd")["depth"])') >checked.py
	/usr/bin/python3 checked.py
}

@test "interop: OpenCV" {
	need_module cv2 OpenCV
	snippet OPENCV >script.py
	(cat script.py; echo 'from frames import *; p = read_frame("xyz.nrrd")
expect(depth == read_frame("depth.nrrd")["depth"])
expect(np.nan_to_num(points[:, :, 2]) == np.nan_to_num(p["z"]))') >checked.py
	/usr/bin/python3 checked.py
	framecat back.tif | framecat --set channels="x y z" | framecmp --channels x,y,z - xyz.nrrd
}

@test "interop: Octave reads all channels and keys" {
	command -v octave-cli >/dev/null || skip "no Octave: it is not here"
	snippet "OCTAVE AND MATLAB" >script.m
	cat >>script.m <<-'END'
		printf('%s %d %d %.9g %s\n', class(depth), size(depth), sum(depth(:)), head.length_unit);
	END
	octave-cli --norc script.m >seen
	cat seen
	framecat -c depth depth.nrrd | py 'd = read_frames(sys.stdin.buffer)[0]["depth"]
lines = open("seen").read().split("\n")
kind, h, w, total, unit = lines[0].split()
expect((kind, int(h), int(w), unit) == ("single", *d.shape, "mm"))
expect(abs(float(total) - d.sum(dtype="f8")) < 1e-4 * d.sum(), total)'
}

@test "interop: Open3D" {
	need_module open3d Open3D
	snippet "POINT CLOUDS" >script.py
	(cat script.py; echo 'from frames import *; p = read_frame("xyz.nrrd")
expect(abs(np.asarray(cloud.points).mean(0) - [np.nanmean(p[c].astype("f8")) for c in "xyz"]) < 1e-3)') >checked.py
	/usr/bin/python3 checked.py
}

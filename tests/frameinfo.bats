load helpers

@test "frameinfo: header, metadata and numbers, NaN and inf apart" {
	py '
v = np.array([[1, 2, 3], [4, np.nan, np.inf]], "f4")
write_frames("in.nrrd", Frame(np.stack([v, v * 0]), ["depth", "flat"], {"period_px": "60 66", "name": "a b"}))'
	frameinfo in.nrrd >out.txt
	cat >want.txt <<'END'
frame 0: 3 x 2, 2 channels, float
  period_px:=60 66
  name:=a b
  channel                    min            max           mean             sd       NaN       inf
  depth                        1              4            2.5     1.11803399         1         1
  flat                         0              0              0              0         2         0
END
	diff want.txt out.txt
	frameinfo -o file.txt in.nrrd
	cmp file.txt out.txt
}

@test "frameinfo: means and deviations of huge and of nearly equal samples, as NumPy has them in double" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		py '
w, h = map(int, sys.argv[1].split("x")); rng = np.random.default_rng(1)
write_frames("in.nrrd", Frame(np.stack([rng.normal(0, 1e38, (h, w)).clip(-3e38, 3e38), rng.normal(1e6, 0.5, (h, w)),
	rng.normal(0, 1e-40, (h, w))]).astype("f4"), ["huge", "near", "tiny"]))
write_frames("u.nrrd", Frame(rng.integers(0, 65536, (1, h, w)).astype("<u2")))' $size
		frameinfo --stats in.nrrd u.nrrd -o out.txt
		frameinfo --stats -j 7 in.nrrd u.nrrd -o seven.txt
		cmp out.txt seven.txt
		py '
channels = list(read_frame("in.nrrd").pixels.astype(float)) + list(read_frame("u.nrrd").pixels.astype(float))
rows = [line.split() for line in open("out.txt") if "channel" not in line]
expect(len(rows) == 4, rows)
for p, r in zip(channels, rows):
	got, want = np.array(r[1:5], float), np.array([p.min(), p.max(), p.mean(), p.std()])
	expect(np.abs(got - want) <= 1e-8 * np.abs(want) + 1e-12 * np.abs(p).max(), got, want)'
	done
}

@test "frameinfo: --short, --key, many frames, no valid sample" {
	py '
v = np.full((2, 3), np.nan, "f4")
write_frames("in.nrrd", [Frame(v, ["depth"], {"name": "a b"}), Frame(np.zeros((3, 4, 5), "u1"), ["r", "g", "b"], {"name": "c"})])'
	[ "$(frameinfo -s in.nrrd)" = "$(printf '0 3x2x1 float depth\n1 5x4x3 uchar r g b')" ]
	[ "$(frameinfo --key name in.nrrd)" = "$(printf 'a b\nc')" ]
	[ "$(frameinfo --key width <in.nrrd)" = "$(printf '3\n5')" ]
	[ "$(frameinfo -k height in.nrrd)" = "$(printf '2\n4')" ]
	[ "$(frameinfo -k type in.nrrd)" = "$(printf 'float\nuchar')" ]
	[ "$(frameinfo -k channels in.nrrd)" = "$(printf 'depth\nr g b')" ]
	frameinfo in.nrrd | has -E '^  depth +nan +nan +nan +nan +6 +0$'
	fails 1 "period_px: there is no such key in frame 0" frameinfo --key period_px in.nrrd
	fails 2 "--short, --stats and --key do not go together" frameinfo -s --stats in.nrrd
}

@test "frameinfo: spacings; errors leave no file" {
	printf 'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 1\nspacings: 0.1 0.25\nunits: "mm" "mm"\nencoding: raw\n\nab' >s.nrrd
	frameinfo s.nrrd | has -x '  spacing 0.1 0.25 mm'
	head -c -1 s.nrrd >short.nrrd
	fails 1 "short.nrrd: " frameinfo -o x.txt s.nrrd short.nrrd
	[ ! -e x.txt ]
	fails 1 "standard input: is empty" frameinfo </dev/null
	fails 1 "none.nrrd: cannot be opened" frameinfo none.nrrd
	fails 1 "standard output: cannot be written" bash -c 'frameinfo s.nrrd >/dev/full'
	fails 1 "nowhere/x.txt: cannot be created" frameinfo s.nrrd -o nowhere/x.txt
	silent find . -name '*.tmp'
}

@test "frameinfo: tables: points instead of a size, none among the samples where there is none" {
	printf '# key:=v\nx,y\n1,2\n3,nan\n' >two.csv
	printf 'x,y\n' >none.csv
	printf 'x\n7\n' >one.csv
	frameinfo two.csv none.csv one.csv >said
	grep -qx 'frame 0: table of 2 points, 2 channels, float' said
	grep -qx 'frame 1: table of 0 points, 2 channels, float' said
	grep -qx 'frame 2: table of 1 point, 1 channel, float' said
	grep -qx '  key:=v' said
	[ "$(grep -c '^  y .* 2  *2  *2  *0  *1  *0$' said)" -eq 1 ]
	[ "$(grep -c '^  [xy] .* nan  *nan  *nan  *nan  *0  *0$' said)" -eq 2 ]
	[ "$(frameinfo -s two.csv none.csv one.csv)" = "0 2x2 float x y
1 0x2 float x y
2 1x1 float x" ]
	[ "$(frameinfo -k points two.csv none.csv)" = "2
0" ]
	[ "$(frameinfo -k width none.csv)" = 1 ]
}

load helpers

samples() {
	make -s -j2 -C "$top/samples" OUT="$work" BIN="$(dirname "$(command -v fringepipe)")" "$@"
}

@test "samples: captures to results, errors as expected to 2 %, no wrong fringe order" {
	samples table >table.txt
	cat table.txt
	py '
import re
number = re.compile(r"[-0-9.e+]+")
for seen, want in zip(open("table.txt"), open(sys.argv[1]), strict=True):
	a, b = [[float(v) for v in number.findall(line) if v not in "e.-"] for line in (seen, want)]
	expect(seen.split(":")[0] == want.split(":")[0], seen, want)
	for x, y in zip(a, b, strict=True):
		expect(abs(x - y) <= 0.02 * abs(y), seen, want)' "$top/samples/expected/table.txt"
	py '
for sample in "face", "night":
	p, t = read_frame("out/%s/phase.nrrd" % sample), read_frame("captures/%s.truth.nrrd" % sample)
	P, T = float(p.meta["period_px"]), float(t.meta["period_px"].split()[0])
	d = p["absphase"] - t["absphase"] * T / P
	expect(np.abs(d) < np.pi, sample, (np.abs(d) >= np.pi).sum())'
}

@test "samples: pictures, meshes and sections are there, and only what changed is made again" {
	samples
	for sample in face block night; do
		for file in surface.png points.ply section.svg depth.tif; do
			[ -s out/$sample/$file ]
		done
	done
	silent samples -n
	sleep 1
	touch captures/night/done
	samples -n >again
	grep -q out/night/phase.nrrd again
	if grep -E 'out/(face|block)/' again; then return 1; fi
}

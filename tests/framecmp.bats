load helpers

# says CODE TEXT COMMAND ...: exit status CODE, one line on standard output with TEXT in it.
says() {
	local code=$1 text=$2
	shift 2
	run --separate-stderr "$@"
	# shellcheck disable=SC2154
	if [ "$status" -ne "$code" ] || [[ $output != *"$text"* ]] || [ -n "$stderr" ] ||
		[ "${#lines[@]}" -ne 1 ]; then
		printf 'exit %s, wanted %s; printed: %s%s\nwanted: %s\n' "$status" "$code" "$output" "$stderr" "$text"
		return 1
	fi
}

# a.nrrd, and b.nrrd that differs by a known amount: 0, 0.001, .. 0.099 over 100 pixels
pair='
base = np.full((10, 10), 4, "f4"); d = np.arange(100).reshape(10, 10) * 0.001
a, b = Frame(np.stack([base, base]), ["depth", "modulation"], {"unit": "mm"}), Frame(np.stack([base + d, base]).astype("f4"), ["depth", "modulation"], {"unit": "mm"})
write_frames("a.nrrd", a); write_frames("b.nrrd", b)
'

@test "framecmp: equal frames are silent; one bit is a difference" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		for type in u1 '<u2' f4; do
			py '
w, h = map(int, sys.argv[1].split("x")); p = np.random.default_rng(1).integers(1, 200, (2, h, w)).astype(sys.argv[2])
write_frames("a.nrrd", Frame(p)); q = p.copy().view("u%d" % p.itemsize); q[1, -1, -1] ^= 1
write_frames("b.nrrd", Frame(q.view(p.dtype)))' $size "$type"
			run framecmp a.nrrd a.nrrd
			[ "$status" -eq 0 ]
			[ -z "$output" ]
			says 1 "frame 0 image2, 1 of " framecmp a.nrrd b.nrrd
			run framecmp -q a.nrrd b.nrrd
			[ "$status" -eq 1 ]
			[ -z "$output" ]
		done
	done
	py 'z = np.zeros((2, 2), "f4"); write_frames("a.nrrd", Frame(z)); write_frames("b.nrrd", Frame(-z))'
	says 1 "4 of 4 samples differ, max 0" framecmp a.nrrd b.nrrd
	framecmp --max 0 a.nrrd b.nrrd
	framecmp --ulp 0 a.nrrd b.nrrd
}

@test "framecmp: each limit, on both sides of a known difference" {
	py "$pair"
	framecmp --max 0.09901 a.nrrd b.nrrd
	says 1 "frame 0 depth, max 0.099 > 0.0989" framecmp --max 0.0989 a.nrrd b.nrrd
	framecmp --rms 0.05731 a.nrrd b.nrrd	# sqrt(mean(k^2)) = 57.3018 thousandths
	says 1 "rms 0.0573018 > 0.0573" framecmp --rms 0.0573 a.nrrd b.nrrd
	framecmp --relative 0.02416 a.nrrd b.nrrd	# 0.099 / 4.099 = 0.024152
	says 1 "relative 0.0241522 > 0.02415" framecmp --relative 0.02415 a.nrrd b.nrrd
	framecmp --quantile 0.9,0.0891 a.nrrd b.nrrd
	says 1 "quantile 0.9 0.0890002 > 0.0889" framecmp --quantile 0.5,0.05,0.9,0.0889 a.nrrd b.nrrd
	says 1 "quantile 0.5 0.0489998 > 0.048, quantile 0.9 0.0890002 <= 0.0891" framecmp --quantile 0.5,0.048,0.9,0.0891 a.nrrd b.nrrd
	says 1 "max 0.099 <= 0.1, rms 0.0573018 > 0.01" framecmp --max 0.1 --rms 0.01 a.nrrd b.nrrd
	framecmp -c modulation a.nrrd b.nrrd
	framecmp -c 1,depth:modulation a.nrrd b.nrrd
	says 1 "frame 0 depth, 99 of 100" framecmp -c 0 a.nrrd b.nrrd
	run framecmp -v --max 1 a.nrrd b.nrrd
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "frame 0 depth, max 0.099 <= 1" ]
	[ "${lines[1]}" = "frame 0 modulation, max 0 <= 1" ]
}

@test "framecmp: --ulp counts representable numbers, also across zero" {
	py '
v = np.array([[1, -1, 1e-45, 3e38, 0, 1e30]], "f4"); n = v.copy()
for i in range(3): n = np.nextafter(n, np.float32(np.inf))
write_frames("a.nrrd", Frame(v)); write_frames("b.nrrd", Frame(n))
write_frames("c.nrrd", Frame(np.array([[-1e-45]], "f4"))); write_frames("d.nrrd", Frame(np.array([[1e-45]], "f4")))'
	framecmp --ulp 3 a.nrrd b.nrrd
	says 1 "ulp 3 > 2" framecmp --ulp 2 b.nrrd a.nrrd
	framecmp --ulp 2 c.nrrd d.nrrd
	says 1 "ulp 2 > 1" framecmp --ulp 1 c.nrrd d.nrrd
}

@test "framecmp: --turns forgives whole turns only" {
	py '
rng = np.random.default_rng(2)
p = rng.uniform(-3.14, 3.14, (20, 30)); k = rng.integers(-20, 20, p.shape) * 2 * np.pi
write_frames("a.nrrd", Frame(p.astype("f4"))); write_frames("b.nrrd", Frame((p + k).astype("f4")))
write_frames("c.nrrd", Frame((p + k + 0.01).astype("f4")))'
	framecmp --turns --max 2e-5 a.nrrd b.nrrd
	says 1 "max 6" framecmp --quantile 1,9 --max 6 <(head -c 9999 a.nrrd) <(py 'f = read_frame("a.nrrd")
f.pixels = f.pixels.copy(); f.pixels[0, 3, 3] += 2 * np.pi; write_frames(sys.stdout.buffer, f)')
	framecmp -t --max 0.0101 a.nrrd c.nrrd
	says 1 "> 0.0098" framecmp -t --max 0.0098 a.nrrd c.nrrd
	fails 2 "--turns: does not go with --ulp" framecmp --turns --ulp 1 a.nrrd b.nrrd
	fails 2 "--turns: wants --max, --rms or --quantile" framecmp --turns a.nrrd b.nrrd
}

@test "framecmp: NaN must agree in place, unless ignored; inf equals inf" {
	py '
v = np.arange(12.).reshape(3, 4).astype("f4"); n = np.float32(np.nan)
a, b = v.copy(), v.copy(); a[0, 0] = n; b[0, 0] = n; write_frames("a.nrrd", Frame(a)); write_frames("b.nrrd", Frame(b))
b[1, 1] = n; b[1, 2] = n; a[2, 2] = n; write_frames("c.nrrd", Frame(a)); write_frames("d.nrrd", Frame(b))
write_frames("void.nrrd", Frame(v * n))
i = v.copy(); i[0, 0] = np.inf; j = i.copy(); j[0, 0] = -np.inf
write_frames("i.nrrd", Frame(i)); write_frames("j.nrrd", Frame(j))'
	framecmp a.nrrd b.nrrd
	framecmp --max 0 a.nrrd b.nrrd
	says 1 "NaN 1 only in A, 2 only in B" framecmp --max 9 c.nrrd d.nrrd
	says 1 "NaN 1 only in A, 2 only in B" framecmp c.nrrd d.nrrd
	framecmp --nan ignore c.nrrd d.nrrd
	framecmp --nan ignore --max 0 --rms 0 c.nrrd d.nrrd
	framecmp --max 0 void.nrrd void.nrrd
	says 1 "NaN 10 only in A, 0 only in B" framecmp --nan ignore --max 0 void.nrrd <(framecat --frames 0 a.nrrd --invalid 3)
	framecmp --max 0 i.nrrd i.nrrd
	says 1 "max inf > 1" framecmp --max 1 i.nrrd j.nrrd
}

@test "framecmp: what is not alike before the samples" {
	py '
def put(name, *frames): write_frames(name, list(frames))
u = np.zeros((3, 4), "u1")
put("a.nrrd", Frame(u)); put("wide.nrrd", Frame(np.zeros((3, 5), "u1"))); put("deep.nrrd", Frame(u.astype("f4")))
put("two.nrrd", Frame(u), Frame(u)); put("rg.nrrd", Frame(np.stack([u, u]), ["r", "g"])); put("rb.nrrd", Frame(np.stack([u, u]), ["r", "b"]))
put("m.nrrd", Frame(u, None, {"a": "1", "cmd.1": "x"})); put("n.nrrd", Frame(u, None, {"a": "2"})); put("o.nrrd", Frame(u, None, {"cmd.1": "y", "b": "3", "a": "1"}))'
	says 1 "frame 0: A is 4 x 3, B is 5 x 3" framecmp a.nrrd wide.nrrd
	says 1 "frame 0: A has samples of type uchar, B float" framecmp a.nrrd deep.nrrd
	says 1 "B ends after 1 frame, A goes on" framecmp two.nrrd a.nrrd
	says 1 "A ends after 1 frame, B goes on" framecmp a.nrrd two.nrrd
	says 1 "frame 0: A has 1 channels, B has 2" framecmp a.nrrd rg.nrrd
	says 1 "frame 0: channel 1 is named g in A, b in B" framecmp rg.nrrd rb.nrrd
	framecmp -c r rg.nrrd rb.nrrd
	framecmp -c r,g:b rg.nrrd rb.nrrd
	framecmp m.nrrd n.nrrd
	says 1 "frame 0: key a is 1, 2" framecmp --meta m.nrrd n.nrrd
	says 1 "frame 0: key b is (none), 3" framecmp --meta m.nrrd o.nrrd
	framecmp --meta m.nrrd <(py 'write_frames(sys.stdout.buffer, Frame(np.zeros((3, 4), "u1"), None, {"cmd.7": "z", "a": "1"}))')
	printf 'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 1\nspacings: 0.1 0.25\nencoding: raw\n\nab' >s.nrrd
	sed 's/0.25/0.5/' s.nrrd >t.nrrd
	framecmp s.nrrd t.nrrd
	says 1 "frame 0: spacings are 0.1 0.25" framecmp --meta s.nrrd t.nrrd
}

@test "framecmp: --margin leaves a border out" {
	py '
p = np.zeros((7, 9), "f4"); q = p.copy(); q[1, :] = 1; q[:, 7] = 2
write_frames("a.nrrd", Frame(p)); write_frames("b.nrrd", Frame(q))'
	framecmp --margin 2 a.nrrd b.nrrd
	says 1 "of 35 samples differ, max 2" framecmp --margin 1 a.nrrd b.nrrd
	fails 2 "--margin: 4 leaves nothing of 9 x 7" framecmp --margin 4 a.nrrd b.nrrd
}

@test "framecmp: --table" {
	py "$pair"
	framecmp --table --max 1 a.nrrd b.nrrd >table.txt
	framecmp --table --max 1 -o file.txt a.nrrd b.nrrd
	cmp table.txt file.txt
	py '
head, depth, modulation = open("table.txt").read().splitlines()
expect(modulation.split() == ["0", "modulation", "100"] + ["0"] * 9, modulation)
d = np.abs((np.float32(4) + np.arange(100) * 0.001).astype("f4") - 4.0)
want = [100, d.max(), np.sqrt((d ** 2).mean()), -d.mean()] + [np.sort(d)[k] for k in (49, 89, 98, 99)] + [0, 0]
expect(np.abs(np.array(depth.split()[2:], float) - want) < 1e-4, depth, want)'
}

@test "framecmp: quantiles are those of a sort, whatever the order" {
	py '
rng = np.random.default_rng(3)
for i, v in enumerate([rng.normal(0, 1, 10007), np.zeros(10007), np.arange(10007.), np.arange(10007.)[::-1], rng.integers(0, 3, 10007)]):
	write_frames("z%d.nrrd" % i, Frame(np.zeros((1, 10007), "f4"))); write_frames("v%d.nrrd" % i, Frame(v.astype("f4")[None]))'
	for i in 0 1 2 3 4; do
		framecmp --table --max 1e9 v$i.nrrd z$i.nrrd >table.txt
		py '
row = open("table.txt").read().splitlines()[1].split()
v = np.sort(np.abs(read_frame(sys.argv[1]).pixels.ravel().astype(float)))
for q, got in zip((0.5, 0.9, 0.99, 0.999), row[6:10]):
	expect(got == "%.4g" % v[int(np.ceil(q * v.size)) - 1], q, got)' v$i.nrrd
	done
}

@test "framecmp: trouble has exit status 2" {
	py "$pair"
	framecmp - b.nrrd --max 1 <a.nrrd
	framecmp a.nrrd - --max 1 <b.nrrd
	head -c 700 b.nrrd >short.nrrd
	: >empty.nrrd
	fails 2 "none.nrrd: cannot be opened" framecmp a.nrrd none.nrrd
	fails 2 "short.nrrd: " framecmp a.nrrd short.nrrd
	fails 2 "empty.nrrd: is empty" framecmp empty.nrrd a.nrrd
	fails 2 "standard input: is empty" framecmp a.nrrd - </dev/null
	fails 2 "wants two files A and B, not 1" framecmp a.nrrd
	fails 2 "standard input is named 2 times" framecmp - -
	fails 2 "--channels: input has no channel x, only: depth modulation" framecmp -c x a.nrrd b.nrrd
	fails 2 "--quantile: wants a share above 0, up to 1" framecmp --quantile 0.5 a.nrrd b.nrrd
	fails 2 "--quantile: wants a share above 0, up to 1" framecmp --quantile 0,1 a.nrrd b.nrrd
	fails 2 "--nan: must be one of agree ignore" framecmp --nan x a.nrrd b.nrrd
	fails 2 "--max: must be at least 0" framecmp --max -1 a.nrrd b.nrrd
	fails 2 "standard output: cannot be written" bash -c 'framecmp a.nrrd b.nrrd >/dev/full'
	fails 2 "x.txt: " framecmp -v a.nrrd a.nrrd -o nowhere/x.txt
}

@test "framecmp: in fringepipe it is a whole chain by itself" {
	py "$pair"
	run fringepipe framecmp --max 1 a.nrrd b.nrrd
	[ "$status" -eq 0 ]
	says 1 "frame 0 depth, 99 of 100" fringepipe framecmp a.nrrd b.nrrd
	fails 2 "framecmp: takes its input from the stage before" fringepipe framecat a.nrrd , framecmp a.nrrd b.nrrd
	[ "$(fringepipe framecat --split a.nrrd , framecat --stack , frameinfo -k channels)" = "depth modulation" ]
}

@test "framecmp: tables: rows, and not an image of the same width" {
	printf 'x,y\n1,2\n3,nan\n' >two.csv
	printf 'x,y\n1,2\n4,nan\n' >other.csv
	printf 'x,y\n1,2\n' >one.csv
	printf 'x,y\n' >none.csv
	printf 'x\n1\n' >narrow.csv
	py 'write_frames("one.nrrd", Frame(np.array([[[1]], [[2]]], "f4"), ["x", "y"]))'
	differs() {
		run -1 framecmp "${@:2}"
		[ "$output" = "$1" ] || { echo "$output"; return 1; }
	}
	silent framecmp two.csv two.csv
	silent framecmp none.csv none.csv
	silent framecmp --max 0 none.csv none.csv
	silent framecmp --max 1 two.csv other.csv
	differs "frame 0 x, 1 of 2 samples differ, max 1" two.csv other.csv
	differs "frame 0: A is a table of 2 points, B is a table of 1 point" two.csv one.csv
	differs "frame 0: A is a table of 1 point, B is a table of 0 points" one.csv none.csv
	differs "frame 0: A is a table of 1 point, B is an image of 1 x 1" one.csv one.nrrd
	differs "frame 0: A is an image of 1 x 1, B is a table of 1 point" one.nrrd one.csv
	differs "frame 0: A has 2 channels, B has 1" one.csv narrow.csv
	fails 2 "--margin: 1 leaves nothing of 2 x 1" framecmp --margin 1 two.csv two.csv
	framecmp --table two.csv other.csv >table || [ $? -eq 1 ]
	grep -q '^ *0 x  *2  *1 ' table
}

load helpers

# The stream of frame.5 against programs that are not ours: Teem, the program that the page prints, and
# samples/double.c. Then what must hold of any stream: bytes that repeat, damage that is an error.

# listing N: the N-th program that frame.5 prints, as it is to be typed.
listing() {
	awk -v n="$1" '/^\.Bd -literal/ { inside = ++seen == n; next } /^\.Ed/ { inside = 0 } inside' \
		"$top/man/frame.5" | sed "s/\\\\(aq/'/g; s/\\\\e/\\\\/g"
}

# header LINE ...: a NRRD header with these lines; data are to follow.
header() {
	printf '%s\n' NRRD0004 "$@" ''
}

samples='
def samples(kind, c, h=5, w=7):
	rng = np.random.default_rng(c)
	p = rng.integers(0, 250, (c, h, w)) * (257 if kind == "u2" else 1)
	return (p + (0.25 if kind == "f4" else 0)).astype(kind)
'

@test "stream: the NumPy reader of frame.5 reads what we write" {
	listing 1 >reader.py
	py "$samples"'
write_frames("in.nrrd", [Frame(samples("u1", 3), ["r", "g", "b"]), Frame(samples("u2", 1)),
	Frame(samples("f4", 2), ["depth", "mask"], {"note": "a:=b", "z_axis": "away"})])'
	framecat in.nrrd | "$python" reader.py >got
	py '
for f in read_frames("in.nrrd"):
	for name, p in zip(f.names, f.pixels):
		print(name, *p.shape, p.min(), p.max())' >wanted
	diff got wanted
	[ "$(wc -l <got)" -eq 6 ]
}

@test "stream: samples/double.c doubles float samples and nothing else" {
	gcc -std=c11 -Wall -Wextra -Werror -O1 -o double "$top/samples/double.c"
	py "$samples"'
f = samples("f4", 2); f[0, 0, 0] = np.nan
write_frames("in.nrrd", [Frame(samples("u1", 3)), Frame(f, ["depth", "x"], {"k": "v"}),
	Frame(samples("u2", 1))])'
	framecat in.nrrd | ./double | framecat >out.nrrd
	py '
for a, b in zip(read_frames("in.nrrd"), read_frames("out.nrrd")):
	expect(a.names == b.names and a.pixels.dtype == b.pixels.dtype, b.names)
	twice = 2 if a.pixels.dtype == "f4" else 1
	expect(np.array_equal(a.pixels * np.array(twice, a.pixels.dtype), b.pixels, equal_nan=True))
expect(len(read_frames("out.nrrd")) == 3)'
	head -c 1000 <(framecat in.nrrd) >cut.nrrd
	fails 1 "data are truncated" ./double <cut.nrrd
	fails 1 "not a frame" ./double </etc/passwd
	for sizes in "sizes: x" "sizes: 7 5x" "sizes:"; do
		fails 1 "sizes are no numbers" timeout 10 ./double < \
			<(header "type: float" "dimension: 2" "$sizes" "endian: little" "encoding: raw")
	done
	fails 1 "sizes are missing" timeout 10 ./double < \
		<(header "type: float" "dimension: 2" "endian: little" "encoding: raw")
	fails 1 "could not be written" bash -c './double <in.nrrd >/dev/full'
}

@test "stream: Teem reads ours, value by value, and warns of nothing" {
	py "$samples"'
for kind in "u1", "u2", "f4":
	for c in 1, 3:
		write_frames("%s-%d.in" % (kind, c), Frame(samples(kind, c), None, {"period_px": "60 66"}))'
	for in in *.in; do
		framecat "$in" -o out.nrrd
		teem-unu head out.nrrd | has -x 'period_px:=60 66'
		teem-unu minmax out.nrrd >"$in.minmax" 2>complaints
		[ ! -s complaints ]
		teem-unu save -f nrrd -e ascii -i out.nrrd 2>complaints | sed '1,/^$/d' >"$in.values"
		[ ! -s complaints ]
	done
	py '
for kind in "u1", "u2", "f4":
	for c in 1, 3:
		file = "%s-%d.in" % (kind, c)
		wanted = read_frame(file).pixels
		got = np.array(open(file + ".values").read().split(), float).reshape(wanted.shape)
		expect(got == wanted, file, got, wanted)
		low, high = (float(line.split()[1]) for line in open(file + ".minmax"))
		expect(low == wanted.min() and high == wanted.max(), file, low, high)'
}

@test "stream: Teem reads spacings and units" {
	{ header "type: float" "dimension: 3" "sizes: 2 2 2" "endian: little" "encoding: raw" \
		"spacings: 0.25 0.5 NaN" 'units: "mm" "mm" ""'; head -c 32 /dev/zero; } >in.nrrd
	framecat in.nrrd -o out.nrrd
	teem-unu head out.nrrd >head
	grep -qx 'spacings: 0.25 0.5 [Nn]a[Nn]' head
	grep -qx 'units: "mm" "mm" ""' head
	teem-unu save -f nrrd -e gzip -i out.nrrd -o gz.nrrd
	head -c 400 <(framecat gz.nrrd) | tr -d '\0' | has -ax 'spacings: 0.25 0.5 NaN'
}

@test "stream: we read Teem's: gzip, text, both byte orders, double and integers" {
	py "$samples"'
for kind in "u1", "u2", "f4":
	for c in 1, 3:
		write_frames("%s-%d.in" % (kind, c), Frame(samples(kind, c), None, {"note": "x y"}))'
	for in in *.in; do
		for how in "-e gzip" "-e ascii" "-e raw -en big" "-e raw -en little"; do
			# shellcheck disable=SC2086
			teem-unu save -f nrrd $how -i "$in" -o theirs.nrrd
			framecat theirs.nrrd >"$in.${how// /}.file"
			framecat <theirs.nrrd >"$in.${how// /}.pipe"
		done
		for type in double int short longlong; do
			teem-unu convert -t $type -i "$in" |
				teem-unu save -f nrrd -e gzip -en big -o theirs.nrrd
			framecat theirs.nrrd >"$in.$type"
		done
	done
	py '
import glob
for file in glob.glob("*.in"):
	a = read_frame(file)
	compared = glob.glob(file + ".*.file") + glob.glob(file + ".*.pipe")
	expect(len(compared) == 8, compared)
	for other in compared:
		b = read_frame(other)
		expect(a.pixels.dtype == b.pixels.dtype and np.array_equal(a.pixels, b.pixels), other, b.pixels)
		expect(a.names == b.names and b.meta["note"] == "x y", other, b.names, b.meta)
	for kind, dtype in ("double", "f8"), ("int", "i4"), ("short", "i2"), ("longlong", "i8"):
		b = read_frame(file + "." + kind).pixels
		wanted = a.pixels.astype("i8").astype(dtype) if dtype != "f8" else a.pixels
		expect(b.dtype == "f4" and np.array_equal(b, wanted.astype("f4")), file, kind, b)'
}

@test "stream: Teem's axis orders become planes" {
	py "$samples"'
write_frames("in.nrrd", Frame(samples("u1", 3), ["r", "g", "b"]))'
	framecat in.nrrd -o planes.nrrd
	teem-unu permute -p 2 0 1 -i planes.nrrd -o pixels.nrrd
	teem-unu permute -p 0 2 1 -i planes.nrrd -o lines.nrrd
	framecat pixels.nrrd -o a.nrrd
	framecat lines.nrrd -o b.nrrd
	py '
wanted = read_frame("in.nrrd").pixels
for file in "a.nrrd", "b.nrrd":
	expect(np.array_equal(read_frame(file).pixels, wanted), file, read_frame(file).pixels.shape)'
}

@test "stream: frames follow one another, of any size and type" {
	py "$samples"'
frames = [Frame(samples(k, c, h, w)) for k in ("u1", "u2", "f4") for c in (1, 3)
	for w, h in ((1, 1), (5, 7), (127, 1), (129, 65))]
write_frames("in.nrrd", frames)'
	framecat <in.nrrd >out.nrrd
	py '
a, b = read_frames("in.nrrd"), read_frames("out.nrrd")
expect(len(a) == len(b) == 24, len(b))
for p, q in zip(a, b):
	expect(p.pixels.dtype == q.pixels.dtype and np.array_equal(p.pixels, q.pixels), p.pixels.shape)'
	cat out.nrrd out.nrrd | framecat - -o twice.nrrd
	py 'expect(len(read_frames("twice.nrrd")) == 48)'
	# Two files of one frame each joined by cat are the frames that framecat joins.
	framecat --frames 3 in.nrrd >a.nrrd
	framecat --frames 7 in.nrrd >b.nrrd
	cat a.nrrd b.nrrd | framecat >ab.nrrd
	py 'expect(len(read_frames("ab.nrrd")) == 2)'
}

@test "stream: the same input gives the same bytes, header and data start at multiples of 64" {
	py "$samples"'
write_frames("in.nrrd", [Frame(samples("u1", 3), None, {"k" * (i + 1): "v" * i}) for i in range(70)])'
	framecat <in.nrrd >a.nrrd
	framecat <in.nrrd | cat >b.nrrd
	framecat -o c.nrrd - <in.nrrd
	cmp a.nrrd b.nrrd
	py '
text = open("a.nrrd", "rb").read()
at = frames = 0
while at < len(text):
	end = text.index(b"\n\n", at) + 2
	expect((end - at) % 64 == 0, frames, end - at)
	expect(end - at - text[at:end].rfind(b"\n#") < 64 + 4, frames)
	at = end + 7 * 5 * 3
	frames += 1
expect(frames == 70 and at == len(text), frames)
a, c = read_frames("a.nrrd"), read_frames("c.nrrd")
expect([f.meta["cmd.1"] for f in c] == ["framecat [1]"] * 70)'
}

@test "stream: keys that no tool knows pass through, in their order" {
	py '
write_frames("in.nrrd", Frame(np.zeros((1, 3, 3), "f4"), ["absphase"],
	{"weather_c": "7", "z": "", "a.b": "1 2 3 4", "Operator": "= := (x) \\\\ %41", "cmd.1": "made"}))'
	median <in.nrrd | framecat | median -s box >out.nrrd
	py '
a, b = read_frame("in.nrrd").meta, read_frame("out.nrrd").meta
expect(list(b.items())[:5] == list(a.items()), b)
expect(list(b.items())[5:] == [("cmd.2", "median"), ("cmd.3", "framecat"), ("cmd.4", "median --shape=box")], b)'
}

@test "stream: a command line with any bytes stays one word of one line" {
	py 'write_frames("in.nrrd", Frame(np.zeros((1, 3, 3), "f4"), ["depth"]))'
	name=$'r: \n\e[31m%\xc3\xa9'
	framecat --set "note=50% a:b" <in.nrrd >out.nrrd
	py 'expect(read_frame("out.nrrd").meta["cmd.1"] == "framecat --set=note=50%25%20a:b", read_frame("out.nrrd").meta)'
	mkdir "$name"
	cp in.nrrd "$name/$name"
	framecat "$name/$name" -o out.nrrd
	py 'expect(read_frame("out.nrrd").meta == {"cmd.1": "framecat [1]"}, read_frame("out.nrrd").meta)'
}

@test "stream: every bit of a float passes, payloads of NaN too" {
	py '
bits = np.array([[0x7fc00000, 0xffc12345, 0x7f800001, 0xffbfffff, 0x80000000, 1, 0x7f800000, 0xff800000]], "<u4")
write_frames("in.nrrd", Frame(bits.view("<f4")[None], ["depth"]))'
	framecat <in.nrrd | framecat >a.nrrd
	framecat in.nrrd -o a.tif
	framecat a.tif -o b.nrrd
	framecat in.nrrd -o a.npy
	framecat a.npy -o c.nrrd
	framecat in.nrrd -o a.pfm
	framecat a.pfm -o d.nrrd
	py '
wanted = read_frame("in.nrrd").pixels.view("u4")
for file in "abcd":
	expect(read_frame(file + ".nrrd").pixels.view("u4") == wanted, file, read_frame(file + ".nrrd").pixels.view("u4"))'
}

@test "stream: what has 65536 channels with long names is written and read" {
	py '
names = ["a_channel_of_long_name_%d" % i for i in range(65536)]
v = np.arange(2 * 65536, dtype="f4").reshape(65536, 1, 2)
write_frames("in.nrrd", [Frame(v, names), Frame(v + 1, names)])'
	gauss -n 1 --on a_channel_of_long_name_7 in.nrrd | framecat -o out.nrrd
	py '
a, b = read_frames("in.nrrd"), read_frames("out.nrrd")
for k in range(2):
	expect(a[k].names == b[k].names and np.array_equal(a[k].pixels, b[k].pixels), k)'
}

@test "stream: headers over 16 MiB are refused, when read and when written" {
	{ header "type: uchar" "dimension: 2" "sizes: 1 1" "encoding: raw" | sed '$d'
		head -c 17000000 /dev/zero | tr '\0' x; } >in.nrrd
	fails 1 "in.nrrd: header is longer than 16777216 bytes" framecat in.nrrd
	py 'write_frames("in.nrrd", Frame(np.zeros((1, 1, 1), "u1"), None, {"a": "x" * 16776600}))'
	framecat <in.nrrd >out.nrrd
	fails 1 "header is longer than 16777216 bytes" framecat --set "b=$(printf 'x%.0s' {1..600})" in.nrrd
	fails 1 "out.nrrd: header is longer than" framecat --set "b=$(printf 'x%.0s' {1..600})" in.nrrd -o out.nrrd
	py 'expect(len(read_frame("out.nrrd").meta["a"]) == 16776600)'
	[ "$(ls -A)" = "$(printf 'in.nrrd\nout.nrrd')" ]
}

@test "stream: a header that lies about its size fails at once and takes no memory" {
	for sizes in "1000000 1000000 1" "20000 20000 3" "1 90000000 1" "30000 10000 65536" \
		"9223372036854775807 9223372036854775807 3" "1 1 65537" "99999999999999999999 1 1"; do
		{ header "type: float" "dimension: 3" "sizes: $sizes" "endian: little" "encoding: raw"; echo abc; } >lie.nrrd
		for how in "cat lie.nrrd | framecat" "framecat lie.nrrd" "cat lie.nrrd | median"; do
			# Address space for a common program and its libraries, none for such frames.
			fails 1 ": " memory_limit 600000 timeout 20 bash -o pipefail -c "$how"
		done
	done
	# 1 MB by the header, 64 MB in memory
	{ header "type: uchar" "dimension: 2" "sizes: 1 1000000" "endian: little" "encoding: raw"; echo abc; } >lie.nrrd
	fails 1 "truncated: expected 1000000 bytes, got 4" memory_limit 60000 framecat -j 1 lie.nrrd
	# Without a limit the pages must not be touched: 5.8 GB by the header, 64 bytes for each sample.
	{ header "type: float" "dimension: 3" "sizes: 1 90000000 1" "endian: little" "encoding: raw"; echo abc; } >lie.nrrd
	py '
import resource, subprocess
with open("lie.nrrd", "rb") as file:
	feeder = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
	run = subprocess.run(["framecat"], stdin=feeder.stdout, capture_output=True)
feeder.wait()
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
expect(run.returncode == 1 and (b"truncated" in run.stderr or b"memory" in run.stderr), run)
expect(peak < float(sys.argv[1]), peak, "KiB")' $(if sanitized; then echo 200000; else echo 100000; fi)
	for encoding in gzip ascii; do
		{ header "type: float" "dimension: 2" "sizes: 30000 30000" "endian: little" "encoding: $encoding"; echo abc; } >lie.nrrd
		fails 1 "lie.nrrd: truncated: " framecat lie.nrrd
	done
}

@test "stream: what ends too early says where" {
	py "$samples"'
write_frames("in.nrrd", [Frame(samples("u2", 3))] * 2)'
	framecat <in.nrrd >in2.nrrd
	whole=$(($(wc -c <in2.nrrd) / 2)) data=210
	start=$((whole - data))
	for n in 1 3 6; do
		head -c $n in2.nrrd >cut.nrrd
		fails 1 "cut.nrrd: not a known image format, starts with 0x4e" framecat cut.nrrd
	done
	for n in 7 8 20 100 $((start - 1)); do
		head -c $n in2.nrrd >cut.nrrd
		fails 1 "cut.nrrd: truncated: the header ends after $n bytes" framecat cut.nrrd
		fails 1 "standard input: truncated: the header ends after $n bytes" framecat <cut.nrrd
	done
	for n in 0 1 8 $((data - 1)); do
		head -c $((start + n)) in2.nrrd >cut.nrrd
		fails 1 "cut.nrrd: truncated: expected $data bytes, got $n" framecat cut.nrrd
		fails 1 "standard input: truncated: expected $data bytes, got $n" bash -c 'cat cut.nrrd | framecat'
	done
	# The first frame is whole and goes out; the second one is an error.
	for n in 1 6 7 100 $((start + 5)); do
		head -c $((whole + n)) in2.nrrd >cut.nrrd
		run --separate-stderr bash -c 'framecat cut.nrrd >out.nrrd'
		[ "$status" -eq 1 ]
		[[ $stderr == "framecat: cut.nrrd: "* ]]
		[ "$(tail -c 41 out.nrrd)" = "FAILED: the writer of this stream failed" ]
		head -c -41 out.nrrd >whole.nrrd
		py 'expect(len(read_frames("whole.nrrd")) == 1)'
	done
	head -c $whole in2.nrrd | framecat >out.nrrd
}

@test "stream: no input, and what is no image" {
	fails 1 "standard input: is empty" median </dev/null
	fails 1 "standard input: is empty" bash -c ': | framecat'
	: >empty.nrrd
	fails 1 "empty.nrrd: is empty" framecat empty.nrrd
	printf 'hello, world\n' >text.nrrd
	fails 1 "text.nrrd: not a known image format, starts with 0x68 0x65 0x6c 0x6c" framecat text.nrrd
	py 'write_frames("in.nrrd", Frame(np.zeros((1, 2, 2), "u1")))'
	{ cat in.nrrd; echo junk junk; } >tail.nrrd
	fails 1 "no NRRD header where a frame should begin, but 0x6a 0x75 0x6e 0x6b" framecat tail.nrrd
}

@test "stream: headers that cannot be read say why" {
	base=("type: uchar" "dimension: 2" "sizes: 2 2" "encoding: raw")
	refused() {
		local message=$1
		shift
		{ header "$@"; printf 'abcd'; } >bad.nrrd
		fails 1 "bad.nrrd: $message" framecat bad.nrrd
	}
	refused "header lacks the field type" "${base[@]:1}"
	refused "header lacks the field encoding" "${base[@]:0:3}"
	refused "header lacks the field sizes" "type: uchar" "dimension: 2" "encoding: raw"
	refused "header lacks the field endian" "type: float" "dimension: 2" "sizes: 1 1" "encoding: raw"
	refused "type cannot be read: block" "type: block" "${base[@]:1}"
	refused "dimension is not 2 or 3, but 4" "type: uchar" "dimension: 4" "sizes: 1 1 1 4" "encoding: raw"
	refused "sizes are not 2 numbers: 2 2 2" "type: uchar" "dimension: 2" "sizes: 2 2 2" "encoding: raw"
	refused "sizes are not 2 numbers from 1 on: 0 2" "type: uchar" "dimension: 2" "sizes: 0 2" "encoding: raw"
	refused "encoding is not raw, gzip or ascii, but bzip2" "${base[@]:0:3}" "encoding: bzip2"
	refused "data in a separate file are not read" "${base[@]}" "data file: x.raw"
	refused "skips are not read: line skip: 1" "${base[@]}" "line skip: 1"
	refused "not a line of a NRRD header: hello" "${base[@]}" "hello"
	printf 'NRRD0009\n\nabcd' >bad.nrrd
	fails 1 "bad.nrrd: NRRD version is not known: NRRD0009" framecat bad.nrrd
}

# pair FILE STAGE STAGE ...: each STAGE the words of one; a pipe of tools and one process give the same.
pair() {
	local in=$1 line="" chain="" stage
	shift
	for stage; do
		line+="${line:+ | }$stage"
		chain+="${chain:+ , }$stage"
	done
	bash -o pipefail -c "$line" <"$in" >piped
	bash -c "fringepipe $chain" <"$in" >chained
	[ -s piped ]
	cmp piped chained || { echo "differ: $line"; return 1; }
	bash -c "FRINGEPIPE_BAND=3 fringepipe -j 7 $chain" <"$in" | cmp - piped || { echo "in bands: $line"; return 1; }
}

@test "stream: a | b is fringepipe a , b" {
	py '
y, x = np.mgrid[:37, :53]
rng = np.random.default_rng(4)
p = (0.3 * x + rng.integers(0, 2, x.shape) * 2 * np.pi).astype("f4"); p[5, 5:9] = np.nan
d = np.hypot(x - 26, y - 18).astype("f4")
write_frames("phase.nrrd", [Frame(np.stack([p, d]), ["absphase", "modulation"], {"axis": "x"}),
	Frame(p[:20, :31], ["absphase"], {"axis": "y"})])
write_frames("depth.nrrd", [Frame(d, ["depth"]), Frame(d[::2], ["depth"])])'
	pair phase.nrrd "median" "median"
	pair phase.nrrd "median -s box" "median -s column" "median -s row"
	pair phase.nrrd "framecat --crop 3,2,20,11" "median"
	pair phase.nrrd "median" "framecat --frames 1" "median -s box"
	pair phase.nrrd "median -s box" "framecat --as ushort --scale auto --fill 0" "framecat --unscale" "median"
	pair depth.nrrd "shade" "framecat --channels g"
	pair depth.nrrd "framecat --bin 2" "shade -c depth"
	pair phase.nrrd "framecat --frames 0 --channels absphase" "median" "framecat --set channels=depth" "shade"
	median <phase.nrrd | frameplot -o piped.svg
	fringepipe median , frameplot -o chained.svg <phase.nrrd
	cmp piped.svg chained.svg
}

@test "stream: a measurement through a pipe of tools and through one process" {
	fringesim -s 97x61 -p 60,66 --flats --gray half >set.nrrd
	fringesim -s 97x61 -p 60,66 --flats --gray half -a y >>set.nrrd
	pair set.nrrd phasewrap gauss unwrap2f median "phase2depth --ref ideal" normals shade
	pair set.nrrd phasewrap "framecat --crop 5,7,50,40" "gauss -n 5" unwrap2f "median -s box"
	pair set.nrrd "phasewrap --as vector" "gauss --as vector" "framecat -c modulation,texture --bin 2"
	pair set.nrrd phasewrap unwrap2f "phase2depth --ref ideal" "framecat --as ushort --scale auto" \
		"framecat --unscale" normals
}

@test "stream: a chain that fails does not wait for the frame that is read ahead" {
	py '
good, bad = Frame(np.ones((30, 40), "f4"), ["depth"]), Frame(np.ones((2000, 2000), "f4"), ["texture"])
write_frames("in.nrrd", [good] * 4 + [bad])'
	mkfifo pipe
	(cat in.nrrd; exec sleep 60) >pipe 3>&- &
	# the last frame takes so long that the next one is waited for when it fails
	fails 1 "input has no channel" timeout 20 fringepipe -q -o null: framecat --bin 2 pipe , normals
	kill $!
}

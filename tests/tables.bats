load helpers

# Tables: frames of height 1 with the key points, as CSV, vnlog and PLY, through tools, and refused by others.

# table ROWS NAMES [KEY=VALUE ...]: one with awkward values.
tables='
def table(n, names, **meta):
	rng = np.random.default_rng(n + len(names))
	p = (rng.normal(size=(len(names), 1, max(n, 1))) * 10.0 ** rng.integers(-30, 30, (len(names), 1, max(n, 1)))).astype("f4")
	odd = np.array([np.nan, np.inf, -np.inf, -0.0, 0.1, 16777217, 1e-45, 3.4028235e38], "f4")
	p[:, 0, ::3] = rng.choice(odd, p[:, 0, ::3].shape)
	if n == 0:
		p[:] = np.nan
	return Frame(p, list(names), {"points": str(n), **meta})

def same(a, b):
	expect(a.names == b.names, a.names, b.names)
	expect(a.meta["points"] == b.meta["points"], a.meta, b.meta)
	expect(a.pixels.shape == b.pixels.shape, a.pixels.shape, b.pixels.shape)
	expect(np.array_equal(a.pixels, b.pixels, equal_nan=True), a.pixels, b.pixels)
	expect(np.array_equal(np.signbit(a.pixels) | np.isnan(a.pixels), np.signbit(b.pixels) | np.isnan(b.pixels)), "signs")
'

@test "tables: there and back through CSV, vnlog, PLY and PCD, to the bit, 0 to 10000 rows, from files and pipes" {
	for n in 0 1 2 63 64 65 10000; do
		py "$tables"'
write_frames("t.nrrd", table(int(sys.argv[1]), ["x", "y", "z", "sigma", "a,b", "\"q\"", "7"],
	note="a \\\\ b:c", period_px="5 6", empty=""))' $n
		forms=(csv vnl ply "ply --ascii" pcd "pcd --ascii")
		for form in "${forms[@]}"; do
			read -r suffix option <<<"$form"
			framecat $option t.nrrd -o "t.$suffix"
			framecat "t.$suffix" -o "file $form.nrrd"
			framecat <"t.$suffix" >"input $form.nrrd"
			# byte by byte at first, as from a slow producer
			{ head -c 1 "t.$suffix"; sleep 0.1; tail -c +2 "t.$suffix"; } | framecat >"pipe $form.nrrd"
		done
		py "$tables"'
a = read_frame("t.nrrd")
for form in sys.argv[1:]:
	for back in "file", "input", "pipe":
		b = read_frame("%s %s.nrrd" % (back, form))
		same(a, b)
		for key in "note", "period_px", "empty":
			expect(b.meta.get(key) == a.meta[key], sys.argv, back, form, key, b.meta)
		expect(b.meta["cmd.1"].startswith("framecat") and b.meta["cmd.2"].startswith("framecat"), back, form, b.meta)' "${forms[@]}"
	done
}

@test "tables: what CSV, vnlog and PLY look like" {
	py 'write_frames("t.nrrd", Frame(np.array([[[1, np.nan, 0.1]], [[-2, np.inf, 2e10]], [[0, 1, 2]]], "f4"), ["x", "y", "z"], {"points": "3", "key": "v w"}))'
	framecat t.nrrd -o t.csv
	[ "$(cat t.csv)" = '# key:=v w
# cmd.1:=framecat [1]
x,y,z
1,-2,0
nan,inf,1
0.100000001,2e+10,2' ]
	framecat t.nrrd -o t.vnl
	[ "$(cat t.vnl)" = '## key:=v w
## cmd.1:=framecat [1]
# x y z
1 -2 0
- inf 1
0.100000001 2e+10 2' ]
	framecat --ascii t.nrrd -o t.ply
	[ "$(cat t.ply)" = 'ply
format ascii 1.0
comment key:=v w
comment cmd.1:=framecat --ascii [1]
element vertex 3
property float x
property float y
property float z
end_header
1 -2 0
nan inf 1
0.100000001 2e+10 2' ]
	py '
rows = [l for l in open("t.csv") if l[0] != "#"]
a = np.genfromtxt(rows, delimiter=",", names=True, dtype="f4")
b = np.genfromtxt("t.vnl", dtype="f4")
p = read_frame("t.nrrd").pixels[:, 0]
expect(a.dtype.names == ("x", "y", "z") and np.array_equal(np.array(a.tolist(), "f4").T, p, equal_nan=True), a)
expect(np.array_equal(np.loadtxt(rows[1:], delimiter=",").astype("f4").T, p, equal_nan=True))
expect(np.array_equal(b.T, p, equal_nan=True), b)'
}

@test "tables: CSV as others write it: quotes, blanks, empty fields, CRLF, byte order mark, no last newline" {
	printf '\xef\xbb\xbf"Dist [mm]", b ,a_name_that_is_longer_than_31_bytes_is\r\n"1.5",\t2 ,\r\n\r\n# note\r\n-1e3,NaN,Inf' >a.csv
	printf ',x,"y, ""z"""\n0,1,2\n1,,3\n' >pandas.csv
	printf 'x\n1\n2' >one.csv
	printf '#!/usr/bin/x\n## note: a\n#x y\n1 -  # why\n\n# 5 6\n 3\t4 \n' >b.vnl
	for name in a.csv pandas.csv one.csv b.vnl; do
		framecat $name -o "$name.nrrd"
		framecat <$name | framecmp - "$name.nrrd"
	done
	py '
n = np.nan
def check(path, names, rows):
	f = read_frame(path + ".nrrd")
	expect(f.names == names, f.names)
	expect(f.meta["points"] == str(len(rows)), f.meta)
	expect(np.array_equal(f.pixels[:, 0].T, np.array(rows, "f4"), equal_nan=True), f.pixels)
check("a.csv", ["Dist_[mm]", "b", "a_name_that_is_longer_than_31_b"], [[1.5, 2, n], [-1000, n, np.inf]])
check("pandas.csv", ["field1", "x", "y,_\"z\""], [[0, 1, 2], [1, n, 3]])
check("one.csv", ["x"], [[1], [2]])
check("b.vnl", ["x", "y"], [[1, n], [3, 4]])'
	printf 'x,y\n' >none.csv
	printf '# x y\n' >none.vnl
	for name in none.csv none.vnl; do
		framecat $name -o none.nrrd
		[ "$(frameinfo -s none.nrrd)" = "0 0x2 float x y" ]
	done
}

@test "tables: bad text is one line with the file and the line" {
	bad() {		# NAME TEXT MESSAGE
		printf "$2" >"$1"
		fails 1 "$1: $3" framecat "$1" -o x.nrrd
	}
	bad a.csv 'x,y\n1,2\n3\n' "line 3: 1 value in a table of 2 columns"
	bad a.csv 'x,y\n1,2\n3,4,5\n' "line 3: 3 values in a table of 2 columns"
	bad a.csv 'x,y\n1,2,\n' "line 2: 3 values in a table of 2 columns"
	bad a.csv '# a\nx,y\n1,two\n' "line 3: wanted a number, not 'two'"
	bad a.csv 'x,y\n1,2x\n' "line 2: wanted a number, not '2x'"
	bad a.csv 'x,y\n1,"2\n' "line 2: a quote is not closed"
	bad a.csv 'x,y\n1,"2" 3\n' "line 2: '3' stands behind a quoted field"
	bad a.csv 'x,y\n1,-1e39\n' "line 2: -1e39 is larger than a float can be"
	bad a.csv '1,2\n3,4\n' "line 1: wanted the names of the columns, found only numbers"
	bad a.csv '# key:=1\n' "ends before the names of the columns"
	bad a.csv 'x,y\n1,\0' "line 2 has a byte 0: it is no text"
	bad a.csv 'x\ty\n1\t2\n' "line 1: columns are separated by commas, not tabs"
	bad a.csv 'x;y\n1,5;2,5\n' "line 2: wanted a number, not '1,5': numbers have a point, not a comma"
	bad a.vnl '# x y\n1\n' "line 2: 1 value in a table of 2 columns"
	bad a.vnl '# x y\n1 2 3\n' "line 2: 3 values in a table of 2 columns"
	bad a.vnl '# x y\n1 b\n' "line 2: wanted a number, not 'b'"
	bad a.vnl '1 2\n' "line 1: wanted the names of the columns behind #, not '1 2'"
	bad a.vnl '## nothing\n' "ends before the names of the columns"
	: >a.csv
	fails 1 "a.csv: is empty" framecat a.csv -o x.nrrd
	py 'open("a.csv", "w").write(",".join("c%d" % i for i in range(65537)) + "\n")'
	fails 1 "line 1 names 65537 columns, a frame has 65536 channels at most" framecat a.csv -o x.nrrd
	py 'open("a.csv", "w").write("x,y\n" + "1" * (5 << 20))'
	fails 1 "line 2 is longer than 4194304 bytes" framecat a.csv -o x.nrrd
	[ ! -e x.nrrd ]
	# what is no table is not taken for one
	text() {
		printf "$1" >text
		fails 1 "not a known image format" framecat text -o x.nrrd
	}
	text 'Hello, world\n42 is the answer\n'
	text '# Blender, 4.0\nmtllib a.mtl\nv 1 2 3\n'
	text '%%YAML:1.0\n---\na: [1, 2,\n 3]\n'
	text '{ "a": 1,\n "b": 2 }\n'
	text '1 2\n4 5\n'
	text '# a comment\nkey value\n'
	printf 'solid a, b\n facet normal 0 0 1\n' >text
	fails 1 "STL files are written, but not read here" framecat text -o x.nrrd
	printf 'P2\n2\n1\n9\n3 4\n' >text
	[ "$(framecat text | frameinfo -s)" = "0 2x1x1 uchar image" ]
}

@test "tables: an image is no CSV; several tables are no single file; 8000 columns" {
	py 'write_frames("i.nrrd", Frame(np.zeros((3, 5, 7), "f4"), ["x", "y", "z"]))
write_frames("line.nrrd", Frame(np.zeros((1, 7), "f4")))
f = Frame(np.zeros((3, 1, 2), "f4"), ["x", "y", "z"], {"points": "2"})
write_frames("two.nrrd", [f, f])
write_frames("noxyz.nrrd", Frame(np.zeros((2, 1, 2), "f4"), ["x", "y"], {"points": "2"}))
n = 8000
write_frames("wide.nrrd", Frame(np.arange(n, dtype="f4").reshape(n, 1, 1), ["c%d" % i for i in range(n)], {"points": "1"}))'
	fails 1 "x.csv: CSV holds tables, not an image of 7 x 5: framecat --points makes a table of it" framecat i.nrrd -o x.csv
	fails 1 "x.vnl: vnlog holds tables, not an image of 7 x 1" framecat line.nrrd -o x.vnl
	for suffix in csv vnl ply; do
		fails 1 "holds one frame, and a second one came; %04d in the name numbers the files" framecat two.nrrd -o x.$suffix
		[ ! -e x.$suffix ]
		framecat two.nrrd -o t%d.$suffix
		framecat t0.$suffix t1.$suffix | framecmp - two.nrrd
	done
	fails 1 "x.ply: a cloud of points needs channels x y z" framecat noxyz.nrrd -o x.ply
	framecat wide.nrrd -o wide.csv
	framecat wide.csv | tail -c 32000 | cmp - <(tail -c 32000 wide.nrrd)
}

@test "tables: PLY clouds of others, and faces" {
	py '
head = """ply
format %s 1.0
comment made elsewhere
element camera 1
property list uchar int ids
property double focal
element vertex 2
property double x
property float y
property short z
property uchar red
property uchar green
property uchar blue
property list uchar float extra
property float a_name_that_is_longer_than_31_bytes_is
element face 0
property list uchar int vertex_indices
end_header
"""
def binary(order):
	def a(v, kind):
		return np.array(v, order + kind).tobytes()
	cam = a(2, "u1") + a([7, 8], "i4") + a(1.5, "f8")
	rows = b""
	for i in range(2):
		rows += a(1.5 + i, "f8") + a(-2.5, "f4") + a(-300 - i, "i2") + a([1, 2, 255], "u1")
		rows += a(i, "u1") + a([9] * i, "f4") + a(0.25, "f4")
	return cam + rows
open("l.ply", "wb").write((head % "binary_little_endian").encode() + binary("<"))
open("b.ply", "wb").write((head % "binary_big_endian").encode() + binary(">"))
open("a.ply", "w").write(head % "ascii" + "2 7 8 1.5\n1.5 -2.5 -300 1 2 255 0 0.25\n2.5 -2.5 -301 1 2 255 1 9 0.25\n")'
	for name in l b a; do
		framecat $name.ply -o out.nrrd
		py '
f = read_frame("out.nrrd")
expect(f.names == ["x", "y", "z", "r", "g", "b", "a_name_that_is_longer_than_31_b"], f.names)
expect(f.meta["points"] == "2", f.meta)
expect(f.pixels[:, 0].T == [[1.5, -2.5, -300, 1, 2, 255, 0.25], [2.5, -2.5, -301, 1, 2, 255, 0.25]], f.pixels)'
		framecat out.nrrd -o again.ply		# colours stay bytes
		[ "$(grep -ac '^property uchar \(red\|green\|blue\)$' again.ply)" -eq 3 ]
		framecat again.ply | framecmp - out.nrrd
	done
	framecat --invalid 2 out.nrrd -o holes.nrrd
	framecat holes.nrrd -o holes.ply		# no bytes where a colour is NaN
	[ "$(grep -ac '^property uchar' holes.ply)" -eq 0 ]
	framecat holes.ply | framecmp - holes.nrrd
	# where white is known to be 255, levels between whole ones are rounded; no colour is black, as in meshes
	py '
p = np.array([[0, 1, 2], [0, 0, 0], [5, 5, 5], [254.7, 0.2, np.nan], [9.4, 9.6, np.nan], [7, 255.2, np.nan]], "f4")
for name, white in ("white", "255"), ("ushort", "65535"):
	write_frames(name + ".nrrd", Frame(p[:, None], list("xyzrgb"), {"points": "3", "max_value": white}))'
	framecat white.nrrd -o white.ply
	[ "$(grep -ac '^property uchar \(red\|green\|blue\)$' white.ply)" -eq 3 ]
	framecat white.ply -o back.nrrd
	py 'p = read_frame("back.nrrd").pixels[3:, 0]
expect(p.T == [[255, 9, 7], [0, 10, 255], [0, 0, 0]], p)'
	framecat ushort.nrrd -o ushort.ply
	[ "$(grep -ac '^property uchar' ushort.ply)" -eq 0 ]
	head -c -5 l.ply >cut.ply
	fails 1 "cut.ply: ends too early, after 1 of 2 entries of element vertex" framecat cut.ply -o x.nrrd
	head -c -2 a.ply >cut.ply
	fails 0 "cut.ply: line 21, the last one, has no newline: its last number may be cut off" framecat cut.ply -o x.nrrd
	(head -c -1 a.ply; printf '\r\n') >ended.ply
	framecat ended.ply | framecmp - out.nrrd
	printf 'ply\nformat ascii 1.0\nelement face 0\nend_header\n' >none.ply
	fails 1 "none.ply: header has no element vertex" framecat none.ply -o x.nrrd
	printf 'ply\nformat ascii 1.0\nelement vertex 1\nproperty list uchar int a\nend_header\n1 2\n' >list.ply
	fails 1 "list.ply: element vertex has no property that is a number" framecat list.ply -o x.nrrd
	printf 'ply\nformat ascii 1.0\nelement vertex 4000000000000\nproperty float x\nend_header\n1\n' >huge.ply
	fails 1 "huge.ply: ends too early, after 1 of 4000000000000 entries of element vertex" framecat huge.ply -o x.nrrd
	printf 'ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\none\n' >word.ply
	fails 1 "word.ply: line 6: wanted a number, not 'one'" framecat word.ply -o x.nrrd
	py 'write_frames("in.nrrd", Frame(np.ones((4, 5), "f4"), ["depth"]))'
	framecat in.nrrd -o mesh.ply
	fails 1 "mesh.ply: is a mesh, and only points are read of PLY files: mesh2depth reads meshes" framecat mesh.ply -o x.nrrd
	framecat --points in.nrrd -o points.ply		# an image as a mesh without triangles, as ever
	[ "$(framecat points.ply | frameinfo -s)" = "0 20x3 float x y z" ]
	fails 1 "holds no triangles, only 20 points" mesh2depth -o x.nrrd <points.ply
}

@test "tables: in a folder of images CSV, vnlog and PLY files are passed over, as before" {
	mkdir folder
	py 'write_frames("folder/a.nrrd", Frame(np.zeros((2, 3), "u1")))'
	printf 'x,y\n1,2\n' >folder/b.csv
	printf 'time, what\n1, a\n' >folder/notes.txt
	printf '# x y\n1 2\n' >folder/c.vnl
	printf 'ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n' >folder/d.ply
	[ "$(frameinfo -s folder)" = "0 3x2x1 uchar image" ]
}

@test "tables: stages that take images refuse them with one line, alone and in a chain" {
	printf 'image,b,c\n1,2,3\n3,4,5\n5,6,7\n' >t.csv
	for tool in gauss median unwrap2f normals "phase2depth --ref ideal -c 1" holoenc holodec \
		dither3 undither3 "phasewrap -n 3 -p 60"; do
		# shellcheck disable=SC2086
		fails 1 "${tool%% *}: input is a table of 3 points, not an image" $tool t.csv -o x.nrrd
		# shellcheck disable=SC2086
		fails 1 "${tool%% *}: input is a table of 3 points, not an image" fringepipe framecat t.csv , $tool -o x.nrrd
	done
	fails 1 "a cloud of points needs channels x y z, not image b c" mesh2depth t.csv -o x.nrrd
	fails 1 "a cloud of points needs channels x y z, not image b c" fringepipe framecat t.csv , mesh2depth -o x.nrrd
	fails 1 "a mesh needs channels x y z, or one of z, depth, height" shade t.csv -o x.nrrd
	[ ! -e x.nrrd ]
}

@test "tables: points that disagree with the width are an error" {
	for points in 2 4 -1 1.5 x "5 5" ""; do
		py 'write_frames("t.nrrd", Frame(np.zeros((2, 1, 5), "f4"), ["x", "y"], {"points": sys.argv[1]}))' "$points"
		for tool in "framecat -o x.nrrd" frameinfo "gauss -o x.nrrd"; do
			# shellcheck disable=SC2086
			fails 1 "points" $tool t.nrrd
		done
		fails 2 "points" framecmp t.nrrd t.nrrd
	done
	py 'write_frames("t.nrrd", Frame(np.zeros((2, 1, 5), "f4"), ["x", "y"], {"points": "4"}))'
	fails 1 "points: is 4, the table has 5 columns" framecat t.nrrd -o x.nrrd
	py 'write_frames("i.nrrd", Frame(np.zeros((4, 5), "f4"), None, {"points": "4"}))'
	framecat i.nrrd -o image.nrrd		# of height 4: an image, whatever its keys
	[ "$(frameinfo -s image.nrrd)" = "0 5x4x1 float image" ]
}

@test "tables: a stream of tables with changing numbers of rows, on any number of threads" {
	py "$tables"'
write_frames("in.nrrd", [table(n, ["x", "y", "z"], number=str(i)) for i, n in enumerate([3, 0, 5, 5, 0, 1, 9000, 2])])'
	framecat in.nrrd -o out.nrrd
	framecat <in.nrrd | framecat --set a=b >piped.nrrd
	fringepipe -j 7 framecat in.nrrd , framecat -c z,x -o chain.nrrd
	framecat in.nrrd -o t%d.csv
	framecat t?.csv -o back.nrrd
	py "$tables"'
a = read_frames("in.nrrd")
for name in "out.nrrd", "piped.nrrd", "back.nrrd":
	b = read_frames(name)
	expect(len(b) == 8, name, len(b))
	for i, (f, g) in enumerate(zip(a, b)):
		same(f, g)
		expect(g.meta["number"] == str(i), name, g.meta)
for f, g in zip(a, read_frames("chain.nrrd")):
	same(Frame(f.pixels[[2, 0]], ["z", "x"], f.meta), g)'
	framecmp in.nrrd back.nrrd
	[ "$(frameinfo -k points back.nrrd | tr '\n' ' ')" = "3 0 5 5 0 1 9000 2 " ]
}

@test "tables: damaged text does no harm" {
	py "$tables"'write_frames("t.nrrd", table(20, ["x", "y", "z"], note="a b"))'
	framecat t.nrrd -o t.csv
	framecat t.nrrd -o t.vnl
	framecat t.nrrd -o b.ply
	framecat --ascii t.nrrd -o a.ply
	for name in t.csv t.vnl a.ply b.ply; do
		py '
name = sys.argv[1]
for seed in range(1, 41):
	rng = np.random.default_rng(seed)
	d = bytearray(open(name, "rb").read())
	for i in range(int(rng.integers(1, 6))):
		at = int(rng.integers(0, len(d)))
		if rng.random() < 0.5:
			d[at] = int(rng.choice(list(b"\0\n,# -9\"xe:=\xff") + [int(rng.integers(0, 256))]))
		else:
			del d[at:at + int(rng.integers(1, 20))]
	open("damaged%d%s" % (seed, name[-4:]), "wb").write(d)' $name
		for seed in {1..40}; do
			run framecat -q "damaged$seed.${name##*.}" -o x.nrrd
			[ "$status" -le 1 ] || { echo "$name $seed: $status $output"; return 1; }
			[ "$status" -eq 0 ] || [ "$(wc -l <<<"$output")" -eq 1 ] || { echo "$name $seed: $output"; return 1; }
		done
	done
}

@test "tables: frameplot draws a field over the number of the point" {
	py 'open("t.csv", "w").write("a,depth\n" + "".join("%d,%d\n" % (i, i * i) for i in range(50)))'
	frameplot t.csv -o t.svg
	frameplot -c a t.csv -o a.svg
	frameplot -c depth t.csv -o again.svg
	cmp t.svg again.svg
	run ! cmp -s t.svg a.svg
	# the same curve as that of an image of one row, but for the label below it
	py 'p = np.arange(50, dtype="f4"); write_frames("i.nrrd", Frame(np.stack([p, p * p])[:, None], ["a", "depth"]))'
	frameplot i.nrrd -o i.svg
	curve() { grep -o ' d="M [^"]*"' "$1" | awk 'length > length(most) { most = $0 } END { print most }'; }
	curve t.svg >t
	curve i.svg >i
	[ "$(wc -c <t)" -gt 500 ]
	cmp t i
	printf 'x\n' >none.csv
	frameplot none.csv -o none.svg
}

@test "tables: lines that end with a carriage return alone" {
	printf 'x\r1\r2\r3\r' >a.csv
	printf '# key:=v\rx,y\r1,2\r3,4' >b.csv
	printf '# x y\r1 2\r\r3 4\r' >c.vnl
	printf 'x,y\r\n1,2\r3,4\n5,6\r\r\n' >d.csv
	for name in a.csv b.csv c.vnl d.csv; do
		framecat $name -o "$name.nrrd"
		framecat <$name | framecmp - "$name.nrrd"
	done
	[ "$(frameinfo -s a.csv.nrrd)" = "0 3x1 float x" ] || frameinfo -s a.csv.nrrd
	py '
for path, points in ("a.csv", [[1], [2], [3]]), ("b.csv", [[1, 2], [3, 4]]), ("c.vnl", [[1, 2], [3, 4]]), ("d.csv", [[1, 2], [3, 4], [5, 6]]):
	f = read_frame(path + ".nrrd")
	expect(f.pixels[:, 0].T.tolist() == points, path, f.pixels)
expect(read_frame("b.csv.nrrd").meta["key"] == "v")'
}

@test "tables: PLY values that no float holds are refused, as in CSV" {
	py 'head = "ply\nformat %s 1.0\nelement vertex 2\nproperty double x\nproperty float y\nend_header\n"
open("b.ply", "wb").write((head % "binary_little_endian").encode() + b"".join(np.array(x, "<f8").tobytes() + np.array(1, "<f4").tobytes() for x in (1, -1e60)))
open("inf.ply", "wb").write((head % "binary_little_endian").encode() + b"".join(np.array(x, "<f8").tobytes() + np.array(1, "<f4").tobytes() for x in (1, np.inf)))
for i, x in enumerate(("1e60 1", "1 1e60", "1 -1e999")):
	open("a%d.ply" % i, "w").write(head % "ascii" + "1 2\n" + x + "\n")
open("i.ply", "w").write(head % "ascii" + "1 2\n-inf inf\n")'
	fails 1 "b.ply: point 1: -1e+60 is larger than a float can be" framecat b.ply -o x.nrrd
	fails 1 "a0.ply: line 8: 1e60 is larger than a float can be" framecat a0.ply -o x.nrrd
	fails 1 "a1.ply: line 8: 1e60 is larger than a float can be" framecat a1.ply -o x.nrrd
	fails 1 "a2.ply: line 8: -1e999 is larger than a float can be" framecat a2.ply -o x.nrrd
	silent framecat inf.ply -o x.nrrd
	silent framecat i.ply -o x.nrrd
}

@test "tables: one warning a file where a large number is rounded, none where digits say the same float" {
	for name in t.csv t.vnl a.ply b.ply; do
		py 'values = 1700000000.25, 16777217, 1
if sys.argv[1] == "t.csv":
	text = "x\n" + "".join("%r\n" % v for v in values)
elif sys.argv[1] == "t.vnl":
	text = "# x\n" + "".join("%r\n" % v for v in values)
else:
	text = "ply\nformat %s 1.0\nelement vertex 3\nproperty double x\nend_header\n" % ("ascii" if sys.argv[1] == "a.ply" else "binary_little_endian")
	text += "".join("%r\n" % v for v in values) if sys.argv[1] == "a.ply" else ""
data = text.encode()
if sys.argv[1] == "b.ply":
	data += np.array(values, "<f8").tobytes()
open(sys.argv[1], "wb").write(data)' $name
		case $name in
		a.ply) where="line 6" ;;
		b.ply) where="point 0" ;;
		*) where="line 2" ;;
		esac
		fails 0 "framecat: $name: $where: 1700000000.25 becomes 1700000000: a float has about 7 digits" framecat $name -o x.nrrd
		silent framecat -q $name -o x.nrrd
	done
	printf 'x\n16777217\n' >t.csv
	fails 0 "t.csv: line 2: 16777217 becomes 16777216" framecat t.csv -o x.nrrd
	printf '512000.25 5412000.75 100.5\n' >t.xyz
	fails 0 "t.xyz: line 1: 5412000.75 becomes 5412001: a float has about 7 digits: subtract an offset first" framecat t.xyz -o x.nrrd
	printf 'x\n170000001\n' >t.csv
	fails 0 "t.csv: line 2: 170000001 becomes 170000000" framecat t.csv -o x.nrrd
	printf 'x\n0.1\n1e30\n-3.4028235e38\n16777216\n412.12345678901234\n1700000000\n' >t.csv
	silent framecat t.csv -o x.nrrd
	py 'rng = np.random.default_rng(3)
v = (rng.normal(size=20000) * 10.0 ** rng.uniform(0, 38, 20000)).astype("f4")
v = v[np.isfinite(v)]
for name, form in ("nine", "%.9g"), ("seventeen", "%.17g"), ("short", None):
	open(name + ".csv", "w").write("x\n" + "".join((form % x if form else str(x)) + "\n" for x in v))'
	for name in nine seventeen short; do
		silent framecat $name.csv -o x.nrrd
	done
}

@test "tables: --like refuses a frame that lies elsewhere on the sensor" {
	py 'write_frames("i.nrrd", Frame(np.arange(24, dtype="f4").reshape(4, 6)))'
	framecat --crop 1,2,3,2 i.nrrd -o crop.nrrd
	framecat --points crop.nrrd -o t.csv
	framecat --like crop.nrrd t.csv | framecmp - crop.nrrd
	framecat --like i.nrrd t.csv -o x.nrrd		# which has no key
	framecat --set 'origin_px=2 1' crop.nrrd -o other.nrrd
	fails 1 "other.nrrd: has origin_px 2 1, the table 1 2: its points are of other pixels" framecat --like other.nrrd t.csv -o x.nrrd
	framecat --set 'origin_px=1.0  2' crop.nrrd -o same.nrrd
	framecat --like same.nrrd t.csv | framecmp - crop.nrrd
	framecat --set bin=2 crop.nrrd -o two.nrrd
	framecat --set bin=1 t.csv -o one.csv
	fails 1 "two.nrrd: has bin 2, the table 1" framecat --like two.nrrd one.csv -o x.nrrd
}

@test "tables: --points takes integers that the key invalid names for holes" {
	for type in u1 u2; do
		py 'write_frames("i.nrrd", Frame(np.array([[[0, 5, 7], [0, 1, 0]], [[1, 0, 3], [0, 2, 4]]], sys.argv[1]), ["a", "b"], {"invalid": "0"}))' $type
		framecat --points i.nrrd -o t.nrrd
		framecat --as float --points i.nrrd | framecmp - t.nrrd
		framecat --invalid 0 --points i.nrrd | framecmp - t.nrrd
		py 'f = read_frame("t.nrrd")
expect(f.names == ["a", "b", "column", "row"] and f.meta["points"] == "3" and "invalid" not in f.meta, f.names, f.meta)
expect(np.array_equal(f.pixels[:, 0].T, np.array([[5, np.nan, 1, 0], [7, 3, 2, 0], [1, 2, 1, 1]], "f4"), equal_nan=True), f.pixels)'
		framecat --invalid 7 --points i.nrrd -o t.nrrd		# the option comes before the key
		[ "$(frameinfo -s t.nrrd)" = "0 5x4 float a b column row" ]
		framecat --delete invalid i.nrrd | framecat --points -o t.nrrd
		[ "$(frameinfo -s t.nrrd)" = "0 6x4 float a b column row" ]
	done
	py 'write_frames("i.nrrd", Frame(np.zeros((2, 3), "u1"), None, {"invalid": "none"}))'
	fails 1 "invalid" framecat --points i.nrrd -o x.nrrd
}

@test "tables: columns of one name are refused, also where only 31 bytes of it agree" {
	long=a_name_that_is_longer_than_31_b
	printf 'x,y,x\n1,2,3\n' >a.csv
	printf '%s,%s\n1,2\n' ${long}1 ${long}2 >b.csv
	printf '# x y y\n1 2 3\n' >c.vnl
	printf 'ply\nformat ascii 1.0\nelement vertex 1\nproperty float red\nproperty float r\nend_header\n1 2\n' >d.ply
	for case in "a.csv x" "b.csv $long" "c.vnl y" "d.ply r"; do
		read -r name column <<<"$case"
		fails 1 "$name: two columns have the name $column" framecat $name -o x.nrrd
	done
	printf 'x,y\n1,2\n' >a.csv
	fails 1 "x.csv: two columns have the name x" framecat -c x,x a.csv -o x.csv
	[ ! -e x.csv ]
	printf '"x;y"\n1\n' >a.csv
	framecat a.csv -o b.csv
	framecat b.csv | framecmp - a.csv
}

@test "tables: framecmp takes two tables of 0 points for the same, whatever fills them" {
	py 'for name, v, points in ("a", np.nan, 0), ("b", 3, 0), ("c", 3, 1):
	write_frames(name + ".nrrd", Frame(np.full((2, 1, 1), v, "f4"), ["x", "y"], {"points": str(points)}))'
	silent framecmp a.nrrd b.nrrd
	silent framecmp --max 1 b.nrrd a.nrrd
	run framecmp b.nrrd c.nrrd
	[ "$status" -eq 1 ]
	[[ $output == *"A is a table of 0 points, B is a table of 1 point"* ]]
}

@test "tables: ASCII PLY with more rows than vertices, and numbers that do not fit their type" {
	head='ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty uchar red\n'
	printf "${head}end_header\n1 2\n3 4\n5 6\n" >a.ply
	fails 1 "a.ply: line 9: '5' stands behind the 2 entries of element vertex" framecat a.ply -o x.nrrd
	printf "${head}end_header\n1 2\n3 300\n" >a.ply
	fails 1 "a.ply: line 8: 300 does not fit its type" framecat a.ply -o x.nrrd
	printf "${head}end_header\n1 -1\n3 4\n" >a.ply
	fails 1 "a.ply: line 7: -1 does not fit its type" framecat a.ply -o x.nrrd
	printf "${head}element edge 1\nproperty int a\nend_header\n1 2\n3 255\n7\n\n" >a.ply
	framecat a.ply -o x.nrrd
	[ "$(frameinfo -s x.nrrd)" = "0 2x2 float x r" ]
}

@test "tables: names that CSV or vnlog cannot have are read back, or refused where two become equal" {
	py '
def table(name, names):
	write_frames(name, Frame(np.ones((len(names), 1, 2), "f4"), names, {"points": "2"}))
table("mark.nrrd", ["\ufeffa", "b"])
table("return.nrrd", ["a\rb", "c"])
table("equal.nrrd", ["a#b", "a_b"])'
	for name in mark return; do
		for suffix in csv vnl; do
			framecat $name.nrrd -o $name.$suffix
			framecat $name.$suffix -o back.nrrd
			py 'expect(read_frame("back.nrrd").pixels.shape == (2, 1, 2), "shape")'
		done
	done
	framecat mark.csv -o back.nrrd
	py 'expect(read_frame("back.nrrd").names == ["\ufeffa", "b"], read_frame("back.nrrd").names)'
	framecat equal.nrrd -o equal.csv
	fails 1 "framecat: equal.vnl: two columns have the name a_b" framecat equal.nrrd -o equal.vnl
	[ ! -e equal.vnl ]
}

@test "tables: names that would read back as one are refused, others as they will be read" {
	py 'write_frames("clash.nrrd", Frame(np.zeros((2, 1, 3), "f4"), ["\\\\", "_"], {"points": "3"}))
write_frames("one.nrrd", Frame(np.zeros((2, 1, 3), "f4"), ["a\\\\b", "c"], {"points": "3"}))'
	for suffix in csv vnl; do
		fails 1 "two columns have the name _ " framecat clash.nrrd -o clash.$suffix
		[ ! -e clash.$suffix ]
		framecat one.nrrd -o one.$suffix
		py 'expect(read_frame("one.nrrd").names[1] == "c")
expect("a_b" in open(sys.argv[1]).read())' one.$suffix
	done
}

@test "tables: framecat --where takes the rows whose channel has one of the values" {
	printf 'x,line,view\n1,2,7\n2,1,7\n3,2,8\n4,nan,8\n5,3,0.5\n' >t.csv
	framecat --where line=2 t.csv -o two.csv
	[ "$(grep -v '^#' two.csv)" = $'x,line,view\n1,2,7\n3,2,8' ]
	framecat --where line=1,3 -c x t.csv -o other.csv
	[ "$(grep -v '^#' other.csv)" = $'x\n2\n5' ]
	framecat --where view=1/2 t.csv -o half.csv
	[ "$(grep -v '^#' half.csv)" = $'x,line,view\n5,3,0.5' ]
	framecat --where line=9 t.csv -o none.csv
	[ "$(grep -v '^#' none.csv)" = x,line,view ]
	fails 1 "--where: there is no channel z, only x line view" framecat --where z=1 t.csv -o x.csv
	fails 2 "--where: wants NAME=V or NAME=V,V,..., not 'line'" framecat --where line t.csv -o x.csv
	fails 2 "--where: wants NAME=V or NAME=V,V,..., not 'line=two'" framecat --where line=two t.csv -o x.csv
	py 'write_frames("image.nrrd", Frame(np.zeros((1, 3, 4), "f4"), ["x"]))'
	fails 1 "--where: is for tables, the input is an image" framecat --where x=0 image.nrrd -o x.csv
	[ ! -e x.csv ]
}

@test "tables: points as columns of numbers, as other programs write them" {
	good() {	# NAME TEXT CHANNELS ROWS
		printf "$2" >"$1"
		framecat "$1" -o p.nrrd
		[[ $1 == *.xyzn ]] || framecat - <"$1" | framecmp - p.nrrd
		py '
f, rows = read_frame("p.nrrd"), eval(sys.argv[2], {"nan": np.nan})
expect(f.names == sys.argv[1].split(), f.names)
expect(f.meta["points"] == str(len(rows)) and np.array_equal(f.pixels[:, 0].T, np.array(rows, "f4").reshape(len(rows), -1),
	equal_nan=True), f.meta, f.pixels)' "$3" "$4"
	}
	good a.xyz '1.5 2 3\n4 5 6\n-7 8e1 nan\n' 'x y z' '[[1.5,2,3],[4,5,6],[-7,80,nan]]'
	good a.txt '\xef\xbb\xbf 1.5;2;3 \r\n\r\n4; ;6' 'x y z' '[[1.5,2,3],[4,nan,6]]'
	good a.asc '1.5, 2, 3\n4,5,6\n' 'x y z' '[[1.5,2,3],[4,5,6]]'
	good a.csv '1\t2\t3\n4\t5\t6\n' 'x y z' '[[1,2,3],[4,5,6]]'
	good a.xyzn '1 2 3 0 0 1\n' 'x y z nx ny nz' '[[1,2,3,0,0,1]]'
	good a.pts '2\n1 2 3 -7 255 0 9\n4 5 6 8 1 2 3\n' 'x y z intensity r g b' '[[1,2,3,-7,255,0,9],[4,5,6,8,1,2,3]]'
	good b.pts '1\n1 2 3 255 0 9\n' 'x y z r g b' '[[1,2,3,255,0,9]]'
	good c.asc '//X,Y,Z,R,G,B,Nx,Ny,Nz,My_field\n1,2,3,255,0,9,0,0,1,7\n' 'x y z r g b nx ny nz My_field' '[[1,2,3,255,0,9,0,0,1,7]]'
	good d.asc '//X Y Z Rf Gf Bf\n2\n1 2 3 .5 0 1\n4 5 6 0 0 0\n' 'x y z r g b' '[[1,2,3,.5,0,1],[4,5,6,0,0,0]]'
	framecat d.asc | frameinfo | has '^  max_value:=1$'
	good e.asc '//Y X Z\n1 2 3\n' 'y x z' '[[1,2,3]]'
	good e.pts '2\n//Z Y X\n1 2 3\n4 5 6\n' 'z y x' '[[1,2,3],[4,5,6]]'
	good f.asc '//Row Column X Y Z\n7 8 1 2 3\n' 'Row Column x y z' '[[7,8,1,2,3]]'
	for comment in 'three more words' 'made by me\n# x y z' 'x y z in mm'; do
		printf "# $comment\n1 2 3\n" >c.xyz
		framecat c.xyz -o p.nrrd
		[ "$(frameinfo -s p.nrrd)" = "0 1x3 float x y z" ]
	done
	good e.txt 'X;Y;Z;Red;Green;Blue\n1;2;3;4;5;6\n' 'x y z r g b' '[[1,2,3,4,5,6]]'
	good f.txt 'x\ty\tz\n1\t2\t3\n' 'x y z' '[[1,2,3]]'
	good g.csv 'x;y;name\n1;2;3\n' 'x y name' '[[1,2,3]]'
	printf '//X Y Z\n' >h.xyz
	framecat h.xyz -o p.nrrd
	[ "$(frameinfo -s p.nrrd)" = "0 0x3 float x y z" ]
	printf '1 2 3 4\n' >i.xyz
	fails 0 "columns 4 to 4 have no names: a first line such as //X,Y,Z,R,G,B tells them" framecat i.xyz -o p.nrrd
	[ "$(frameinfo -s p.nrrd)" = "0 1x4 float x y z field4" ]
	# NumPy's own text, and ours in NumPy, to the bit
	py '
p = np.concatenate([np.random.default_rng(1).normal(size=(500, 3)) * 1e3, [[0.1, 1e-45, 3.4e38]]]).astype("f4")
np.savetxt("n.xyz", p, "%.9g")
write_frames("n.nrrd", Frame(p.T[:, None], list("xyz"), {"points": "501"}))'
	framecat n.xyz | framecmp - n.nrrd
	framecat n.nrrd -o m.xyz
	py 'expect(np.array_equal(np.loadtxt("m.xyz").astype("f4"), read_frame("n.nrrd").pixels[:, 0].T))'
	py "$tables"'
names = {"a.asc": "x y z r g b nx ny nz q", "b.xyz": "x y z _", "c.pts": "x y z intensity r g b", "d.pts": "x y z", "e.xyzn": "x y z nx ny nz"}
for n in 0, 1, 500:
	for name, channels in names.items():
		if n or name != "c.pts":
			write_frames(f"{n}-{name}.nrrd", table(n, channels.split()))'
	for file in ?-?.*.nrrd 500-?.*.nrrd; do
		framecat "$file" -o "${file%.nrrd}"
		framecat "${file%.nrrd}" -o back.nrrd
		framecmp "$file" back.nrrd
		[ "$(frameinfo -s back.nrrd)" = "$(frameinfo -s "$file")" ]
	done
	[ "$(head -n 1 500-a.asc)$(head -n 1 500-c.pts)" = "//x y z r g b nx ny nz q500" ]
	py "$tables"'write_frames("q.nrrd", table(2, ["x", "y", "z", "q"]))'
	fails 1 "q.pts: PTS holds x y z, intensity and r g b, in this order" framecat q.nrrd -o q.pts
	fails 1 "q.xyz: the first channels are not x y z: framecat --channels chooses" framecat -c q,x,y q.nrrd -o q.xyz
}

@test "tables: bad columns of points are one line" {
	bad() {		# NAME TEXT MESSAGE
		printf "$2" >"$1"
		fails 1 "$1: $3" framecat "$1" -o x.nrrd
	}
	bad a.xyz '1 2 3\n4 5\n' "line 2: 2 values in a table of 3 columns"
	bad a.xyz '1 2 3\n4 5 6 7\n' "line 2: 4 values in a table of 3 columns"
	bad a.xyz '1 2 3\n4 five 6\n' "line 2: wanted a number, not 'five'"
	bad a.xyz '1,5 2,5 3,5\n' "line 1: wanted a number, not '5 2': numbers have a point, not a comma"
	bad a.asc '1,5;2,5;3,5\n' "line 1: wanted a number, not '1,5': numbers have a point, not a comma"
	bad a.asc '1\t2\t3\n1,5\t2,5\t3,5\n' "line 2: wanted a number, not '1,5': numbers have a point, not a comma"
	bad a.xyz '1 2\n' "line 1 has 2 columns: points have x y z at least"
	bad a.xyz 'x y\n1 2\n' "line 1 has 2 columns: points have x y z at least"
	bad a.xyz '1 2 1e39\n' "line 1: 1e39 is larger than a float can be"
	bad a.xyz '# nothing\n' "ends before the first point"
	bad a.pts '3\n1 2 3\n4 5 6\n' "ends too early, after 2 of 3 points that line 1 announces"
	bad a.pts '1000000000\n1 2 3\n' "ends too early, after 1 of 1000000000 points that line 1 announces"
	bad a.pts '1\n1 2 3\n4 5 6\n' "has 2 points, not 1, which line 1 announces"
	bad a.pts '2\n1 2 3\n1\n4 5 6\n' "line 3: 1 value in a table of 3 columns"
	bad a.asc '//X,Y,Z,x\n1,2,3,4\n' "two columns have the name x (31 bytes of it count)"
	bad a.xyz '1 2 3\n4 5 6\n7 \0 9\n' "line 3 has a byte 0: it is no text"
	[ ! -e x.nrrd ]
}

@test "tables: PCD of others, organised clouds, and what is wrong with one" {
	py '
head = """# .PCD v.7 - Point Cloud Data file format
VERSION .7
FIELDS x y z _ rgb normal_x hist
SIZE 4 8 2 1 4 4 4
TYPE F F I U %s F F
COUNT 1 1 1 3 1 1 2
WIDTH %d
HEIGHT %d
VIEWPOINT 1 2.5 -3 1 0 0 0
POINTS 4
DATA %s
"""
rows = [(1.5, -2.5, -300, 0xff0102fe + i, 0.25 * i, i, -i) for i in range(4)]
def binary(kind, w, h):
	return (head % (kind, w, h, "binary")).encode() + b"".join(
		np.array([a], "<f4").tobytes() + np.array([b], "<f8").tobytes() + np.array([c], "<i2").tobytes() + b"abc" +
		np.array([rgb], "<u4").tobytes() + np.array([n, p, q], "<f4").tobytes() for a, b, c, rgb, n, p, q in rows)
open("u.pcd", "wb").write(binary("U", 4, 1))
open("f.pcd", "wb").write(binary("F", 4, 1))
open("o.pcd", "wb").write(binary("F", 2, 2))
text = [(a, b, c, 1, 2, 3, rgb, n, p, q) for a, b, c, rgb, n, p, q in rows]
open("a.pcd", "w").write((head % ("U", 4, 1, "ascii")).replace("\n", "\r\n") + "".join(" ".join(map(str, r)) + "\r\n" for r in text))'
	for name in u f a o; do
		framecat $name.pcd -o $name.nrrd
		py '
f, n = read_frame(sys.argv[1] + ".nrrd"), sys.argv[1]
expect(f.names == "x y z r g b nx hist1 hist2".split(), f.names)
expect(f.meta["seen_from_mm"] == "1 2.5 -3", f.meta)
expect(f.pixels.shape[1:] == ((2, 2) if n == "o" else (1, 4)), f.pixels.shape)
expect(f.pixels.reshape(9, 4).T == [[1.5, -2.5, -300, 1, 2, 254 + i, 0.25 * i, i, -i] if i < 2 else
	[1.5, -2.5, -300, 1, 3, i - 2, 0.25 * i, i, -i] for i in range(4)], f.pixels)' $name
		for option in "" --ascii; do
			framecat $option $name.nrrd -o again.pcd
			[ "$(grep -ac '^FIELDS x y z rgb normal_x hist1 hist2$' again.pcd)" -eq 1 ]
			framecat again.pcd | framecmp - $name.nrrd
		done
	done
	bad() {		# SED MESSAGE
		LC_ALL=C sed "$1" "${3:-u}.pcd" >b.pcd
		fails 1 "b.pcd: $2" framecat b.pcd -o x.nrrd
	}
	bad 's/^DATA.*/DATA binary_compressed/' "DATA binary_compressed is not read: save it as binary or ascii"
	bad 's/^DATA.*/DATA zip/' "header line 11: wanted DATA ascii or binary, not 'zip'"
	bad 's/^POINTS.*/POINTS 5/' "POINTS is 5, but WIDTH x HEIGHT 4 x 1"
	bad 's/^WIDTH.*/WIDTH 1000000000/;/^POINTS/d' "ends too early, after 4 of 1000000000 entries of element POINTS"
	bad 's/^SIZE.*/SIZE 4 4/' "FIELDS, SIZE, TYPE and COUNT name 7, 2, 7 and 7 fields"
	bad 's/^SIZE.*/SIZE 3 8 2 1 4 4 4/' "field x has TYPE F and SIZE 3, which are no number's"
	bad 's/^COUNT.*/COUNT 1 1 1 1 1 1 1000/' "has more than 256 values a point"
	bad 's/^COUNT.*/COUNT 1 -1/' "header line 6: wanted one whole number of each field, not '-1'"
	bad 's/^FIELDS.*/FIELDS x y z _ rgb x hist/' "two columns have the name x"
	bad 's/^HEIGHT/HIGH/' "header line 8: wanted a line of a PCD header, not 'HIGH'"
	# shellcheck disable=SC2016	# sed's last line
	bad '$s/ 3 .*//' "ends too early, after 3 of 4 entries of element POINTS" a
	# shellcheck disable=SC2016
	bad '$s/-3/red/' "line 15: wanted a number, not 'red00'" a
	head -c -5 u.pcd >b.pcd
	fails 1 "b.pcd: ends too early, after 3 of 4 entries of element POINTS" framecat b.pcd -o x.nrrd
	head -n 5 u.pcd >b.pcd
	fails 1 "b.pcd: ends too early, within the header" framecat b.pcd -o x.nrrd
	[ ! -e x.nrrd ]
}

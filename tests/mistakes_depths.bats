# Users' mistakes with depths that become pictures or videos: holoenc, depthenc, holoserve.
load mistakes

depths() {
	py '
y, x = np.mgrid[:120, :160].astype("f4")
bell = 500 + 40 * np.exp(-((x - 80) ** 2 + (y - 60) ** 2) / 900)
def put(name, z, **meta): write_frames(name + ".nrrd", Frame(z.astype("f4"), ["depth"], meta))
put("whole", bell)
for value in 0, -1, 65535:
	z = bell.copy(); z[:40, :50] = value; put("holes%d" % value, z)
z = bell.copy(); z[:40, :50] = np.nan; put("holes", z)
z = np.zeros_like(bell); z[40:80, 50:90] = 20; put("box", z)
z = bell.copy(); z[60, 80] = 1e6; put("stray", z)
put("relief", bell - 500)				# meets its ground
put("ground", np.where((x > 40) & (x < 90), 30, 0), z_axis="towards")
put("towards", np.where(bell > 510, bell, 0), z_axis="towards")'
}

@test "mistakes: numbers that stand for no depth, and stray depths" {
	depths
	for encode in holoenc "depthenc --depth-range file"; do
		for name in whole holes relief ground towards; do
			right $encode $name.nrrd -o x.nrrd
		done
		mistake "10.4 % of the depths are exactly 0, and the others go from 500 to 540: are these holes? framecat --invalid 0 makes them so" $encode holes0.nrrd -o x.nrrd
		mistake "makes them so; if 0 is a plane behind, framecat --set z_axis=towards says so" $encode holes0.nrrd -o x.nrrd
		framecat --set z_axis=towards holes0.nrrd -o behind.nrrd
		right $encode behind.nrrd -o x.nrrd
		mistake "exactly 0, and the others are 20: are these holes?" $encode box.nrrd -o x.nrrd
		mistake "exactly -1, and the others go from 500 to 540: are these holes?" $encode holes-1.nrrd -o x.nrrd
		mistake "exactly 65535, and the others go from 500 to 540: are these holes?" $encode holes65535.nrrd -o x.nrrd
		for value in 0 -1 65535; do
			framecat --invalid $value holes$value.nrrd -o mended.nrrd
			right $encode mended.nrrd -o x.nrrd
		done
	done
	holoenc -q holes0.nrrd -o x.nrrd
	[ "$(holodec x.nrrd | py 'print(int(np.isnan(read_frame(sys.stdin.buffer).pixels).sum()))')" -eq 0 ]
	mistake "the depths go from 500 to 1e+06, and 99.9 % of them use 0.024 % of that, in steps of 156: stray depths? give --depth-range" holoenc stray.nrrd -o x.nrrd
	right holoenc --depth-range 499,541 whole.nrrd -o x.nrrd
	holoenc -q --depth-range 499,541 stray.nrrd -o x.nrrd
	right holodec x.nrrd -o z.nrrd
}

@test "mistakes: a texture from 0 to 1 where white is 255" {
	py '
t = np.linspace(0, 1, 1200).reshape(30, 40)
def put(name, t, **meta): write_frames(name + ".nrrd", Frame(np.stack([40 * np.linspace(0, 1, 1200).reshape(30, 40), t]).astype("f4"), ["depth", "texture"], meta))
put("one", t)
put("said", t, max_value="1")
put("bright", t * 200)
put("black", t * 0)'
	for encode in "holoenc --texture texture" "holoenc --texture texture --texture-place below" "depthenc --depth-range 0,40 --texture texture"; do
		mistake "samples of texture go from 0 to 1, and white is 255: the texture becomes black; is key max_value what white is?" $encode one.nrrd -o x.nrrd
		for name in said bright black; do right $encode --depth-range 0,40 $name.nrrd -o x.nrrd; done
	done
}

# served [OPTION ...]: what holoserve says of its input, which a program receives.
served() {
	rm -f url
	holoserve --port 0 --print-url --linger "$@" >url 2>said &
	local server=$!
	for ((i = 0; i < 100; i++)); do
		[ ! -s url ] || break
		sleep 0.05
	done
	run holorecv --frames 1 --retries 2 "$(cat url)" -o came.nrrd
	kill $server
	wait $server
	[ "$status" -eq 0 ]
}

@test "mistakes: holoserve says of its depths and options what the encoders say" {
	depths
	served whole.nrrd
	[ ! -s said ]
	served --depth-range 499,541 whole.nrrd
	[ ! -s said ]
	served --depth-range 0.499,0.541 whole.nrrd
	grep -q "holoserve: --depth-range: 100 % of the depths, which go from 500 to 540, lie outside 0.499 to 0.541 and become background: is it in the unit of the depths?" said
	served --depth-range 0,400000 whole.nrrd
	grep -q "holoserve: --depth-range: 99.9 % of the depths use 0.024 % of the range 0 to 400000, in steps of 62.4: " said
	served stray.nrrd
	grep -q "holoserve: the depths go from 500 to 1e+06, and 99.9 % of them use 0.024 % of that" said
	served holes0.nrrd
	grep -q "holoserve: 10.4 % of the depths are exactly 0" said
	holoenc whole.nrrd -o holo.nrrd
	served holo.nrrd
	[ ! -s said ]
	served -P 30 holo.nrrd
	[ "$(cat said)" = "holoserve: the input is a Holoimage, which goes on as it is: options that say how depths are encoded have no effect" ]
	py 't = np.linspace(0, 1, 1200).reshape(30, 40); write_frames("one.nrrd", Frame(np.stack([t * 40, t]).astype("f4"), ["depth", "texture"]))'
	served one.nrrd
	grep -q "holoserve: samples of texture go from 0 to 1, and white is 255" said
}

@test "mistakes: depthdec --layout luma of planes whose colour holds depth, too" {
	py 'write_frames("z.nrrd", Frame(np.linspace(0, 40, 4800).astype("f4").reshape(60, 80), ["depth"]))'
	bare() {	# LAYOUT [OPTION ...]: its planes without keys
		depthenc --layout "$1" --depth-range 0,41 "${@:2}" z.nrrd | framecat --delete '*' -o planes.nrrd
	}
	options=(--bits 8 --depth-range 0,41 --mask gap --guard 32)
	for layout in mwd fold; do
		bare $layout
		mistake "luma takes the depth from the brightness alone, but the colour has levels from " depthdec --layout luma "${options[@]}" planes.nrrd -o d.nrrd
	done
	bare mwd
	right depthdec --layout mwd --fringes 4 "${options[@]}" planes.nrrd -o d.nrrd
	bare luma --bits 8
	right depthdec --layout luma "${options[@]}" planes.nrrd -o d.nrrd
	py '
f = read_frame("planes.nrrd")
grey = np.full(f.pixels.shape[1:], 128, "u1")
write_frames("flat.nrrd", Frame(np.stack([f.pixels[0], grey, grey + (f.pixels[0] > 99)]), ["luma", "chroma_u", "chroma_v"]))'
	right depthdec --layout luma "${options[@]}" flat.nrrd -o d.nrrd
}

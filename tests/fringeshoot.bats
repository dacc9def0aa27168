load helpers
load acquire

# fringeshoot in real time: an X server whose pixels a file holds, and a GigE Vision camera on this machine that sees them through
# a known relief. What it decides, under which conditions, tests/unit/test_fringeshoot.c shows without waiting.

rig() {
	start_screen 640x160
	fringegen -s 640x160 -n 4 -p 60 -g half --flats -m pat/list.txt -o pat/
}

shoot() {
	fringeshoot -q -m pat/list.txt --camera 127.0.0.1 --format Mono12 "$@"
}

# errors FOLDER: invalid pixels, the largest error and the rms in projector pixels, against truth.pfm.
errors() {
	fringepipe -q phasewrap -m "$1/manifest.txt" , unwrap2f -o abs.nrrd
	py '
u = np.fromfile("truth.pfm", "<f4", offset=len(b"Pf\n320 128\n-1.0\n")).reshape(128, 320)[::-1]
d = read_frame("abs.nrrd").pixels[0] * 60 / (2 * np.pi) - u
bad = np.isnan(d)
print(int(bad.sum()), float(np.abs(d[~bad]).max()), float(np.sqrt((d[~bad] ** 2).mean())))'
}

# right FOLDER: all pixels valid, none off by 1 px, rms at most 0.05 px.
right() {
	errors "$1" | tee -a results
	errors "$1" | awk '{ exit !($1 == 0 && $2 < 1 && $3 <= 0.05) }'
}

wrong() {
	errors "$1" | tee -a results
	errors "$1" | awk '{ exit !($2 > 1) }'
}

@test "fringeshoot: real time: pictures are of their patterns under all conditions, and are not without the check" {
	rig
	start_camera latency=100
	shoot --latency 0 -o late/
	right late
	shoot --check none --latency 0 -o unchecked/
	wrong unchecked
	stop_camera
	start_camera latency=37 rolling=25
	shoot --latency 20 -o rolling/
	right rolling
	stop_camera
	start_camera latency=37 stale=0.3
	shoot --latency 60 -o stale/
	right stale
	stop_camera
	start_camera latency=37 lost=0.001
	shoot --latency 60 -o lost/
	right lost
	cat results
}

@test "fringeshoot: a stream needs no manifest, a folder has one, sets are numbered, the latency is printed" {
	rig
	start_camera latency=37
	fringeshoot -v -m pat/list.txt --camera 127.0.0.1 --format Mono12Packed --dry-run 2>log
	latency=$(sed -n 's/^fringeshoot: --latency \([0-9.]*\) saves measuring it the next time$/\1/p' log)
	awk -v ms="$latency" 'BEGIN { exit !(ms > 30 && ms < 150) }'
	grep -q '% of the picture is lit, white is' log
	shoot --latency "$latency" | fringepipe -q phasewrap , unwrap2f -o abs.nrrd
	[ "$(frameinfo abs.nrrd | grep -c 'absphase')" -eq 1 ]
	# a rejected picture ends a stream, and gives a folder the exit status 1
	run -1 --separate-stderr fringeshoot -m pat/list.txt --camera 127.0.0.1 --latency 0 --retries 0 -o rejected.nrrd
	# shellcheck disable=SC2154	# run sets it
	[[ $stderr == *"phase_0"*": rejected after 0 retries: "*"phase_0"*": rejected: the stream ends"* ]]
	[ ! -e rejected.nrrd ]
	run -1 fringeshoot -q -m pat/list.txt --camera 127.0.0.1 --latency 0 --retries 0 -o rejected/
	has "pictures are rejected" <<<"$output"
	grep -q ' rejected$' rejected/manifest.txt
	shoot --latency "$latency" --repeat 2 -o sets/
	[ "$(find sets -name '*.png' | wc -l)" -eq "$(($(find pat -name '*.png' | wc -l) * 2))" ]
	right sets/0001
	frameinfo sets/0002/phase_00.png | has 'frame_number:=1[0-9]'
	[ "$(grep -c ' ok$' sets/0002/manifest.txt)" -eq "$(find pat -name '*.png' | wc -l)" ]
	# a rejected image: phasewrap refuses the set
	sed '/phase_01/s/ok$/rejected/' sets/0001/manifest.txt >sets/0001/rejected.txt
	fails 1 "1 of 11 images are rejected, as sets/0001/phase_01.png: they hold light of another pattern" \
		fringepipe phasewrap -m sets/0001/rejected.txt , unwrap2f -o x.nrrd
	run -0 --separate-stderr fringepipe --keep-going phasewrap -m sets/0001/rejected.txt -o x.nrrd
	# shellcheck disable=SC2154	# run sets it
	[[ $stderr == *"and used all the same"* ]]
}

# A camera that is a command: the pixels of the screen themselves.
snapshots() {
	cat >snapshot.py <<-'END'
		import struct, sys
		raw = open("fb/Xvfb_screen0", "rb").read()
		head = struct.unpack(">25I", raw[:100])
		green = raw[head[0] + 12 * head[19] + 1::4][:head[4] * head[5]]
		darker = bytes(v * 3 // 4 for v in range(256))
		open(sys.argv[1], "wb").write(b"P5 %d %d 255\n" % (head[4], head[5]) + green.translate(darker))
	END
	snapshot="$python -S snapshot.py %s"
}

@test "fringeshoot: a command takes the pictures: of a screen without noise they are three quarters of the patterns" {
	rig
	snapshots
	silent fringeshoot -m pat/list.txt --grab "$snapshot" --latency 300 --trigger none -o shots/
	py '
import glob
from PIL import Image
for file in glob.glob("pat/*.png"):
	pattern, shot = [np.asarray(Image.open(f)) for f in (file, file.replace("pat", "shots"))]
	expect((shot == pattern.astype(int) * 3 // 4).all(), file)'
	# a set's own manifest can be shown again: its column check is replaced
	grep -qx '# file role axis period_px step shift_rad bit gray_cell check' shots/manifest.txt
	sed '/phase_01/s/ok$/rejected/' shots/manifest.txt >shots/rejected.txt
	silent fringeshoot -m shots/rejected.txt --grab "$snapshot" --latency 300 --trigger none -o again/
	diff shots/manifest.txt again/manifest.txt
	frameinfo shots/phase_01.png | has 'shift_rad:=1.57'
	# another size in the middle
	# shellcheck disable=SC2016	# the script's own words
	printf '#!/bin/sh\nn=$(cat n 2>/dev/null || echo 0)\necho $((n + 1)) >n\n%s\n' \
		'[ "$n" -lt 3 ] || f=small; exec cp ${f:-pat/phase_00}.png "$1"' >changing
	chmod +x changing
	fringegen -q -s 320x160 -n 3 -p 60 -o 'small%d.png'
	mv small0.png small.png
	fails 1 "./changing %s: gives 320x160 uchar after 640x160 uchar" fringeshoot -m pat/list.txt --grab './changing %s' -o other/
}

@test "fringeshoot: interrupted, it shows black, restores the gamma ramp and keeps what it has" {
	rig
	xrandr --output screen --gamma 1:1:0.6
	xrandr --verbose | grep Gamma >before
	start_camera latency=37
	interruptible fringeshoot -v -m pat/list.txt --camera 127.0.0.1 --latency 60 --repeat 1000 -o sets/ 2>message 3>&- 8>&- &
	eventually 60 test -e sets/0002
	kill -INT $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 1 ]
	grep -qx 'fringeshoot: interrupted' message
	grep -q '^fringeshoot: [0-9]* taken again, 0 rejected' message
	xrandr --verbose | grep Gamma | diff before -
	[ "$(grep -c ' ok$' sets/0001/manifest.txt)" -eq 11 ]
	# a reader that ends early
	run bash -c "fringeshoot -q -m pat/list.txt --camera 127.0.0.1 --latency 60 2>message | head -c 100 >head; echo \${PIPESTATUS[0]}"
	[ "$output" -eq 1 ]
	grep 'Broken pipe' message
	xrandr --verbose | grep Gamma | diff before -
	# the camera answers the next one
	shoot --latency 60 -o again/
	right again
}

@test "fringeshoot: what cannot be right is refused before a pattern is shown" {
	rig
	fails 2 "--manifest: which patterns?" fringeshoot
	fails 2 "--output: pat/ is the patterns' own folder" fringeshoot -m pat/list.txt -o pat/
	fails 2 "several cameras write into folders" fringeshoot -m pat/list.txt --camera a=x --camera b=y
	fails 2 "--camera: a=x and b=x have the same label" fringeshoot -m pat/list.txt --camera a=x --camera c=y --camera b=x -o c/
	fails 2 "--camera: b has no label" fringeshoot -m pat/list.txt --camera a=x --camera b -o c/
	fails 2 "--grab: 'cp %s.png' lacks the word %s" fringeshoot -m pat/list.txt --grab 'cp %s.png' -o c/
	sed 's/^phase_00/..\/phase_00/' pat/list.txt >pat/above.txt
	fails 1 "they must lie in the manifest's folder" fringeshoot -m pat/above.txt -o c/
	fringegen -s 640x160 -n 3 -p 60 --pack rgb -m rgb/list.txt -o rgb/
	fails 1 "holds several patterns" fringeshoot -m rgb/list.txt -o c/
	start_camera
	fails 2 "127.0.0.1: exposure 12.00 ms is 0.7" fringeshoot -m pat/list.txt --camera 127.0.0.1 --exposure 12 -o c/
	fails 1 "127.0.0.1: has no format Mono9, but Mono" fringeshoot -m pat/list.txt --camera 127.0.0.1 --format Mono9 -o c/
	fringegen -s 320x160 -n 3 -p 60 -m small/list.txt -o small/
	fails 1 "patterns are 320x160, screen shows 640x160" fringeshoot -m small/list.txt --camera 127.0.0.1 -o c/
	fails 1 "not found (--list)" fringeshoot -m pat/list.txt --camera 127.0.0.9 -o c/
	# a camera by a command that sees nothing of the screen
	fails 1 "0 % of the picture is lit by screen: wrong screen, lens cap, or too dark" \
		fringeshoot -m pat/list.txt --grab 'cp pat/phase_00.png %s' -o c/
	[ ! -e c ]
}

@test "fringeshoot: real time: a burst: fringeshow goes on by itself, fringegrab --settled keeps one picture of each pattern" {
	start_screen 640x160
	fringegen -q -s 640x160 -n 4 -p 60,66 -o pat/
	start_camera latency=37
	interruptible fringeshow -q --loop --hold 18 pat/ 3>&- 8>&- &
	fringegrab -q --camera 127.0.0.1 --format Mono12 --exposure 10 --settled -n 36 -o burst.nrrd
	kill -INT $!
	frameinfo burst.nrrd | grep -c '^frame' | tee -a results
	framecat -q burst.nrrd | phasewrap -n 4 -p 60,66 | unwrap2f -o sets.nrrd
	py '
u = np.fromfile("truth.pfm", "<f4", offset=len(b"Pf\n320 128\n-1.0\n")).reshape(128, 320)[::-1]
for frame in (sets := read_frames("sets.nrrd")):
	off = np.abs(frame.pixels[0] * 60 / (2 * np.pi) - u)
	print(off.max(), np.isnan(off).sum())
	expect(off.max() < 1, off.max())
expect(len(sets) >= 3, len(sets))'
}

load helpers
load acquire

# fringeshoot in real time: an X server whose pixels a file holds, and a GigE Vision camera on this machine that sees them through
# a known relief. What it decides, under which conditions, tests/unit/test_fringeshoot.c shows without waiting.

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
	shoot --check none --latency 60 -o repeated/
	wrong repeated
	stop_camera
	start_camera latency=37 lost=0.001
	shoot --latency 60 -o lost/
	right lost
	cat results
}

# A screen and a camera that are commands; STUCK: the count of the image that the screen does not show.
commands() {
	fringegen -q -s 640x160 -n 4 -p 60 -g half --flats -m pat/list.txt -o pat/
	cat >show <<-'END'
		#!/bin/sh
		n=$(($(cat n 2>/dev/null || echo 0) + 1))
		echo $n >n
		[ "$n" -eq "${STUCK:-0}" ] || cp "$1" shown.png
	END
	# shellcheck disable=SC2016	# the script's own words
	printf '#!/bin/sh\nframecat -f --set max_value=340 shown.png -o taken.png && mv taken.png "$1"\n' >take
	chmod +x show take
}

by_commands() {
	rm -f n
	fringeshoot -m pat/list.txt --show './show %s' --grab './take %s' --latency 0 "$@"
}

@test "fringeshoot: a stream needs no manifest, a folder has one, sets are numbered; screen and camera are commands" {
	commands
	silent by_commands -o single/
	py '
import glob
from PIL import Image
for file in glob.glob("pat/*.png"):
	a, b = [np.asarray(Image.open(f)) for f in (file, file.replace("pat", "single"))]
	expect((a == b).all(), file)'
	by_commands | fringepipe -q phasewrap , unwrap2f -o abs.nrrd
	[ "$(frameinfo abs.nrrd | grep -c 'absphase')" -eq 1 ]
	# a rejected picture ends a stream, and gives a folder the exit status 1
	STUCK=5 run -1 --separate-stderr by_commands --retries 0 -o rejected.nrrd
	# shellcheck disable=SC2154	# run sets it
	[[ $stderr == *"phase_01: rejected after 0 retries: still the pattern before"*"phase_01: rejected: the stream ends"* ]]
	[ ! -e rejected.nrrd ]
	STUCK=5 run -1 by_commands -q --retries 0 -o rejected/
	has "1 picture is rejected" <<<"$output"
	[ "$(grep -c ' rejected$' rejected/manifest.txt)" -eq 1 ]
	by_commands --repeat 2 -o sets/
	[ "$(find sets -name '*.png' | wc -l)" -eq "$(($(find pat -name '*.png' | wc -l) * 2))" ]
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
	rig -p 60 -g half
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

ramp_is() {
	xrandr --verbose | grep Gamma | diff "$1" -
}

# all that is there by its final name is a whole picture
whole() {
	local file
	for file in "$@"; do frameinfo "$file" >/dev/null; done
}

@test "fringeshoot: interrupted and killed, it restores the gamma ramp and keeps what it has" {
	rig
	xrandr --verbose | grep Gamma >straight
	xrandr --output screen --gamma 1:1:0.6
	xrandr --verbose | grep Gamma >bent
	start_camera latency=37
	interruptible fringeshoot -v -m pat/list.txt --camera 127.0.0.1 --latency 60 --repeat 1000 -o sets/ 2>message 3>&- 8>&- &
	eventually 60 test -e sets/0002
	ramp_is straight
	kill -INT $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 1 ]
	grep -qx 'fringeshoot: interrupted' message
	grep -q '^fringeshoot: [0-9]* taken again, 0 rejected' message
	ramp_is bent
	[ "$(grep -c ' ok$' sets/0001/manifest.txt)" -eq 8 ]
	# killed in the middle of a set: the pictures so far are whole, and the next one may have the folder
	interruptible fringeshoot -q -m pat/list.txt --camera 127.0.0.1 --latency 60 -o killed/ 2>/dev/null 3>&- 8>&- &
	eventually 60 bash -c 'ls killed/*.png' 2>/dev/null
	kill -KILL $!
	if wait $! 2>/dev/null; then false; fi
	eventually 5 ramp_is bent
	whole killed/*.png
	# the camera waits for the one that was killed
	again() {
		shoot --latency 60 -f -o killed/ 2>/dev/null
	}
	eventually 60 again
	right killed
	# a reader that ends early
	run bash -c "fringeshoot -q -m pat/list.txt --camera 127.0.0.1 --latency 60 2>message | head -c 100 >head; echo \${PIPESTATUS[0]}"
	[ "$output" -eq 1 ]
	grep 'Broken pipe' message
	ramp_is bent
	# a second interruption ends it where a command does not end
	printf '#!/bin/sh\necho >>asked\nexec sleep 5\n' >stuck
	chmod +x stuck
	interruptible fringeshoot -q -m pat/list.txt --grab './stuck %s' -o x/ 2>/dev/null 3>&- 8>&- &
	eventually 20 test -s asked
	ramp_is straight
	kill -INT $!
	sleep 0.2
	kill -INT $!
	run ! wait $!
	eventually 5 ramp_is bent
}

@test "fringeshoot: what cannot be right is refused before a pattern is shown" {
	rig -p 60 -g half
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

load helpers
load acquire

# fringeshow on an X server whose pixels a file holds (Xvfb). Its one output is called screen.

patterns() {
	fringegen -s 640x480 -n 3 -p 60 -m list.txt -o pat/
}

@test "fringeshow: every pixel of the screen is the pattern's: grey, colour and of one bit" {
	start_screen
	patterns
	fringegen -s 640x480 -n 3 -p 60 --pack rgb -o rgb/
	fringegen -s 640x480 -k gray -g column -b 1 -o bits/
	for file in pat/phase_01.png rgb/*.png bits/plane_03.png; do
		interruptible fringeshow --loop "$file" 3>&- &
		eventually 20 shows "$file"
		kill -INT $!
		wait $!
	done
}

@test "fringeshow: each image keeps its number of refreshes, and -v reports which" {
	start_screen
	patterns
	# a busy machine may miss a refresh: one of a few tries has none late
	on_time() {
		fringeshow -v --hold 3 pat/ 2>log
		[ "$(grep -c ' refresh .* 0 late' log)" -eq 3 ]
	}
	eventually 60 on_time
	sed -n 's/.*phase_0[0-9]: refresh \([0-9]*\),.*/\1/p' log >refreshes
	awk 'NR > 1 && $1 - last != 3 { exit 1 } { last = $1 } END { exit NR != 3 }' refreshes
	grep -Eq 'screen: 640x480, a refresh lasts 1[67]\.[0-9]* ms' log
	fringegen -q -s 640x480 -n 3 -p 60 -o - | fringeshow -v - 2>log
	[ "$(grep -c refresh log)" -ge 3 ]
}

@test "fringeshow: --wait-key shows the next image after the Enter key" {
	start_screen
	patterns
	mkfifo keys
	fringeshow --wait-key pat/phase_00.png pat/phase_01.png <keys 3>&- &
	exec 7>keys
	eventually 20 shows pat/phase_00.png
	echo >&7
	eventually 20 shows pat/phase_01.png
	echo >&7
	exec 7>&-
	wait $!
}

bent() {
	xrandr --verbose | grep 'Gamma' | has -v '1.0:1.0:1.0'
}

straight() {
	if bent; then return 1; fi
}

@test "fringeshow: a bent gamma ramp is straight while patterns are shown, and restored, after signals too" {
	start_screen
	patterns
	silent fringeshow pat/phase_00.png
	xrandr --output screen --gamma 1:1:0.6
	bent
	run -0 --separate-stderr fringeshow pat/phase_00.png
	# shellcheck disable=SC2154	# run sets it
	[[ $stderr == "fringeshow: screen: gamma ramp bends tones by up to "[0-9]*" of 255 (night light, colour profile): straight until the end" ]]
	bent
	fringeshow --list >list
	grep -q 'gamma ramp bent' list
	for signal in INT TERM HUP; do
		interruptible fringeshow --loop pat/phase_00.png 3>&- 2>/dev/null &
		eventually 20 shows pat/phase_00.png
		straight
		to=("$!")
		# a terminal that goes sends it twice
		if [ "$signal" = HUP ]; then to+=("$!" "$!"); fi
		kill -"$signal" "${to[@]}"
		wait $!
		bent
	done
	# killed: its child restores it
	interruptible fringeshow --loop pat/phase_00.png 3>&- 2>/dev/null &
	eventually 20 shows pat/phase_00.png
	straight
	kill -KILL $!
	if wait $! 2>/dev/null; then false; fi
	eventually 5 bent
}

@test "fringeshow: interrupted before the last image it fails, and its window is gone" {
	start_screen
	patterns
	interruptible fringeshow --hold 100000 pat/ 2>message 3>&- &
	eventually 20 shows pat/phase_00.png
	kill -INT $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 1 ]
	[ "$(<message)" = "fringeshow: interrupted" ]
	eventually 5 not_shown
}

not_shown() {
	if shows pat/phase_00.png; then return 1; fi
}

@test "fringeshow: a second output shows the pattern's pixels, and the first none of them" {
	dummy=/usr/lib/xorg/modules/drivers/dummy_drv.so
	[ -e "$dummy" ] || skip "no dummy driver: $dummy (xserver-xorg-video-dummy)"
	patterns
	cat >xorg.conf <<-END
		Section "Device"
			Identifier "card"
			Driver "dummy"
			VideoRam 16384
		EndSection
		Section "Screen"
			Identifier "screen"
			Device "card"
			DefaultDepth 24
			SubSection "Display"
				Virtual 1280 480
				Modes "640x480"
			EndSubSection
		EndSection
	END
	Xorg -displayfd 5 -config "$work/xorg.conf" -logfile xorg.log -noreset -nolisten tcp 5>display >/dev/null 2>&1 3>&- 8>&- &
	screen_pid=$!
	eventually 20 test -s display
	DISPLAY=:$(<display)
	export DISPLAY
	xrandr --addmode DUMMY1 640x480
	xrandr --output DUMMY1 --mode 640x480 --right-of DUMMY0
	fringeshow --list | has '^DUMMY1 640x480 at 640,0, [0-9.]* Hz$'
	fails 2 "--screen: which one? on are: DUMMY0, DUMMY1" fringeshow pat/
	interruptible fringeshow -q --loop --screen DUMMY1 pat/phase_01.png 3>&- 8>&- &
	eventually 20 py '
from PIL import Image, ImageGrab
seen = np.asarray(ImageGrab.grab(xdisplay=sys.argv[1]).convert("RGB"))
pattern = np.asarray(Image.open("pat/phase_01.png"))
sys.exit(not ((seen[:, 640:] == pattern[..., None]).all() and (seen[:, :640] == 0).all()))' "$DISPLAY"
	kill -INT $!
	wait $!
}

@test "fringeshow: the one program of all stages links none of its libraries" {
	run ! grep -E 'xcb|aravis|glib|usb' <(ldd "$(command -v fringepipe)")
	ldd "$(command -v fringeshow)" | has xcb
}

@test "fringeshow: without xcb and Aravis their tools alone are left out, with one line each" {
	# shellcheck disable=SC2016	# the script's own words
	printf '#!/bin/sh\ncase "$*" in *aravis*|*xcb*) exit 1;; esac\nexec pkg-config "$@"\n' >none
	chmod +x none
	make -C "$top" -n all PKG_CONFIG="$work/none" >commands
	grep -o 'left out: fringe[a-z]* needs [^(]*' commands >lines
	[ "$(wc -l <lines)" -eq 3 ]
	grep -qx 'left out: fringegrab needs aravis-0.8 ' lines
	grep -qx 'left out: fringeshow needs xcb xcb-randr xcb-present ' lines
	run ! grep -E 'camera/aravis|screen/x11' commands
}

@test "fringeshow: what cannot be shown one to one is refused, in one line" {
	patterns
	DISPLAY=:9999 fails 1 "no X server answers: DISPLAY is :9999" fringeshow pat/
	DISPLAY='' fails 1 "no X server answers: DISPLAY is" fringeshow --list
	start_screen 320x240
	fails 1 "patterns are 640x480, screen shows 320x240: nothing is scaled here" fringeshow pat/
	fails 1 "--screen: DP-9 is not there; on are: screen" fringeshow --screen DP-9 pat/
	fails 2 "--list: takes no files" fringeshow --list pat/
	fails 2 "--output: nothing is written" fringeshow -o x.png pat/
	fails 1 "absent.png" fringeshow absent.png
	[ "$(fringeshow --list)" = "screen 320x240 at 0,0, 0.00 Hz" ]
}

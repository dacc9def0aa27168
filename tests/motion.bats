load helpers

# Motion between the images of one measurement, against closed forms and the table of phasewrap(1).

# ripple KIND DELTA: offset and ripple of the phase's error, two waves a fringe.
ripple() {
	local kind=(-n "$1")
	[ "$1" != 2+1 ] || kind=(-k 2+1)
	rm -f truth.nrrd
	fringesim -s 480x16 -p 24 --scene plane -c 1 -b float --ref-plane 20,0.2617993878,0 --motion "$2" \
		"${kind[@]}" --truth truth.nrrd -o captures.nrrd
	phasewrap captures.nrrd -o phase.nrrd "${@:3}" 2>messages
	py '
truth = read_frame("truth.nrrd")["absphase"].astype(float)
error = np.remainder(read_frame("phase.nrrd")["phase"] - truth + np.pi, 2 * np.pi) - np.pi
waves = [2 * abs(np.mean(error * np.exp(-1j * k * truth))) for k in (1, 2, 3)]
print("%.3f %.3f %.3f" % (error.mean(), waves[1], max(waves[0], waves[2])))'
}

@test "motion: what an even motion does to the phase, as the table of phasewrap(1) has it" {
	local kind offset wave row
	for kind in 2+1 3 4 5 8 12; do
		read -r offset wave rest < <(ripple $kind 0.1)
		[ "$rest" = 0.000 ]
		row=$(sed -n "s/^\.It $kind Ta \([0-9.]*\) Ta \([0-9.]*\) Ta.*/\1 \2/p" "$top/man/phasewrap.1")
		[ "$row" = "$offset $wave" ] || { echo "$kind: $offset $wave, the page has $row"; return 1; }
	done
	py '
for line in open(sys.argv[1]):
	word = line.replace(".It ", "").split(" Ta ")
	if len(word) == 4 and word[0] in ("3", "4", "5", "8", "12"):
		n, d = int(word[0]), 0.1
		expect(abs(float(word[1]) - (n - 1) / 2 * d) < 6e-4, line)
		expect(abs(float(word[2]) - np.arcsin(np.sin(d / 2) / np.sin(2 * np.pi / n + d / 2))) < 6e-4, line)' "$top/man/phasewrap.1"
}

@test "motion: it is named from four images on, and --shift takes it out" {
	read -r offset wave rest < <(ripple 4 0.1)
	[[ $(cat messages) =~ ^"phasewrap: the period 24 px: the steps seem to be +5."[67]" degrees longer: the surface moved evenly, or --shift is another (the fit is off by 0.11"[0-9]" of the amplitude, else by 0.00"[0-9]")"$ ]]
	read -r offset wave rest < <(ripple 4 0.1 --shift 0,95.73,191.46,287.19)
	[[ $offset =~ ^-?0.000$ && $wave == 0.000 ]]
	read -r offset wave rest < <(ripple 8 -0.05)
	grep -q ": the steps seem to be -2.[89] degrees longer: the surface moved evenly, or --shift is another" messages
	# images that the motion brings round to the first: a repeated image would look the same
	read -r offset wave rest < <(ripple 8 0.1)
	grep -q ": image 1 .*and image 8 .*show the same: one of them is no step of its own, or the surface moved evenly, by +5.[678] degrees an image$" messages
	read -r offset wave rest < <(ripple 5 0)
	[ ! -s messages ]
	# what other steps explain as well is named with them
	fringesim -s 480x16 -p 24 --scene plane -c 1 -b float --ref-plane 20,0.2617993878,0 --motion -0.2 -n 8 --noise 3 |
		phasewrap 2>messages >phase.nrrd
	grep -q "8 images, but steps of about 360/11 degrees: --steps or --shift is another, or the surface moved evenly, by -11.[3-6] degrees an image" messages
}

# Vulkan lets a device's divisions and roots be off by 2.5 units in the last place: px.h mends them.
load helpers

@test "rough: a device whose divisions and roots are 2 units off gives the processor's digits" {
	need_gpu
	unset MAKEFLAGS MFLAGS MAKELEVEL
	cp -a "$top/build" build
	# those of the chains below anew, the others as they are
	echo -DPX_ROUGH >build/shaders/flags.list
	touch -d 2000-01-01 build/shaders/flags.list
	rm build/libfringepipe.a build/shaders/{gauss,holodec,median,normals,phase2depth,shade,undither3}*.{spv,o} \
		build/shaders/{phasewrap,unwrap2f}.{spv,o}
	# with the compiler of the build, whose objects stay
	make -C "$top" CC="$(sed 's/ -Icommon.*//' build/flags.list)" BUILD="$work/build" BIN="$work/bin" \
		GLSLFLAGS=-DPX_ROUGH "$work/bin/fringepipe" >built 2>&1 ||
		{ tail built; return 1; }
	for shader in gauss_rows phasewrap unwrap2f; do
		if cmp -s build/shaders/$shader.spv "$top/build/shaders/$shader.spv"; then echo "$shader is not rough"; return 1; fi
	done
	fringesim -q -s 399x250 -p 60,63 -n 3 --projector 400x300 --ref-plane 10,0.13,0 -c 5 --noise 1 -o images.nrrd
	fringepipe -d cpu phasewrap --as vector images.nrrd , gauss , unwrap2f , median , \
		phase2depth --ref ideal -o depth.nrrd
	framecat --channels depth depth.nrrd | holoenc -o holo.png
	py 'y, x = np.mgrid[:48, :96]; write_frames("z.nrrd", Frame((x / 3 + 9 * np.sin(y / 9)).astype("f4"), ["depth"]))'
	holoenc z.nrrd | dither3 -m fs -o three.png
	chains=("phasewrap images.nrrd , gauss , unwrap2f , median , phase2depth --ref ideal , normals" "shade depth.nrrd" "holodec holo.png")
	[ -z "${AGREE_ALL-}" ] || chains+=("undither3 three.png" "phasewrap --as vector images.nrrd , gauss --as phase , unwrap2f -m best" \
		"shade --view 30,20 -c depth depth.nrrd" "holodec --decode plain holo.png")	# make agree-all
	for words in "${chains[@]}"; do
		# shellcheck disable=SC2086
		"$work/bin/fringepipe" -v -d gpu $words -o gpu.nrrd 2>messages
		grep -q 'frames on ' messages || { cat messages; return 1; }
		# shellcheck disable=SC2086
		fringepipe -d cpu $words | cmp - gpu.nrrd || { echo "$words"; return 1; }
	done
}

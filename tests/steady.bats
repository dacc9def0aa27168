load helpers

# What a long run costs: memory does not grow with the number of frames, idle threads sleep.

peak() {		# KiB of memory, of a command
	"$python" - "$@" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}

@test "steady: peak memory is the same for 20 and for 3000 frames" {
	fringesim -s 160x120 -p 24,27 -o set.nrrd
	chain=(phasewrap --as vector set.nrrd , gauss , unwrap2f , median , phase2depth --ref ideal , normals)
	few=$(FRINGEPIPE_REPEAT=20 peak fringepipe -j 2 -o null: "${chain[@]}")
	many=$(FRINGEPIPE_REPEAT=3000 peak fringepipe -j 2 -o null: "${chain[@]}")
	echo "peak: $few KiB for 20 frames, $many KiB for 3000"
	[ "$many" -lt $((few + 2048)) ]
}

@test "steady: a stream of 2000 frames through a pipe, memory bounded at its end" {
	py '
f = Frame(np.random.default_rng(1).normal(size=(120, 160)).astype("f4"), ["absphase"])
write_frames("few.nrrd", [f] * 10); write_frames("many.nrrd", [f] * 2000)'
	few=$(peak median -o null: few.nrrd)
	many=$(peak median -o null: many.nrrd)
	echo "peak: $few KiB for 10 frames, $many KiB for 2000"
	[ "$many" -lt $((few + 2048)) ]
}

@test "steady: threads that wait for input use no processor time" {
	py '
import resource, subprocess, time
chain = ["fringepipe", "-j", "7", "-o", "null:", "median", ",", "median"]
p = subprocess.Popen(chain, stdin=subprocess.PIPE)
write_frames(p.stdin, Frame(np.zeros((600, 800), "f4"), ["absphase"]))
p.stdin.flush()
time.sleep(2)
p.stdin.close()
expect(p.wait() == 0)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
used = used.ru_utime + used.ru_stime
print("processor time", used)
expect(used < 0.5, used)			# spinning, six threads would use seconds'
}

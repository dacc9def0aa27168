load helpers

# What a long run costs: memory does not grow with the number of frames, idle threads sleep.

used() {		# FIELD of getrusage, of a command
	"$python" - "$@" <<'END'
import ctypes, resource, subprocess, sys
# PR_SET_THP_DISABLE: with large pages a peak is 2 MiB more or less, as the kernel has one at hand or not
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
subprocess.run(sys.argv[2:], check=True, stderr=subprocess.DEVNULL)
print(getattr(resource.getrusage(resource.RUSAGE_CHILDREN), sys.argv[1]))
END
}

peak() {		# KiB of memory, of a command
	used ru_maxrss "$@"
}

@test "steady: peak memory is the same for 20 and for 10000 frames" {
	fringesim -s 160x120 -p 24,27 -o set.nrrd
	chain=(phasewrap --as vector set.nrrd , gauss , unwrap2f , median , phase2depth --ref ideal , normals)
	few=$(FRINGEPIPE_REPEAT=20 peak fringepipe -j 2 -o null: "${chain[@]}")
	many=$(FRINGEPIPE_REPEAT=10000 peak fringepipe -j 2 -o null: "${chain[@]}")
	echo "peak: $few KiB for 20 frames, $many KiB for 10000"
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

@test "steady: peak memory of a pipe is the same for 60 and for 3000 frames" {
	py 'write_frames("few.nrrd", [Frame(np.full((240, 320), i, "f4"), ["absphase"]) for i in range(10)])'
	pipe='median -j1 few.nrrd | framecat -j1 --set a=b | median -j1 -s row | framecat -j1 -o null:'
	few=$(peak bash -c "FRINGEPIPE_REPEAT=6 $pipe")
	many=$(peak bash -c "FRINGEPIPE_REPEAT=300 $pipe")
	echo "peak: $few KiB for 60 frames, $many KiB for 3000"
	[ "$many" -lt $((few + 4096)) ]
	few=$(used ru_minflt bash -c "FRINGEPIPE_REPEAT=6 $pipe")
	many=$(used ru_minflt bash -c "FRINGEPIPE_REPEAT=300 $pipe")
	echo "fresh pages: $few for 60 frames, $many for 3000"	# of 75 pages each
	[ "$many" -lt $((few + 75 * 300)) ]
}

@test "steady: a reader keeps no shared memory that the writer has given up" {
	py 'write_frames("sizes.nrrd", [Frame(np.full((1000 + 16 * i, 1000), i, "f4"), ["absphase"]) for i in range(40)])'
	most=$(peak bash -c "framecat -j1 sizes.nrrd | median -j1 -o null:")
	echo "peak: $most KiB"	# 24 frames of 4 to 6 MiB, where the reader keeps them
	[ "$most" -lt 100000 ]
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

# Counts the calls of the whole process that allocate memory; writes their number at its end.
counter() {
	cat >counter.c <<-'END'
		#include <errno.h>
		#include <stdatomic.h>
		#include <stdio.h>
		#include <stdlib.h>

		static atomic_ulong calls;
		void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
		void *__libc_memalign(size_t, size_t);

		void *malloc(size_t n) { calls++; return __libc_malloc(n); }
		void *calloc(size_t n, size_t each) { calls++; return __libc_calloc(n, each); }
		void *realloc(void *p, size_t n) { calls++; return __libc_realloc(p, n); }
		void *aligned_alloc(size_t to, size_t n) { calls++; return __libc_memalign(to, n); }
		int posix_memalign(void **p, size_t to, size_t n)
		{
			calls++;
			*p = __libc_memalign(to, n);
			return *p ? 0 : ENOMEM;
		}
		void *reallocarray(void *p, size_t n, size_t each)
		{
			size_t bytes;

			calls++;
			return __builtin_mul_overflow(n, each, &bytes) ? NULL : __libc_realloc(p, bytes);
		}
		__attribute__((destructor)) static void tell(void)
		{
			FILE *file = fopen("calls", "w");

			fprintf(file, "%lu\n", (unsigned long)calls);
			fclose(file);
		}
	END
	gcc -O1 -shared -fPIC -o counter.so counter.c
}

# allocations FRAMES COMMAND ...: calls that take memory while FRAMES sets are worked
allocations() {
	FRINGEPIPE_REPEAT=$1 LD_PRELOAD=$PWD/counter.so "${@:2}"
	cat calls
}

@test "steady: a chain takes no memory per frame" {
	counter
	if sanitized; then skip "sanitized tools: they allocate by themselves"; fi
	fringesim -s 160x120 -p 24,27 -o set.nrrd
	fringepipe phasewrap set.nrrd , unwrap2f -o plate.nrrd
	for ref in ideal plate.nrrd; do
		for threads in 1 2; do
			chain=(fringepipe -j $threads -o null: phasewrap --as vector set.nrrd , gauss , unwrap2f , median
				, phase2depth --ref $ref -c 0.1 , normals)
			few=$(allocations 20 "${chain[@]}")
			many=$(allocations 40 "${chain[@]}")
			echo "--ref $ref, threads $threads: $few calls for 20 frames, $many for 40"
			[ "$few" -gt 50 ]
			[ "$many" -eq "$few" ]
		done
	done
}

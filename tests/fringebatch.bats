# shellcheck disable=SC2016
load helpers

# All tests share a cluster of one node and 20 sets.
setup_file() {
	command -v sbatch slurmctld slurmd munged >/dev/null || PATH=$PATH:/usr/sbin:/sbin
	cluster=$BATS_FILE_TMPDIR/cluster
	eval "$("$top/tests/slurm/up" "$cluster" 2 MaxArraySize=4)"
	export SLURM_CONF cluster
	mkdir -p "$BATS_FILE_TMPDIR/captures"
	cd "$BATS_FILE_TMPDIR" || exit 1
	fringesim -s 320x240 -p 60,66 -c 2 --noise 1 --seed 1 -q -f -o captures/s01/
	for i in {02..20}; do
		cp -r captures/s01 captures/s$i
	done
}

teardown_file() {
	"$top/tests/slurm/down" "$cluster"
}

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	cp -r "$BATS_FILE_TMPDIR/captures" .
	cp "$top/samples/recipe.mk" .
	PATH=$top/scripts:$PATH
}

teardown() {
	scontrol update PartitionName=main State=UP
}

few() {			# keep so many sets
	local set
	for set in captures/*; do
		[[ $((10#${set#captures/s})) -le $1 ]] || rm -r "$set"
	done
}

# others_may_look: another user reaches the folder of the test
others_may_look() {
	need_other_user
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/file" "$BATS_FILE_TMPDIR"
	chmod 755 .
	as_root=()
	[ "$EUID" -eq 0 ] || as_root=(sudo -n)
}

stale() {
	make -s -f recipe.mk stale | sort | tr '\n' ' '
}

@test "fringebatch: an array of tasks gives the bytes of make; then nothing is stale, and nothing is submitted" {
	make -s -f recipe.mk -j2 OUT=local
	run -0 fringebatch --wait --jobs 8 recipe.mk	# two arrays of four
	IFS=, read -ra jobs <out/batch/*/jobs
	[ ${#jobs[@]} -eq 3 ]				# and the summary
	[ "${lines[0]}" = "20 sets: 20 done, 0 up to date, 0 failed, 0 never started" ]
	[[ ${lines[1]} =~ ^[0-9.]+\ s,\ [0-9.]+\ sets/s,\ [0-9.]+\ s\ of\ processors$ ]]
	for set in captures/*; do cmp "local/${set#*/}/depth.tif" "out/${set#*/}/depth.tif"; done
	[ "$(stale)" = "" ]
	run -0 fringebatch --wait recipe.mk
	[ "$output" = "20 sets: 0 to do, 20 up to date" ]
	[ "$(find out/batch -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ]
	[ ! -e out/batch/lock ]
	# those that ran did the shares of those that waited, which were taken back
	[ "$(cut -d' ' -f1 out/batch/*/done.* | sort | tr '\n' ' ')" = "0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 " ]
	[ "$(cat out/batch/*/done.0 out/batch/*/done.1 | wc -l)" -gt 2 ]
	[ "$(squeue -h -j "${jobs[2]}" -t PD)" = "" ]
}

@test "fringebatch: what changed is done again and no more: an image, one that came, the recipe; by content as well" {
	few 4
	run -0 fringebatch --engine local --by content recipe.mk
	touch captures/s02/phase1_01.png
	[ "$(stale)" = "s02 " ]
	run -0 fringebatch --engine local --by content --dry-run recipe.mk
	[ "$output" = "4 sets: 0 to do, 4 up to date" ]
	cp captures/s03/phase1_00.png captures/s03/more.png
	rm captures/s03/more.png
	[ "$(stale)" = "s03 " ]		# s02 has been found to be the same
	run -0 fringebatch --engine local --by content recipe.mk
	[ "$output" = "4 sets: 0 to do, 4 up to date" ]
	sed -i 's/ , median//' recipe.mk
	[ "$(stale)" = "s01 s02 s03 s04 " ]
	cp "$top/samples/recipe.mk" .
	[ "$(stale)" = "s01 s02 s03 s04 " ]
	run -0 fringebatch --engine local --by content recipe.mk
	[ "$output" = "4 sets: 0 to do, 4 up to date" ]
	# what the recipe names, by its bytes: a file, a script, a variable
	echo 1 >rig.json
	printf 'shift; for last; do :; done; cp "$1" "$last"\n' >do.sh
	sed 's/^recipe = .*/rig = 1\nrecipe = bash .\/do.sh --calib=rig.json $(images) $(rig) $(result)\nunused = \\/' recipe.mk >named.mk
	run -0 fringebatch --engine local named.mk
	touch rig.json do.sh
	[ "$(make -s -f named.mk stale)" = "" ]
	for change in 'echo 2 >rig.json' 'echo : >>do.sh' 'sed -i "s/^rig = 1/rig = 2/" named.mk'; do
		eval "$change"
		[ "$(make -s -f named.mk stale | wc -l)" -eq 4 ]
		run -0 make -s -f named.mk -j2
		cmp captures/s03/phase1_00.png out/s03/depth.tif
	done
	# other tools, which `fringepipe --version` tells
	mkdir bin
	printf '#!/bin/sh\n[ "$1" = --version ] && exec echo "fringepipe 99"\nexec %q "$@"\n' "$(command -v fringepipe)" >bin/fringepipe
	chmod +x bin/fringepipe
	PATH=$PWD/bin:$PATH
	[ "$(stale)" = "s01 s02 s03 s04 " ]
}

@test "fringebatch: damaged sets are named with what the tool says, come back alone, and are skipped where that is asked" {
	few 6
	truncate -s 900 captures/s02/phase1_01.png
	rm captures/s05/phase2_02.png
	run -1 fringebatch --wait --jobs 2 recipe.mk
	[[ ${lines[0]} == "failed: s02, exit status 1: fringepipe: captures/s02/phase1_01.png: "* ]]
	[ "${lines[1]}" = "failed: s05, exit status 1: fringepipe: a measurement is 6 images, the input ends after 5 of one" ]
	[ "${lines[2]}" = "6 sets: 4 done, 0 up to date, 2 failed, 0 never started" ]
	[ ! -e out/s02/depth.tif ]
	run -1 fringebatch status
	[ "${lines[2]}" = "6 sets: 4 done, 0 up to date, 2 failed, 0 never started" ]
	run -1 fringebatch --skip-failed recipe.mk
	[ "$output" = "6 sets: 0 to do, 4 up to date, 2 failed before and skipped" ]
	cp captures/s01/phase1_01.png captures/s02/
	run -1 fringebatch --engine local --skip-failed recipe.mk
	[ "${lines[0]}" = "6 sets: 1 done, 4 up to date, 0 failed, 0 never started, 1 failed before and skipped" ]
	cp captures/s01/phase2_02.png captures/s05/
	run -0 fringebatch --wait recipe.mk
	[ "${lines[0]}" = "6 sets: 1 done, 5 up to date, 0 failed, 0 never started" ]
	[ ! -e out/s05/failed ]
}

@test "fringebatch: a recipe of several commands ends at the first that fails; one that the shell cannot read is refused" {
	few 2
	sed 's/^recipe = .*/define recipe\nframecat $(firstword $(images)) -o $(set).nrrd\nfalse\nframecat $(set).nrrd -o $(result)\nendef\nunused = \\/' \
		recipe.mk >several.mk
	run -1 fringebatch --engine local several.mk
	[ "${lines[0]}" = "failed: s01, exit status 1: ended without a message" ]
	[ "${lines[2]}" = "2 sets: 0 done, 0 up to date, 2 failed, 0 never started" ]
	sed -i '/^false$/d' several.mk
	run -0 fringebatch --engine local several.mk
	framecmp captures/s02/phase1_00.png out/s02/depth.tif
	sed 's/^recipe = /&if true; /' recipe.mk >unread.mk
	fails 1 "unread.mk: the shell cannot read the recipe: line " fringebatch --engine local unread.mk
	[ "$(find out/batch -mindepth 1 | grep -c lock)" -eq 0 ]
}

@test "fringebatch: sets whose folder has gone, or whose results' folder is another user's, fail by name" {
	few 3
	sed -i 's/^recipe = /&rm -rf captures\/s03; /' recipe.mk
	run -1 fringebatch --engine local --jobs 1 recipe.mk
	[[ ${lines[0]} == "failed: s03, exit status 1: fringepipe: captures/s03/phase1_00.png: "*"No such file"* ]]
	[ "${lines[1]}" = "3 sets: 2 done, 0 up to date, 1 failed, 0 never started" ]
	# and so does one that has links to what is not there
	cp -r captures/s02 captures/s03
	ln -sf nowhere captures/s03/phase1_01.png
	sed 's/^recipe = rm[^;]*; /recipe = /' recipe.mk >links.mk
	run -1 fringebatch --engine local links.mk
	[[ ${lines[0]} == "failed: s03, exit status 1: fringepipe: captures/s03/phase1_01.png: "*"No such file"* ]]
	[ "${lines[1]}" = "3 sets: 2 done, 0 up to date, 1 failed, 0 never started" ]
	# even where there is a result from before
	cp out/s02/depth.tif out/s03/
	rm -r captures/s03
	echo s03 >list
	run -2 make -s -f recipe.mk SETS=list
	[ "${lines[0]}" = "captures/s03: holds no images" ]
	others_may_look
	rm -r out
	mkdir -p out/s02
	"${as_root[@]}" chown 65534 out
	sed -i 's/^recipe = rm[^;]*; /recipe = /' recipe.mk
	run -1 "${other_user[@]}" "$top/scripts/fringebatch" --engine local recipe.mk
	[ "${lines[0]}" = "failed: s02, exit status unknown: nothing is written in $PWD/out/s02: may its task?" ]
	[ "${lines[1]}" = "2 sets: 1 done, 0 up to date, 1 failed, 0 never started" ]
}

@test "fringebatch: a recipe that fails for all ends after 20 sets, but with --keep-going; logs hold 100 lines of a set" {
	sed -i 's/^recipe = .*/recipe = for i in {1..300}; do echo $$i; done; false \\/' recipe.mk
	for i in {21..45}; do mkdir captures/s$i; touch captures/s$i/a.png; done
	run -1 fringebatch --engine local recipe.mk
	[ "${lines[-3]}" = "task 0 on $(hostname): 20 sets failed in a row, and it ended; --keep-going goes on" ]
	[ "${lines[-2]}" = "45 sets: 0 done, 0 up to date, 20 failed, 25 never started" ]
	[ "$(wc -l <out/s01/log)" -eq 100 ]
	run -1 fringebatch --engine local --keep-going recipe.mk
	[ "${lines[-2]}" = "45 sets: 0 done, 0 up to date, 45 failed, 0 never started" ]
	[ "$(tail -qn +1 out/batch/*/done.0)" = $'0.0 20\n0.0 20\n0.1 20\n0.2 5' ]
	# eight at a time are five rounds in one make
	run -1 fringebatch --engine local --jobs 4 --cpus 2 recipe.mk
	[ "${lines[-2]}" = "45 sets: 0 done, 0 up to date, 40 failed, 5 never started" ]
}

@test "fringebatch: names are strangers': what make can carry is carried, else the name is refused before anything is done" {
	few 1
	names=('@' 'a;b' '-dash' '50%' "q'u\"o" '(x)' 'a&b' '<y>' '!z' 'é' '#c' 'p,q' '{r}' '`id`' '~t' 'u=v')
	for name in "${names[@]}"; do cp -r captures/s01 "captures/$name"; done
	run -0 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "17 sets: 17 done, 0 up to date, 0 failed, 0 never started" ]
	for name in "${names[@]}"; do cmp "out/s01/depth.tif" "out/$name/depth.tif"; done
	[ "$(stale)" = "" ]
	truncate -s 900 captures/s01/phase1_00.png
	touch captures/@/phase1_00.png
	sed 's/^recipe = /&case $(call quoted,$(set)) in @) exit 7;; esac; /' recipe.mk >other.mk
	run -1 fringebatch --engine local other.mk
	[ "$(grep -c '^failed: ' <<<"$output")" -eq 2 ]
	[[ $output == *"failed: @, exit status 7: "* ]]
	[[ $output == *"17 sets: 15 done, 0 up to date, 2 failed, 0 never started"* ]]
	cp captures/u=v/phase1_00.png captures/s01/
	for name in 'a b' 'a:b' '$(touch here)' 'a|b' '*' 'a\b' $'a\nb'; do
		mv captures/s01 "captures/$name"
		run -1 fringebatch --engine local recipe.mk
		[[ $output == *"captures/"*"make cannot carry this name"* ]]
		[ ! -e here ]
		mv "captures/$name" captures/s01
		mv captures/s01/phase1_00.png "captures/s01/p${name}.png"
		run -1 fringebatch --engine local recipe.mk
		[[ $output == *"captures/s01/p"*"make cannot carry this name"* ]]
		mv "captures/s01/p${name}.png" captures/s01/phase1_00.png
	done
	[ "$(find out/batch -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ]
	for place in OUT= 'OUT=my out' CAPTURES=50% RESULT=; do
		fails 1 "CAPTURES, OUT and RESULT must be a name each, without blanks and %" fringebatch --engine local recipe.mk "$place"
	done
}

@test "fringebatch: a second one at the same time is refused; the lock of what is dead is broken" {
	few 4
	touch slow
	sed -i 's/^recipe = /&for i in {1..600}; do [ -e slow ] || break; sleep 0.1; done; /' recipe.mk
	run -0 fringebatch --jobs 2 recipe.mk
	[[ $output == *": 4 sets of 4 in 2 tasks, job "* ]]
	job=${output##* }
	run -1 fringebatch recipe.mk
	[ "$output" = "fringebatch: $PWD/out/batch is in use by host $(hostname), process $(awk '{ print $2 }' out/batch/lock), job $job: fringebatch status says how far it is, fringebatch cancel ends it" ]
	run -1 fringebatch status
	[[ ${lines[0]} == *": 4 sets to do, "[0-4]" gone through" ]]
	[[ ${lines[1]} == "tasks: "* ]]
	run -0 fringebatch cancel
	rm slow
	[ ! -e out/batch/lock ]
	run -1 fringebatch status
	[[ ${lines[1]} == "it was cancelled; "* ]]
	echo "$(hostname) 999999 -" >out/batch/lock
	run -0 fringebatch --engine local recipe.mk
	echo "elsewhere 1 99999" >out/batch/lock
	touch captures/*/phase1_00.png
	run -0 fringebatch --engine local recipe.mk
	echo "elsewhere 1 -" >out/batch/lock
	run -1 fringebatch --engine local recipe.mk
	[[ $output == *"is in use by host elsewhere, process 1: only elsewhere knows whether its process 1 has ended: if so, remove $PWD/out/batch/lock" ]]
	: >out/batch/lock
	run -1 fringebatch --engine local recipe.mk
	[[ $output == *"a lock that names nobody: if no fringebatch runs there, remove $PWD/out/batch/lock" ]]
	rm out/batch/lock
	mkdir out/batch/lock
	fails 1 "$PWD/out/batch/lock: cannot be read: " fringebatch --engine local recipe.mk
	silent ls -A out/batch/lock
	rmdir out/batch/lock
	echo "$(hostname) 1 99999" >out/batch/lock
	mkdir bin
	printf '#!/bin/sh\necho "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1\n' >bin/squeue
	chmod +x bin/squeue
	PATH=$PWD/bin:$PATH run -1 fringebatch --engine local recipe.mk
	[[ $output == *", job 99999: Slurm does not answer whether job 99999 has ended: if so, remove $PWD/out/batch/lock" ]]
	# others' processes live too
	echo "$(hostname) 1 -" >out/batch/lock
	run -1 fringebatch --engine local recipe.mk
	[[ $output == *"process 1: wait for its end, or kill 1" ]]
	# of several who find it dead at the same time one has it
	echo "$(hostname) 999999 -" >out/batch/lock
	# (which does not end before the others have tried)
	sed -i "s|^recipe = |&while [ ! -e $PWD/go ]; do sleep 0.1; done; |" recipe.mk
	for i in 1 2 3 4; do fringebatch --engine local recipe.mk >said.$i 2>&1 & done
	for _ in {1..600}; do
		[ "$(cat said.* | grep -cE 'is in use by|takes it at the same time')" -lt 3 ] || break
		sleep 0.1
	done
	touch go
	wait
	[ "$(grep -l '4 sets: ' said.* | wc -l)" -eq 1 ]
	[ "$(grep -lE 'is in use by|takes it at the same time' said.* | wc -l)" -eq 3 ]
	[ "$(ls out/batch/lock* 2>/dev/null)" = "" ]
	# one who died while taking such a lock away
	echo "$(hostname) 999999 -" >out/batch/lock
	touch out/batch/lock.break
	run -1 fringebatch --engine local recipe.mk
	[[ $output == *"somebody else takes it at the same time; if not, remove $PWD/out/batch/lock.break" ]]
	[ "$(find out/batch -maxdepth 1 -name 'lock.*')" = out/batch/lock.break ]
	others_may_look
	chmod 600 out/batch/lock
	"${as_root[@]}" chown 65534 out out/batch
	"${as_root[@]}" chown 0 out/batch/lock
	fails 1 "out/batch/lock: cannot be read: ask its owner" "${other_user[@]}" "$top/scripts/fringebatch" --engine local recipe.mk
}

@test "fringebatch: tasks that are killed, a daemon that dies: no half file, and the next call does the rest" {
	few 8
	touch running		# locked by each recipe as long as it runs
	sed -i "s|^recipe = |&exec 9<$PWD/running; flock -s 9; sleep 0.3; |" recipe.mk
	run -0 fringebatch --jobs 2 recipe.mk
	until [ -e out/s01/depth.tif ] || [ -e out/s02/depth.tif ]; do sleep 0.1; done
	pkill -9 -f "$PWD/out/batch/.*/program --run task"
	run pkill -9 -f "SETS=$PWD/out/batch/"		# what it has left running
	run -1 fringebatch status
	until run fringebatch status && [[ $output == *"never started"* ]]; do sleep 0.2; done
	timeout 60 flock running true
	silent find out -name '*.tmp'
	done_then=$(find out -name depth.tif | wc -l)
	[ "$done_then" -lt 8 ]
	for file in out/*/depth.tif; do frameinfo "$file" >/dev/null; done
	kill -9 "$(cat "$cluster/slurmd.pid")"
	sleep 0.2
	(SLURM_CONF=$cluster/slurm.conf PATH=$PATH:/usr/sbin slurmd -f "$cluster/slurm.conf")
	run -0 fringebatch --wait --jobs 2 recipe.mk
	echo "$output"
	[ "${lines[0]}" = "8 sets: $((8 - done_then)) done, $done_then up to date, 0 failed, 0 never started" ]
}

# in_time COMMAND ...: waits a minute at most until it succeeds
in_time() {
	for _ in {1..600}; do
		if "$@"; then return; fi
		sleep 0.1
	done
	return 1
}

is_held() { [[ $(squeue -h -r -j "$1" -t PD -o %r) == *held* ]]; }
is_running() { [ "$(squeue -h -r -j "$1" -t R -o %i)" ]; }

@test "fringebatch: a task that Slurm has put back and holds is released once; the second time it is named" {
	few 2
	sed -i 's/^recipe = /&until [ -e go ]; do sleep 0.1; done; /' recipe.mk
	run -0 fringebatch --jobs 1 recipe.mk
	job=${output##* } job=${job%%,*}
	in_time [ -e out/s01 ]
	scontrol requeuehold "${job}_0"
	in_time is_held "$job"
	run -1 fringebatch status
	[[ $output == *"1 sets to do"* || $output == *"2 sets to do"* ]]
	[[ $output != *"held:"* ]]
	in_time is_running "$job"
	scontrol requeuehold "${job}_0"
	in_time is_held "$job"
	run -1 fringebatch status
	[[ $output == *"held: task ${job}_0, "*held* ]]
	run -0 fringebatch cancel
	touch go
	run -0 fringebatch --wait --jobs 1 recipe.mk
	[[ ${lines[0]} == "2 sets: "*", 0 failed, 0 never started" ]]
}

@test "fringebatch: a task that Slurm believes to run, and that has not begun in two minutes, is put back once; then named" {
	few 1
	scontrol update PartitionName=main State=DOWN
	run -0 fringebatch recipe.mk
	job=${output##* } job=${job%%,*}
	mkdir bin
	printf '#!/bin/sh\ncase $* in *%%M*) echo "%s_0 RUNNING $(cat used) None" ;; *) exec %q "$@" ;; esac\n' "$job" "$(command -v squeue)" >bin/squeue
	printf '#!/bin/sh\necho "$*" >>asked\n' >bin/scontrol
	chmod +x bin/*
	echo 1:59 >used
	PATH=$PWD/bin:$PATH run -1 fringebatch status
	[ ! -e asked ]
	echo 2:00 >used
	PATH=$PWD/bin:$PATH run -1 fringebatch status
	[ "$(sed 1q asked)" = "requeue ${job}_0" ]
	[[ $output != *held* ]]
	PATH=$PWD/bin:$PATH run -1 fringebatch status
	[[ $output == *"held: task ${job}_0, not begun 2:00 after its launch"* ]]
	[ "$(grep -c requeue asked)" -eq 1 ]
	# the summary's job as well
	printf '#!/bin/sh\ncase $* in *%%M*) echo "77 RUNNING 3:00 None" ;; *) exec %q "$@" ;; esac\n' "$(command -v squeue)" >bin/squeue
	PATH=$PWD/bin:$PATH run -1 fringebatch status
	[ "$(grep requeue asked | tail -n 1)" = "requeue 77" ]
	# once all sets are through the batch has ended, whatever Slurm believes of its tasks
	make -s -f recipe.mk
	touch "$(echo out/batch/*/)complete"
	run -0 fringebatch recipe.mk
	[ "$output" = "1 sets: 0 to do, 1 up to date" ]
	run -0 fringebatch status
	[ "${lines[0]}" = "1 sets: 1 done, 0 up to date, 0 failed, 0 never started" ]
}

@test "fringebatch: real captures, links to them: the bytes of the chain by hand" {
	need_data weiyang_box_3freq_35_36_37
	words="-q phasewrap -n 8 -p 24.4,23.7222222,23.0810811 --sign -1 --min-amplitude 25"
	rm -r captures
	for set in box again; do
		mkdir -p captures/$set
		ln -s "$data"/weiyang_box_3freq_35_36_37/f3[567]_*.png captures/$set/
	done
	sed -i "s/^recipe = .*/recipe = fringepipe $words \$(images) , unwrap2f -o \$(result)\nunused = \\\\/" recipe.mk
	run -0 fringebatch --wait --jobs 2 recipe.mk
	[ "${lines[0]}" = "2 sets: 2 done, 0 up to date, 0 failed, 0 never started" ]
	# shellcheck disable=SC2086
	fringepipe $words "$data"/weiyang_box_3freq_35_36_37/f3[567]_*.png , unwrap2f -o box.tif
	for set in box again; do framecmp out/$set/depth.tif box.tif; done
}

@test "fringebatch: errors are one line: no recipe, no sets, no Slurm, wrong options, a folder that cannot be written" {
	few 1
	fails 2 "which recipe?" fringebatch
	fails 2 "--jobs: must be 1 to 999999, not '0'" fringebatch --jobs 0 recipe.mk
	fails 2 "--engine: must be slurm or local, not 'pbs'" fringebatch --engine pbs recipe.mk
	fails 2 "there is no option --frobnicate" fringebatch --frobnicate recipe.mk
	fails 2 "--out is for status and cancel; behind a recipe it is OUT=there" fringebatch --out there recipe.mk
	fails 2 "--jobs: must be 1 to 999999, not '-1'" fringebatch --jobs=-1 recipe.mk
	fails 1 "Invalid --time specification" fringebatch --time=soon recipe.mk
	[ "$(fringebatch --version)" = "$(fringepipe --version)" ]
	fails 1 "other.mk: there is no such recipe" fringebatch other.mk
	fails 1 "holds no batch" fringebatch status
	mkdir empty
	fails 1 "fringebatch: $PWD/recipe.mk:$(grep -n 'has no sets' recipe.mk | cut -d: -f1): empty: has no sets; this is $PWD" fringebatch --engine local recipe.mk CAPTURES=empty
	fails 1 "nowhere" fringebatch --engine local recipe.mk CAPTURES=nowhere
	fails 1 "the array was not submitted: Batch job submission failed: Invalid partition name specified" fringebatch --partition nosuch recipe.mk
	[ ! -e out/batch/lock ]
	# nor by an sbatch that names no job
	mkdir silent
	printf '#!/bin/sh\n' >silent/sbatch
	chmod +x silent/sbatch
	PATH=$PWD/silent:$PATH fails 1 "fringebatch: the array was not submitted" fringebatch recipe.mk
	[ ! -e out/batch/lock ]
	touch file
	run -0 fringebatch --cpus=999 recipe.mk	# Slurm keeps what no node has
	run -1 fringebatch status
	[[ $output == *"fringebatch: tasks wait: PartitionConfig"*"1 pending (PartitionConfig)"* ]]
	run -0 fringebatch cancel
	fails 1 "file" fringebatch --engine local recipe.mk OUT=file
	mkdir bin
	for tool in bash make find awk env dirname cat hostname date timeout ls tr wc fringepipe sed; do ln -s "$(command -v $tool)" bin/; done
	fails 1 "there is no sbatch here; engines are slurm, and local: this machine" env PATH="$PWD/bin" "$top/scripts/fringebatch" recipe.mk
}

@test "fringebatch: a task takes from others while Slurm leaves it time, and ends where it does not" {
	few 4
	mkdir bin
	printf '#!/bin/sh\ncase $* in *%%L*) echo 0:01 ;; *) exec %q "$@" ;; esac\n' "$(command -v squeue)" >bin/squeue
	chmod +x bin/squeue
	PATH=$PWD/bin:$PATH run -0 fringebatch --wait --jobs 4 recipe.mk
	[ "${lines[0]}" = "4 sets: 4 done, 0 up to date, 0 failed, 0 never started" ]
	[ "$(cat out/batch/*/done.*)" = $'0.0 1\n1.0 1\n2.0 1\n3.0 1' ]
}

@test "fringebatch: nodes: other tools than where it was submitted, and an output that cannot be written there" {
	few 2
	mkdir bin
	echo 1 >version
	printf '#!/bin/sh\n[ "$1" = --version ] && exec cat %q\nexec %q "$@"\n' "$PWD/version" "$(command -v fringepipe)" >bin/fringepipe
	chmod +x bin/fringepipe
	scontrol update PartitionName=main State=DOWN
	PATH=$PWD/bin:$PATH run -0 fringebatch --jobs 1 recipe.mk
	echo 2 >version
	scontrol update PartitionName=main State=UP
	until run fringebatch status && [[ $output == *"never started"* ]]; do sleep 0.2; done
	run -1 fringebatch status
	[ "${lines[0]}" = "task 0 on $(hostname): fringepipe --version is '2' here, '1' where it was submitted" ]
	[ "${lines[1]}" = "2 sets: 0 done, 0 up to date, 0 failed, 2 never started" ]
	scontrol update PartitionName=main State=DOWN
	run -0 fringebatch --jobs 1 recipe.mk
	job=${output##* }
	mv out elsewhere
	touch out
	scontrol update PartitionName=main State=UP
	until run -0 squeue -h -j "$job" -t PD,R,CG && [ "$output" = "" ]; do sleep 0.1; done
	rm out
	mv elsewhere out
	run -1 fringebatch status
	[ "${lines[1]}" = "tasks: none is left, and no summary was written: cancelled, or the nodes cannot write there" ]
	run -0 fringebatch --wait --jobs 1 recipe.mk
}

@test "fringebatch: no secret of the environment reaches a job; blanks and per cent signs in the folder's name" {
	few 1
	mkdir "my 50%j folder"
	mv captures recipe.mk "my 50%j folder"
	cd "my 50%j folder"
	sed -i 's/^recipe = /&env >env.of.set; /' recipe.mk
	export FRINGEPIPE_CPU=v2
	SECRET=hunter2 run -0 fringebatch --wait recipe.mk
	[ "${lines[0]}" = "1 sets: 1 done, 0 up to date, 0 failed, 0 never started" ]
	[ -s env.of.set ]
	# nor what a login shell sets
	[ "$(cut -d= -f1 env.of.set | grep -vE '^(SLURM.*|MAKE.*|MFLAGS|FRINGEPIPE_.*|PATH|HOME|LD_LIBRARY_PATH|XDG_CACHE_HOME|LC_ALL|PWD|OLDPWD|SHLVL|_)$' |
		grep -vxE 'HOSTNAME|ENVIRONMENT|TMPDIR|OMP_NUM_THREADS|CAPTURES|OUT|RESULT|SETS|RECIPE_IS_WRITTEN')" = "" ]
	[ "$(grep -c GET_USER_ENV env.of.set)" -eq 0 ]
	[ "$(cd .. && grep -rl hunter2 . "$cluster")" = "" ]
	[ "$(cd .. && echo *)" = "my 50%j folder" ]
	grep -x FRINGEPIPE_CPU=v2 env.of.set
	ls out/batch/*/slurm.*_0
	# folders that the environment names are those of tasks too; a variable in the recipe that tasks lack is noticed
	OUT=results run -0 fringebatch --wait recipe.mk
	cmp out/s01/depth.tif results/s01/depth.tif
	sed -i 's/ , median/ , median $(SIDE)/' recipe.mk
	SIDE='-s row' run -1 fringebatch --wait recipe.mk
	[ "${lines[0]}" = "task 0 on $(hostname): the recipe, its variables or a file that it names are here not what out/recipe says" ]
	[ "${lines[1]}" = "1 sets: 0 done, 0 up to date, 0 failed, 1 never started" ]
	run -0 fringebatch --wait recipe.mk SIDE='-s row'
}

@test "fringebatch: a partition that is closed to the user" {
	others_may_look
	mkdir out
	"${as_root[@]}" chown 65534 out
	scontrol create PartitionName="closed$$" Nodes="$(hostname -s)" AllowGroups=root
	fails 1 "fringebatch: the array was not submitted: Batch job submission failed: User's group not permitted to use this partition" \
		"${other_user[@]}" SLURM_CONF="$SLURM_CONF" "$top/scripts/fringebatch" --partition "closed$$" recipe.mk
	scontrol delete PartitionName="closed$$"
	[ "$(ls out/batch)" = "" ]
	# where the summary's job is refused the array is taken back
	"${as_root[@]}" rm -r out
	mkdir bin
	printf '#!/bin/sh\ncase $* in *--array*) exec %q "$@" ;; esac\necho "sbatch: error: too many jobs" >&2; exit 1\n' \
		"$(command -v sbatch)" >bin/sbatch
	chmod +x bin/sbatch
	scontrol update PartitionName=main State=DOWN
	PATH=$PWD/bin:$PATH fails 1 "fringebatch: the summary's job was not submitted: too many jobs" fringebatch recipe.mk
	[ "$(squeue -h -t PD,R)" = "" ]
	[ "$(ls out/batch)" = "" ]
}

@test "fringebatch: clocks of nodes that are wrong change nothing, and what is killed leaves nothing behind" {
	few 2
	sed -i '/^	phase2depth/s/$/ ; touch -d "1 hour" $@/' recipe.mk
	mkdir -p out/s01
	touch out/s01/.depth.tif.node.1.0.tmp
	touch -d '1 hour' recipe.mk			# make warns
	MAKEFLAGS=wn run -0 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "2 sets: 2 done, 0 up to date, 0 failed, 0 never started" ]
	[ "$(echo *)" = "captures out recipe.mk" ]
	[ ! -e out/s01/.depth.tif.node.1.0.tmp ]
	[ "$(stale)" = "" ]
	touch captures/s02/phase1_00.png
	[ "$(stale)" = "s02 " ]
	# an image that changes behind the tools' back is not the one whose sum is kept
	fringesim -s 320x240 -p 60,66 -c 2 --noise 1 --seed 2 -q -o other/
	cp other/phase1_00.png captures/s02/
	sed -i 's/^recipe = /&cp captures\/s02\/phase1_00.png captures\/s01; /' recipe.mk
	# (one set at a time: the other one's tools do not read what is being copied)
	run -1 fringebatch --engine local --jobs 1 --by content recipe.mk
	[ "${lines[0]}" = "2 sets: 1 done, 0 up to date, 0 failed, 0 never started, 1 changed meanwhile" ]
	run -0 fringebatch --engine local --by content --dry-run recipe.mk
	[ "${lines[0]}" = s01 ]
	# what failed, by a clock that is ahead, comes back when an image is replaced, by an older one even
	sed -i 's/^recipe = .*/recipe = false \\/; /^	phase2depth/d' recipe.mk
	run -1 fringebatch --engine local recipe.mk
	touch -d '1 hour' out/*/failed
	run -1 fringebatch --engine local --skip-failed recipe.mk
	[ "$output" = "2 sets: 0 to do, 0 up to date, 2 failed before and skipped" ]
	touch -d '1 day ago' captures/s01/phase1_00.png
	run -0 fringebatch --engine local --skip-failed --dry-run recipe.mk
	[ "${lines[0]}" = s01 ]
	[[ ${lines[1]} == *"1 failed before and skipped" ]]
}

@test "fringebatch: a set without images, a recipe without a result, an endless line: each set says what it lacks" {
	few 1
	mkdir captures/s00
	run -1 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "failed: s00, exit status 1: captures/s00: holds no images" ]
	rmdir captures/s00
	sed -i 's/^recipe = .*/recipe = head -c 9000000 \/dev\/zero | tr "\\0" x; echo; printf "\\033[31mred\\n" \\/; /^	phase2depth/d' recipe.mk
	run -1 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "failed: s01, exit status 1: the recipe has ended without an error and without a new depth.tif" ]
	[ "$(cat out/s01/log out/batch/*/log.* | wc -c)" -lt 200000 ]
	sed -i '/^recipe = /s/ \\$/; false \\/' recipe.mk
	run -1 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "failed: s01, exit status 1: ?[31mred" ]
}

@test "fringebatch: what is no batch, no variable of the recipe, or has ended, is told so" {
	few 1
	run -0 fringebatch --wait recipe.mk
	id=$(basename out/batch/*/)
	fails 1 "out/batch holds no batch 'nosuch'; the last is $id" fringebatch status nosuch
	fails 1 "out/batch holds no batch ''; the last is $id" fringebatch status ""
	fails 1 "out/batch holds no batch '../batch/$id'; the last is $id" fringebatch cancel "../batch/$id"
	fails 1 "$id has ended" fringebatch cancel "$id"
	fails 1 "elsewhere/batch: holds no batch; --out names another folder of results" fringebatch status --out elsewhere
	fails 2 "one batch at a time" fringebatch cancel "$id" "$id"
	fails 2 "'-j4': behind the recipe only its variables, NAME=value" fringebatch recipe.mk -j4
	fails 2 "'out/s01/depth.tif': behind the recipe" fringebatch recipe.mk out/s01/depth.tif
	fails 1 "recipe.mk has no variable RESULTS" fringebatch recipe.mk RESULTS+=points.ply
	echo 'all: ; echo built' >other.mk
	fails 1 "other.mk is no recipe like samples/recipe.mk" fringebatch other.mk
	mkdir recipes
	fails 1 "recipes: there is no such recipe" fringebatch recipes
}

# recipe_of COMMANDS: samples/recipe.mk with these
recipe_of() {
	commands=$1 awk '/^recipe = / { print "define recipe\n" ENVIRON["commands"] "\nendef"; skip = 1 }
		!skip { print }
		!/\\$/ { skip = 0 }' "$top/samples/recipe.mk" >recipe.mk
}

copy='framecat $(firstword $(images)) -o $(result)'

@test "fringebatch: settings of a batch are data, of which nothing is run" {
	few 2
	recipe_of "$copy"
	run -0 fringebatch --engine local recipe.mk
	batch=$(echo out/batch/*)
	for line in 'touch here' 'sets=a[$(touch here)]' 'start=$(touch here)' 'words=($(touch here))' 'PATH=/nowhere' 'keep_going=$(touch here)'; do
		rm -f "$batch"/{summary,status}
		touch "$batch/jobs"			# as of an array that has ended
		cp "$batch/settings" settings
		echo "$line" >>"$batch/settings"
		fails 1 "$batch/settings: " fringebatch status
		[ ! -e here ]
		cp settings "$batch/settings"
	done
	rm "$batch/jobs"
	# words with all that a shell knows reach make as they are
	recipe_of "$copy; echo \$(call quoted,\$(SIDE))"
	run -0 fringebatch --engine local recipe.mk SIDE='a "b" $$(touch here) `touch here`'"'"
	[ "$(cat out/s02/log)" = 'a "b" $(touch here) `touch here`'"'" ]
	[ ! -e here ]
	fails 1 "a name or variable with a line break cannot be carried" fringebatch --engine local recipe.mk SIDE=$'a\nb'
	# a status is 0 or 1
	batch=$(printf '%s\n' out/batch/* | tail -n 1)
	for word in 'a[$(touch here)]' '1; touch here' 256 ''; do
		echo "$word" >"$batch/status"
		run -1 --separate-stderr fringebatch status
		[ "$stderr" = "fringebatch: $PWD/$batch/status: is no exit status: '$word'" ]
	done
	[ ! -e here ]
}

@test "fringebatch: no name, message or summary commands a terminal" {
	few 2
	recipe_of "$copy"
	run -0 fringebatch --engine local recipe.mk
	printf 'done \033[31mred \233 \302\233m\n' >>"$(echo out/batch/*/summary)"
	run -0 fringebatch status
	[ "${lines[-1]}" = "done ?[31mred ? ??m" ]
	fails 1 "holds no batch 'a?[31m??b'" fringebatch status $'a\e[31m\302\233b'
	for name in captures/$'a\eb' captures/s01/$'a\ab.png'; do
		touch "$name"
		run -1 fringebatch --engine local recipe.mk
		[[ $output == *"captures/"*"a?b"*": make cannot carry this name"* ]]
		rm "$name"
	done
	recipe_of 'printf "\\033[31mred\\233\\n"; false'
	run -1 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "failed: s01, exit status 1: ?[31mred?" ]
}

@test "fringebatch: results, batches and locks of another user, or for all to write into, are refused; of a group they are not" {
	few 2
	recipe_of "$copy"
	umask 002
	run -0 fringebatch --engine local recipe.mk
	others_may_look
	batch=$(echo out/batch/*)
	touch captures/*/*
	: >lock
	for file in out out/batch "$batch" "$batch/settings" "$batch/status" out/batch/lock; do
		[ "$file" != out/batch/lock ] || cp lock out/batch/lock
		"${as_root[@]}" chown 65534 "$file"
		fails 1 "$PWD/$file: belongs to another user, nobody: take another OUT" fringebatch status
		"${as_root[@]}" chown "$EUID" "$file"
		chmod o+w "$file"
		fails 1 "$PWD/$file: everyone may write into it: chmod -R o-w it, or take another OUT" fringebatch status
		chmod o-w "$file"
	done
	for file in out out/batch out/batch/lock; do
		chmod o+w "$file"
		fails 1 "$PWD/$file: everyone may write into it: chmod -R o-w it, or take another OUT" fringebatch --engine local recipe.mk
		chmod o-w "$file"
	done
	rm out/batch/lock
	run -0 fringebatch status
	for file in "$batch/summary.x" out/batch/lock; do
		mkfifo "$file"
		fails 1 "$PWD/$file: is a link, a pipe or the like: remove it" fringebatch status
		rm "$file"
	done
	# more files than a command takes
	(cd "$batch" && seq -f "$(printf 'a%.0s' {1..60}).%.0f" 40000 | xargs touch)
	run -0 fringebatch status
	"${as_root[@]}" chown 65534 "$batch/settings"
	fails 1 "$PWD/$batch/settings: belongs to another user, nobody: take another OUT" fringebatch status
	rm -rf "$batch"
	# the recipe by itself
	chmod o+w out
	run -2 make -s -f recipe.mk
	[[ $output == *"out: everyone may write into it: chmod -R o-w it, or take another OUT."* ]]
	chmod o-w out
	"${as_root[@]}" chown 65534 out
	run -2 make -s -f recipe.mk
	[[ $output == *"out: belongs to another user, nobody: take another OUT."* ]]
	# root's is anybody's to use as far as he may
	"${as_root[@]}" chown 0:65534 out
	"${as_root[@]}" chmod g+w out
	"${as_root[@]}" rm -r out/*
	run -0 "${as_root[@]}" setpriv --reuid 65534 --regid 65534 --clear-groups env "PATH=$PATH" make -s -f recipe.mk
	# an umask of 0 makes none that is refused then
	"${as_root[@]}" rm -r out
	umask 0
	run -0 make -s -f recipe.mk
	touch captures/*/*
	run -0 make -s -f recipe.mk
	rm -r out
	run -0 fringebatch --engine local recipe.mk
	touch captures/*/*
	run -0 fringebatch --engine local recipe.mk
}

@test "fringebatch: nothing is written through a link" {
	few 2
	recipe_of "$copy; echo words"
	echo precious >precious
	mkdir -p out/s01
	for file in log failed sum.new depth.tif depth.old.tif depth.failed.tif; do ln -s ../../precious out/s01/$file; done
	run -0 fringebatch --engine local --by content recipe.mk
	touch captures/s01/phase1_00.png
	recipe_of 'echo words; cp $(firstword $(images)) $(result); false'
	for file in log failed sum.new depth.old.tif depth.failed.tif; do ln -sf ../../precious out/s01/$file; done
	run -1 fringebatch --engine local --by content recipe.mk
	[ "$(cat precious)" = precious ]
	[ "$(find out/s01 -type l)" = "" ]
	recipe_of "$copy"
	run -0 fringebatch --engine local recipe.mk
	# nor in a folder that a link names
	mkdir aside
	mv out/s01/depth.tif aside/
	rm -r out/s01
	ln -s ../aside out/s01
	echo precious >aside/failed
	touch aside/.x.tmp captures/s01/phase1_00.png
	run -1 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "failed: s01, exit status unknown: $PWD/out/s01: is a link, and nothing is written through it" ]
	[ "$(ls -A aside)" = $'.x.tmp\ndepth.tif\nfailed' ]
	rm out/s01
	for file in recipe captures; do
		mv out/$file kept
		ln -s ../precious out/$file
		run -2 make -s -f recipe.mk
		[[ $output == *"out/$file: is a link: remove it, or take another OUT."* ]]
		mv kept out/$file
	done
	# the folder of results itself may be one
	mv out elsewhere
	ln -s elsewhere out
	run -0 fringebatch --engine local recipe.mk
	mv out/batch aside/
	ln -s ../aside/batch out/batch
	fails 1 "$PWD/out/batch: is a link" fringebatch status
	[ "$(cat precious)" = precious ]
}

@test "fringebatch: a named pipe among the images is named, not read; names of sets and images that mean something to make" {
	few 2
	recipe_of "$copy"
	run -0 fringebatch --engine local --by content recipe.mk
	mkfifo captures/s01/pipe.png
	run -1 timeout 200 fringebatch --engine local --by content recipe.mk
	[ "${lines[0]}" = "failed: s01, exit status 1: captures/s01/pipe.png: is neither a file nor a folder" ]
	[ "${lines[1]}" = "2 sets: 0 done, 1 up to date, 1 failed, 0 never started" ]
	rm captures/s01/pipe.png
	for name in recipe captures; do
		cp -r captures/s02 captures/$name
		run -2 make -s -f recipe.mk
		[[ $output == *"captures/$name: rename this set: in out this is the name of a file."* ]]
		fails 1 "captures/$name: rename this set: in out this is the name of a file" fringebatch --engine local recipe.mk
		rm -r captures/$name
	done
	cp -r captures/s02 captures/batch
	cp -r captures/s02 captures/lock
	run -0 fringebatch --engine local recipe.mk
	cmp out/s02/depth.tif out/batch/depth.tif
	[ "$(make -s -f recipe.mk stale)" = "" ]
	run -0 fringebatch status
	for name in 'x(1)' '(x)'; do
		cp captures/s02/phase1_00.png "captures/s02/$name"
		run -2 make -s -f recipe.mk
		[[ $output == *"captures/s02/$name: make cannot carry this name: "*"or is an image's and ends in )"* ]]
		rm "captures/s02/$name"
	done
	# also where the folder of captures is a link
	ln -s captures linked
	touch 'captures/s01/a b.png'
	fails 1 "linked/s01/a b.png: make cannot carry this name" fringebatch --engine local recipe.mk CAPTURES=linked
}

@test "fringebatch: no result of another day stands where a set failed, nor one that was written although it failed" {
	few 2
	recipe_of "$copy"
	run -0 make -s -f recipe.mk
	cp out/s01/depth.tif good.tif
	recipe_of 'case $(set) in s01) strict=--strict;; esac; framecat $$strict --set perod_px=3 $(firstword $(images)) -o $(result)'
	for by in make fringebatch; do
		if [ $by = make ]; then run -2 make -k -s -f recipe.mk; else run -1 fringebatch --engine local recipe.mk; fi
		[ "$(ls out/s01)" = $'depth.failed.tif\ndepth.old.tif\nfailed\nlog' ]
		[ "$(ls out/s02)" = $'depth.tif\nlog' ]
		cmp good.tif out/s01/depth.old.tif
		cmp out/s02/depth.tif out/s01/depth.failed.tif
		if [ $by = make ]; then touch captures/*/*; fi
	done
	warning="framecat: --set: no tool reads the key perod_px (is it period_px?)"
	[ "${lines[0]}" = "failed: s01, exit status 1: $warning" ]
	[ "${lines[1]}" = "sets done with messages in their logs: 1, such as s02: $warning" ]
	[ "${lines[2]}" = "2 sets: 1 done, 0 up to date, 1 failed, 0 never started" ]
	rm -r out
	recipe_of 'cp $(firstword $(images)) $(result); if [ -e bad ]; then rm $(result); false; fi'
	run -0 make -s -f recipe.mk RESULT=a.b
	touch captures/*/* bad
	run -2 make -k -s -f recipe.mk RESULT=a.b
	[ "$(ls out/s01)" = $'a.old.b\nfailed' ]
	# which a good one removes
	rm bad
	run -0 make -s -f recipe.mk RESULT=a.b
	[ "$(ls out/s01)" = a.b ]
	# a recipe that makes nothing new
	recipe_of "true"
	run -2 make -k -s -f recipe.mk RESULT=a.b
	[ "$(ls out/s01)" = $'a.old.b\nfailed' ]
	# one that ended meanwhile
	recipe_of 'touch $(call quoted,$(set)).runs; sleep 60'
	make -s -f recipe.mk -j2 RESULT=a.b & make=$!
	until [ -e s01.runs ] && [ -e s02.runs ]; do sleep 0.1; done
	kill $make
	status=0
	wait $make || status=$?
	[ $status -ne 0 ]
	[ ! -e out/s01/a.b ]
}

@test "fringebatch: a terminal that stops what prints in the background stops no run" {
	few 1
	recipe_of "$copy"
	run -0 timeout 60 script -qec 'stty tostop; fringebatch --engine local recipe.mk' /dev/null </dev/null
	[[ $output == *"1 sets: 1 done"* ]]
}

two_begun() { [ "$(cat runs 2>/dev/null | wc -l)" -ge 2 ]; }

# slow_recipe: each set writes begin and end into `runs`, once `go` is there
slow_recipe() {
	recipe_of 'echo begin $(set) >>runs; for i in {1..600}; do [ ! -e go ] || break; sleep 0.1; done; '"$copy"'; echo end $(set) >>runs'
}

@test "fringebatch: a signal ends what runs, then the lock is free; what kill -9 leaves running keeps it" {
	few 6
	slow_recipe
	for signal in TERM HUP INT; do
		rm -f runs
		# (what the shell starts behind & ignores two of them, what nohup starts one)
		env --default-signal=HUP,INT,QUIT,TERM fringebatch --engine local --jobs 2 recipe.mk >said 2>&1 &
		in_time two_begun
		pid=$(cut -d' ' -f2 out/batch/lock)
		kill -$signal "$pid"
		in_time [ ! -e out/batch/lock ]
		# nothing of it runs any more
		[ "$(pgrep -f "$PWD/out/batch" | wc -l)" -eq 0 ]
		status=0
		wait $! || status=$?
		[ "$status" -eq $((128 + $(kill -l $signal))) ]
		[ "$(cat said)" = "" ]
		[ "$(grep -c end runs)" -eq 0 ]
		run -1 fringebatch status
		[ "${lines[1]}" = "it was interrupted; the same fringebatch again goes on with what is left" ]
		fails 1 " was interrupted: nothing of it runs" fringebatch cancel
	done
	# what has no parent any more goes on, to its summary, and is known by its group
	rm runs
	fringebatch --engine local --jobs 2 recipe.mk >said 2>&1 &
	in_time two_begun
	read -r _ pid _ _ _ group <out/batch/lock
	kill -9 "$pid"
	status=0
	wait $! || status=$?
	[ $status -eq 137 ]
	fails 1 "$PWD/out/batch is in use by host $(hostname), process $pid, which was killed and whose children still run: wait for them, or kill -- -$group" \
		fringebatch --engine local recipe.mk
	kill -9 "$group"
	fails 1 "or kill -- -$group" fringebatch --engine local recipe.mk
	kill -- "-$group"
	touch go
	in_time run -0 fringebatch --engine local recipe.mk
	[ "${lines[0]}" = "6 sets: 6 done, 0 up to date, 0 failed, 0 never started" ]
	[ "$(grep -c end runs)" -eq 6 ]
	# one whose tools do not end at once
	rm go
	touch captures/*/*
	recipe_of 'trap "" TERM; echo begin $(set) >>runs; while :; do sleep 0.1; done'
	rm runs
	fringebatch --engine local --jobs 2 recipe.mk >said 2>&1 &
	in_time two_begun
	kill $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 143 ]
	[ "$(pgrep -f "$PWD/out/batch" | wc -l)" -eq 0 ]
	[ ! -e out/batch/lock ]
	recipe_of "$copy"
	run -0 fringebatch --engine local recipe.mk
}

@test "fringebatch: a lock is dead after another boot, of another process of its number, and of a zombie" {
	few 1
	recipe_of "$copy"
	mkdir -p out/batch
	boot=$(cat /proc/sys/kernel/random/boot_id)
	start=$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)
	lock() { echo "$(hostname) $*" >out/batch/lock; touch captures/*/*; }
	lock $$ - "$boot" "$start" -
	fails 1 "fringebatch: $PWD/out/batch is in use by host $(hostname), process $$: wait for its end, or kill $$" fringebatch --engine local recipe.mk
	lock $$ - other-boot "$start" -
	run -0 fringebatch --engine local recipe.mk
	lock $$ - "$boot" $((start - 1)) -
	run -0 fringebatch --engine local recipe.mk
	# of a parent that does not wait for it
	py 'import os, subprocess
child = os.fork()
if child == 0: os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
start = open("/proc/%d/stat" % child).read().split(") ")[1].split()[19]
open("out/batch/lock", "w").write("%s %d - %s %s %d\n" % (sys.argv[1], child, sys.argv[2], start, child))
sys.exit(subprocess.call(["fringebatch", "--engine", "local", "recipe.mk"]))' "$(hostname)" "$boot"
}

load helpers

# Completion of bash and zsh, as `make install` writes it, made from what each tool prints as its --words.

setup_file() {
	make -s -C "$top" install-completion PREFIX="$(prefix)" BIN="$(dirname "$(command -v fringepipe)")"
}

prefix() {
	echo "$BATS_FILE_TMPDIR/usr"
}

# completed WORD ...: what bash makes of the last word, blank-separated; [file] where readline completes a file
# name. Words stand as readline gives them, with an = apart.
completed() {
	bash -c '
		shift
		compopt() { if [ "$*" = "-o default" ]; then echo "[file]"; fi; }
		. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_fringepipe_complete
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
		"$(prefix)/share/bash-completion/completions/${1##*/}" - "$@" | paste -sd " "
}

is() {		# wanted, got
	if [ "$1" != "$2" ]; then
		printf 'wanted: %s\ngot:    %s\n' "$1" "$2"
		return 1
	fi
}

@test "completion: bash: options, their words, files" {
	is "--min-modulation --min-amplitude" "$(completed phasewrap --min)"
	is "--kind --keep-going" "$(completed phasewrap --k)"
	is "auto step 2+1 gray double" "$(completed phasewrap --kind "")"
	is "step" "$(completed phasewrap --kind st)"
	is "auto step 2+1 gray double" "$(completed phasewrap --kind =)"
	is "step" "$(completed phasewrap --kind = st)"
	is "auto step 2+1 gray double" "$(completed phasewrap -k "")"
	is "2+1" "$(completed phasewrap -k 2)"
	is "[file]" "$(completed phasewrap a.png "")"
	is "[file]" "$(completed phasewrap --rgb "")"
	is "[file]" "$(completed phasewrap -m "")"
	is "[file]" "$(completed phasewrap --manifest = x)"
	is "[file]" "$(completed "/opt/bin/phasewrap" "")"
	is "" "$(completed phasewrap -n "")"
	is "cpu gpu auto" "$(completed gauss -d "")"
	touch plate.nrrd "two words.nrrd"
	is "ideal plate.nrrd two words.nrrd" "$(completed phase2depth --ref "" | sed "s,two words.nrrd plate.nrrd,plate.nrrd two words.nrrd,")"
	is "plate.nrrd" "$(completed phase2depth -r pl)"
	is "ideal" "$(completed phase2depth -r = i)"
	[[ $(completed framecat -) == "--frames --where -c --channels --like "*" --words" ]]
}

@test "completion: bash: stages of a chain and what belongs to each" {
	stages=$(fringepipe --words | grep -v '^-' | cut -d' ' -f1 | paste -sd " ")
	is "$stages" "$(completed fringepipe "")"
	is "phase2depth phasematch phasewrap" "$(completed fringepipe ph)"
	is "--devices --device" "$(completed fringepipe --dev)"
	is "phase2depth phasematch phasewrap" "$(completed fringepipe -o x.nrrd ph)"
	is "phase2depth phasematch phasewrap" "$(completed fringepipe --output = x.nrrd -v ph)"
	is "[file]" "$(completed fringepipe -o "")"
	is "[file]" "$(completed fringepipe phasewrap -n 3 "")"
	is "auto step 2+1 gray double" "$(completed fringepipe phasewrap -k "")"
	is "$stages" "$(completed fringepipe phasewrap a.png , "")"
	is "gauss" "$(completed fringepipe phasewrap a.png , ga)"
	is "auto row column box" "$(completed fringepipe phasewrap a.png , median -s "")"
	is "--sigma" "$(completed fringepipe phasewrap -k gray a.png , gauss --sig)"
	is "" "$(completed fringepipe phasewrap a.png , nosuch --si)"
}

@test "completion: bash loads it for every tool, and leaves the shell's options as they were" {
	# stages of the tests are not installed
	for tool in $(fringepipe --words | grep -vE '^(-|test)' | cut -d' ' -f1) fringepipe; do
		is "--verbose --version" "$(completed "$tool" --ver)"
	done
	bash -c '. "$1"; compopt() { :; }; COMP_WORDS=(gauss -) COMP_CWORD=1; _fringepipe_complete; case $- in *f*) exit 1 ;; esac
		[[ $(complete -p phase2depth) == *_fringepipe_complete* ]]' - "$(prefix)/share/bash-completion/completions/gauss"
}

# in zsh: what its completion functions would be given
zsh_completed() {
	zsh -f -c '
		compadd() { shift; print -r -- "$@"; }
		_files() { print "[file]"; }
		compset() { PREFIX=${PREFIX#*=}; }
		complete_now() { local words=("$@") CURRENT=$# PREFIX=${@[-1]}; . "$file"; }
		file=$1; shift
		complete_now "$@"' - "$(prefix)/share/zsh/site-functions/_fringepipe" "$@" | paste -sd " "
}

@test "completion: zsh: options, their words, files, stages" {
	is "auto step 2+1 gray double" "$(zsh_completed phasewrap -k "")"
	is "auto step 2+1 gray double" "$(zsh_completed phasewrap --kind "")"
	is "auto step 2+1 gray double" "$(zsh_completed phasewrap --kind=st)"
	is "[file]" "$(zsh_completed phasewrap -m "")"
	is "[file] ideal" "$(zsh_completed phase2depth --ref "")"
	is "" "$(zsh_completed phasewrap -n "")"
	is "[file]" "$(zsh_completed phasewrap "")"
	[[ $(zsh_completed framecat -) == "--frames --where -c --channels --like "*" --words" ]]
	stages=$(fringepipe --words | grep -v '^-' | cut -d' ' -f1 | paste -sd " ")
	is "$stages" "$(zsh_completed fringepipe "")"
	is "$stages" "$(zsh_completed fringepipe -o x.nrrd -v ph)"
	is "$stages" "$(zsh_completed fringepipe phasewrap a.png , "")"
	is "auto row column box" "$(zsh_completed fringepipe phasewrap a.png , median -s "")"
	is "auto row column box" "$(zsh_completed fringepipe phasewrap a.png , median --shape=)"
	is "[file]" "$(zsh_completed fringepipe phasewrap a.png , median "")"
	grep -q '^#compdef fringepipe .*phasewrap' "$(prefix)/share/zsh/site-functions/_fringepipe"
}

# bash completion of fringepipe's tools, made by scripts/completion/generate

_fringepipe_words()		# tool: sets words
{
	case $1 in
	@TABLE@
	*) words= ;;
	esac
}

_fringepipe_takes_value()	# option: true, and long is its long name, if a value follows it
{
	local word found=

	long=
	case $1 in
	--*) long=$1 ;;
	-?)
		for word in $words; do
			[ -n "$found" ] && long=$word && break
			[ "$word" = "$1" ] && found=1
		done ;;
	esac
	[ -n "$long" ] && [[ " $words" == *" $long="* ]]
}

# The stage of fringepipe that the word belongs to: the first word behind the last comma that is no option's.
_fringepipe_stage()
{
	local i word first=1

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = , ]; then
			first=1 tool=fringepipe
			_fringepipe_words "$tool"
		elif [ -n "$first" ] && [[ $word != -* && $word != "=" && ${COMP_WORDS[i - 1]} != "=" ]] &&
			! _fringepipe_takes_value "${COMP_WORDS[i - 1]}"; then
			first= tool=$word
			_fringepipe_words "$tool"
		fi
	done
}

_fringepipe_choose()		# words: those that begin as the word does
{
	local word

	for word; do
		if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
	done
}

_fringepipe_value()		# completes the value of the option long
{
	local word choices=() file=

	for word in $words; do
		case $word in
		"$long=@") file=1 ;;
		"$long=?") ;;
		"$long="*) choices+=("${word#*=}") ;;
		esac
	done
	_fringepipe_choose "${choices[@]}"
	[ -n "$file" ] || return
	if [ ${#choices[@]} -eq 0 ]; then
		compopt -o default
		return
	fi
	compopt -o filenames
	while IFS= read -r word; do
		COMPREPLY+=("$word")
	done < <(compgen -f -- "$cur")
}

_fringepipe_complete()
{
	local IFS=$' \t\n' cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local tool=${COMP_WORDS[0]##*/} words long restore=

	COMPREPLY=()
	case $- in
	*f*) ;;
	*) restore=1; set -f ;;		# --name=? is no pattern
	esac
	_fringepipe_words "$tool"
	if [ "$tool" = fringepipe ]; then _fringepipe_stage; fi
	# bash takes --name=value apart at the =
	if [ "$cur" = "=" ]; then
		cur=
	elif [ "$prev" = "=" ] && [ "$COMP_CWORD" -gt 2 ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if _fringepipe_takes_value "$prev"; then
		_fringepipe_value
	elif [[ $cur == -* ]]; then
		# shellcheck disable=SC2086
		_fringepipe_choose $(printf '%s\n' $words | grep -v =)
	elif [ "$tool" = fringepipe ]; then
		_fringepipe_choose @STAGES@
	else
		compopt -o default	# files, which readline knows to quote
	fi
	if [ -n "$restore" ]; then set +f; fi
}

complete -F _fringepipe_complete @TOOLS@

#compdef @TOOLS@
# zsh completion of fringepipe's tools, made by scripts/completion/generate

_fringepipe_words()		# tool: sets table
{
	local words

	case $1 in
	@TABLE@
	*) words= ;;
	esac
	table=(${=words})
}

_fringepipe_takes_value()	# option: true, and long is its long name, if a value follows it
{
	long=
	case $1 in
	--*) long=$1 ;;
	-?) long=${table[${table[(ie)$1]} + 1]} ;;
	esac
	[[ -n $long && -n ${(M)table:#$long=*} ]]
}

# The stage of fringepipe that the word belongs to: the first word behind the last comma that is no option's.
_fringepipe_stage()
{
	local i word first=1

	for ((i = 2; i < CURRENT; i++)); do
		word=${words[i]}
		if [[ $word == , ]]; then
			first=1 tool=fringepipe
			_fringepipe_words $tool
		elif [[ -n $first && $word != -* ]] && ! _fringepipe_takes_value "${words[i - 1]}"; then
			first= tool=$word
			_fringepipe_words $tool
		fi
	done
}

_fringepipe()
{
	local -a table choices
	local tool=${words[1]:t} option=${words[CURRENT - 1]} long

	_fringepipe_words $tool
	if [[ $tool == fringepipe ]]; then _fringepipe_stage; fi
	if [[ $PREFIX == --*=* ]]; then
		option=${PREFIX%%=*}
		compset -P '*='
	fi
	if _fringepipe_takes_value "$option"; then
		choices=(${${(M)table:#$long=*}#*=})
		if [[ -n ${(M)choices:#@} ]]; then _files; fi
		choices=(${choices:#[@?]})
		if (( $#choices )); then compadd -- $choices; fi
	elif [[ $PREFIX == -* ]]; then
		compadd -- ${table:#*=*}
	elif [[ $tool == fringepipe ]]; then
		compadd -- @STAGES@
	else
		_files
	fi
}

_fringepipe "$@"

load mistakes.bash

# Mistakes with archives of captures, which a batch has done, and says so, with results that are not what they seem.

setup() {
	PATH=$top/scripts:$PATH
	cd "$BATS_TEST_TMPDIR" || exit 1
	cp "$top/samples/recipe.mk" .
}

# sets FOLDER NAME ...: sets of six images, older than any result.
sets() {
	local name
	mkdir -p "$1"
	for name in "${@:2}"; do
		fringesim -q -s 160x120 -p 60,66 -c 2 --seed ${#name} -o "$1/$name/"
	done
	find "$1" -exec touch -d yesterday {} +
}

@test "mistakes: another folder of captures with sets of the same names has no result of its own in out" {
	sets monday one two
	sets tuesday one three
	sets wednesday four
	run -0 fringebatch --engine local recipe.mk CAPTURES=monday
	mistake "monday/one and tuesday/one have one result, out/one/depth.tif: take another OUT" \
		fringebatch --engine local recipe.mk CAPTURES=tuesday
	[ "$status" -eq 1 ]
	run make -s -f recipe.mk CAPTURES=tuesday
	[ "$status" -eq 2 ]
	[[ $output == *"monday/one and tuesday/one have one result"* ]]
	run -2 make -s -f recipe.mk CAPTURES=monday OUT=./monday/
	[[ $output == *"monday/: is the folder of the captures: take another OUT."* ]]
	[ ! -e monday/one/depth.tif ]
	# other names, other ways to the same folder, another place for results, the folder that has moved
	run -0 fringebatch --engine local recipe.mk CAPTURES=wednesday
	[[ $output == *"1 done"* ]]
	run -0 fringebatch --engine local recipe.mk CAPTURES="$PWD/monday/"
	[[ $output == *"2 up to date"* ]]
	run -0 fringebatch --engine local recipe.mk CAPTURES=./monday
	[[ $output == *"2 up to date"* ]]
	run -0 fringebatch --engine local recipe.mk CAPTURES=tuesday OUT=other
	[[ $output == *"2 done"* ]]
	rm -r out/one
	run -0 fringebatch --engine local recipe.mk CAPTURES=tuesday
	[[ $output == *"2 done"* ]]
	mv monday before
	rm -r wednesday tuesday
	run -0 fringebatch --engine local recipe.mk CAPTURES=before
	[[ $output == *"2 up to date"* ]]
}

@test "mistakes: what tools say of sets that are done is in the summary" {
	sets captures one two
	run -0 fringebatch --engine local recipe.mk
	[[ $output != *"words"* ]]
	mkdir captures/text
	fringesim -q -s 64x48 -p 24 -n 12 -c 2 | framecat --split --delete '*' -o captures/text/%d.png
	rm -r captures/one captures/two
	cat >patch.sed <<-'END'
		/^recipe = /,/ideal/c\
		recipe = fringepipe phasewrap -p 24 -n 12 $(images) , unwrapq -o $(result)
	END
	sed -f patch.sed recipe.mk >text.mk
	run -0 fringebatch --engine local text.mk RESULT=phase.tif
	[[ $output == *"sets done with messages in their logs: 1, such as text: fringepipe: phasewrap: captures/text/11.png comes before"* ]]
	[[ $output == *"1 sets: 1 done"* ]]
}

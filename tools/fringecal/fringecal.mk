# mrcal links CHOLMOD, parts of which are under the GPL: fringecal is a program of its own (README)
LIBRARIES_fringecal := mrcal dogleg cholmod
DEBIAN_fringecal := libmrcal-dev libdogleg-dev
CHAIN_fringecal := no

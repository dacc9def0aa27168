# mrcal links CHOLMOD, parts of which are under the GPL: fringecal is a program of its own (README)
LOADED_fringecal := cairo
LIBRARIES_fringecal := mrcal dogleg cholmod
DEBIAN_fringecal := libmrcal-dev libdogleg-dev libcairo2-dev
PROGRAM_fringecal := own

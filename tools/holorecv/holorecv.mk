LIBRARIES_holorecv := wslay
DEBIAN_holorecv := libwslay-dev

CHAIN_fringeprobe := no

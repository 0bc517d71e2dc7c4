package machine

import "golang.org/x/sys/unix"

// system is the share of a Mac's memory that Metal recommends to use: two thirds, three quarters from 64 GB on.
func system() []GPU {
	all := mainMemory()
	if all == 0 {
		return nil
	}
	share := all / 3 * 2
	if all >= 64<<30 {
		share = all / 4 * 3
	}
	return []GPU{{Name: "this Mac", Bytes: share}}
}

func mainMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}

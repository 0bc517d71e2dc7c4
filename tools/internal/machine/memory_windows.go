package machine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func system() []GPU { return nil }

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                                                     uint32
	total, available, totalPage, availablePage, totalVirtual, availableVirtual, more uint64
}

func mainMemory() int64 {
	status := memoryStatus{}
	status.length = uint32(unsafe.Sizeof(status))
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if ok, _, _ := call.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return int64(status.total)
}

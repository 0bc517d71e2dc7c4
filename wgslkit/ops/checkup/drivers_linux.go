package checkup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Drivers names what the machine's drivers are part of: wgpu does not tell
// their versions.
func Drivers() string {
	var parts []string
	for _, module := range []struct{ name, file string }{
		{"NVIDIA", "/sys/module/nvidia/version"},
		{"Linux", "/proc/sys/kernel/osrelease"},
	} {
		if raw, err := os.ReadFile(module.file); err == nil {
			parts = append(parts, module.name+" "+strings.TrimSpace(string(raw)))
		}
	}
	return strings.Join(parts, ", ")
}

// installed changes when a Vulkan driver is installed anew, whose manifest is
// then another file.
func installed() string {
	var b strings.Builder
	for _, folder := range []string{"/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"} {
		files, _ := filepath.Glob(folder + "/*.json") // the pattern is right
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				fmt.Fprintf(&b, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String()
}

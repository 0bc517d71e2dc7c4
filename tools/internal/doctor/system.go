package doctor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// System is what a report says of a machine before its GPU is looked at, and all that
// it can say where there is none.
type System struct {
	Version    string `json:"version"` // of gemwire
	Go         string `json:"go"`
	System     string `json:"system"`
	Drivers    string `json:"drivers,omitempty"`
	Processors int    `json:"processors"`
	Problem    string `json:"problem,omitempty"` // why no GPU was examined
}

// ThisSystem is the machine that the program runs on.
func ThisSystem(version string) System {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if release := releaseName("/etc/os-release"); release != "" {
		name += ", " + release
	}
	return System{
		Version: version, Go: runtime.Version(), System: name, Drivers: checkup.Drivers(), Processors: runtime.NumCPU(),
	}
}

// releaseName is how a Linux distribution calls itself; empty elsewhere.
func releaseName(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(io.LimitReader(file, 1<<16)); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"'`)
		}
	}
	return ""
}

// WriteReport writes it as text that fits in a bug report.
func (s System) WriteReport(w io.Writer) error {
	drivers := s.Drivers
	if drivers == "" {
		drivers = "none that the system tells of"
	}
	_, err := fmt.Fprintf(w, "%-10s %s, %s, %d processors\n%-10s %s\n%-10s %s\n%-10s %s\n", "gemwire", s.Version, s.Go,
		s.Processors, "system", s.System, "drivers", drivers, "GPU", s.Problem)
	return err
}

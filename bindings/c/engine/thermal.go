package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// hottest is the highest temperature that Linux and Android tell of, in °C; 0
// where there is none to read.
func hottest(root string) float64 {
	zones, _ := filepath.Glob(filepath.Join(root, "thermal_zone*", "temp"))
	most := 0.0
	for _, zone := range zones {
		text, err := os.ReadFile(zone)
		if err != nil {
			continue // some sensors sleep
		}
		milli, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if err == nil && milli < 200_000 {
			most = max(most, milli/1000)
		}
	}
	return most
}

const thermalZones = "/sys/class/thermal"

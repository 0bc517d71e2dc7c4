package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// system reads what AMD's driver says of its cards.
func system() (cards []GPU) {
	found, _ := filepath.Glob("/sys/class/drm/card*/device/mem_info_vram_total") // the pattern is right
	for _, file := range found {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
		if err == nil && n >= 1<<30 { // less is a processor's own, which borrows main memory
			cards = append(cards, GPU{Name: "AMD", Bytes: n})
		}
	}
	sortLargest(cards)
	return cards
}

func mainMemory() int64 {
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return parseMeminfo(string(raw))
}

// parseMeminfo reads the line "MemTotal:       16262164 kB".
func parseMeminfo(text string) int64 {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "MemTotal:" && words[2] == "kB" {
			n, err := strconv.ParseInt(words[1], 10, 50)
			if err == nil {
				return n << 10
			}
		}
	}
	return 0
}

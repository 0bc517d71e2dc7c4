package machine

import (
	"cmp"
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GPU is the memory of a graphics card.
type GPU struct {
	Name  string
	Bytes int64
}

// GPUs are the cards whose memory can be found out, the largest first. Where there are none, nothing is known: there
// may be one without a driver that tells.
func GPUs(ctx context.Context) []GPU {
	if cards := nvidia(ctx); len(cards) > 0 {
		return cards
	}
	return system()
}

// Memory is the main memory in bytes; 0 where that is unknown.
func Memory() int64 { return mainMemory() }

// nvidia asks the tool that comes with NVIDIA's driver.
func nvidia(ctx context.Context) []GPU {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=memory.total,name",
		"--format=csv,noheader,nounits").Output()
	if err != nil {
		return nil
	}
	return parseNvidia(string(out))
}

// parseNvidia reads lines such as "24564, NVIDIA GeForce RTX 4090".
func parseNvidia(out string) (cards []GPU) {
	for line := range strings.Lines(out) {
		mib, name, ok := strings.Cut(strings.TrimSpace(line), ",")
		n, err := strconv.ParseInt(strings.TrimSpace(mib), 10, 32)
		if ok && err == nil && n > 0 {
			cards = append(cards, GPU{Name: strings.TrimSpace(name), Bytes: n << 20})
		}
	}
	sortLargest(cards)
	return cards
}
func sortLargest(cards []GPU) {
	slices.SortStableFunc(cards, func(a, b GPU) int { return cmp.Compare(b.Bytes, a.Bytes) })
}

package video_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/multimodal/video"
)

// sampled is what transformers' processor makes of a video: testdata/makers/video.py.
type sampled struct {
	Frames     int      `json:"frames"`
	FPS        *float64 `json:"fps"` // null where unknown
	NumFrames  int      `json:"num_frames"`
	SoftTokens int      `json:"soft_tokens"`
	Indices    []int    `json:"indices"`
	Text       string   `json:"text"`
}

func TestAsTransformers(t *testing.T) {
	raw, err := os.ReadFile("testdata/sampled.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []sampled
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		indices := video.Sample(c.Frames, c.NumFrames)
		if !slices.Equal(indices, c.Indices) {
			t.Errorf("%d of %d frames: %v, want %v", c.NumFrames, c.Frames, indices, c.Indices)
		}
		fps := 0.0
		if c.FPS != nil {
			fps = *c.FPS
		}
		var text []string
		for _, i := range indices {
			text = append(text, video.Stamp(i, fps)+" <|image>"+strings.Repeat("<|video|>", c.SoftTokens)+"<image|>")
		}
		if got := strings.Join(text, " "); got != c.Text {
			t.Errorf("%d of %d frames, %v a second:\n%s\nwant\n%s", c.NumFrames, c.Frames, fps, got, c.Text)
		}
	}
}

func TestSampleOfFew(t *testing.T) {
	for total, want := range map[int][]int{0: {}, 1: {0}, 3: {0, 1, 2}} {
		if got := video.Sample(total, 32); !slices.Equal(got, want) {
			t.Errorf("%d frames: %v", total, got)
		}
	}
}

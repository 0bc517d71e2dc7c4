package schedule_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gemwire/gemwire/finetune/schedule"
)

func TestRate(t *testing.T) {
	half := (1 + math.Cos(math.Pi/4)) / 2
	tests := []struct {
		name string
		s    schedule.Schedule
		want []float64
	}{
		{"constant", schedule.Schedule{Kind: schedule.Constant, Peak: 2, Steps: 3}, []float64{2, 2, 2, 2}},
		{"warm-up", schedule.Schedule{Kind: schedule.Constant, Peak: 2, Steps: 4, Warmup: 2}, []float64{1, 2, 2, 2}},
		{"linear", schedule.Schedule{Kind: schedule.Linear, Peak: 2, Steps: 4}, []float64{2, 1.5, 1, 0.5, 0, 0}},
		{"to a floor", schedule.Schedule{Kind: schedule.Linear, Peak: 2, Floor: 1, Steps: 2}, []float64{2, 1.5, 1}},
		{"cosine", schedule.Schedule{Kind: schedule.Cosine, Peak: 1, Steps: 4}, []float64{1, half, 0.5, 1 - half, 0}},
		{"restarts", schedule.Schedule{Kind: schedule.CosineRestarts, Peak: 1, Steps: 4, Cycles: 2},
			[]float64{1, 0.5, 1, 0.5, 0}},
		{"a warm-up, then linear", schedule.Schedule{Kind: schedule.Linear, Peak: 2, Steps: 6, Warmup: 2},
			[]float64{1, 2, 2, 1.5, 1, 0.5, 0, 0}},
		{"all warm-up", schedule.Schedule{Kind: schedule.Linear, Peak: 1, Steps: 2, Warmup: 2}, []float64{0.5, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.s.Check(); err != nil {
				t.Fatal(err)
			}
			var got []float64
			for step := range test.want {
				got = append(got, test.s.Rate(step))
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	good := schedule.Schedule{Kind: schedule.CosineRestarts, Peak: 1, Steps: 10, Warmup: 2, Cycles: 2}
	bad := map[string]func(*schedule.Schedule){
		"another kind":         func(s *schedule.Schedule) { s.Kind = "steep" },
		"no rate":              func(s *schedule.Schedule) { s.Peak = 0 },
		"not a number":         func(s *schedule.Schedule) { s.Peak = math.NaN() },
		"no end":               func(s *schedule.Schedule) { s.Peak = math.Inf(1) },
		"below zero":           func(s *schedule.Schedule) { s.Floor = -1 },
		"a warm-up before it":  func(s *schedule.Schedule) { s.Warmup = -1 },
		"a floor above":        func(s *schedule.Schedule) { s.Floor = 2 },
		"no steps":             func(s *schedule.Schedule) { s.Steps = 0 },
		"a longer warm-up":     func(s *schedule.Schedule) { s.Warmup = 11 },
		"no cycles":            func(s *schedule.Schedule) { s.Cycles = 0 },
		"more cycles than fit": func(s *schedule.Schedule) { s.Cycles = 9 },
	}
	allowed := map[string]func(*schedule.Schedule){
		"as it is":              func(*schedule.Schedule) {},
		"a floor as the peak":   func(s *schedule.Schedule) { s.Floor = s.Peak },
		"one cycle":             func(s *schedule.Schedule) { s.Cycles = 1 },
		"a cycle for each step": func(s *schedule.Schedule) { s.Cycles = 8 },
		"no warm-up":            func(s *schedule.Schedule) { s.Warmup = 0 },
		"one step": func(s *schedule.Schedule) {
			*s = schedule.Schedule{Kind: schedule.Constant, Peak: 1, Steps: 1}
		},
		"nothing but warm-up":         func(s *schedule.Schedule) { s.Kind, s.Warmup = schedule.Cosine, s.Steps },
		"cycles of what has none":     func(s *schedule.Schedule) { s.Kind, s.Cycles = schedule.Linear, 0 },
		"more cycles of what has one": func(s *schedule.Schedule) { s.Kind, s.Cycles = schedule.Cosine, 100 },
	}
	for name, change := range allowed {
		s := good
		change(&s)
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range bad {
		s := good
		spoil(&s)
		if err := s.Check(); !errors.Is(err, schedule.ErrSchedule) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good.Cycles = 9
	if err := good.Check(); err == nil || !strings.Contains(err.Error(), "9 cycles in the 8 steps") {
		t.Errorf("error %v does not say how many cycles fit", err)
	}
}

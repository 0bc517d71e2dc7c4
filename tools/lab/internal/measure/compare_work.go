package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrGrew says that a phase asks for more than it did.
var ErrGrew = errors.New("more work than before")

// Go's heap is used by other goroutines and by the standard library, which both
// change a little from run to run and from version to version.
const (
	heapSlack       = 0.05
	allocationSlack = 4
	heapBytesSlack  = 4096
)

// ErrOtherDevice says that the figures are of another kind of device.
var ErrOtherDevice = errors.New("figures of another kind of device")

// CompareWork tells which figures of a phase grew and which fell, a line for
// each. A phase that only one of the two has is a line as well.
func CompareWork(before, after Workload) (grew, fell []string, err error) {
	if before.Kind != after.Kind {
		return nil, nil, fmt.Errorf("%w: they are of a device of kind %q, and this one is %q", ErrOtherDevice,
			before.Kind,
			after.Kind)
	}
	earlier := map[string]PhaseWork{}
	for _, p := range before.Phases {
		earlier[p.Phase] = p
	}
	for _, p := range after.Phases {
		was, ok := earlier[p.Phase]
		if !ok {
			grew = append(grew, p.Phase+": a new phase")
			continue
		}
		delete(earlier, p.Phase)
		old, now := figures(was), figures(p)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			line := fmt.Sprintf("%s, %s: %d, was %d (%s)", p.Phase, name, now[name], old[name], p.Unit)
			slack := slackOf(name, old[name])
			switch {
			case now[name] > old[name]+slack:
				grew = append(grew, line)
			case now[name] < old[name]-slack:
				fell = append(fell, line)
			}
		}
	}
	for _, phase := range slices.Sorted(maps.Keys(earlier)) {
		grew = append(grew, phase+": a phase that was not counted this time")
	}
	return grew, fell, nil
}

// figures are a phase's numbers by their names in JSON.
func figures(p PhaseWork) map[string]int64 {
	raw, _ := json.Marshal(p)
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields)
	numbers := map[string]int64{}
	for name, value := range fields {
		var n int64
		if json.Unmarshal(value, &n) == nil {
			numbers[name] = n
		}
	}
	return numbers
}

func slackOf(name string, value int64) int64 {
	switch name {
	case "allocations":
		return int64(heapSlack*float64(value)) + allocationSlack
	case "heapBytes":
		return int64(heapSlack*float64(value)) + heapBytesSlack
	}
	return 0
}

package models

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

type Inspection struct {
	Version      uint32       `json:"version"` // of GGUF
	Architecture string       `json:"architecture"`
	Size         int64        `json:"size"` // bytes of all files
	Metadata     []keyJSON    `json:"metadata"`
	Tensors      []tensorJSON `json:"tensors"`
	Types        []typeTotal  `json:"types"`
	Images       *towerJSON   `json:"images,omitempty"` // the image tower
	Audio        *towerJSON   `json:"audio,omitempty"`  // the audio tower
	Plan         *gemma4.Plan `json:"plan,omitempty"`
	PlanError    string       `json:"planError,omitempty"`
}

// towerJSON is a tower, which is loaded when its first medium comes.
type towerJSON struct {
	Blocks int   `json:"blocks"`
	Width  int   `json:"width"`
	Bytes  int64 `json:"bytes"`
}

type keyJSON struct {
	Key    string `json:"key"`
	Type   string `json:"type"`
	Length int    `json:"length,omitempty"` // of a list
	Value  any    `json:"value,omitempty"`  // of a long list the first elements alone, unless all are asked for
}

type tensorJSON struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Dims   []uint64 `json:"dims"` // the length of a row first
	Offset int64    `json:"offset"`
	Bytes  int64    `json:"bytes"`
	Where  string   `json:"where,omitempty"`
}

// shortList is how many elements of a list are shown.
const shortList = 16

func (in *inspection) json(full bool) Inspection {
	out := Inspection{
		Version: in.file.Version, Architecture: in.file.Architecture(), Size: in.file.Size(),
		Metadata: []keyJSON{}, Tensors: []tensorJSON{}, Types: in.types(), Plan: in.plan,
	}
	if in.noPlan != nil {
		out.PlanError = cli.Sentence(in.noPlan)
	}
	if v, err := in.towers.NeedVision(); err == nil {
		out.Images = &towerJSON{v.Blocks, v.Width, v.Bytes}
	}
	if a, err := in.towers.NeedAudio(); err == nil {
		out.Audio = &towerJSON{a.Blocks, a.Width, a.Bytes}
	}
	for _, key := range in.file.Meta.Keys() {
		value, _ := in.file.Meta.Lookup(key)
		out.Metadata = append(out.Metadata, jsonKey(key, value, full))
	}
	places := in.places()
	for _, t := range in.file.Tensors {
		out.Tensors = append(out.Tensors, tensorJSON{t.Name, t.Type.String(), t.Dims, t.Offset, t.Size,
			string(places[t.Name].Where)})
	}
	return out
}

func jsonKey(key string, v gguf.Value, full bool) keyJSON {
	out := keyJSON{Key: key, Type: v.Kind().String()}
	limit := v.Len()
	if v.Kind() == gguf.KindArray {
		out.Type, out.Length = "array of "+v.Elem().String(), v.Len()
		if !full {
			limit = min(limit, shortList)
		}
	}
	out.Value = jsonValue(v, limit)
	return out
}

// jsonValue is a value, of a list the first elements, as JSON has it. Numbers
// that JSON lacks become strings.
func jsonValue(v gguf.Value, limit int) any {
	if v.Kind() == gguf.KindArray {
		list := make([]any, limit)
		for i := range list {
			element := v.Index(i)
			list[i] = jsonValue(element, element.Len())
		}
		return list
	}
	if f, ok := v.Float64(); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return fmt.Sprint(f)
	}
	return v.Any()
}

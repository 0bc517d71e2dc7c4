package adapter

import (
	"encoding/json"
	"fmt"
)

// tieKey is where the metadata of weights that gemwire wrote has what the config
// beside them says of their scale. The two files get their names one after the other:
// where the program is killed between, weights would be used with another's scale.
const tieKey = "gemwire.scale"

// tied is what a pair's scale hangs on.
type tied struct {
	Rank         int                `json:"r"`
	Alpha        float64            `json:"lora_alpha"`
	RankPattern  map[string]int     `json:"rank_pattern,omitempty"`
	AlphaPattern map[string]float64 `json:"alpha_pattern,omitempty"`
	RSLoRA       bool               `json:"use_rslora,omitempty"`
}

func (c *Config) tie() (string, error) {
	text, err := json.Marshal(tied{c.Rank, c.Alpha, c.RankPattern, c.AlphaPattern, c.RSLoRA}) // sorts the keys of maps
	return string(text), err
}

// checkTie refuses a config of another save than the weights. Weights that others
// wrote have no tie.
func (c *Config) checkTie(of string) error {
	here, err := c.tie()
	if err != nil || of == "" || of == here {
		return err
	}
	return fmt.Errorf("%w: %s and %s are not of one save: the weights are of %s, the config says %s; save the "+
		"adapter again, or put the former into the config",
		ErrFormat, ConfigName, WeightsName, of, here)
}

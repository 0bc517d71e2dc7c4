package adapter

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
)

// Config is PEFT's adapter_config.json as far as it matters here.
type Config struct {
	PeftType       string             `json:"peft_type"`
	TaskType       string             `json:"task_type"`
	Base           string             `json:"base_model_name_or_path"`
	Rank           int                `json:"r"`
	Alpha          float64            `json:"lora_alpha"`
	Dropout        float64            `json:"lora_dropout"`
	Bias           string             `json:"bias"`
	TargetModules  any                `json:"target_modules"` // names, or a regular expression
	RankPattern    map[string]int     `json:"rank_pattern"`
	AlphaPattern   map[string]float64 `json:"alpha_pattern"`
	RSLoRA         bool               `json:"use_rslora"`
	DoRA           bool               `json:"use_dora"`
	FanInFanOut    bool               `json:"fan_in_fan_out"`
	InferenceMode  bool               `json:"inference_mode"`
	ModulesToSave  []string           `json:"modules_to_save"`
	InitLoraWeight any                `json:"init_lora_weights"`
}

// parseConfig refuses settings under which y = W·x + scale·B·(A·x) would not be
// what was trained.
func parseConfig(data []byte) (*Config, error) {
	c := &Config{Bias: "none"}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrFormat, ConfigName, err)
	}
	for what, bad := range map[string]bool{
		"peft_type is " + c.PeftType + ", wanted LORA":            c.PeftType != "LORA",
		"use_dora is set, and DoRA cannot be computed here":       c.DoRA,
		"bias is " + c.Bias + ", wanted none":                     c.Bias != "none",
		"fan_in_fan_out is set, which no Gemma has":               c.FanInFanOut,
		"modules_to_save names whole layers, wanted none":         len(c.ModulesToSave) > 0,
		fmt.Sprintf("lora_alpha is %v, wanted a number", c.Alpha): math.IsNaN(c.Alpha) || math.IsInf(c.Alpha, 0),
	} {
		if bad {
			return nil, fmt.Errorf("%w: %s: %s", ErrFormat, ConfigName, what)
		}
	}
	return c, nil
}

// scale is alpha / rank of a pair, or alpha / √rank with rank stabilisation.
func (c *Config) scale(t Target, rank int, textAlone bool) float32 {
	alpha := c.Alpha
	for pattern, a := range c.AlphaPattern {
		if matches(pattern, moduleName(t, textAlone)) {
			alpha = a
		}
	}
	if c.RSLoRA {
		return float32(alpha / math.Sqrt(float64(rank)))
	}
	return float32(alpha / float64(rank))
}

// matches is PEFT's rule for a pattern: the end of a module's name, from a dot on.
func matches(pattern, module string) bool {
	re, err := regexp.Compile(`(^|.*\.)(` + pattern + `)$`)
	return err == nil && re.MatchString(module)
}

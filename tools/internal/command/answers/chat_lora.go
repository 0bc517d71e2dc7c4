package answers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// slashLora shows or changes which adapters are in use. What was said stays; the
// next answer is computed with the others.
func (c *chatLoop) slashLora(ctx context.Context, arg string) error {
	switch arg {
	case "":
		return c.showAdapters(c.show)
	case "off", "-":
		if err := c.model.ClearAdapters(ctx); err != nil {
			return err
		}
		c.note("no adapters")
		return nil
	}
	weights := map[string]float32{}
	for _, text := range strings.Fields(arg) {
		path, weight := flagset.WeightedFile(text)
		name, err := c.adapterNamed(ctx, path)
		if err != nil {
			return err
		}
		weights[name] = weight
	}
	if err := c.model.UseAdapters(ctx, weights); err != nil {
		return err
	}
	return c.showAdapters(c.note)
}

// adapterNamed is a loaded adapter, or one that is loaded from a file now.
func (c *chatLoop) adapterNamed(ctx context.Context, name string) (string, error) {
	if slices.ContainsFunc(c.model.Adapters(), func(u gemma4.AdapterUse) bool { return u.Name == name }) {
		return name, nil
	}
	if !flagset.IsThere(name) {
		return "", fmt.Errorf("no adapter %s is loaded, and there is no such file; /lora shows what is loaded", name)
	}
	return flagset.LoadAdapter(ctx, c.model, name)
}

// showAdapters lists the adapters, as a result or beside the conversation.
func (c *chatLoop) showAdapters(print func(format string, args ...any)) error {
	list := c.model.Adapters()
	if len(list) == 0 {
		c.note("no adapters; /lora FILE adds one")
		return nil
	}
	for _, u := range list {
		state := "not in use"
		if u.Weight != 0 {
			state = fmt.Sprintf("in use, weight %v", u.Weight)
		}
		print("  %-18s %s", flagset.Printable(u.Name), state)
	}
	return nil
}

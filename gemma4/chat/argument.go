package chat

import (
	"encoding/json"
	"fmt"
)

// call renders a call of a function.
func (r *renderer) call(c ToolCall) error {
	v, err := parseValue(c.Arguments)
	if err != nil {
		return fmt.Errorf("%w: the arguments of %.40q: %w", ErrMessage, c.Name, err)
	}
	r.prompt.template(callOpen, "call:")
	r.prompt.outside(c.Name)
	switch v := v.(type) {
	case object:
		r.prompt.arguments(v)
	case string:
		r.prompt.template("{")
		r.prompt.outside(v)
		r.prompt.template("}")
	default:
		r.prompt.template("{}")
	}
	r.prompt.template(callClose)
	return nil
}

// arguments renders an object with bare keys.
func (p *Prompt) arguments(o object) { p.object(o, false) }

func (p *Prompt) object(o object, quoteKeys bool) {
	p.template("{")
	for i, m := range o.sorted() {
		if i > 0 {
			p.template(",")
		}
		if quoteKeys {
			p.quoted(m.key)
		} else {
			p.outside(m.key)
		}
		p.template(":")
		p.value(m.value, quoteKeys)
	}
	p.template("}")
}

// value renders any value. Keys of objects are quoted in schemas alone.
func (p *Prompt) value(v any, quoteKeys bool) {
	switch v := v.(type) {
	case string:
		p.quoted(v)
	case bool:
		p.template(map[bool]string{true: "true", false: "false"}[v])
	case json.Number:
		p.template(number(v))
	case object:
		p.object(v, quoteKeys)
	case []any:
		p.list(v, func(item any) { p.value(item, quoteKeys) })
	default:
		p.template("null")
	}
}

func (p *Prompt) list(items []any, render func(any)) {
	p.template("[")
	for i, item := range items {
		if i > 0 {
			p.template(",")
		}
		render(item)
	}
	p.template("]")
}

// quoted renders a string; nothing in it is escaped.
func (p *Prompt) quoted(text string) {
	p.template(quote)
	p.outside(text)
	p.template(quote)
}

package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// declare renders a tool's declaration.
func (r *renderer) declare(tool Tool) error {
	parameters, err := parseValue(tool.Parameters)
	if err != nil {
		return fmt.Errorf("its parameters: %w", err)
	}
	response, err := parseValue(tool.Response)
	if err != nil {
		return fmt.Errorf("its response: %w", err)
	}
	p := &r.prompt
	p.template("declaration:")
	p.outside(tool.Name)
	p.template("{description:")
	p.quoted(tool.Description)
	if truthy(parameters) {
		schema, ok := parameters.(object)
		if !ok {
			return errors.New("its parameters are no object")
		}
		p.parameters(schema)
	}
	if len(tool.Response) > 0 {
		schema, _ := response.(object)
		p.response(schema)
	}
	p.template("}")
	return nil
}

// parameters renders the schema of a function's parameters. The closing brace
// comes with the type, as released; every schema in use has one.
func (p *Prompt) parameters(schema object) {
	p.template(",parameters:{")
	if properties, ok := schema.get("properties").(object); ok && len(properties) > 0 {
		p.template("properties:{")
		p.properties(properties)
		p.template("},")
	}
	if required, ok := schema.get("required").([]any); ok && len(required) > 0 {
		p.required(required)
		p.template(",")
	}
	if kind := schema.get("type"); truthy(kind) {
		p.kind(kind)
		p.template("}")
	}
}

// response renders the schema of a function's result, with the closing brace
// as above.
func (p *Prompt) response(schema object) {
	p.template(",response:{")
	if description := schema.get("description"); truthy(description) {
		p.template("description:")
		p.quoted(display(description))
		p.template(",")
	}
	if kind := schema.get("type"); isKind(kind, "OBJECT") {
		p.kind(kind)
		p.template("}")
	}
}

// properties renders the properties of an object by name.
func (p *Prompt) properties(properties object) {
	for i, m := range properties.sorted() {
		if i > 0 {
			p.template(",")
		}
		p.outside(m.key)
		p.template(":{")
		schema, ok := m.value.(object)
		p.property(schema, ok)
		p.template("}")
	}
}

// property renders the schema of a property: only what is there, except for
// the type. Something that is no schema has no type either.
func (p *Prompt) property(schema object, isSchema bool) {
	kind := schema.get("type")
	if description := schema.get("description"); truthy(description) {
		p.template("description:")
		p.quoted(display(description))
		p.template(",")
	}
	switch {
	case isKind(kind, "STRING") && truthy(schema.get("enum")):
		p.template("enum:")
		p.value(schema.get("enum"), true)
		p.template(",")
	case isKind(kind, "ARRAY"):
		if items, ok := schema.get("items").(object); ok && len(items) > 0 {
			p.template("items:{")
			p.items(items)
			p.template("},")
		}
	}
	if truthy(schema.get("nullable")) {
		p.template("nullable:true,")
	}
	if isSchema && isKind(kind, "OBJECT") {
		p.nested(schema)
	}
	switch {
	case isSchema && !schema.has("type"), !isSchema:
		p.template("type:", quote, quote)
	default:
		p.kind(kind)
	}
}

// schemaKeys are no properties where an object's properties stand beside them.
var schemaKeys = []string{"description", "type", "properties", "required", "nullable"}

// nested renders the properties of a property. Without any of their own
// place, they are what stands in the schema itself.
func (p *Prompt) nested(schema object) {
	properties, ok := schema.get("properties").(object)
	if !ok {
		properties = slices.DeleteFunc(slices.Clone(schema),
			func(m member) bool { return slices.Contains(schemaKeys, m.key) })
	}
	p.template("properties:{")
	p.properties(properties)
	p.template("},")
	if required, ok := schema.get("required").([]any); ok && len(required) > 0 {
		p.required(required)
		p.template(",")
	}
}

// items renders the schema of an array's items: the keys that it has, whatever
// they are.
func (p *Prompt) items(items object) {
	first := true
	for _, m := range items.sorted() {
		if m.value == nil {
			continue
		}
		if !first {
			p.template(",")
		}
		first = false
		p.item(m)
	}
}

func (p *Prompt) item(m member) {
	switch m.key {
	case "properties":
		properties, _ := m.value.(object)
		p.template("properties:{")
		p.properties(properties)
		p.template("}")
		return
	case "required":
		if required, ok := m.value.([]any); ok {
			p.required(required)
			return
		}
	case "type":
		p.template("type:")
		p.value(upper(m.value), true)
		return
	}
	p.outside(m.key)
	p.template(":")
	p.value(m.value, true)
}

// upper has a type, or each of several, in upper case.
func upper(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ToUpper(v)
	case []any:
		types := make([]any, len(v))
		for i, t := range v {
			types[i] = strings.ToUpper(display(t))
		}
		return types
	}
	return v
}

func (p *Prompt) required(names []any) {
	p.template("required:")
	p.list(names, func(name any) { p.quoted(display(name)) })
}

// kind renders a type. Several types are printed as Python prints a list.
func (p *Prompt) kind(v any) {
	p.template("type:")
	p.quoted(strings.ToUpper(display(v)))
}

func isKind(v any, kind string) bool {
	s, ok := v.(string)
	return ok && strings.ToUpper(s) == kind
}

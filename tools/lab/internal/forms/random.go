package forms

import (
	"fmt"
	"math/rand/v2"
)

// Random is a schema for values that are bounded in length, number and depth. There are no fractions but listed ones:
// zeros behind one may go on for ever.
func Random(r *rand.Rand) map[string]any {
	schema := value(r, 3)
	if r.IntN(4) == 0 {
		schema = map[string]any{"type": "array", "items": schema, "minItems": 1, "maxItems": 2}
		schema["$defs"] = map[string]any{"shared": value(r, 1)}
		schema["prefixItems"] = []any{map[string]any{"$ref": "#/$defs/shared"}}
	}
	return schema
}

// value is a schema that nests at most depth levels.
func value(r *rand.Rand, depth int) map[string]any {
	kinds := []func(*rand.Rand, int) map[string]any{text, integer, plain, listed, formatted, matched}
	if depth > 0 {
		kinds = append(kinds, object, object, object, array, array, either, both)
	}
	return kinds[r.IntN(len(kinds))](r, depth)
}

func text(r *rand.Rand, _ int) map[string]any {
	low := r.IntN(4)
	return map[string]any{"type": "string", "minLength": low, "maxLength": low + r.IntN(12)}
}

func integer(r *rand.Rand, _ int) map[string]any {
	low := r.IntN(2000) - 1000
	s := map[string]any{"type": "integer", "minimum": low, "exclusiveMaximum": low + 10 + r.IntN(5000)}
	if r.IntN(3) == 0 {
		s["multipleOf"] = 1 + r.IntN(9)
	}
	return s
}

func plain(r *rand.Rand, _ int) map[string]any {
	return []map[string]any{{"type": "boolean"}, {"type": "null"}, {"type": []any{"boolean", "null"}}}[r.IntN(3)]
}

func listed(r *rand.Rand, _ int) map[string]any {
	all := []any{"red", "green", "dark blue", 1, 2.5, true, nil, []any{1, "a"}, map[string]any{"a": 1}}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if r.IntN(3) == 0 {
		return map[string]any{"const": all[0]}
	}
	return map[string]any{"enum": all[:1+r.IntN(4)]}
}

func formatted(r *rand.Rand, _ int) map[string]any {
	return map[string]any{"type": "string", "format": []string{"date", "uuid", "ipv4"}[r.IntN(3)]}
}

func matched(r *rand.Rand, _ int) map[string]any {
	patterns := []string{"^[A-Z]{2}-[0-9]{3}$", "^(yes|no|perhaps)$", "^[a-z]{1,8}( [a-z]{1,5})?$",
		`^\d{4}-(0[1-9]|1[0-2])$`}
	return map[string]any{"type": "string", "pattern": patterns[r.IntN(len(patterns))]}
}

func object(r *rand.Rand, depth int) map[string]any {
	properties, required := map[string]any{}, []any{}
	for i := range 1 + r.IntN(5) {
		name := fmt.Sprintf("%s %d", []string{"name", "how many", "kind of thing", "where"}[r.IntN(4)], i)
		properties[name] = value(r, depth-1)
		if r.IntN(3) > 0 {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	if r.IntN(4) == 0 {
		s["minProperties"] = max(len(required), 1)
	}
	return s
}

func array(r *rand.Rand, depth int) map[string]any {
	low := r.IntN(2)
	return map[string]any{"type": "array", "items": value(r, depth-1), "minItems": low, "maxItems": low + r.IntN(4)}
}

func either(r *rand.Rand, depth int) map[string]any {
	return map[string]any{"anyOf": []any{value(r, depth-1), value(r, depth-1)}}
}

func both(r *rand.Rand, depth int) map[string]any {
	low := r.IntN(5)
	return map[string]any{"allOf": []any{
		map[string]any{"type": []any{"string", "integer"}, "minimum": low, "maximum": 99},
		map[string]any{"minLength": low, "maxLength": low + 6},
	}}
}

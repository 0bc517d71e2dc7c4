package grammar

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// targets are the parts of a schema that $ref names other than by their place.
type targets struct {
	bases   map[*value]*url.URL // by part: the address that what it refers to is relative to
	named   map[string]*value   // by address: $id, and $anchor with its "#"
	unclear map[string]*value   // likewise, of parts that may be no schemas
}

func newTargets() targets {
	return targets{map[*value]*url.URL{}, map[string]*value{}, map[string]*value{}}
}

// How JSON pointers spell names.
var (
	toPointer   = strings.NewReplacer("~", "~0", "/", "~1")
	fromPointer = strings.NewReplacer("~1", "/", "~0", "~")
)

// Keywords whose argument is a schema or a list of some, and those whose members are schemas. In others' arguments $id
// and $anchor are values like any other.
var (
	schemaKeywords = []string{"items", "additionalItems", "prefixItems", "contains", "additionalProperties",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema", "allOf", "anyOf", "oneOf", "not",
		"if", "then", "else"}
	schemasKeywords = []string{"$defs", "definitions", "properties", "patternProperties", "dependencies",
		"dependentSchemas"}
)

// index finds all places that $ref may name. clear tells whether v is a schema for certain.
func (s *schema) index(v *value, place string, base *url.URL, clear bool) {
	s.places[v] = place
	s.targets.bases[v] = base
	switch v.kind {
	case valueObject:
		base = s.identify(v, base, clear)
		s.targets.bases[v] = base
		for i, k := range v.keys {
			item, at := v.items[i], place+"/"+toPointer.Replace(k)
			if slices.Contains(schemasKeywords, k) && item.kind == valueObject {
				s.places[item], s.targets.bases[item] = at, base
				for j, name := range item.keys {
					s.index(item.items[j], at+"/"+toPointer.Replace(name), base, clear)
				}
				continue
			}
			s.index(item, at, base, clear && slices.Contains(schemaKeywords, k))
		}
	case valueArray:
		for i, item := range v.items {
			s.index(item, place+"/"+strconv.Itoa(i), base, clear)
		}
	}
}

// identify notes the names of one part, and returns what its parts are relative to.
func (s *schema) identify(v *value, base *url.URL, clear bool) *url.URL {
	into := s.targets.unclear
	if clear {
		into = s.targets.named
	}
	note := func(at *url.URL) {
		if _, ok := into[at.String()]; !ok {
			into[at.String()] = v
		}
	}
	for _, key := range []string{"$id", "id"} {
		id := v.get(key)
		if id == nil || id.kind != valueString || id.text == "" || s.draft <= 7 && v.get("$ref") != nil {
			continue
		}
		if at, err := base.Parse(id.text); err == nil {
			if at.Fragment != "" { // an anchor of draft 7 and before
				note(at)
			} else if clear {
				base = at
			}
			if at.Fragment == "" {
				note(at)
			}
		}
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name := v.get(key); name != nil && name.kind == valueString {
			at := *base
			at.Fragment = name.text
			note(&at)
		}
	}
	return base
}

// target is the part of a schema at an address, nil if there is none.
func (t *targets) target(at *url.URL) *value {
	if v := t.named[at.String()]; v != nil {
		return v
	}
	return t.unclear[at.String()]
}

// refer is the node that a $ref of a part leads to.
func (s *schema) refer(from *value, ref, place string) *node {
	at, err := s.targets.bases[from].Parse(ref)
	if err != nil {
		s.malformed(place, "$ref %q", ref)
		return s.nothing
	}
	resource, found := s.find(at)
	switch {
	case resource == nil:
		s.unsupported(place, "$ref to %q, which is not in this schema", ref)
		return s.nothing
	case found == nil:
		s.malformed(place, "$ref to %q leads nowhere", ref)
		return s.nothing
	}
	if at := s.circle(from); at != nil {
		s.unsupported(s.places[at.of]+"/$ref", "$ref leads back to itself, for the same value")
		return s.nothing
	}
	return s.node(found)
}

// find is the schema at an address that an address leads into, and the part of it there; nil for what is not there.
func (s *schema) find(at *url.URL) (resource, found *value) {
	whole := *at
	whole.Fragment, whole.RawFragment = "", ""
	if resource = s.targets.target(&whole); resource == nil {
		return nil, nil
	}
	found = resource
	switch {
	case strings.HasPrefix(at.Fragment, "/"):
		if found = follow(found, at.Fragment); found == nil { // many a schema has $id where it means nothing by it
			found = follow(s.root, at.Fragment)
		}
	case at.Fragment != "":
		found = s.targets.target(at)
	}
	return resource, found
}

// circle looks, from a part on, for schemas of which each says of the same value that the next one holds, and the last
// that the first does. That means nothing: a validator would not come to an end.
func (s *schema) circle(v *value) *circle {
	const open, done = 1, 2
	if s.walked[v] != 0 {
		return nil
	}
	s.walked[v] = open
	for _, next := range s.alongside(v) {
		found := s.circle(next)
		if s.walked[next] == open && found == nil {
			found = &circle{}
		}
		if found != nil {
			if found.of == nil && v.get("$ref") != nil {
				found.of = v
			}
			return found
		}
	}
	s.walked[v] = done
	return nil
}

// circle is one that was found, by the last of its schemas that has a $ref.
type circle struct{ of *value }

// alongside lists the schemas that a schema applies to the value that it is about itself.
func (s *schema) alongside(v *value) (list []*value) {
	ref := v.get("$ref")
	if ref != nil && ref.kind == valueString {
		if at, err := s.targets.bases[v].Parse(ref.text); err == nil {
			if _, found := s.find(at); found != nil {
				list = append(list, found)
			}
		}
		if s.draft <= 7 {
			return list
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if of := v.get(key); of != nil && of.kind == valueArray {
			list = append(list, of.items...)
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		if of := v.get(key); of != nil {
			list = append(list, of)
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		if of := v.get(key); of != nil && of.kind == valueObject {
			list = append(list, of.items...)
		}
	}
	return list
}

func follow(at *value, pointer string) *value {
	for _, step := range strings.Split(pointer[1:], "/") {
		step = fromPointer.Replace(step)
		if at.kind == valueArray {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at.items) {
				return nil
			}
			at = at.items[i]
		} else if at = at.get(step); at == nil {
			return nil
		}
	}
	return at
}

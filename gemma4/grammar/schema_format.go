package grammar

import "strings"

// format is what a format of JSON Schema asks of strings. Formats of others' making describe, and ask nothing.
func (s *schema) format(name, place string) []stringPattern {
	source, ok := formats[name]
	if !ok {
		for _, known := range refusedFormats {
			if name == known {
				s.unsupported(place, "format %q", name)
			}
		}
		return nil
	}
	return []stringPattern{{text: name, id: s.search("^(?:"+source+")$", name, place)}}
}

// refusedFormats are those of the standard that cannot be honoured.
var refusedFormats = []string{
	"idn-email", "idn-hostname", "iri", "iri-reference", "uri-template", "regex",
}

// Formats of JSON Schema as regular expressions: RFC 3339 for dates and times (without leap seconds), RFC 5321 for
// email, RFC 1123 for host names, RFC 4291 for IPv6, RFC 3986 for URIs, RFC 4122 for UUIDs, RFC 6901 for pointers.
// Where a length is bounded, the parts are, so that no text is longer. A label of a host name has no "--" behind its
// second character, as that of a name in other scripts has ("xn--…"): most of these stand for nothing.
var formats = func() map[string]string {
	const (
		year4 = `(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`
		day31 = `(?:0[1-9]|[12][0-9]|3[01])`
		day30 = `(?:0[1-9]|[12][0-9]|30)`
		day28 = `(?:0[1-9]|1[0-9]|2[0-8])`
		date  = `(?:[0-9]{4}-(?:(?:0[13578]|1[02])-` + day31 + `|(?:0[469]|11)-` + day30 + `|02-` + day28 + `)|` +
			year4 + `-02-29)`
		clock     = `(?:[01][0-9]|2[0-3]):[0-5][0-9]`
		offset    = `(?:[Zz]|[+-]` + clock + `)`
		time      = clock + `:[0-5][0-9](?:\.[0-9]+)?` + offset
		ascii     = `[A-Za-z0-9-](?:[A-Za-z0-9][A-Za-z0-9-]|-[A-Za-z0-9])` // a label's characters 2 to 4
		anyEnd    = `[A-Za-z0-9]`
		inside    = `[A-Za-z0-9-]`
		label     = anyEnd + `(?:` + inside + `{0,2}` + anyEnd + `|` + ascii + inside + `{0,58}` + anyEnd + `)?`
		short     = anyEnd + `(?:` + inside + `{0,2}` + anyEnd + `|` + ascii + inside + `{0,25}` + anyEnd + `)?`
		hostname  = `(?:` + label + `(?:\.` + label + `){0,2}|` + short + `(?:\.` + short + `){0,7})` // 253 characters
		mailHost  = `(?:` + label + `(?:\.` + label + `)?|` + short + `(?:\.` + short + `){0,5})`     // 189
		byteOf    = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
		ipv4      = byteOf + `(?:\.` + byteOf + `){3}`
		quotedBy  = `"(?:[ !#-\[\]-~]|\\[ -~]){0,31}"`
		atom      = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
		mailbox   = atom + `{1,64}|` + atom + `{1,31}\.` + atom + `{1,32}|` + atom + `{1,15}(?:\.` + atom + `{1,15}){1,3}`
		pct       = `%[0-9A-Fa-f]{2}`
		pchar     = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|` + pct + `)`
		pcharNC   = `(?:[A-Za-z0-9._~!$&'()*+,;=@-]|` + pct + `)`
		userinfo  = `(?:[A-Za-z0-9._~!$&'()*+,;=:-]|` + pct + `)*`
		regName   = `(?:[A-Za-z0-9._~!$&'()*+,;=-]|` + pct + `)*`
		query     = `(?:\?(?:` + pchar + `|[/?])*)?`
		fragment  = `(?:#(?:` + pchar + `|[/?])*)?`
		pointer   = `(?:/(?:[^/~]|~[01])*)*`
		uuid      = `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`
		days      = `(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)`
		hours     = `T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)`
		durations = `P(?:` + days + `(?:` + hours + `)?|` + hours + `|[0-9]+W)`
	)
	ipv6 := ipv6Pattern(ipv4)
	authority := `(?:` + userinfo + `@)?(?:\[(?:` + ipv6 + `)\]|` + regName + `)(?::[0-9]*)?`
	absolute := `(?://` + authority + `(?:/` + pchar + `*)*|/(?:` + pchar + `+(?:/` + pchar + `*)*)?|` +
		pchar + `+(?:/` + pchar + `*)*)?`
	relative := `(?://` + authority + `(?:/` + pchar + `*)*|/(?:` + pchar + `+(?:/` + pchar + `*)*)?|` +
		pcharNC + `+(?:/` + pchar + `*)*)?`
	uri := `[A-Za-z][A-Za-z0-9+.-]*:` + absolute + query + fragment
	return map[string]string{
		"date": date, "time": time, "date-time": date + `[Tt]` + time, "duration": durations,
		"email": `(?:` + mailbox + `|` + quotedBy + `)@(?:` + mailHost +
			`|\[(?:` + ipv4 + `|IPv6:(?:` + ipv6 + `))\])`,
		"hostname": hostname, "ipv4": ipv4, "ipv6": ipv6, "uuid": uuid, "uri": uri,
		"uri-reference": `(?:` + uri + `|` + relative + query + fragment + `)`,
		"json-pointer":  pointer, "relative-json-pointer": `(?:0|[1-9][0-9]*)(?:#|` + pointer + `)`,
	}
}()

// ipv6Pattern is an IPv6 address: eight groups, of which a run may be left out as "::", the last two also as an IPv4
// address.
func ipv6Pattern(ipv4 string) string {
	const group = `[0-9A-Fa-f]{1,4}`
	end := `(?:` + group + `:` + group + `|` + ipv4 + `)`
	ways := []string{`(?:` + group + `:){6}` + end}
	for before := range 8 { // groups before "::"
		left := ""
		if before > 0 {
			left = group + strings.Repeat(`:`+group, before-1)
		}
		right := []string{``}
		for behind := 1; behind+before <= 7; behind++ {
			right = append(right, group+strings.Repeat(`:`+group, behind-1))
			if behind >= 2 {
				right = append(right, strings.Repeat(group+`:`, behind-2)+ipv4)
			}
		}
		ways = append(ways, left+`::(?:`+strings.Join(right, `|`)+`)`)
	}
	return `(?:` + strings.Join(ways, `|`) + `)`
}

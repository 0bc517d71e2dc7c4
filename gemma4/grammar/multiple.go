package grammar

import "encoding/binary"

// multiple matches the digits of a decimal number that is a multiple of of/10^places: the number, shifted by that many
// places, leaves rest when divided by of. Digits behind those places must be 0.
type multiple struct {
	of, rest uint64
	places   int
	fraction int // digits seen behind the point, at most places; -1 before the point
	started  bool
	zero     bool // digits are due: behind the point none has come yet
}

func (m multiple) appendKey(k []byte) []byte {
	k = binary.AppendUvarint(k, m.of)
	k = binary.AppendUvarint(k, m.rest)
	k = binary.AppendVarint(k, int64(m.places))
	k = binary.AppendVarint(k, int64(m.fraction))
	return append(k, flag(m.started)|flag(m.zero)<<1)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (m multiple) step(c byte) (multiple, bool) {
	switch {
	case c == '.' && m.fraction < 0 && m.started:
		m.fraction, m.zero = 0, true
	case c < '0' || c > '9':
		return m, false
	case m.fraction >= 0 && m.fraction >= m.places:
		m.zero = false
		return m, c == '0'
	default:
		m.rest = (m.rest*10 + uint64(c-'0')) % m.of
		m.started, m.zero = true, false
		if m.fraction >= 0 {
			m.fraction++
		}
	}
	return m, true
}

func (m multiple) accepts() bool {
	rest := m.rest
	for range m.places - max(m.fraction, 0) {
		rest = rest * 10 % m.of
	}
	return m.started && !m.zero && rest == 0
}

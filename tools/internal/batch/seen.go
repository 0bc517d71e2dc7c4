package batch

import "crypto/sha256"

// mostSeen is among how many requests in a row a custom_id must be the only one of its kind: memory is bounded.
const mostSeen = 1 << 20

// seen remembers the custom_ids that went by last.
type seen struct {
	most int
	at   map[[16]byte]struct{}
	ring [][16]byte
	next int
}

func newSeen(most int) *seen { return &seen{most: most, at: map[[16]byte]struct{}{}} }

// add says whether an id went by before.
func (s *seen) add(id string) (again bool) {
	sum := sha256.Sum256([]byte(id))
	key := [16]byte(sum[:16])
	if _, ok := s.at[key]; ok {
		return true
	}
	if len(s.ring) < s.most {
		s.ring = append(s.ring, key)
	} else {
		delete(s.at, s.ring[s.next])
		s.ring[s.next] = key
		s.next = (s.next + 1) % s.most
	}
	s.at[key] = struct{}{}
	return false
}

package chat

import "slices"

// Forgettable is how many turns can be left out of a conversation: all but the last. A turn
// begins with a question of the user's and ends before the next one.
func (c Conversation) Forgettable() int { return max(0, len(c.turns())-1) }

// WithoutOldest is the conversation without its n oldest turns, and how many messages those
// had. System text stays wherever it stands, and so do the tools and the last question with
// what followed it.
func (c Conversation) WithoutOldest(n int) (left Conversation, forgotten int) {
	turns := c.turns()
	if n = min(n, len(turns)-1); n <= 0 {
		return c, 0
	}
	end := turns[n]
	for _, m := range c.Messages[:end] {
		if isSystem(m.Role) {
			left.Messages = append(left.Messages, m)
		}
	}
	forgotten = end - len(left.Messages)
	left.Messages = append(left.Messages, c.Messages[end:]...)
	left.Options = c.Options
	return left, forgotten
}

// turns are the indexes of the messages that begin one. What stands before the first
// question belongs to the first turn.
func (c Conversation) turns() (begin []int) {
	for i, m := range c.Messages {
		if m.Role == User {
			begin = append(begin, i)
		}
	}
	return slices.Clip(begin)
}

func isSystem(role string) bool { return role == System || role == Developer }

package gemma4

import "github.com/gemwire/gemwire/gemma4/internal/engine"

// GuessAlways makes the session guess whatever it costs, as many tokens as it may.
func (s *Session) GuessAlways() { s.state = eager{s.state} }

// eager is a state whose passes cost nothing.
type eager struct{ engine.State }

func (e eager) LimitDrafts(lookup, assistant int) engine.DraftLimits {
	l := e.State.LimitDrafts(lookup, assistant)
	l.LookupCost, l.AssistantCost = engine.PassCost{}, engine.PassCost{}
	return l
}

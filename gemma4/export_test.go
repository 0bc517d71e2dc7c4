package gemma4

// GuessAlways makes the session guess whatever it costs, as many tokens as it may.
func (s *Session) GuessAlways() { s.state = eager{s.state} }

// eager is a state whose passes cost nothing.
type eager struct{ state }

func (e eager) guessing(wish, ofAssistant int) guessing {
	g := e.state.guessing(wish, ofAssistant)
	g.cost, g.askedCost = passCost{}, passCost{}
	return g
}

// Ahead is how many steps are under way on the GPU, behind those whose tokens were read.
func (s *Session) Ahead() int { return len(s.state.(*gpuState).ahead) }

// GoFarAhead lets as many steps be under way as on a GPU, whatever the device is.
func (s *Session) GoFarAhead() { s.state.(*gpuState).farthest = maxAhead }

// ShortStep is the time between tokens from which on one step less runs ahead.
const ShortStep = shortStep

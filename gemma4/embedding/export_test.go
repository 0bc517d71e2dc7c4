package embedding

// Truncated is the input as Embed takes it with EmbedOptions.Truncate.
func (m *Model) Truncated(in Input) Input { return m.truncated(in) }

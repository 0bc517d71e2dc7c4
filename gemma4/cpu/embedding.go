package cpu

// padToken is the row of the per-layer embeddings that soft tokens use.
const padToken = 0

// embed fills x with the embeddings of the inputs, [tokens, d]: token_embd's row
// times √d, or a soft token's vector as it is.
func (m *Model) embed(x []float32, inputs []Input) error {
	d := m.config.EmbeddingLength
	factor := m.config.EmbedScale()
	var scratch scratch
	for i, in := range inputs {
		row := x[i*d : (i+1)*d]
		if in.Embedding != nil {
			copy(row, in.Embedding)
			continue
		}
		weights, err := m.tokenEmbd.read(&scratch, int(in.Token), 1)
		if err != nil {
			return err
		}
		for j, w := range weights {
			row[j] = w * factor
		}
	}
	return nil
}

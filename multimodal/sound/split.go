package sound

// Where Split looks for quiet: in the last sixth of a piece, the stillest fifth of
// a second, in steps of 10 ms.
const (
	searchPart = 6
	quietLen   = Rate / 5
	quietStep  = Rate / 100
	leastPiece = Rate // what is left for the last piece
)

// Split cuts a clip of 16 kHz into pieces of at most limit samples ([MaxSamples]
// if 0), so that speech is cut in its pauses: each cut lies in the middle of the
// stillest 200 ms (the least sum of squares) of the last sixth of what fits into a
// piece, the latest of equals; pieces under a few seconds are cut where they are
// full. Nothing is lost or repeated, and no piece is too short for [Mel] unless the
// clip is. The pieces are parts of samples.
func Split(samples []float32, limit int) [][]float32 {
	if limit <= 0 {
		limit = MaxSamples
	}
	limit = max(limit, 2*MinSamples)
	var pieces [][]float32
	for len(samples) > limit {
		cut := quietest(samples, limit)
		pieces = append(pieces, samples[:cut:cut])
		samples = samples[cut:]
	}
	return append(pieces, samples)
}

// quietest finds where to cut samples, of which there are more than limit.
func quietest(samples []float32, limit int) int {
	begin := limit - limit/searchPart
	end := min(limit, len(samples)-max(min(leastPiece, limit/searchPart), MinSamples))
	best, least := end, -1.0
	for at := begin; at+quietLen <= end; at += quietStep {
		energy := 0.0
		for _, v := range samples[at : at+quietLen] {
			energy += float64(v) * float64(v)
		}
		if least < 0 || energy <= least {
			best, least = at+quietLen/2, energy
		}
	}
	return best
}

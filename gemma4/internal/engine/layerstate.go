package engine

// LayerState is what one layer holds of a session: the positions from First on.
type LayerState struct {
	Layer int
	First int
	Dim   int       // values of one position, Hk·D
	K, V  []float32 // [positions, Dim], rotated and normed
}

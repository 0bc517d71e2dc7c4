package picture

// Patches cuts an image into squares of patch × patch pixels, row by row, and
// returns their values v/255 as [patches, patch, patch, 3]: inside a patch row
// by row too, with the channel last. What is over at the right and at the bottom
// is left out; there is nothing over in a size that Fit gave.
func Patches(m *RGB, patch int) []float32 {
	columns, rows := m.Width/patch, m.Height/patch
	values := make([]float32, 0, columns*rows*patch*patch*3)
	for y := range rows {
		for x := range columns {
			for line := y * patch; line < (y+1)*patch; line++ {
				values = appendUnit(values, m.row(line)[3*patch*x:3*patch*(x+1)])
			}
		}
	}
	return values
}

// appendUnit appends bytes as 0…1.
func appendUnit(dst []float32, src []uint8) []float32 {
	for _, v := range src {
		dst = append(dst, float32(v)/255)
	}
	return dst
}

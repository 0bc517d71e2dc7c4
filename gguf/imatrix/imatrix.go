// Package imatrix holds importance matrices: for each weight matrix of a model, how large the numbers are that its
// columns are multiplied by, measured on a text. An encoder of few bits spends its error where it matters least.
//
// Files are llama.cpp's, in GGUF (general.type is "imatrix") and in the older form of the suffix .dat, which is only
// read. Read imatrix.go for what is in them, gguf.go and legacy.go for how.
package imatrix

import (
	"errors"
	"fmt"
	"math"
)

var (
	// ErrFormat says that a file is no importance matrix, or a damaged one.
	ErrFormat = errors.New("not an importance matrix")
	// ErrShape says that an entry is of a matrix of another size.
	ErrShape = errors.New("importance matrix of another model")
)

// A Matrix is what was measured. Its zero value is empty and can be added to.
type Matrix struct {
	Entries map[string]*Entry // by the name of the tensor, "blk.0.attn_q.weight"
	// Datasets name the texts; Chunks pieces of ChunkSize tokens were read.
	Datasets  []string
	Chunks    int
	ChunkSize int
}

// An Entry is what went into one tensor.
type Entry struct {
	Columns int
	// Sums are Σ x² of each column, matrix by matrix where a tensor has several (experts).
	Sums []float32
	// Counts are how many rows x went into each matrix; one number may stand for all.
	Counts []float32
}

// Entry returns the entry of a tensor of so many columns and matrices, made if it is not there.
func (m *Matrix) Entry(name string, columns, matrices int) *Entry {
	if m.Entries == nil {
		m.Entries = map[string]*Entry{}
	}
	e := m.Entries[name]
	if e == nil {
		e = &Entry{Columns: columns, Sums: make([]float32, columns*matrices), Counts: make([]float32, matrices)}
		m.Entries[name] = e
	}
	return e
}

// Add adds rows of inputs of one of the entry's matrices.
func (e *Entry) Add(matrix int, rows []float32) {
	sums := e.Sums[matrix*e.Columns:][:e.Columns]
	for ; len(rows) >= e.Columns; rows = rows[e.Columns:] {
		for i, v := range rows[:e.Columns] {
			sums[i] += v * v
		}
		e.Counts[matrix]++
	}
}

// Matrices is how many matrices the tensor holds.
func (e *Entry) Matrices() int { return len(e.Sums) / e.Columns }

// Importance returns the mean of x² for each column of a tensor's matrix of that number, nil where the tensor has no
// entry. A matrix that nothing went into, such as an expert that no token chose, has ones.
// It fails with [ErrShape] where the entry is of a tensor of another size.
func (m *Matrix) Importance(name string, columns, matrices, matrix int) ([]float32, error) {
	if m == nil || m.Entries[name] == nil {
		return nil, nil
	}
	e := m.Entries[name]
	if e.Columns*e.Matrices() != columns*matrices {
		return nil, fmt.Errorf("the entry of %s has %d values, the tensor %d columns in %d matrices: %w", name, len(e.Sums),
			columns, matrices, ErrShape)
	}
	count := e.Counts[0]
	if len(e.Counts) == matrices {
		count = e.Counts[matrix]
	}
	mean := make([]float32, columns)
	for i, sum := range e.Sums[matrix*columns:][:columns] {
		mean[i] = 1
		if count > 0 {
			mean[i] = sum / count
		}
	}
	return mean, nil
}

// check refuses an entry whose numbers cannot be sums of squares.
func (e *Entry) check(name string) error {
	if e.Columns < 1 || len(e.Sums) == 0 || len(e.Sums)%e.Columns != 0 ||
		len(e.Counts) != 1 && len(e.Counts) != e.Matrices() {
		return fmt.Errorf("%s has %d sums of %d columns and %d counts: %w", name, len(e.Sums), e.Columns, len(e.Counts),
			ErrFormat)
	}
	for _, values := range [][]float32{e.Sums, e.Counts} {
		for _, v := range values {
			if !(v >= 0) || v > math.MaxFloat32 {
				return fmt.Errorf("%s has the value %v, which is no sum of squares: %w", name, v, ErrFormat)
			}
		}
	}
	return nil
}

package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line: a long conversation with a picture in it fits.
const maxLine = 64 << 20

// ReadOptions say what Read does with lines that are not examples.
type ReadOptions struct {
	// Skip passes over bad lines instead of refusing the file.
	Skip bool
	// MaxErrors bounds how many bad lines Read names when it refuses; 0 means 10.
	MaxErrors int
}

// LineError says what is wrong with which line.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap gives what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// Read reads a JSONL file. Empty lines are passed over. Bad ones are returned
// where they are to be skipped; otherwise the error joins the first of them, each
// a *LineError.
func Read(ctx context.Context, r io.Reader, opts ReadOptions) (records []Record, bad []*LineError, err error) {
	if opts.MaxErrors == 0 {
		opts.MaxErrors = 10
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		data := lines.Bytes()
		if n == 1 {
			data = bytes.TrimPrefix(data, []byte("\ufeff"))
		}
		if data = bytes.TrimSpace(data); len(data) == 0 {
			continue
		}
		record, err := Parse(data)
		if err != nil {
			bad = append(bad, &LineError{n, err})
			if !opts.Skip && len(bad) == opts.MaxErrors {
				break
			}
			continue
		}
		record.Line = n
		records = append(records, record)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, bad, fmt.Errorf("%w: a line is longer than %d MB", ErrLine, maxLine>>20)
	} else if err != nil {
		return nil, bad, err
	}
	if len(bad) > 0 && !opts.Skip {
		return nil, bad, refuse(bad, opts.MaxErrors)
	}
	if len(records) == 0 {
		return nil, bad, fmt.Errorf("%w: there are no examples", ErrLine)
	}
	return records, bad, nil
}

func refuse(bad []*LineError, most int) error {
	errs := make([]error, len(bad), len(bad)+1)
	for i, e := range bad {
		errs[i] = e
	}
	if len(bad) == most {
		errs = append(errs, errors.New("and there may be more"))
	}
	return errors.Join(errs...)
}

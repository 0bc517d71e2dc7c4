package cli

import (
	"errors"
	"strconv"
)

// countFlag is a number that is 1 or more where it is given, and 0 where it is not.
type countFlag struct{ at *int }

// errCount names the numbers that a countFlag takes.
var errCount = errors.New("wanted a whole number, 1 or more")

// String implements pflag.Value.
func (f countFlag) String() string {
	if f.at == nil || *f.at == 0 {
		return ""
	}
	return strconv.Itoa(*f.at)
}

// Type implements pflag.Value.
func (f countFlag) Type() string { return "count" }

// Set implements pflag.Value.
func (f countFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errCount
	}
	*f.at = n
	return nil
}

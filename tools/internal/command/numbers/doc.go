// Package numbers has the commands that check and measure: logits, parity, bench and doctor.
package numbers

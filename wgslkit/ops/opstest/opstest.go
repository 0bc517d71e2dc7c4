// Package opstest runs every op of package ops, in every variant that a
// device has, against a plain twin on the CPU. It does not depend on package
// testing, so that it runs on users' devices too.
//
// One file stands for each family of ops, with its twins and its list of
// cases; this one joins the lists.
package opstest

import (
	"context"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Case is one op in one shape and variant.
type Case struct {
	Op, Name  string
	Tolerance float64 // of the relative L2 error
	// Run computes on the kit's device and on the CPU and compares.
	Run func(ctx context.Context, kit *ops.Kit) (relErr float64, err error)
}

// Cases lists the cases for kit's device.
func Cases(kit *ops.Kit) []Case {
	var cases []Case
	cases = append(cases, linearCases(kit)...)
	cases = append(cases, embedCases(kit)...)
	cases = append(cases, overlayCases(kit)...)
	cases = append(cases, expertCases(kit)...)
	cases = append(cases, expertBackCases(kit)...)
	cases = append(cases, halfRowsCases(kit)...)
	cases = append(cases, normCases(kit)...)
	cases = append(cases, routerCases(kit)...)
	cases = append(cases, argmaxCases(kit)...)
	cases = append(cases, cacheCases(kit)...)
	cases = append(cases, attentionCases(kit)...)
	cases = append(cases, fullAttentionCases(kit)...)
	cases = append(cases, gridCases(kit)...)
	cases = append(cases, convCases(kit)...)
	cases = append(cases, sampleCases(kit)...)
	cases = append(cases, linearBackCases(kit)...)
	cases = append(cases, denseCases(kit)...)
	cases = append(cases, elementBackCases(kit)...)
	cases = append(cases, packedAttentionCases(kit)...)
	cases = append(cases, trainingCases(kit)...)
	return cases
}

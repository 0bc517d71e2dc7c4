// Package doctor says what there is to say of a machine whose GPU cannot be examined;
// wgslkit's checkup examines the others.
package doctor

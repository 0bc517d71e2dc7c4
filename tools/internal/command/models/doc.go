// Package models has the commands for the models on this machine: list, pull, show, inspect and rm.
package models

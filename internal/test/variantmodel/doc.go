// Package variantmodel is a second implementation of package variant, slow and obvious: it
// reads a value into a tree, knows no plans, no reused memory and no fast paths, and looks at
// each Go type anew. Its tests compare variant with it for random types.
//
// It covers types without methods and without limits, and values without Objects.
package variantmodel

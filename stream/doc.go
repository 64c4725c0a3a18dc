// Package stream reads and writes packets of Godot's Variant format: behind their
// length on connections and in files, and as datagrams.
package stream

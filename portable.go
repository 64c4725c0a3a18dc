//go:build purego || !(386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package gdwire

// memory has no answer here: see unsafe.go.
func memory[T Packable]([]T) ([]byte, bool) { return nil, false }

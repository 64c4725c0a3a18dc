//go:build !js

// Command web builds gdwire-web, a folder of static files: the page of gdwire view, which needs no server because gdwire
// itself runs in the browser.
//
//	go run ./cmd/gdwire/web [-serve ADDR] FOLDER
//
// With -serve, it also serves the folder, for example on localhost:8000. Any other server of static files does.
// Built for a browser, the package is the program that runs there.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gdwire/gdwire/variant"
)

func main() {
	log.SetFlags(0)
	addr := flag.String("serve", "", "serve the folder on `ADDR`")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: go run ./cmd/gdwire/web [-serve ADDR] FOLDER")
	}
	folder := flag.Arg(0)
	if err := build(folder); err != nil {
		log.Fatal(err)
	}
	if *addr != "" {
		log.Printf("http://%s/", *addr)
		log.Fatal(http.ListenAndServe(*addr, http.FileServer(http.Dir(folder))))
	}
}

const module = "github.com/gdwire/gdwire/cmd/gdwire"

// policy lets the page run its own scripts and gdwire, and reach nothing else.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' blob:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types gdwire"

// changes are those of the page of view for a page without a server: texts, and what replaces them.
var changes = [][2]string{
	{`<meta charset="utf-8">`, `<meta charset="utf-8">` + "\n" + `<meta http-equiv="Content-Security-Policy" content="` + policy + `">`},
	{`<title>gdwire view</title>`, `<title>gdwire: edit a saved game of Godot</title>`},
	{`<script src="page.js" type="module"></script>`, `<link rel="stylesheet" href="start.css">` + "\n" +
		`<script src="start.js" type="module"></script>` + "\n" + `<link rel="modulepreload" href="page.js">`},
	{`<body>`, `<body class="starting web">`},
	{`<main>`, "START<main>"},
}

// build writes the folder.
func build(folder string) error {
	source, err := output("go", "list", "-f", "{{.Dir}}", module+"/internal/view")
	if err != nil {
		return err
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, pattern := range []string{ // the later ones replace those before
		filepath.Join(source, "page", "*.*"), filepath.Join(source, "page", "web", "*.*"), filepath.Join(root, "lib", "wasm", "wasm_exec.js"),
	} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
				return err
			}
		}
	}
	program := filepath.Join(folder, "gdwire.wasm")
	compile := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, module+"/web")
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return err
	}
	if files["gdwire.wasm"], err = os.ReadFile(program); err != nil {
		return err
	}
	if err := edit(files); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// edit makes the files those of a page without a server.
func edit(files map[string][]byte) (err error) {
	page := string(files["index.html"])
	for _, c := range changes {
		if strings.Count(page, c[0]) != 1 {
			return fmt.Errorf("index.html does not contain %s once", c[0])
		}
		page = strings.Replace(page, c[0], c[1], 1)
	}
	files["index.html"] = []byte(strings.Replace(page, "START", string(files["start.html"]), 1))
	delete(files, "start.html")
	if files["example.save"], err = variant.Marshal(example); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "offline.js" })
	sum := sha256.New()
	for _, name := range names {
		fmt.Fprintf(sum, "%s %d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	offline := strings.Replace(string(files["offline.js"]), "RELEASE", fmt.Sprintf("%x", sum.Sum(nil)), 1)
	files["offline.js"] = []byte(strings.Replace(offline, `"FILES"`, `"./", "`+strings.Join(names, `", "`)+`"`, 1))
	return nil
}

// example is a save to look at.
var example = map[string]any{
	"version": "1.2", "difficulty": 2, "permadeath": false,
	"player": map[string]any{
		"name": "Ada", "gold": 120, "hp": 87.5, "position": variant.Vector2{X: 128, Y: -64}, "color": variant.Color{R: 0.3, G: 0.5, B: 0.9, A: 1},
		"items": []any{map[string]any{"id": 3, "name": "bow"}, map[string]any{"id": 7, "name": "lantern"}},
	},
	"levels": []int32{1, 2, 3, 5, 8}, "seen": []string{"village", "cave"}, "map": []byte{0, 1, 1, 0, 2, 2},
}

// output returns what a command prints, without the end of its line.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

package view

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"runtime"
)

// Open opens the page in the user's browser. Other users see the arguments of a process, so the
// browser gets the name of a file that only the user can read and that leads to the page. It
// returns a function that removes the file.
func (s *Server) Open() (remove func(), err error) {
	f, err := os.CreateTemp("", "gdwire-*.html") // readable by the user only
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%[1]s\"><a href=\"%[1]s\">gdwire</a>\n", html.EscapeString(s.URL()))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = browser(f.Name()).Start()
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}

// browser returns the command that opens a file in the user's browser.
func browser(file string) *exec.Cmd {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	case "darwin":
		return exec.Command("open", file)
	}
	return exec.Command("xdg-open", file)
}

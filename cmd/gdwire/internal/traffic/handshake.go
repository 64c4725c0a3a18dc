package traffic

import (
	"bytes"
	"io"
	"net/url"
	"strings"
)

// A handshakeReader reads the stream of a client. If the stream starts with an HTTP request for
// a WebSocket, the reader removes the header Sec-WebSocket-Extensions: messages are then not
// compressed. With the URL of the server, the reader makes the request one for this URL.
type handshakeReader struct {
	r       io.Reader
	url     *url.URL // or nil
	removed func()   // called if there were extensions

	head []byte // read and not returned yet
	err  error
	done bool // the request was read, or the stream starts with something else
}

const httpGet = "GET "

// maxHTTP is the maximum length of the head of an HTTP request or response.
const maxHTTP = 64 << 10

// endOfHead returns the offset of the line feed before the empty line ending the head of an HTTP
// request or response, or -1. A carriage return before a line feed may be missing.
func endOfHead(b []byte) int {
	for i := 0; ; i++ {
		next := bytes.IndexByte(b[i:], '\n')
		if next < 0 {
			return -1
		}
		i += next
		if rest := b[i+1:]; bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r\n")) {
			return i
		}
	}
}

func (h *handshakeReader) Read(p []byte) (int, error) {
	if !h.done {
		h.done = true
		h.readHead()
	}
	if len(h.head) == 0 {
		if h.err != nil {
			return 0, h.err
		}
		return h.r.Read(p)
	}
	n := copy(p, h.head)
	h.head = h.head[n:]
	return n, nil
}

// readHead reads the request, or enough bytes to show that there is none.
func (h *handshakeReader) readHead() {
	part := make([]byte, 4<<10)
	for len(h.head) < maxHTTP {
		if n := min(len(h.head), len(httpGet)); string(h.head[:n]) != httpGet[:n] {
			return
		}
		if end := endOfHead(h.head); end >= 0 {
			h.edit(end)
			return
		}
		if h.err != nil {
			return
		}
		var n int
		n, h.err = h.r.Read(part)
		h.head = append(h.head, part[:n]...)
	}
}

// edit makes the request, with a head ending at end, one for the server's URL, without extensions.
func (h *handshakeReader) edit(end int) {
	var kept []string
	lines := strings.Split(string(h.head[:end]), "\n")
	continued := false // a removed line is continued on the next
	for i, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		folded := line != "" && (line[0] == ' ' || line[0] == '\t')
		continued = folded && continued || strings.EqualFold(name, "Sec-WebSocket-Extensions")
		if !continued {
			kept = append(kept, h.addressed(line, name, i == 0))
		}
	}
	h.head = append([]byte(strings.Join(kept, "\n")), h.head[end:]...)
	if len(kept) < len(lines) {
		h.removed()
	}
}

// addressed returns a line of the request for the server's URL: clients name the proxy. A path of the URL takes
// the place of the client's.
func (h *handshakeReader) addressed(line, name string, first bool) string {
	if h.url == nil {
		return line
	}
	text := strings.TrimSuffix(line, "\r")
	ending := line[len(text):]
	words := strings.Fields(text)
	switch {
	case first && len(words) == 3 && h.url.RequestURI() != "/":
		text = words[0] + " " + h.url.RequestURI() + " " + words[2]
	case !first && strings.EqualFold(name, "Host"):
		text = "Host: " + h.url.Host
	case !first && strings.EqualFold(name, "Origin"): // of a browser, compared by servers with the host
		text = "Origin: http" + strings.TrimPrefix(h.url.Scheme, "ws") + "://" + h.url.Host
	}
	return text + ending
}

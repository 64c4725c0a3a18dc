package main

import (
	"cmp"
	"context"
	"html/template"
	"log"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

var operators = "127.0.0.1:7779"

func init() { extras = append(extras, serveStatus) }

// serveStatus serves status in a goroutine. s is not in use yet.
func serveStatus(s *stream.Server) {
	page := &http.Server{Addr: operators, Handler: status(s), ReadTimeout: 10 * time.Second}
	log.Print("connections and metrics: http://", operators)
	go func() { log.Print(page.ListenAndServe()) }()
}

// status sets s.PacketHandled and returns a page with the connections of s, each with a button to close
// it, and /metrics for Prometheus. The page is for operators: serve it on localhost only.
func status(s *stream.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics(s))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		var conns []stream.ConnStats
		for c := range s.Conns() {
			conns = append(conns, c.Stats())
		}
		slices.SortFunc(conns, func(a, b stream.ConnStats) int { return cmp.Compare(b.PacketsIn, a.PacketsIn) })
		_ = page.Execute(w, struct {
			Stats stream.Stats
			Conns []stream.ConnStats
		}{s.Stats(), conns})
	})
	mux.HandleFunc("POST /close", func(w http.ResponseWriter, r *http.Request) {
		for c := range s.Conns() {
			if c.Stats().RemoteAddr == r.FormValue("addr") {
				go func() { _ = c.CloseWithCode(stream.ClosePolicyViolation, "closed by the operator") }()
			}
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	return http.NewCrossOriginProtection().Handler(local(mux))
}

// local refuses requests for other names than this machine's. A page in the operator's browser could
// send requests here by a name of its own.
func local(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || host != "localhost" && host != "127.0.0.1" {
			http.Error(w, "localhost only", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

var page = template.Must(template.New("").Funcs(template.FuncMap{
	"round": func(d time.Duration) time.Duration { return d.Round(time.Second) },
}).Parse(`<!DOCTYPE html><title>gdwire</title>
<p>{{.Stats.Conns}} connections, {{.Stats.PacketsIn}} packets in, {{.Stats.PacketsOut}} out, {{.Stats.Invalid}} invalid
<table><tr><th>address<th>age<th>idle<th>packets in<th>out<th>bytes in<th>out<th>invalid<th>
{{range .Conns}}<tr><td>{{.RemoteAddr}}<td>{{round .Age}}<td>{{round .Idle}}<td>{{.PacketsIn}}<td>{{.PacketsOut}}<td>{{.BytesIn}}<td>{{.BytesOut}}<td>{{.Invalid}}
<td><form method=post action=/close><button name=addr value="{{.RemoteAddr}}">close</button></form>
{{end}}</table>
`))

// metrics returns the page for Prometheus: all counters of s, and three histograms.
func metrics(s *stream.Server) http.Handler {
	r := prometheus.NewRegistry()
	count := func(name, help string, value func(n stream.Stats) int64) {
		o := prometheus.CounterOpts{Name: "gdwire_" + name, Help: help}
		r.MustRegister(prometheus.NewCounterFunc(o, func() float64 { return float64(value(s.Stats())) }))
	}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gdwire_connections", Help: "open connections"},
		func() float64 { return float64(s.Stats().Conns) }))
	for _, c := range []struct {
		name, help string
		value      func(n stream.Stats) int64
	}{
		{"accepted_total", "connections served", func(n stream.Stats) int64 { return n.Accepted }},
		{"refused_total", "connections refused", func(n stream.Stats) int64 { return n.Refused }},
		{"failed_total", "connections that failed", func(n stream.Stats) int64 { return n.Failed }},
		{"lost_total", "connections that the client or the network lost", func(n stream.Stats) int64 { return n.Lost }},
		{"too_fast_total", "clients that sent too many packets", func(n stream.Stats) int64 { return n.TooFast }},
		{"too_slow_total", "clients that a room dropped", func(n stream.Stats) int64 { return n.TooSlow }},
		{"panics_total", "panics", func(n stream.Stats) int64 { return n.Panics }},
		{"handshake_timeouts_total", "TLS handshakes that took too long", func(n stream.Stats) int64 { return n.HandshakeTimeouts }},
		{"idle_timeouts_total", "clients that sent nothing", func(n stream.Stats) int64 { return n.IdleTimeouts }},
		{"read_timeouts_total", "packets that arrived too slowly", func(n stream.Stats) int64 { return n.ReadTimeouts }},
		{"write_timeouts_total", "clients that did not read", func(n stream.Stats) int64 { return n.WriteTimeouts }},
		{"packets_in_total", "packets read", func(n stream.Stats) int64 { return n.PacketsIn }},
		{"packets_out_total", "packets written", func(n stream.Stats) int64 { return n.PacketsOut }},
		{"bytes_in_total", "bytes read", func(n stream.Stats) int64 { return n.BytesIn }},
		{"bytes_out_total", "bytes written", func(n stream.Stats) int64 { return n.BytesOut }},
		{"invalid_packets_total", "invalid packets", func(n stream.Stats) int64 { return n.Invalid }},
	} {
		count(c.name, c.help, c.value)
	}
	histogram := func(name, help string, first, factor float64, buckets int) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gdwire_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(first, factor, buckets),
		})
		r.MustRegister(h)
		return h
	}
	size := histogram("packet_bytes", "size of packets", 16, 4, 7)
	handler := histogram("handler_seconds", "time in the handler of a packet", 10e-6, 4, 10)
	first := histogram("first_packet_seconds", "time from accept to the first packet", 1e-3, 4, 8)
	s.PacketHandled = func(_ context.Context, _ *stream.Conn, p stream.HandledPacket) {
		size.Observe(float64(p.Size))
		handler.Observe(p.Time.Seconds())
		if p.First > 0 {
			first.Observe(p.First.Seconds())
		}
	}
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
}

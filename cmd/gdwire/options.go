package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// options holds the flags and operands.
type options struct {
	save.Reading // Decoder.Format is nil unless -format is given

	maxContent   int64
	maxMemory    int64 // of diff
	skip         int64
	quiet        bool
	passwordFile string
	keyFile      string
	output       string // -o
	writes       bool   // the command writes values, so their format must be certain
	key          *fileaccess.Key

	raw        bool           // of get
	keys       bool           // of get
	length     bool           // of get
	find       string         // of find
	goPackage  string         // of struct
	goType     string         // of struct
	json       gdjson.Options // of json and get
	lines      bool           // check -json, proxy -json
	like       string         // of encode
	to         target         // of recode and encode
	path       text.Path      // of get
	edit       editing        // of set, add, delete and copy
	listen     listenOptions
	proxy      proxyOptions
	replay     replayOptions
	noOpen     bool // of view
	debug      debugOptions
	conform    conformOptions
	operands   []string
	separator  int              // number of operands before --, or -1
	given      map[string]bool  // names of the flags on the command line
	container  *fileaccess.Info // of the input
	nonEmpty   bool             // input without values is an error
	recognized bool             // format or frame were recognized
	several    bool             // this is one of several files
	inPlace    bool             // -i
}

func newOptions() *options { return &options{given: map[string]bool{}, separator: -1} }

var frames = []save.Frame{save.Bare, save.U32, save.U32BE}

// file returns the operand with the name of the input.
func (o *options) file() string {
	if len(o.operands) == 0 {
		return ""
	}
	return o.operands[len(o.operands)-1]
}

// A limit is a flag for one of the limits.
type limit struct {
	name, limit, text string
	group             flagGroup
	growsWithFile     bool // raiseLimits sets it to the size of a regular file
	set               func(*options, int64)
}

// limits contains a flag for each limit.
var limits = []limit{
	{"max-depth", "Depth", "containers around a value [1024]", limitFlag, false, func(o *options, n int64) { o.Decoder.Limits.Depth = int(min(n, math.MaxInt)) }},
	{"max-elements", "Elements", "elements, pairs or properties of a container [1 Mi]", limitFlag, true, func(o *options, n int64) { o.Decoder.Limits.Elements = n }},
	{"max-values", "Values", "values in a top-level value [16 Mi]", limitFlag, true, func(o *options, n int64) { o.Decoder.Limits.Values = n }},
	{"max-string", "StringBytes", "bytes of a string [16 MiB]", limitFlag, true, func(o *options, n int64) { o.Decoder.Limits.StringBytes = n }},
	{"max-name", "NameBytes", "bytes of the name of a class, property or signal [1 KiB]", limitFlag, false, func(o *options, n int64) { o.Decoder.Limits.NameBytes = n }},
	{"max-packed", "PackedBytes", "bytes of a packed array or image [256 MiB]", limitFlag, true, func(o *options, n int64) { o.Decoder.Limits.PackedBytes = n }},
	{"max-bytes", "Bytes", "bytes of a top-level value [no limit]", limitFlag, false, func(o *options, n int64) { o.Decoder.Limits.Bytes = n }},
	{"max-content", "Size", "bytes of the content of a compressed or encrypted file [256 MiB]", fileFlags, false, func(o *options, n int64) { o.maxContent = n }},
	{"max-packet", "MaxPacket", "bytes of a packet [8 MiB]", limitFlag, true, func(o *options, n int64) { o.MaxPacket = n }},
}

// A flagGroup is a set of flags that several subcommands share.
type flagGroup uint8

const (
	valueFlags  flagGroup = 1 << iota // about values
	strictFlags                       // about values that are read
	fileFlags                         // about the containers of files
	skipFlags
	quietFlags
	limitFlag // all limits, except for the content of containers

	readFlags = valueFlags | strictFlags | fileFlags | skipFlags | quietFlags | limitFlag
	editFlags = valueFlags | strictFlags | fileFlags | quietFlags | limitFlag
)

// define defines the flags of the groups.
func (o *options) define(fs *flag.FlagSet, groups flagGroup, objects bool) {
	d := &o.Decoder
	if groups&valueFlags != 0 {
		choose(fs, "format", "`FORMAT` of the values", gdwire.Formats(), &d.Format, gdwire.Format.String)
		choose(fs, "frame", "`LENGTH` that precedes each packet", frames, &o.Frame, save.Frame.String)
		fs.BoolVar(&d.AllowObjects, "objects", objects, "allow serialized objects")
		fs.BoolVar(&d.AllowInvalidUTF8, "any-utf8", false, "accept text that is not UTF-8")
		fs.BoolVar(&d.DoubleReals, "double", false, "read math types of 64 bits in the manuals' formats")
	}
	if groups&strictFlags != 0 {
		fs.BoolVar(&d.Strict, "strict", false, "refuse input that engines accept but never write")
	}
	if groups&quietFlags != 0 {
		fs.BoolVar(&o.quiet, "q", false, "print no messages about recognized formats or changes")
	}
	if groups&fileFlags != 0 {
		fs.StringVar(&o.passwordFile, "password-file", "", "`FILE` with the password of an encrypted file, or - for standard input")
		fs.StringVar(&o.keyFile, "key-file", "", "`FILE` with the key of an encrypted file: 32 bytes or 64 hexadecimal digits")
	}
	if groups&skipFlags != 0 {
		sizeFlag(fs, "skip", "skip `N` bytes, such as a saved game's own header", func(n int64) { o.skip = max(n, 0) })
	}
	for _, l := range limits {
		if groups&l.group != 0 {
			sizeFlag(fs, l.name, "at most `N` "+l.text, func(n int64) { l.set(o, n) })
		}
	}
}

// isLimit reports whether a flag is a limit.
func isLimit(f *flag.Flag) bool {
	return slices.ContainsFunc(limits, func(l limit) bool { return l.name == f.Name })
}

// outputFlag defines -o.
func outputFlag(fs *flag.FlagSet, o *options) {
	fs.Func("o", "write to `FILE`, which is replaced after success", func(name string) error {
		if o.output = name; name == "" {
			return errors.New("want the name of a file")
		}
		return nil
	})
}

// saveFlag defines -o of a command that writes an edited save.
func saveFlag(fs *flag.FlagSet, o *options) {
	outputFlag(fs, o)
	fs.Lookup("o").Usage += "; it can be the input"
}

// editsFlags defines the flags of a command that edits saves.
func editsFlags(fs *flag.FlagSet, o *options) {
	saveFlag(fs, o)
	inPlaceFlag(fs, o)
}

func jsonFlags(fs *flag.FlagSet, o *options) {
	outputFlag(fs, o)
	fs.BoolVar(&o.json.Plain, "plain", false, "plain JSON, for people and jq; it is lossy")
	fs.BoolFunc("indent", "a line for each element", func(string) error {
		o.json.Indent = "  "
		return nil
	})
}

// sizeFlag defines a flag with a number, such as a size in bytes.
func sizeFlag(fs *flag.FlagSet, name, text string, set func(int64)) {
	fs.Func(name, text, func(s string) error {
		n, err := parseSize(s)
		if err == nil {
			set(n)
		}
		return err
	})
}

// units are the suffixes of sizes.
var units = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"", 1},
}

// parseSize parses a size: 5000, 10K, 16MiB, 0 for the default, or none or -1 for no limit.
func parseSize(s string) (int64, error) {
	if s == "none" {
		return -1, nil
	}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < -1 || n > math.MaxInt64/u.factor || n < 0 && u.factor > 1 {
			break
		}
		return n * u.factor, nil
	}
	return 0, errors.New("want a number such as 5000, 10K or 16MiB, 0 for the default or none")
}

// choose defines a flag for one of the choices. The first is the default.
func choose[T any](fs *flag.FlagSet, flag, text string, choices []T, dst *T, name func(T) string) {
	var names []string
	for _, c := range choices {
		names = append(names, name(c))
	}
	list := strings.Join(names, ", ")
	fs.Func(flag, text+": "+list, func(s string) error {
		i := slices.Index(names, s)
		if i < 0 {
			return fmt.Errorf("none of %s", list)
		}
		*dst = choices[i]
		return nil
	})
}

// raiseLimits sets the limits that are not given by flags to the size of a file: it bounds
// memory, too.
func (o *options) raiseLimits(size int64) {
	for _, l := range limits {
		if l.growsWithFile && !o.given[l.name] {
			if l.limit == "MaxPacket" {
				size = math.MaxUint32 // a packet that is cut is longer than the file
			}
			l.set(o, max(size, 1))
		}
	}
}

package edit

import (
	"io"
	"slices"
)

// A splice replaces bytes of the content.
type splice struct {
	start, end int64
	bytes      []byte
	from, size int64 // of the bytes of the content to use, if bytes is nil
}

// grow returns the number of bytes that the splice adds.
func (s *splice) grow() int64 { return int64(len(s.bytes)) + s.size - (s.end - s.start) }

// sortSplices sorts splices by offset. Those at the same offset stay in order.
func sortSplices(all []splice) {
	slices.SortStableFunc(all, func(a, b splice) int {
		if a.start != b.start {
			return int(min(max(a.start-b.start, -1), 1))
		}
		return int(min(max(a.end-b.end, -1), 1))
	})
}

// A spliced is a Reader of a part of the content with splices.
type spliced struct {
	r       io.ReaderAt
	at, end int64
	splices []splice // from at
	done    int64    // bytes of the first splice that have been read
}

func (s *spliced) Read(p []byte) (int, error) {
	for len(s.splices) > 0 && s.at == s.splices[0].start {
		next := &s.splices[0]
		if n := int64(len(next.bytes)); s.done < n {
			read := copy(p, next.bytes[s.done:])
			s.done += int64(read)
			return read, nil
		}
		if from := s.done - int64(len(next.bytes)); from < next.size {
			read, err := s.r.ReadAt(p[:min(int64(len(p)), next.size-from)], next.from+from)
			s.done += int64(read)
			return read, early(read, err)
		}
		s.at, s.done, s.splices = next.end, 0, s.splices[1:]
	}
	if s.at == s.end {
		return 0, io.EOF
	}
	end := s.end
	if len(s.splices) > 0 {
		end = s.splices[0].start
	}
	read, err := s.r.ReadAt(p[:min(int64(len(p)), end-s.at)], s.at)
	s.at += int64(read)
	return read, early(read, err)
}

// early returns the error of a ReadAt before the end of the content.
func early(read int, err error) error {
	switch {
	case read > 0:
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

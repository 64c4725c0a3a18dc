package gdwire

import "errors"

// Err returns the error that all calls currently return: nil, an [Error], an error of the
// Writer, or [ErrReleased].
func (e *Encoder) Err() error { return e.ready() }

// ClearError returns the error of an invalid call and clears it. The call has written
// nothing, so a valid one can be made instead. ClearError does not clear an error of Fail or
// of the Writer.
func (e *Encoder) ClearError() error {
	err := e.ready()
	if err != nil && !e.permanent {
		e.err = nil
		e.setLim()
	}
	return err
}

// Fail makes err an error that stays until Reset and that ClearError does not clear. It is for
// code that cannot complete a value that it has begun to write. Fail wraps err in an
// [Error] with offset and path, unless err is or wraps an Error. It returns the error that
// stays. Fail(nil) has no effect.
func (e *Encoder) Fail(err error) error {
	if err == nil || e.permanent {
		return e.ready()
	}
	if e.ready() == errNotReset {
		return errNotReset
	}
	if located := new(Error); !errors.As(err, &located) {
		err = e.locate(err)
	}
	e.permanent = true
	return e.keep(err)
}

// ready returns the error that stays.
func (e *Encoder) ready() error {
	if e.err == nil && e.stack == nil {
		return errNotReset
	}
	return e.err
}

// fail returns the error that stays, which err becomes if there is none yet.
func (e *Encoder) fail(err error) error {
	if kept := e.ready(); kept != nil {
		return kept
	}
	return e.keep(e.locate(err))
}

// keep makes err the error that stays.
func (e *Encoder) keep(err error) error {
	e.err = err
	e.setLim()
	return err
}

// locate returns err in an Error with the offset and path of the current call.
func (e *Encoder) locate(err error) error {
	return &Error{Offset: e.OutputOffset(), Path: string(e.appendPath(nil, true, nil)), Err: err}
}

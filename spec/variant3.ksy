# SPDX-License-Identifier: MIT-0
meta:
  id: variant3
  title: Variant of Godot 3
  license: MIT-0
  ks-version: '0.10'
  endian: le
  encoding: UTF-8
doc: |
  One value in the format godot3 of SPEC.md, beside this file. It does not say everything: a parser made of it
  does not refuse invalid UTF-8 (T5, T10), keeps text after a NUL (T6) and the NUL of packed strings (P4), does not
  limit levels (B7), does not add the counts of names modulo 2^32 (N5), and reads serialized objects whether or not
  they are allowed (O3).
seq:
  - id: type_id
    type: u1
    valid:
      max: 26
    doc: B2
  - id: ignored
    type: u1
    doc: B1
  - id: flags
    type: u2
  - id: payload
    type:
      switch-on: type_id
      cases:
        0: nothing
        1: word
        2: int
        3: float
        4: text
        5: reals(2)
        6: reals(4)
        7: reals(3)
        8: reals(6)
        9: reals(4)
        10: reals(4)
        11: reals(6)
        12: reals(9)
        13: reals(12)
        14: reals(4)
        15: node_path
        16: nothing
        17: godot_object
        18: dictionary
        19: godot_array
        20: packed_bytes
        21: packed_ints
        22: packed_floats
        23: packed_strings
        24: packed_reals(2)
        25: packed_reals(3)
        26: packed_reals(4)
instances:
  is_wide:
    value: (flags & 1) != 0
types:
  nothing: {}
  word:
    seq:
      - id: value
        type: u4
  int:
    seq:
      - id: value
        type:
          switch-on: _parent.as<variant3>.is_wide
          cases:
            true: s8
            false: s4
  float:
    seq:
      - id: value
        type:
          switch-on: _parent.as<variant3>.is_wide
          cases:
            true: f8
            false: f4
  text:
    doc: T1
    seq:
      - id: len
        type: u4
      - id: value
        type: str
        size: len
      - id: padding
        size: (4 - len % 4) % 4
        doc: T3, T4
  reals:
    doc: M1, M3, M6
    params:
      - id: n
        type: u4
    seq:
      - id: value
        type: f4
        repeat: expr
        repeat-expr: n
  node_path:
    doc: N1, N3
    seq:
      - id: first
        type: u4
        valid:
          min: 0x80000000
        doc: N4
      - id: num_subnames
        type: u4
      - id: flags
        type: u4
      - id: names
        type: text
        repeat: expr
        repeat-expr: first - 0x80000000
      - id: subnames
        type: text
        repeat: expr
        repeat-expr: 'num_subnames + ((flags & 2) != 0 ? 1 : 0)'
    instances:
      is_absolute:
        value: (flags & 1) != 0
  godot_object:
    seq:
      - id: instance_id
        type: s8
        if: _parent.as<variant3>.is_wide
      - id: class_name
        type: text
        if: not _parent.as<variant3>.is_wide
      - id: num_properties
        type: s4
        if: has_properties
      - id: properties
        type: property
        repeat: expr
        repeat-expr: num_properties
        if: has_properties and num_properties > 0
        doc: O5
    instances:
      has_properties:
        value: not _parent.as<variant3>.is_wide and class_name.len > 0
        doc: O4
  property:
    seq:
      - id: name
        type: text
      - id: value
        type: variant3
  dictionary:
    doc: C2
    seq:
      - id: count
        type: u4
      - id: pairs
        type: pair
        repeat: expr
        repeat-expr: count % 0x80000000
        doc: C3
  pair:
    seq:
      - id: key
        type: variant3
      - id: value
        type: variant3
  godot_array:
    doc: C1
    seq:
      - id: count
        type: u4
      - id: elements
        type: variant3
        repeat: expr
        repeat-expr: count % 0x80000000
        doc: C3
  packed_bytes:
    seq:
      - id: len
        type: u4
      - id: value
        size: len
      - id: padding
        size: '_io.size - _io.pos < (4 - len % 4) % 4 ? _io.size - _io.pos : (4 - len % 4) % 4'
        doc: P2
  packed_ints:
    seq:
      - id: count
        type: u4
      - id: value
        type: s4
        repeat: expr
        repeat-expr: count
  packed_floats:
    seq:
      - id: count
        type: u4
      - id: value
        type: f4
        repeat: expr
        repeat-expr: count
  packed_strings:
    seq:
      - id: count
        type: s4
      - id: value
        type: text
        repeat: expr
        repeat-expr: 'count < 0 ? 0 : count'
        doc: P6
  packed_reals:
    doc: P3
    params:
      - id: n
        type: u4
    seq:
      - id: count
        type: u4
      - id: value
        type: f4
        repeat: expr
        repeat-expr: count * n

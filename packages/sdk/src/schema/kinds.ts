/**
 * Storage of one element of a field. Integers and floats are little-endian; `symbol` is a u32 into the writer's table.
 */
export type Kind =
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'i8'
  | 'i16'
  | 'i32'
  | 'i64'
  | 'f32'
  | 'f64'
  | 'bool'
  | 'char'
  | 'symbol'

/** Width in bytes of one element; alignment in an aligned layout is the same. */
export const KIND_BYTES: Readonly<Record<Kind, number>> = {
  u8: 1,
  u16: 2,
  u32: 4,
  u64: 8,
  i8: 1,
  i16: 2,
  i32: 4,
  i64: 8,
  f32: 4,
  f64: 8,
  bool: 1,
  char: 1,
  symbol: 4,
}

/** Smallest and largest value of the integer kinds that a JavaScript number holds exactly. */
export const KIND_RANGE: Readonly<Partial<Record<Kind, readonly [number, number]>>> = {
  u8: [0, 0xff],
  u16: [0, 0xffff],
  u32: [0, 0xffffffff],
  i8: [-0x80, 0x7f],
  i16: [-0x8000, 0x7fff],
  i32: [-0x80000000, 0x7fffffff],
}

/** What is as far from 0 as this has no nearest f32 but infinity: halfway from its largest number to 2^128. */
export const F32_OVERFLOW = (2 - 2 ** -24) * 2 ** 127

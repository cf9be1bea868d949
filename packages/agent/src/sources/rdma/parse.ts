import type { Integer64 } from '@sonde/sdk/internal'
import { isNumber, KernelText, type NumberFailure, parseAttribute, parseNumber } from '../kernel-text.ts'

const U64_LIMIT = 1n << 64n
const ZERO = 48
const COLON = 58
const NEWLINE = 10
/** `N: ` and at least one letter; the longest state of a kernel has 17 letters. */
const STATE_BYTES_LEAST = 3
const STATE_BYTES_MOST = 48
/** The longest lifespan that the kernel accepts. */
const LIFESPAN_LIMIT_MS = 10_000
const BYTES_PER_GIGABIT = 125_000_000

/** Parses the file of a counter, in units of `unitBytes`. The result is `huge` if it does not fit into 64 bits. */
export function parseCounter(bytes: Uint8Array, unitBytes: number): Integer64 | NumberFailure {
  const value = parseAttribute(bytes)
  if (unitBytes === 1 || !isNumber(value)) return value
  const whole = Number(value) * unitBytes
  if (Number.isSafeInteger(whole)) return whole
  const exact = BigInt(value) * BigInt(unitBytes)
  return exact < U64_LIMIT ? exact : 'huge'
}

/** Parses the number of a state such as `4: ACTIVE`; undefined if there is none. */
export function parseState(bytes: Uint8Array): number | undefined {
  const state = (bytes[0] ?? 0) - ZERO
  const isLine = bytes.indexOf(NEWLINE) === bytes.length - 1 || bytes.indexOf(NEWLINE) === -1
  const isState = state >= 0 && state <= 9 && bytes[1] === COLON && bytes.length > STATE_BYTES_LEAST && isLine
  return isState && bytes.length <= STATE_BYTES_MOST ? state : undefined
}

/**
 * Parses `lifespan`: how long a driver repeats the hardware counters that it last read. Unit: milliseconds. Undefined
 * if invalid.
 */
export function parseLifespan(bytes: Uint8Array): number | undefined {
  const value = parseNumber(bytes)
  return value === undefined || value > LIFESPAN_LIMIT_MS ? undefined : Number(value)
}

/** The rate of a port. */
export interface RdmaRate {
  readonly rate_bytes_per_second: number
  readonly width_lanes: number
  readonly signalling: string
}

/** Parses `rate`, such as `400 Gb/sec (4X NDR)` or `2.5 Gb/sec (1X SDR)`; undefined if invalid. */
export function parseRate(bytes: Uint8Array): RdmaRate | undefined {
  const [, gigabits, lanes, signalling = ''] =
    /^(\d{1,6}(?:\.\d)?) Gb\/sec \((\d{1,2})X(?: ([A-Z]{2,4}\d*))?\)\n?$/.exec(utf8Text(bytes)) ?? []
  if (gigabits === undefined) return undefined
  return {
    rate_bytes_per_second: Math.round(Number(gigabits) * BYTES_PER_GIGABIT),
    width_lanes: Number(lanes),
    signalling,
  }
}

/** Parses a line of printable text, which may be empty; undefined if invalid. */
export function parseLine(bytes: Uint8Array): string | undefined {
  return /^([\x20-\x7e]{0,128})\n?$/.exec(utf8Text(bytes))?.[1]?.trim()
}

/** Parses the name of an interface in `gid_attrs/ndevs/N`: any bytes except slashes and blanks. */
export function parseInterface(bytes: Uint8Array): string | undefined {
  return /^([^\s/\0\ufffd]{1,64})\n?$/u.exec(utf8Text(bytes))?.[1]
}

/** Driver and PCI address of a device. */
export interface RdmaBinding {
  driver?: string
  address?: string
}

/**
 * Parses the driver and PCI address in the `uevent` of a device, whose lines are `KEY=value`; undefined if it has
 * neither.
 */
export function parseUevent(bytes: Uint8Array): RdmaBinding | undefined {
  const text = new KernelText(bytes)
  const place: RdmaBinding = {}
  for (; !text.done; text.nextLine()) {
    if (text.skip('DRIVER=')) place.driver = text.word()
    else if (text.skip('PCI_SLOT_NAME=')) place.address = text.word()
  }
  return place.driver === undefined && place.address === undefined ? undefined : place
}

function utf8Text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}

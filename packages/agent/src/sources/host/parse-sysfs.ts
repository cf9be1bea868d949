import { parseNumber } from '../kernel-text.ts'

// Parsers of sysfs files with one number or one line of text.

/** The highest number of CPUs that a kernel can be built for. */
const CPU_LIMIT = 8192
const LIST_LENGTH_LIMIT = 65_536
const NEWLINE = 10
const MINUS = 45
const BYTES_PER_MEBIBYTE = 2 ** 20

/**
 * Parses a line of text such as the name of a sensor or the release of the kernel; undefined if the bytes are no such
 * line.
 */
export function parseLabel(bytes: Uint8Array): string | undefined {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return /^([\x21-\x7e][\x20-\x7e]{0,127}?) *\n?$/.exec(line)?.[1]
}

/** Parses a line of text that may be empty, such as the label of a slot. */
export function parseText(bytes: Uint8Array): string | undefined {
  return bytes.length === 1 && bytes[0] === NEWLINE ? '' : parseLabel(bytes)
}

/** Parses a list of CPUs such as `0-55,112-167`; undefined if it is invalid or names a CPU beyond {@link CPU_LIMIT}. */
export function parseCpuList(bytes: Uint8Array): number[] | undefined {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').trimEnd()
  if (line.length > LIST_LENGTH_LIMIT) return undefined
  const cpus: number[] = []
  for (const part of line.split(',')) {
    const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? []
    if (from === undefined || Number(to) >= CPU_LIMIT) return undefined
    for (let cpu = Number(from); cpu <= Number(to); cpu++) cpus.push(cpu)
  }
  return cpus
}

/** Parses a temperature in thousandths of a degree, which may be negative. Unit: degrees Celsius. */
export function parseMillidegrees(bytes: Uint8Array): number | undefined {
  const isNegative = bytes[0] === MINUS
  const value = parseScaled(isNegative ? bytes.subarray(1) : bytes, 1000)
  return value === undefined ? undefined : isNegative ? -value : value
}

/** Parses a power in microwatts. Unit: watts. */
export function parseMicrowatts(bytes: Uint8Array): number | undefined {
  return parseScaled(bytes, 1e6)
}

/** Parses the speed of a fan. Unit: rotations per minute. */
export function parseRpm(bytes: Uint8Array): number | undefined {
  return parseScaled(bytes, 1)
}

/** Parses a duration in milliseconds. Unit: seconds. */
export function parseMilliseconds(bytes: Uint8Array): number | undefined {
  return parseScaled(bytes, 1000)
}

/** Parses a frequency in kilohertz. Unit: hertz. */
export function parseKilohertz(bytes: Uint8Array): number | undefined {
  return parseScaled(bytes, 1 / 1000)
}

/** Parses a size in MiB. Unit: bytes. */
export function parseMebibytes(bytes: Uint8Array): number | undefined {
  return parseScaled(bytes, 1 / BYTES_PER_MEBIBYTE)
}

function parseScaled(bytes: Uint8Array, partsPerUnit: number): number | undefined {
  const count = parseNumber(bytes)
  return count === undefined ? undefined : Number(count) / partsPerUnit
}

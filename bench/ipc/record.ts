import { counter, defineType, label, timestamp } from '@sonde/sdk'

/** Bytes of one record. */
export const RECORD_BYTES = 100
/** Where the symbol of the label is in a record. */
export const DEVICE_AT = 8
/** Where the number of a record is in it. */
export const SERIAL_AT = 12
/** Where a record that is timed has its reading of the monotonic clock: its second counter. */
export const SENT_AT = 20
const COUNTERS = Array.from({ length: 11 }, (_, i) => (i === 0 ? 'serial' : `bytes${i}_total`))

/** Ports that the records are about, in turn. */
export const DEVICES = Array.from({ length: 8 }, (_, i) => `mlx5_${i}`)

/** A record of 100 bytes: time, a label that is text, eleven counters of 64 bits of which the first is its number. */
export const recordType = defineType(
  'bench_port',
  'What a port might report',
  { time: timestamp(), device: label(), ...Object.fromEntries(COUNTERS.map((name) => [name, counter('u64')])) },
  { layout: 'packed' },
)

/** A record as an object, for JSON lines and for `report`. */
export function makeRecord(): Record<string, number | bigint | string> {
  const counters = COUNTERS.map((name, i): [string, number] => [name, i * 1000])
  return { time: 0n, device: '', ...Object.fromEntries(counters) }
}

/** The device that a record is about. */
export function deviceOf(serial: number): string {
  return DEVICES[serial % DEVICES.length] ?? ''
}

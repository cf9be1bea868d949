import { counter, defineType, label, timestamp } from '@sonde/sdk'

/** Bytes of one record. */
export const RECORD_BYTES = 100
/** Where in a record its number is. */
export const SERIAL_AT = 12
const COUNTERS = Array.from({ length: 11 }, (_, i) => (i === 0 ? 'serial' : `bytes${i}_total`))

/** A record of 100 bytes: time, a label that is text, eleven counters of 64 bits of which the first is its number. */
export const recordType = defineType(
  'bench_port',
  'What a port might report',
  { time: timestamp(), device: label(), ...Object.fromEntries(COUNTERS.map((name) => [name, counter('u64')])) },
  { layout: 'packed' },
)

/** A record as an object: what JSON lines are made of, and what `report` takes. */
export function makeRecord(serial: number): Record<string, number | bigint | string> {
  const counters = COUNTERS.map((name, i): [string, number] => [name, i === 0 ? serial : serial * 1000 + i])
  return { time: BigInt(Date.now()) * 1_000_000n, device: 'mlx5_0', ...Object.fromEntries(counters) }
}
